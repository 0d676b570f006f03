/**
 * Commands that operate a running Fairgate by its control address. Each finds the address and the token by itself
 * (find-control.ts) and has `--json`.
 *
 * Exit codes: 0 done, and with `status` it is ready; 1 it could not be done, or with `status` it is not ready; 2 what was
 * typed is not right: a flag, a room that is not there, a setting, or no token is found.
 */

import { createInterface } from "node:readline/promises";
import type { Command } from "commander";
import { controlToSpaceInLines, safeText } from "../../config/problem.ts";
import { isRecord } from "../../config/salvage.ts";
import { countText } from "../../sim/what-if/words.ts";
import { jsonText } from "../json-text.ts";
import { askControl, askRecord, askText, somethingElse } from "./ask-control.ts";
import { changeFrom, changeLines } from "./change.ts";
import { type ControlFlags, type ControlPlace, findControl } from "./find-control.ts";
import { NotDone } from "./not-done.ts";
import { askOverview } from "./overview.ts";
import { overviewText, roomText } from "./status-text.ts";

const SHOWN_CHARACTERS_MAX = 300;

/** What a command prints: words for people, or a value for programs. */
export interface Printed {
  readonly text: string;
  readonly value: unknown;
  readonly exitCode?: 1;
}

interface RoomFlags extends ControlFlags {
  readonly all?: boolean;
  readonly message?: string;
  readonly yes?: boolean;
  readonly room?: string;
}

type Describe = (command: Command) => Command;

/** Every command by its name. */
export const OPERATE_COMMANDS: Readonly<Record<string, Describe>> = {
  status: (command) =>
    withControl(command)
      .description("Print how the rooms and the origin are.")
      .argument("[room]", "one room, in full")
      .action((room: string | undefined, flags: ControlFlags) =>
        operate(flags, (place) => status(place, room)),
      ),
  pause: (command) =>
    stateCommand(command, {
      description: "Let nobody in; everybody keeps their place.",
      change: { paused: true, drained: false },
      is: "is paused: nobody is let in, everybody keeps their place. `fairgate open` goes on",
    }),
  open: (command) =>
    stateCommand(command, {
      description: "Let people in by the limits again, after pause, drain or close.",
      change: { paused: false, queueAll: false, drained: false, closed: false },
      is: "is open: people are let in by its limits",
    }),
  drain: (command) =>
    stateCommand(command, {
      description: "Let everybody in at once, whatever the limits.",
      change: { drained: true, paused: false, queueAll: false, closed: false },
      is: "is drained: everybody is let in, whatever the limits. `fairgate open` brings them back",
      isRisky: true,
    }),
  close: (command) =>
    stateCommand(command, {
      description: "Let nobody join or in; places are kept.",
      change: { closed: true, drained: false },
      is: "is closed: nobody joins and nobody is let in; places are kept. `fairgate open` goes on",
    }),
  message: (command) =>
    withRooms(command)
      .description('Show a message to everyone waiting; "" takes it away.')
      .usage("[options] [room] <text>")
      .argument("<words...>", "the room, which may be left out when there is one, and what they read")
      .action((words: string[], flags: RoomFlags) => operate(flags, (place) => message(place, flags, words))),
  set: (command) =>
    withControl(command)
      .description("Change settings while the room runs, such as totalActiveUsers=400.")
      .usage("[options] [room] <setting=value...>")
      .argument("<words...>", "names and values as in the settings file, page.title=… for one inside another")
      .action((words: string[], flags: ControlFlags) => operate(flags, (place) => set(place, words))),
  sessions: (command) => {
    command.description("Visits on the site.");
    withControl(command.command("end"))
      .description("End one visit; its pass is worth nothing from then on.")
      .argument("<id>", "the visitor's id: the Fairgate-Visitor header that the origin gets")
      .option("--room <name>", "the room (default: whichever has the visit)")
      .action((id: string, flags: RoomFlags) => operate(flags, (place) => endVisit(place, id, flags.room)));
    return command;
  },
  changes: (command) =>
    withControl(command)
      .description("Print changes made at run time that cannot be used, and why.")
      .action((flags: ControlFlags) => operate(flags, changes)),
  draw: (command) =>
    withControl(command)
      .description("Print the record of an event's draw, for `fairgate audit draw`.")
      .argument("<event>", "the event's name")
      .option("--room <name>", "the room; may be left out when there is one")
      .action((event: string, flags: RoomFlags) => operate(flags, (place) => draw(place, event, flags.room))),
  metrics: (command) =>
    withControl(command)
      .description("Print the metrics, as Prometheus reads them.")
      .action((flags: ControlFlags) => operate(flags, metrics)),
  api: (command) =>
    withControl(command)
      .description("Print what the control address offers to programs (OpenAPI).")
      .action((flags: ControlFlags) => operate(flags, api)),
};

/** `keys list` and `keys rotate`, under the command that has the others. `isBare`: nothing is named, and they are listed. */
export function keysCommands(keys: Command, isBare: boolean): void {
  if (isBare) withControl(keys).action((flags: ControlFlags) => operate(flags, listKeys));
  withControl(keys.command("list"))
    .description("Print the signing keys of a running Fairgate.")
    .action((flags: ControlFlags) => operate(flags, listKeys));
  withControl(keys.command("rotate"))
    .description("Sign with a new key from now on. Every place and pass stays good.")
    .action((flags: ControlFlags) => operate(flags, rotateKeys));
}

/** The flags by which a command finds the control address. */
export function withControl(command: Command): Command {
  return command
    .option(
      "--control <address>",
      "control address (default: FAIRGATE_CONTROL, the settings', or 127.0.0.1:8081)",
    )
    .option("--data <directory>", "data directory of the running Fairgate, which has its address and token")
    .option(
      "--token-file <file>",
      "file with the token (default: FAIRGATE_CONTROL_TOKEN, the settings', or --data's)",
    )
    .option("--config <file>", "settings file (default: fairgate.yaml, if it is there)")
    .option("--json", "print the result as JSON");
}

function withRooms(command: Command): Command {
  return withControl(command).option("--all", "all rooms");
}

/** Does the work at the control address, and prints what comes of it. */
export function operate(
  flags: ControlFlags,
  work: (place: ControlPlace) => Promise<Printed | null>,
): Promise<void> {
  return printing(flags, async () => {
    const place = await findControl(flags);
    if (place.caution !== null) process.stderr.write(`${place.caution}\n`);
    return work(place);
  });
}

/** Does the work and prints what comes of it. What cannot be done is said on standard error, or as JSON. */
export async function printing(
  { json }: Pick<ControlFlags, "json">,
  work: () => Promise<Printed | null>,
): Promise<void> {
  try {
    const outcome = await work();
    if (outcome === null) return;
    process.stdout.write(json ? jsonText(outcome.value) : outcome.text);
    if (outcome.exitCode !== undefined) process.exitCode = outcome.exitCode;
  } catch (cause) {
    if (!(cause instanceof NotDone)) throw cause;
    if (json) process.stdout.write(jsonText({ ok: false, error: cause.message }));
    else process.stderr.write(`${cause.message}\n`);
    process.exitCode = cause.exitCode;
  }
}

async function status(place: ControlPlace, name: string | undefined): Promise<Printed> {
  if (name !== undefined) return roomStatus(place, name);
  const ready = await askReadiness(place);
  const overview = await askOverview(place);
  const { length } = overview.rooms;
  const is = ready.isReady ? "ready" : `NOT READY: ${ready.reasons.join(" ")}`;
  const headline = `Fairgate ${overview.version} at ${place.at}: ${is}, ${length} room${length === 1 ? "" : "s"}`;
  return {
    text: overviewText(overview, headline),
    value: { at: place.at, ...ready, ...(overview.answer as object) },
    ...(ready.isReady ? {} : { exitCode: 1 }),
  };
}

/** Whether visitors can be sent there, and why not. Throws `NotDone`. */
export async function askReadiness(place: ControlPlace): Promise<{ isReady: boolean; reasons: string[] }> {
  const { isReady, reasons } = await askRecord(place, { method: "GET", path: "/readyz", alsoGood: 503 });
  if (typeof isReady !== "boolean" || !isTexts(reasons)) throw somethingElse(place);
  return { isReady, reasons: reasons.map((why) => safeText(why, SHOWN_CHARACTERS_MAX)) };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isRecords(value: unknown): value is Record<string, unknown>[] {
  return Array.isArray(value) && value.every(isRecord);
}

async function roomStatus(place: ControlPlace, name: string): Promise<Printed> {
  const value = await askControl(place, { method: "GET", path: pathOf(name) });
  const room = (await askOverview(place)).rooms.find((one) => one.name === name);
  const { message } = settingsIn(value);
  if (!room) throw somethingElse(place);
  return { text: roomText(room, safeText(String(message ?? ""), SHOWN_CHARACTERS_MAX)), value };
}

interface StateChange {
  readonly description: string;
  readonly change: object;
  /** What the room then is. */
  readonly is: string;
  /** It is asked whether that is meant. */
  readonly isRisky?: boolean;
}

function stateCommand(command: Command, { description, change, is, isRisky }: StateChange): Command {
  withRooms(command)
    .description(description)
    .argument("[room]", "the room; may be left out when there is one")
    .option("--message <text>", "and show this to everyone waiting");
  if (isRisky) command.option("--yes", "do not ask whether that is meant");
  return command.action((room: string | undefined, flags: RoomFlags) =>
    operate(flags, async (place) => {
      const names = await roomsMeant(place, room, flags);
      if (isRisky && !flags.yes)
        await beSure(
          `Let everybody into ${names.join(", ")} at once, whatever the limits?`,
          "Say --yes if everybody is to be let in at once: nobody is here to ask.",
        );
      const said = flags.message === undefined ? {} : { message: flags.message };
      return changeRooms(place, names, { ...change, ...said }, is);
    }),
  );
}

/** Asks at the terminal, and throws `NotDone` unless the answer is yes, or with `elsewhere` where nobody can be asked. */
export async function beSure(question: string, elsewhere: string): Promise<void> {
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true) throw new NotDone(elsewhere, 2);
  const asking = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const answer = await asking.question(`${question} [y/N] `);
    if (!/^y(es)?$/i.test(answer.trim())) throw new NotDone("Nothing was done.", 1);
  } finally {
    asking.close();
  }
}

async function changeRooms(
  place: ControlPlace,
  names: readonly string[],
  change: object,
  is: string,
): Promise<Printed> {
  const changed: unknown[] = [];
  for (const name of names)
    changed.push(await askControl(place, { method: "PATCH", path: pathOf(name), body: change }));
  const text = names.map((name) => `${name} ${is}.\n`).join("");
  return { text, value: { ok: true, rooms: changed } };
}

/** The rooms that are meant: the one that is named, all, or the only one. Throws `NotDone`, naming them. */
async function roomsMeant(
  place: ControlPlace,
  name: string | undefined,
  { all }: { readonly all?: boolean } = {},
): Promise<string[]> {
  if (name !== undefined && all) throw new NotDone(`Name the room ${shown(name)}, or say --all.`, 2);
  if (name !== undefined) return [name];
  const names = (await askOverview(place)).rooms.map((room) => room.name);
  if (all || names.length === 1) return names;
  throw new NotDone(
    `There are ${names.length} rooms: ${names.slice(0, 20).join(", ")}. Name one of them.`,
    2,
  );
}

async function message(place: ControlPlace, flags: RoomFlags, words: readonly string[]): Promise<Printed> {
  if (words.length > 2)
    throw new NotDone('Put the message in quotes, such as "We have opened more tills."', 2);
  const [text, room] = words.toReversed();
  const names = await roomsMeant(place, room, flags);
  const is = text === "" ? "shows no message now" : "shows the message to everyone waiting";
  return changeRooms(place, names, { message: text }, is);
}

async function set(place: ControlPlace, words: readonly string[]): Promise<Printed> {
  const isRoom = !words[0]?.includes("=");
  const pairs = isRoom ? words.slice(1) : words;
  if (pairs.length === 0) throw new NotDone("Say what to change, such as totalActiveUsers=400.", 2);
  const change = changeFrom(pairs);
  const [name] = await roomsMeant(place, isRoom ? words[0] : undefined);
  const before = await askControl(place, { method: "GET", path: pathOf(name!) });
  const value = await askControl(place, { method: "PATCH", path: pathOf(name!), body: change });
  const lines = changeLines(pairs, settingsIn(before), settingsIn(value));
  return { text: lines.map((line) => `${name} ${line}\n`).join(""), value };
}

async function endVisit(place: ControlPlace, written: string, room: string | undefined): Promise<Printed> {
  const id = written.trim().toLowerCase();
  const names = room === undefined ? (await askOverview(place)).rooms.map(({ name }) => name) : [room];
  for (const name of names) {
    try {
      await askControl(place, {
        method: "DELETE",
        path: `${pathOf(name)}/sessions/${encodeURIComponent(id)}`,
      });
      return { text: `The visit is over in ${name}.\n`, value: { ok: true, room: name, id } };
    } catch (cause) {
      if (!(cause instanceof NotDone && cause.code === "not_on_site")) throw cause;
    }
  }
  throw new NotDone(`Nobody by that id is on the site of ${names.join(", ")}.`, 1);
}

async function changes(place: ControlPlace): Promise<Printed> {
  const value = await askRecord(place, { method: "GET", path: "/changes" });
  const { unused, aside } = value;
  if (!isRecords(unused) || !isRecords(aside)) throw somethingElse(place);
  const lines = [
    ...unused.map((one) => [one, "not in force here"] as const),
    ...aside.map((one) => [one, "put aside"] as const),
  ];
  const text = lines.map(([{ room, settings, reason }, is]) => {
    const which = Array.isArray(settings) && settings.length > 0 ? settings.join(", ") : "the whole change";
    return `${safeText(`${room}: ${which} ${is}: ${reason}`, SHOWN_CHARACTERS_MAX)}\n`;
  });
  return { text: text.length === 0 ? "Every change made at run time is in force.\n" : text.join(""), value };
}

async function draw(place: ControlPlace, event: string, room: string | undefined): Promise<Printed> {
  const [name] = await roomsMeant(place, room);
  const path = `${pathOf(name!)}/draws/${encodeURIComponent(event)}`;
  const record = await askText(place, { method: "GET", path });
  return { text: controlToSpaceInLines(record), value: { room: name, event, record } };
}

async function metrics(place: ControlPlace): Promise<Printed> {
  const text = await askText(place, { method: "GET", path: "/metrics" });
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const all = lines.map((line) => {
    const end = line.lastIndexOf(" ");
    const [name, ...labels] = line.slice(0, end).split("{");
    return {
      name,
      labels: labels.length > 0 ? `{${labels.join("{")}` : "",
      value: Number(line.slice(end + 1)),
    };
  });
  return { text: controlToSpaceInLines(text), value: { metrics: all } };
}

async function api(place: ControlPlace): Promise<Printed> {
  const value = await askControl(place, { method: "GET", path: "/openapi.json" });
  return { text: jsonText(value), value };
}

async function listKeys(place: ControlPlace): Promise<Printed> {
  const value = await askRecord(place, { method: "GET", path: "/keys" });
  const { keys } = value;
  if (!isRecords(keys)) throw somethingElse(place);
  const text = keys.map(({ id, isSigning, retiresAt }) => {
    const is = isSigning ? "signs" : `verifies${retiresAt ? ` until ${retiresAt}` : ""}`;
    return `${safeText(`${id}  ${is}`, SHOWN_CHARACTERS_MAX)}\n`;
  });
  return { text: `${countText(keys.length)} key${keys.length === 1 ? "" : "s"}\n${text.join("")}`, value };
}

async function rotateKeys(place: ControlPlace): Promise<Printed> {
  const value = await askRecord(place, { method: "POST", path: "/keys/rotate" });
  if (typeof value.id !== "string") throw somethingElse(place);
  const id = safeText(value.id, SHOWN_CHARACTERS_MAX);
  return { text: `Key ${id} signs from now on; every place and pass stays good.\n`, value };
}

function settingsIn(value: unknown): Record<string, unknown> {
  return isRecord(value) && isRecord(value.settings) ? value.settings : {};
}

function pathOf(room: string): string {
  return `/rooms/${encodeURIComponent(room)}`;
}

function shown(text: string): string {
  return `"${safeText(text, SHOWN_CHARACTERS_MAX)}"`;
}
