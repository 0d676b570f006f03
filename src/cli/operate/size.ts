/**
 * `fairgate size`: from what is known of a site to the two limits and the session length, with each formula, and the wait that
 * a crowd would have with them, played by the simulator. The formulas are in sizing.ts.
 *
 * Exit codes: 0 done; 2 a flag is missing or not right.
 */
import type { Command } from "commander";
import { settingsFrom } from "../../config/load.ts";
import { safeText } from "../../config/problem.ts";
import { formatDuration, parseDuration } from "../../config/units.ts";
import { whatIf } from "../../sim/what-if/what-if.ts";
import { counted, countText, spanWords } from "../../sim/what-if/words.ts";
import { progressHere } from "../progress.ts";
import { whatIfFrom } from "../simulate-what-if.ts";
import { type SiteFacts, type Sizing, sizingOf } from "./sizing.ts";

const SHOWN_CHARACTERS_MAX = 60;
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const NUMBER_MAX = 10_000_000;

export interface SizeFlags {
  readonly requestsPerSecond?: string;
  readonly pages?: string;
  readonly requestsPerPage: string;
  readonly visit?: string;
  readonly reserve: string;
  readonly tickets?: string;
  readonly buy: string;
  readonly each: string;
  readonly crowd?: string;
  readonly over?: string;
  readonly json?: boolean;
}

/** The command, under one that the program has made for it. */
export function sizeCommand(command: Command): Command {
  return command
    .description("Work out the limits from what your site bears, and the wait that follows.")
    .option("--requests-per-second <number>", "what the site bears (a load test tells)")
    .option("--pages <number>", "pages of a visit")
    .option("--requests-per-page <number>", "of them that reach the site", "1")
    .option("--visit <time>", "how long a visit takes, such as 5m")
    .option("--reserve <percent>", "kept free of what the site bears", "20")
    .option("--tickets <number>", "how many are for sale")
    .option("--buy <percent>", "visitors who buy", "100")
    .option("--each <number>", "tickets that a buyer takes", "1")
    .option("--crowd <number>", "how many people are expected")
    .option("--over <time>", "how long they take to come (10m)")
    .option("--json", "print the result as JSON")
    .action((flags: SizeFlags) => {
      process.exitCode = size(flags);
    });
}

function size(flags: SizeFlags): 0 | 2 {
  const wrong: string[] = [];
  const facts = factsFrom(flags, wrong);
  const crowd = flags.crowd === undefined ? null : number("--crowd", flags.crowd, 1, wrong);
  const overMs = flags.over === undefined ? 10 * MINUTE_MS : time("--over", flags.over, wrong);
  if (wrong.length > 0) {
    if (flags.json) process.stdout.write(json({ ok: false, problems: wrong }));
    else process.stderr.write(`${wrong.join("\n")}\n`);
    return 2;
  }
  const sizing = sizingOf(facts);
  const wait = crowd === null ? null : played(sizing, { facts, crowd, overMs });
  process.stdout.write(flags.json ? json({ ok: true, ...sizing, wait }) : sizingText(facts, sizing, wait));
  return 0;
}

function factsFrom(flags: SizeFlags, wrong: string[]): SiteFacts {
  const { requestsPerSecond, pages, visit, tickets } = flags;
  return {
    requestsPerSecond: number("--requests-per-second", requestsPerSecond, 0.01, wrong),
    pages: number("--pages", pages, 1, wrong),
    requestsPerPage: number("--requests-per-page", flags.requestsPerPage, 0.01, wrong),
    visitMs: time("--visit", visit, wrong),
    reserve: number("--reserve", flags.reserve.replace(/%$/, ""), 0, wrong, 99) / 100,
    tickets: tickets === undefined ? null : number("--tickets", tickets, 1, wrong),
    buyers: number("--buy", flags.buy.replace(/%$/, ""), 0.1, wrong, 100) / 100,
    ticketsEach: number("--each", flags.each, 0.1, wrong),
  };
}

function number(
  flag: string,
  written: string | undefined,
  least: number,
  wrong: string[],
  most = NUMBER_MAX,
): number {
  const value =
    written !== undefined && /^\d{1,10}(?:\.\d{1,3})?$/.test(written) ? Number(written) : Number.NaN;
  if (value >= least && value <= most) return value;
  wrong.push(
    `${flag} ${is(written)}; it should be a number from ${least} to ${countText(most)}, without separators.`,
  );
  return least;
}

function time(flag: string, written: string | undefined, wrong: string[]): number {
  const ms = parseDuration(written ?? "");
  if (ms !== null && ms > 0 && ms <= DAY_MS) return ms;
  wrong.push(`${flag} ${is(written)}; it should be a length of time such as 45s or 10m.`);
  return MINUTE_MS;
}

function is(written: string | undefined): string {
  return written === undefined ? "is missing" : `is "${safeText(written, SHOWN_CHARACTERS_MAX)}"`;
}

interface Wait {
  readonly crowd: number;
  readonly overMs: number;
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
  readonly longestLine: number;
  /** Null: people still waited at the end. */
  readonly clearedMs: number | null;
}

/** The crowd with these limits, as `fairgate simulate` would play it. */
function played(
  sizing: Sizing,
  { facts, crowd, overMs }: { facts: SiteFacts; crowd: number; overMs: number },
): Wait {
  const { totalActiveUsers, newUsersPerMinute, sessionDurationMs } = sizing;
  const limits = { totalActiveUsers, newUsersPerMinute, sessionDuration: formatDuration(sessionDurationMs) };
  const needs = { needsSecret: false, needsOrigin: false };
  const settings = settingsFrom(
    { rooms: { main: limits } },
    { environment: {}, readFile: () => "", ...needs },
  );
  if (!settings.ok) throw new Error(JSON.stringify(settings.problems));
  const flags = {
    crowd: String(Math.round(crowd)),
    over: formatDuration(overMs),
    stay: formatDuration(facts.visitMs),
  };
  const asked = whatIfFrom(flags, settings.settings);
  if ("wrong" in asked) throw new Error(asked.wrong.join("\n"));
  const progress = progressHere();
  const findings = whatIf({
    ...asked.question,
    onProgress: ({ entered }) => progress.tell(`playing the crowd: ${countText(entered)} are in`),
  });
  progress.end();
  const { waits, line } = findings;
  return {
    crowd,
    overMs,
    medianMs: waits.p50Ms,
    p90Ms: waits.p90Ms,
    longestLine: line.longest,
    clearedMs: line.emptyAtMs,
  };
}

function sizingText(facts: SiteFacts, sizing: Sizing, wait: Wait | null): string {
  const {
    requestsPerVisit,
    visitsPerSecond,
    newUsersPerMinute,
    sessionDurationMs,
    totalActiveUsers,
    soldOut,
  } = sizing;
  const round = (value: number) => value.toLocaleString("en", { maximumSignificantDigits: 3 });
  const session = formatDuration(sessionDurationMs);
  const rows: readonly (readonly [string, string])[] = [
    [
      "requests a visit",
      `${round(facts.pages)} pages × ${round(facts.requestsPerPage)} = ${round(requestsPerVisit)}`,
    ],
    [
      "visits a second",
      `${round(facts.requestsPerSecond)} requests × ${round(1 - facts.reserve)} ÷ ${round(requestsPerVisit)} = ${round(visitsPerSecond)}`,
    ],
    ["newUsersPerMinute", `60 × ${round(visitsPerSecond)} = ${countText(newUsersPerMinute)}`],
    ["sessionDuration", `4 × ${spanWords(facts.visitMs / facts.pages)} a page, at least 2 min = ${session}`],
    [
      "totalActiveUsers",
      `${countText(newUsersPerMinute)} ÷ 60 × (${spanWords(facts.visitMs)} + ${session}) = ${countText(totalActiveUsers)}`,
    ],
    ...(soldOut === null
      ? []
      : [
          [
            "sold out",
            `after ${countText(soldOut.visitors)} visitors, in about ${spanWords(soldOut.afterMs)}`,
          ] as const,
        ]),
  ];
  const settings = `rooms:\n  main:\n    totalActiveUsers: ${totalActiveUsers}\n    newUsersPerMinute: ${newUsersPerMinute}\n    sessionDuration: ${session}\n`;
  return `${rows.map(([label, text]) => `${label.padEnd(19)}${text}\n`).join("")}\n${settings}${wait === null ? CROWDLESS : `\n${waitText(wait, sizing)}`}`;
}

const CROWDLESS = "\nHow long people wait with these is told with --crowd.\n";

function waitText(
  { crowd, overMs, medianMs, p90Ms, longestLine, clearedMs }: Wait,
  { soldOut }: Sizing,
): string {
  const span = (ms: number | null) => (ms === null ? "unknown" : spanWords(ms));
  const lines = [
    `${counted(crowd, "visitor")} within ${spanWords(overMs)}, who do not say so when they go:`,
    `half wait less than ${span(medianMs)}, nine in ten less than ${span(p90Ms)};`,
    `at most ${countText(longestLine)} wait at once, and all are through after ${span(clearedMs)}.`,
  ];
  if (soldOut !== null && soldOut.visitors < crowd) {
    const late = countText(crowd - soldOut.visitors);
    lines.push(
      `Everything is sold before ${late} of them have their turn: then \`fairgate close\`, with a message.`,
    );
  }
  return `${lines.join("\n")}\n`;
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
