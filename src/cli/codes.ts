/**
 * `fairgate codes new`: codes that let their holder into a lane, one a line on standard output.
 * `fairgate codes check`: what a code is for and whether it is good. Both take the secret from where `run`
 * takes it, so what is made here is good there.
 *
 * Exit codes: 0 done, or the code is good; 1 the code is not good, or the secret cannot be read; 2 the
 * command or the settings are not right.
 */
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { withKeptSecret } from "../assembly/data.ts";
import { noSuchLane } from "../config/check-lanes.ts";
import { explain } from "../config/explain.ts";
import { safeText } from "../config/problem.ts";
import type { RoomSettings, Settings } from "../config/schema.ts";
import { SECRET_VARIABLE } from "../config/secrets.ts";
import { formatDuration, parseDuration } from "../config/units.ts";
import { laneNumber } from "../core/lanes.ts";
import { codeInUrl } from "../gateway/lanes/carried-code.ts";
import { CODE_ID_BYTES, codeKeys, type LaneCode, readCode, writeCode } from "../gateway/lanes/code.ts";
import { chooseRoom } from "./choose-room.ts";
import { jsonText } from "./json-text.ts";
import { readSettings } from "./read-settings.ts";

const COUNT_MAX = 100_000;
const EXPIRES_MIN_MS = 60_000;
/** A code for one place is remembered from its use until it expires, so every code has to expire. */
const EXPIRES_MAX_MS = 366 * 24 * 3_600_000;
const EXPIRES = "30d";
const SHOWN_CHARACTERS_MAX = 60;

interface SourceFlags {
  readonly config?: string;
  readonly data?: string;
}

export interface NewFlags {
  readonly room?: string;
  readonly lane?: string;
  readonly count: string;
  readonly once?: boolean;
  readonly expires: string;
  readonly json?: boolean;
}

export interface CodesCheckFlags {
  readonly json?: boolean;
}

/** The settings with their secret, and the current time. */
export interface Signing {
  readonly settings: SecretSettings;
  readonly now: number;
}

type SecretSettings = Settings & { readonly secret: string };

interface Outcome {
  /** What goes to standard output. */
  readonly text: string;
  readonly isGood: boolean;
}

/** Why the command does nothing. */
export class CommandRefusal extends Error {
  readonly exitCode: 1 | 2;

  constructor(words: string, exitCode: 1 | 2 = 2) {
    super(words);
    this.exitCode = exitCode;
  }
}

/** Adds `codes new` and `codes check` to a command that the program has made. */
export function codesCommand(codes: Command): Command {
  codes.description("Codes that let their holder into a lane.");
  withSource(codes.command("new"))
    .description("Print new codes.")
    .option("--room <name>", "the room; may be left out when there is one")
    .option("--lane <name>", "the lane; may be left out when there is one")
    .option("--count <number>", "how many", "1")
    .option("--once", "each is good for one place, not for as many as people bring it")
    .option("--expires <time>", "how long they are good, such as 12h or 7d", EXPIRES)
    .action((flags: NewFlags & SourceFlags) => run(flags, (signing) => newCodes(flags, signing)));
  withSource(codes.command("check"))
    .description("Tell what a code is for, and whether it is good.")
    .argument("<code>", "the code, or a link with one in it")
    .action((written: string, flags: CodesCheckFlags & SourceFlags) =>
      run(flags, (signing) => checkCode(written, flags, signing)),
    );
  return codes;
}

function withSource(command: Command): Command {
  return command
    .option("--config <file>", "settings file (default: fairgate.yaml, if it is there)")
    .option("--data <directory>", "the directory of `run --data`, where it keeps its secret")
    .option("--json", "print the result as JSON");
}

/** Makes codes, one per line. */
export function newCodes(flags: NewFlags, { settings, now }: Signing): Outcome {
  const count = readCount(flags.count);
  const expiresAt = Math.ceil((now + readExpires(flags.expires)) / 1_000) * 1_000;
  const chosen = chooseRoom(settings, flags.room);
  if ("wrong" in chosen) throw new CommandRefusal(chosen.wrong);
  const room = chosen.name;
  const lane = chooseLane(room, chosen.room.lanes, flags.lane);
  const kind = flags.once ? "once" : "many";
  const keys = codeKeys(room, settings);
  const codes = Array.from({ length: count }, () => {
    const id = randomBytes(CODE_ID_BYTES).toString("hex");
    return { id, code: writeCode({ kind, lane: laneNumber(lane), id, expiresAt }, keys) };
  });
  const end = new Date(expiresAt).toISOString();
  const text = flags.json
    ? jsonText(codes.map(({ code, id }) => ({ code, room, lane, kind, id, expiresAt: end })))
    : codes.map(({ code }) => `${code}\n`).join("");
  return { text, isGood: true };
}

/** Describes a code, or the code in a link. */
export function checkCode(written: string, flags: CodesCheckFlags, { settings, now }: Signing): Outcome {
  const found = findCode((codeInUrl(written) ?? written).trim(), settings, now);
  const text = flags.json ? jsonText(forPrograms(found)) : `${inWords(found)}\n`;
  return { text, isGood: found.refusal === null };
}

/** A description of a code. */
interface Found {
  readonly refusal: "malformed" | "forged" | "expired" | "unknownLane" | "wrongLane" | null;
  readonly about: { readonly room: string; readonly lane: string | null; readonly code: LaneCode } | null;
}

/** Only the key of its own room verifies a code, so the key of every room is tried. */
function findCode(text: string, settings: SecretSettings, now: number): Found {
  let refusal: "malformed" | "forged" = "malformed";
  for (const [room, { lanes }] of Object.entries(settings.rooms)) {
    // Read as of long ago, so that a code that has run out still tells what it was for.
    const reading = readCode(text, { keys: codeKeys(room, settings), now: 0 });
    if (reading.kind === "refused") {
      if (reading.reason === "forged") refusal = "forged";
      continue;
    }
    const { code } = reading;
    const lane = Object.keys(lanes).find((name) => laneNumber(name) === code.lane) ?? null;
    const isOver = code.expiresAt <= now;
    return { refusal: isOver ? "expired" : laneRefusal(lane, lanes), about: { room, lane, code } };
  }
  return { refusal, about: null };
}

function laneRefusal(lane: string | null, lanes: RoomSettings["lanes"]): Found["refusal"] {
  if (lane === null) return "unknownLane";
  return lanes[lane]!.members.codes ? null : "wrongLane";
}

function inWords({ refusal, about }: Found): string {
  if (about === null) {
    return refusal === "malformed"
      ? "malformed: this is not a code. A code has 48 letters, digits, hyphens and underscores."
      : "forged: no room here made this code. It is mistyped, or of another secret, or of a room that is gone.";
  }
  const { room, lane, code } = about;
  const end = new Date(code.expiresAt).toISOString();
  const what = `${lane === null ? `a lane that room ${room} does not have` : `lane ${lane} of room ${room}`}`;
  const uses = code.kind === "once" ? "one place" : "any number of places";
  if (refusal === "expired") return `expired: it was for ${what}, for ${uses}, until ${end}.`;
  if (refusal === "unknownLane") return `unknownLane: it is for ${what}, for ${uses}, until ${end}.`;
  if (refusal === "wrongLane") return `wrongLane: it is for ${what}, which takes no codes (members.codes).`;
  const place = "\nWhether that place was taken already is known to the running Fairgate alone.";
  return `good: for ${what}, for ${uses}, until ${end}.${code.kind === "once" ? place : ""}`;
}

function forPrograms({ refusal, about }: Found): object {
  if (about === null) return { ok: false, refusal };
  const { room, lane, code } = about;
  const { kind, id } = code;
  const expiresAt = new Date(code.expiresAt).toISOString();
  return { ok: refusal === null, refusal, room, lane, kind, id, expiresAt };
}

/** The settings with the secret that `run` would use; fails if it has not been generated yet. */
function settingsOf({ config, data }: SourceFlags): SecretSettings {
  const result = readSettings({ ...(config && { config }), ...(data && { data }) });
  if (!result.ok) throw new CommandRefusal(explain(result.problems));
  const { settings } = result;
  if (settings.secret === null && !existsSync(join(settings.data ?? "", "secret")))
    throw new CommandRefusal(
      `There is no secret in ${settings.data} yet. Start Fairgate first, or set ${SECRET_VARIABLE}.`,
    );
  try {
    return withKeptSecret(settings) as SecretSettings;
  } catch (cause) {
    throw new CommandRefusal(`The secret cannot be read: ${(cause as Error).message}`, 1);
  }
}

function chooseLane(room: string, lanes: RoomSettings["lanes"], named: string | undefined): string {
  const names = Object.keys(lanes);
  if (names.length === 0)
    throw new CommandRefusal(`room ${room} has no lanes. Write them under rooms.${room}.lanes.`);
  const name = named ?? (names.length === 1 ? names[0]! : null);
  if (name === null) throw new CommandRefusal(`Name the lane with --lane: ${names.join(", ")}.`);
  if (!Object.hasOwn(lanes, name)) {
    const { message, hint } = noSuchLane(name, names);
    throw new CommandRefusal(`${message} in room ${room}. ${hint}`);
  }
  if (lanes[name]!.members.codes) return name;
  throw new CommandRefusal(`lane ${name} of room ${room} takes no codes: members.codes is false.`);
}

function readCount(written: string): number {
  const count = /^\d{1,7}$/.test(written) ? Number(written) : 0;
  if (count >= 1 && count <= COUNT_MAX) return count;
  throw new CommandRefusal(
    `--count is ${shown(written)}. It should be a whole number from 1 to ${COUNT_MAX}.`,
  );
}

function readExpires(written: string): number {
  const ms = parseDuration(written);
  if (ms !== null && ms >= EXPIRES_MIN_MS && ms <= EXPIRES_MAX_MS) return ms;
  const range = `from ${formatDuration(EXPIRES_MIN_MS)} to ${formatDuration(EXPIRES_MAX_MS)}`;
  throw new CommandRefusal(
    `--expires is ${shown(written)}. It should be a length of time such as 12h or 7d, ${range}.`,
  );
}

function shown(written: string): string {
  return `"${safeText(written, SHOWN_CHARACTERS_MAX)}"`;
}

/** Prints what the work gives. A refusal goes to standard error, and nothing is printed on standard output. */
function run(flags: SourceFlags, work: (signing: Signing) => Outcome): void {
  try {
    const { text, isGood } = work({ settings: settingsOf(flags), now: Date.now() });
    process.stdout.write(text);
    if (!isGood) process.exitCode = 1;
  } catch (cause) {
    if (!(cause instanceof CommandRefusal)) throw cause;
    process.stderr.write(`${cause.message}\n`);
    process.exitCode = cause.exitCode;
  }
}
