/**
 * `fairgate simulate --config fairgate.yaml --crowd 50000`: what would happen if that many people came, with the operator's own
 * settings. A table on standard output, or JSON; with `--out` also an HTML report.
 *
 * Nothing is asked of Redis, the site or the clock: the answer follows from the settings, the flags and the seed. Where
 * there is no file, flags such as `--new-users-per-minute 500` make the room.
 *
 * Exit codes: 0 done, 1 the report cannot be written, 2 the flags or the settings are not right.
 */

import { existsSync, writeFileSync } from "node:fs";
import { explain } from "../config/explain.ts";
import { nearest } from "../config/nearest.ts";
import { safeText } from "../config/problem.ts";
import { toRules } from "../config/rules.ts";
import type { RoomSettings, Settings } from "../config/schema.ts";
import { parseDuration, parseInstant } from "../config/units.ts";
import type { RoomRules } from "../core/rules.ts";
import { phaseAt } from "../core/schedule.ts";
import { seededFraction } from "../sim/hand-world.ts";
import { ARRIVAL_SHAPES, type ArrivalShape, OVER_MS } from "../sim/what-if/arrivals.ts";
import type { RunProgress } from "../sim/what-if/crowd-run.ts";
import type { Findings } from "../sim/what-if/findings.ts";
import { whatIfReport } from "../sim/what-if/report.ts";
import { whatIfTable } from "../sim/what-if/table.ts";
import { limitOf, verdictOf } from "../sim/what-if/verdict.ts";
import { type WhatIf, whatIf } from "../sim/what-if/what-if.ts";
import { countText, spanWords } from "../sim/what-if/words.ts";
import { chooseRoom } from "./choose-room.ts";
import { jsonText } from "./json-text.ts";
import { type Progress, progressHere } from "./progress.ts";
import { DEFAULT_FILE, readSettings, type SettingsFlags } from "./read-settings.ts";

const CROWD_MAX = 2_000_000;
const OVER_MAX_MS = 86_400_000;
const STAY_MAX_MS = 30 * 86_400_000;
const SEED_MAX = 0xffff_ffff;
const SHOWN_CHARACTERS_MAX = 60;
const DRAW_SEED_DIGITS = 64;
/** The origin where flags alone make the room. */
const NO_SITE = "http://127.0.0.1:9";

/** The flags as commander gives them. */
export interface WhatIfFlags {
  /** May be left out when there is one room. */
  readonly room?: string;
  /** How many come. */
  readonly crowd?: string;
  /** constant, spike or sigmoid; sigmoid when left out. */
  readonly arrivals?: string;
  /** How long they take to come; 10m, or 5s for a spike, when left out. */
  readonly over?: string;
  /** Mean time from entering to the last request; the room's `sessionDuration` when left out. */
  readonly stay?: string;
  /**
   * Percentages, with or without the sign, 0 by default: of visitors who give up waiting, do not use their turn, or leave
   * explicitly.
   */
  readonly impatient?: string;
  readonly noShow?: string;
  readonly leave?: string;
  /** Commander takes `--no-show <percent>` for a negation of `--show`, and gives it here; without the flag this is true. */
  readonly show?: string | boolean;
  /** When the first visitors come: a time, or an event, for the opening of its prequeue. Without it, on no particular day. */
  readonly at?: string;
  readonly seed?: string;
  /** Where the report is written. */
  readonly out?: string;
  readonly json?: boolean;
}

export type WhatIfOptions = SettingsFlags & WhatIfFlags;

/** Plays it and prints what came of it. The exit code is returned, not set. */
export async function runWhatIf(options: WhatIfOptions): Promise<0 | 1 | 2> {
  const read = readSettings(withoutSite(options));
  if (!read.ok) {
    const isColour = process.stderr.isTTY === true && process.env.NO_COLOR === undefined;
    const words = explain(read.problems, { colour: isColour });
    return refuse(
      options,
      words,
      read.problems.map(({ message }) => message),
    );
  }
  const asked = whatIfFrom(options, read.settings);
  if ("wrong" in asked) return refuse(options, `${asked.wrong.join("\n")}\n`, asked.wrong);
  const progress = progressHere();
  const findings = whatIf({ ...asked.question, onProgress: tellOn(progress, asked.question) });
  progress.end();
  process.stdout.write(options.json ? jsonOf(findings) : whatIfTable(findings));
  if (options.out === undefined) return 0;
  if (!writeReport(options.out, findings)) return 1;
  if (!options.json) process.stdout.write(`The report is in ${options.out}\n`);
  return 0;
}

/** No site is asked and nothing is signed here, so neither an origin nor a secret is needed. */
function withoutSite(options: WhatIfOptions): SettingsFlags {
  const isFile = options.config !== undefined || existsSync(DEFAULT_FILE);
  const { origin = isFile ? undefined : [NO_SITE] } = options;
  return { ...options, origin, isDemo: true };
}

export type WhatIfReading = { readonly question: WhatIf } | { readonly wrong: readonly string[] };

/** The simulation that these flags and settings ask for, or everything that is wrong with them. */
export function whatIfFrom(flags: WhatIfFlags, settings: Settings): WhatIfReading {
  const wrong: string[] = [];
  const given = readFlags(flags, (problem) => wrong.push(problem));
  const chosen = chooseRoom(settings, flags.room);
  if ("wrong" in chosen) return { wrong: [chosen.wrong, ...wrong] };
  const { name, room } = chosen;
  const at = flags.at === undefined ? { at: null } : startOf(flags.at, room);
  if ("wrong" in at) wrong.push(at.wrong);
  if (wrong.length > 0 || "wrong" in at) return { wrong };
  const rules = rulesOf(name, settings, given.seed);
  const inForce = phaseAt(at.at === null ? { ...rules, events: [] } : rules, at.at ?? 0).rules;
  return {
    question: {
      room: name,
      rules,
      neighbours: neighboursOf(name, settings, given.seed),
      crowd: { ...given, stayMs: given.stayMs ?? inForce.sessionDurationMs },
      at: at.at,
      notes: room.suspended
        ? [`The room ${name} is suspended in the settings; it is played as if it were not.`]
        : [],
    },
  };
}

type Given = Omit<WhatIf["crowd"], "stayMs"> & { readonly stayMs: number | null };

type Complain = (problem: string) => void;

/** One flag as it was given. */
interface Flag {
  readonly name: string;
  readonly text: string | undefined;
}

function readFlags(flags: WhatIfFlags, complain: Complain): Given {
  const shape = readShape(flags.arrivals ?? "sigmoid", complain);
  const overMs = readTime({ name: "--over", text: flags.over }, OVER_MAX_MS, complain);
  const share = (name: string, text = "0") => readShare({ name, text }, complain);
  return {
    size: readNumber({ name: "--crowd", text: flags.crowd }, { least: 1, most: CROWD_MAX }, complain),
    shape,
    overMs: overMs ?? OVER_MS[shape],
    stayMs: readTime({ name: "--stay", text: flags.stay }, STAY_MAX_MS, complain),
    impatient: share("--impatient", flags.impatient),
    noShow: share("--no-show", flags.noShow ?? (typeof flags.show === "string" ? flags.show : undefined)),
    leave: share("--leave", flags.leave),
    seed: readNumber({ name: "--seed", text: flags.seed ?? "1" }, { least: 0, most: SEED_MAX }, complain),
  };
}

function readShape(text: string, complain: Complain): ArrivalShape {
  const shape = ARRIVAL_SHAPES.find((known) => known === text);
  if (shape) return shape;
  const meant = nearest(text, ARRIVAL_SHAPES);
  const hint = meant ? ` Did you mean ${meant}?` : "";
  complain(`--arrivals is ${shown(text)}; it should be one of ${ARRIVAL_SHAPES.join(", ")}.${hint}`);
  return "sigmoid";
}

function readNumber(
  { name, text }: Flag,
  { least, most }: { least: number; most: number },
  complain: Complain,
): number {
  const value = text !== undefined && /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least && value <= most) return value;
  const is = text === undefined ? "is missing" : `is ${shown(text)}`;
  complain(`${name} ${is}; it should be a whole number from ${least} to ${most}, without separators.`);
  return least;
}

function readShare({ name, text = "" }: Flag, complain: Complain): number {
  const match = /^(\d{1,3}(?:\.\d{1,2})?)\s?%?$/.exec(text.trim());
  const share = match ? Number(match[1]) / 100 : Number.NaN;
  if (share <= 1) return share;
  complain(`${name} is ${shown(text)}; it should be a percentage from 0 to 100, such as 10.`);
  return 0;
}

function readTime({ name, text }: Flag, mostMs: number, complain: Complain): number | null {
  if (text === undefined) return null;
  const ms = parseDuration(text);
  if (ms !== null && ms <= mostMs) return ms;
  const should = `a length of time such as 45s or 10m, at most ${spanWords(mostMs)}`;
  complain(`${name} is ${shown(text)}; it should be ${should}.`);
  return null;
}

/** A time, or the time at which an event's prequeue opens. */
function startOf(text: string, room: RoomSettings): { at: number } | { wrong: string } {
  const event = room.events.find(({ name }) => name === text);
  if (event?.suspended) return { wrong: `The event ${shown(text)} is suspended.` };
  if (event) return { at: event.prequeueStartTime ?? event.eventStartTime };
  const read = parseInstant(text);
  if ("at" in read) return read;
  const names = room.events.map(({ name }) => safeText(name, SHOWN_CHARACTERS_MAX));
  const events = names.length > 0 ? `, or an event: ${names.join(", ")}` : "";
  return {
    wrong: `--at is ${shown(text)}, which ${read.wrong}; it should be a time such as 2026-12-01T10:00:00Z${events}.`,
  };
}

function rulesOf(name: string, { rooms, budgets }: Settings, seed: number): RoomRules {
  const digits = seededFraction(seed);
  const drawSeed = Array.from({ length: DRAW_SEED_DIGITS }, () =>
    Math.floor(digits() * 16).toString(16),
  ).join("");
  return toRules(name, rooms[name]!, { budgets, seedOf: () => drawSeed });
}

/** Only rooms that share a budget with this one can make a difference. */
function neighboursOf(name: string, settings: Settings, seed: number): Map<string, RoomRules> {
  const { rooms } = settings;
  const { budget } = rooms[name]!;
  const others = Object.keys(rooms).filter(
    (other) => other !== name && budget !== null && rooms[other]!.budget === budget,
  );
  return new Map(others.map((other) => [other, rulesOf(other, settings, seed)]));
}

function tellOn(progress: Progress, { crowd }: WhatIf): (now: RunProgress) => void {
  return ({ afterMs, arrived, entered }) =>
    progress.tell(
      `after ${spanWords(afterMs)}: ${countText(arrived)} of ${countText(crowd.size)} have come, ${countText(entered)} are in`,
    );
}

function writeReport(file: string, findings: Findings): boolean {
  try {
    writeFileSync(file, whatIfReport(findings));
    return true;
  } catch (cause) {
    process.stderr.write(`The report cannot be written to ${file}: ${(cause as Error).message}\n`);
    return false;
  }
}

function jsonOf(findings: Findings): string {
  const answer = { ok: true, verdict: verdictOf(findings), limit: limitOf(findings), ...findings };
  return jsonText(answer);
}

function refuse({ json }: WhatIfFlags, words: string, problems: readonly string[]): 2 {
  if (json) process.stdout.write(jsonText({ ok: false, problems }));
  else process.stderr.write(words);
  return 2;
}

function shown(text: string): string {
  return JSON.stringify(safeText(text, SHOWN_CHARACTERS_MAX));
}
