/**
 * `fairgate size`: works out the two limits and the session length from figures about a site, shows each formula, and simulates
 * the wait that a crowd would have with them. The formulas are in sizing.ts. Figures that are left out are assumed, and the
 * output says so.
 *
 * Exit codes: 0 done; 2 a flag is not right.
 */

import type { Command } from "commander";
import { settingsFrom } from "../config/load.ts";
import { safeText } from "../config/problem.ts";
import { formatDuration, parseDuration } from "../config/units.ts";
import { verdictOf } from "../sim/what-if/verdict.ts";
import { whatIf } from "../sim/what-if/what-if.ts";
import { countText, shareWords, spanWords, wrapped } from "../sim/what-if/words.ts";
import { jsonText } from "./json-text.ts";
import { progressHere } from "./progress.ts";
import { whatIfFrom } from "./simulate-what-if.ts";
import { type SiteFacts, type Sizing, sizingOf } from "./sizing.ts";

const SHOWN_CHARACTERS_MAX = 60;
const DAY_MS = 86_400_000;
const NUMBER_MAX = 10_000_000;
const CROWD_MAX = 2_000_000;
const LABEL_COLUMNS = 19;
const LINE_COLUMNS = 80;

/** The value of every flag that is left out. */
const ASSUMED = {
  requestsPerSecond: "100",
  requestsPerPage: "1",
  pages: "8",
  visit: "4m",
  leave: "0",
  reserve: "20",
  buy: "100",
  each: "1",
  over: "10m",
} as const;

export type SizeFlags = Partial<Record<keyof typeof ASSUMED, string>> & {
  readonly tickets?: string;
  readonly crowd?: string;
  readonly json?: boolean;
};

/** The command, under one that the program has made for it. */
export function sizeCommand(command: Command): Command {
  return command
    .description("Work out the limits from what your site bears, and the wait that follows.")
    .option("--requests-per-second <number>", "that the site bears, by a load test (100)")
    .option("--requests-per-page <number>", "that one page needs of the site itself (1)")
    .option("--pages <number>", "pages of a visit (8)")
    .option("--visit <time>", "how long a visit takes (4m)")
    .option("--leave <percent>", "visitors whose slot is free as they leave (0)")
    .option("--reserve <percent>", "kept free of what the site bears (20)")
    .option("--tickets <number>", "how many are for sale")
    .option("--buy <percent>", "visitors who buy (100)")
    .option("--each <number>", "tickets that a buyer takes (1)")
    .option("--crowd <number>", "how many people are expected")
    .option("--over <time>", "how long they take to come (10m)")
    .option("--json", "print the result as JSON")
    .action((flags: SizeFlags) => {
      process.exitCode = size(flags);
    });
}

/** Flags, or what is assumed for them, read as they are asked for; what is wrong with them is kept. */
class FlagReader {
  readonly wrong: string[] = [];
  /** As on the command line. */
  readonly assumed: string[] = [];
  readonly #flags: SizeFlags;

  constructor(flags: SizeFlags) {
    this.#flags = flags;
  }

  number(name: keyof SizeFlags, least: number, most = NUMBER_MAX): number {
    const written = this.#text(name);
    const value = /^\d{1,10}(?:\.\d{1,3})?$/.test(written) ? Number(written) : Number.NaN;
    if (value >= least && value <= most) return value;
    const should = `a number from ${least} to ${countText(most)}, without separators`;
    return this.#refuse(name, written, should, least);
  }

  share(name: keyof SizeFlags, least: number, most: number): number {
    const written = this.#text(name);
    const value = /^\d{1,3}(?:\.\d{1,2})?%?$/.test(written) ? Number.parseFloat(written) : Number.NaN;
    if (value >= least && value <= most) return value / 100;
    return this.#refuse(name, written, `a percentage from ${least} to ${most}, such as 50`, 0.5);
  }

  time(name: keyof SizeFlags): number {
    const written = this.#text(name);
    const ms = parseDuration(written);
    if (ms !== null && ms > 0 && ms <= DAY_MS) return ms;
    return this.#refuse(name, written, "a length of time such as 45s or 10m, at most a day", DAY_MS);
  }

  #text(name: keyof SizeFlags): string {
    const written = this.#flags[name];
    if (typeof written === "string") return written.trim();
    const assumed = ASSUMED[name as keyof typeof ASSUMED];
    this.assumed.push(`${flagOf(name)} ${assumed}`);
    return assumed;
  }

  #refuse(name: string, written: string, should: string, instead: number): number {
    const is = safeText(written, SHOWN_CHARACTERS_MAX);
    this.wrong.push(`${flagOf(name)} is "${is}"; it should be ${should}.`);
    return instead;
  }
}

function flagOf(name: string): string {
  return `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function size(flags: SizeFlags): 0 | 2 {
  const reader = new FlagReader(flags);
  const facts: SiteFacts = {
    requestsPerSecond: reader.number("requestsPerSecond", 0.01),
    requestsPerPage: reader.number("requestsPerPage", 0.01),
    pages: reader.number("pages", 1),
    visitMs: reader.time("visit"),
    leave: reader.share("leave", 0, 100),
    reserve: reader.share("reserve", 0, 99),
    tickets: flags.tickets === undefined ? null : reader.number("tickets", 1),
    // Where nothing is for sale, nothing is assumed of buyers.
    buyers: flags.tickets === undefined ? 1 : reader.share("buy", 0.1, 100),
    ticketsEach: flags.tickets === undefined ? 1 : reader.number("each", 0.1),
  };
  const crowd = flags.crowd === undefined ? null : Math.round(reader.number("crowd", 1, CROWD_MAX));
  const overMs = crowd === null ? 0 : reader.time("over");
  if (reader.wrong.length > 0) return refuse(flags, reader.wrong);
  const sizing = sizingOf(facts);
  const played = crowd === null ? { wait: null } : play(sizing, { facts, crowd, overMs });
  if ("wrong" in played) return refuse(flags, played.wrong);
  const { wait } = played;
  if (flags.json)
    process.stdout.write(jsonText({ ok: true, assumed: reader.assumed, facts, ...sizing, wait }));
  else process.stdout.write(sizeText({ facts, sizing, wait, assumed: reader.assumed }));
  return 0;
}

function refuse({ json }: SizeFlags, problems: readonly string[]): 2 {
  if (json) process.stdout.write(jsonText({ ok: false, problems }));
  else process.stderr.write(`${problems.join("\n")}\n`);
  return 2;
}

interface Wait {
  readonly crowd: number;
  readonly overMs: number;
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
  readonly longestLine: number;
  /** Null: people still waited at the end. */
  readonly clearedMs: number | null;
  readonly verdict: string;
}

interface Expected {
  readonly facts: SiteFacts;
  readonly crowd: number;
  readonly overMs: number;
}

/** The crowd with these limits, as `fairgate simulate` would play it. */
function play(
  sizing: Sizing,
  { facts, crowd, overMs }: Expected,
): { readonly wait: Wait } | { readonly wrong: readonly string[] } {
  const { totalActiveUsers, newUsersPerMinute, sessionDurationMs } = sizing;
  const limits = { totalActiveUsers, newUsersPerMinute, sessionDuration: formatDuration(sessionDurationMs) };
  const nothing = { environment: {}, readFile: () => "", needsSecret: false, needsOrigin: false };
  const read = settingsFrom({ rooms: { main: limits } }, nothing);
  if (!read.ok) return { wrong: read.problems.map(({ message, hint }) => `${message}. ${hint}`) };
  const asked = whatIfFrom(
    {
      crowd: String(crowd),
      over: formatDuration(overMs),
      stay: formatDuration(facts.visitMs),
      leave: (facts.leave * 100).toFixed(2),
    },
    read.settings,
  );
  if ("wrong" in asked) return asked;
  const progress = progressHere();
  const findings = whatIf({
    ...asked.question,
    onProgress: ({ entered }) => progress.tell(`playing the crowd: ${countText(entered)} are in`),
  });
  progress.end();
  const { waits, line } = findings;
  const wait = {
    ...{ crowd, overMs, medianMs: waits.p50Ms, p90Ms: waits.p90Ms, longestLine: line.longest },
    ...{ clearedMs: line.emptyAtMs, verdict: verdictOf(findings) },
  };
  return { wait };
}

interface Sized {
  readonly facts: SiteFacts;
  readonly sizing: Sizing;
  readonly wait: Wait | null;
  readonly assumed: readonly string[];
}

function sizeText({ facts, sizing, wait, assumed }: Sized): string {
  const rows = stepsOf(facts, sizing).map(([label, text]) => `${label.padEnd(LABEL_COLUMNS)}${text}\n`);
  const told = [
    ...(assumed.length === 0 ? [] : [`Assumed: ${assumed.join(", ")}.`]),
    ...(wait === null ? ["How long people wait with these is told with --crowd."] : [waitText(wait)]),
    ...soldText(sizing, wait),
  ];
  return `${rows.join("")}\n${settingsText(facts, sizing)}\n${told.flatMap((one) => wrapped(one, LINE_COLUMNS)).join("\n")}\n`;
}

/** Each step with its numbers. */
function stepsOf(facts: SiteFacts, sizing: Sizing): (readonly [label: string, text: string])[] {
  const { newUsersPerMinute: rate, sessionDurationMs, slotMs, onSite, soldOut } = sizing;
  const round = (value: number) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  const [visit, session] = [spanWords(facts.visitMs), spanWords(sessionDurationMs)];
  const perVisit = round(sizing.requestsPerVisit);
  const perSecond = round(sizing.visitsPerSecond);
  const pageTime = spanWords(facts.visitMs / facts.pages);
  const silent = facts.leave === 0 ? session : `${round(1 - facts.leave)} × ${session}`;
  const spare = `${round(facts.requestsPerSecond)} requests × ${round(1 - facts.reserve)}`;
  return [
    ["requests a visit", `${round(facts.pages)} pages × ${round(facts.requestsPerPage)} = ${perVisit}`],
    ["visits a second", `${spare} ÷ ${perVisit} = ${perSecond}`],
    ["newUsersPerMinute", `60 × ${perSecond} = ${countText(rate)}`],
    ["sessionDuration", `4 × ${pageTime} a page, at least 2 min = ${session}`],
    ["a slot is taken", `${visit} + ${silent} = ${spanWords(slotMs)}`],
    ["on the site", `${countText(rate)} ÷ 60 × ${spanWords(slotMs)} = ${countText(onSite)}`],
    [
      "totalActiveUsers",
      `${countText(onSite)} + 2 × √${countText(onSite)} = ${countText(sizing.totalActiveUsers)}`,
    ],
    ...(soldOut === null ? [] : [["sold out", soldWords(soldOut, facts)] as const]),
  ];
}

function soldWords({ visitors, afterMs }: NonNullable<Sizing["soldOut"]>, facts: SiteFacts): string {
  const buyers = facts.buyers === 1 ? "" : ` (${shareWords(facts.buyers)} of them buy)`;
  return `after ${countText(visitors)} visitors${buyers}: in about ${spanWords(afterMs)}`;
}

/** What to paste into fairgate.yaml. */
function settingsText({ leave }: SiteFacts, sizing: Sizing): string {
  const { totalActiveUsers, newUsersPerMinute, sessionDurationMs } = sizing;
  const lines = [
    `totalActiveUsers: ${totalActiveUsers}`,
    `newUsersPerMinute: ${newUsersPerMinute}`,
    `sessionDuration: ${formatDuration(sessionDurationMs)}`,
    ...(leave > 0 ? ["enabledOriginCommands: [revoke]"] : []),
  ];
  return `rooms:\n  main:\n${lines.map((line) => `    ${line}\n`).join("")}`;
}

function waitText({ crowd, overMs, p90Ms, verdict }: Wait): string {
  const nine = p90Ms === null || p90Ms === 0 ? "" : ` Nine in ten wait less than ${spanWords(p90Ms)}.`;
  return `When ${countText(crowd)} come within ${spanWords(overMs)}: ${verdict}${nine}`;
}

function soldText({ soldOut }: Sizing, wait: Wait | null): string[] {
  if (soldOut === null || wait === null || soldOut.visitors >= wait.crowd) return [];
  const late = countText(wait.crowd - soldOut.visitors);
  return [
    `Everything is sold before ${late} of them have their turn: then \`fairgate close\`, with a message.`,
  ];
}
