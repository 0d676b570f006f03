/**
 * The results of a run in numbers: the data from which the table, the report and the JSON are made. Everything follows from the
 * options and the seed, and nothing from this machine's clock.
 *
 * Waits are those of everybody who got in, from arriving to entering; going straight through counts as none.
 */
import type { DoorReason } from "../../core/engine.ts";
import { type Turn, unfairness } from "../../core/fairness.ts";
import type { DoorRules } from "../../core/rules.ts";
import { niceDuration } from "../chart-axis.ts";
import type { CrowdOptions } from "./crowd-plan.ts";
import type { CrowdRecord } from "./crowd-run.ts";
import {
  AFTER_WAITING,
  GAVE_UP,
  type Journal,
  NO_SHOW,
  STILL_WAITING,
  STRAIGHT_THROUGH,
  TURNED_AWAY,
} from "./journal.ts";
import { type Bin, binned, percentile, type Sorted, sorted } from "./percentiles.ts";
import type { RoomMoment, Timeline } from "./timeline.ts";

const BINS_WISHED = 24;

export interface AskedWhatIf {
  readonly room: string;
  readonly crowd: CrowdOptions;
  /** The rules in force when the first visitors arrive. */
  readonly rules: DoorRules;
  /** The event at that time, and when its doors open. */
  readonly event: { readonly name: string; readonly opensMs: number; readonly isShuffled: boolean } | null;
  readonly notes: readonly string[];
}

export interface Findings extends AskedWhatIf {
  readonly people: People;
  readonly waits: Waits;
  readonly line: LineFindings;
  readonly capacity: SlotsTaken;
  readonly admissions: Admissions;
  readonly fairness: Fairness;
  readonly promise: PromiseKept;
  /** Why the door admitted no more while people waited, as shares of that time. */
  readonly reasons: Readonly<Partial<Record<DoorReason, number>>>;
  readonly checkIns: number;
  readonly endedMs: number;
  readonly series: Columns;
  readonly waitBins: { readonly widthMs: number; readonly bins: readonly Bin[] };
}

export interface People {
  readonly straightThrough: number;
  readonly afterWaiting: number;
  readonly gaveUp: number;
  /** Got a turn and did not use it. */
  readonly noShow: number;
  readonly turnedAway: number;
  readonly turnedAwayBecause: Readonly<Record<string, number>>;
  /** When the run ended. */
  readonly stillWaiting: number;
}

/** Null if nobody got in. */
export interface Waits {
  readonly p50Ms: number | null;
  readonly p90Ms: number | null;
  readonly p95Ms: number | null;
  readonly p99Ms: number | null;
  readonly maxMs: number | null;
  readonly meanMs: number | null;
}

export interface LineFindings {
  readonly longest: number;
  readonly longestAtMs: number;
  /** When the last one who waited got a turn; null: there was no line, or it never ended. */
  readonly emptyAtMs: number | null;
  /** When the last visitor entered; null: nobody did. */
  readonly lastEnteredMs: number | null;
}

/** Slots in use, including unused turns. */
export interface SlotsTaken {
  /** The limit; null: none. */
  readonly slots: number | null;
  readonly peak: number;
  readonly mean: number;
  readonly fullShare: number;
}

export interface Admissions {
  readonly limitPerMinute: number | null;
  readonly peakPerMinute: number;
  /** Over the whole minutes from the first to the last admission. */
  readonly meanPerMinute: number;
}

export interface Fairness {
  /** Normalised Kendall tau distance between the orders of arriving and of admission. 0: the same order. */
  readonly kendallTau: number;
  /** The furthest anyone was admitted before or after their place. */
  readonly displacementMax: number;
}

/** The wait told on joining against the real one. Null if nobody who was told one had to wait. */
export interface PromiseKept {
  /** Median of the real wait divided by the one told: above 1, people waited longer than told. */
  readonly medianRatio: number | null;
  /** Share of waits within the range told; four out of five would be right. */
  readonly withinRange: number | null;
}

/** The samples, column by column. */
export interface Columns {
  readonly atMs: readonly number[];
  readonly waiting: readonly number[];
  readonly used: readonly number[];
  readonly slots: readonly (number | null)[];
  readonly arrived: readonly number[];
  readonly admitted: readonly number[];
}

export function findingsOf(asked: AskedWhatIf, record: CrowdRecord): Findings {
  const { journal, timeline, checkIns, endedMs } = record;
  const waits = sorted(waitsOf(journal));
  return {
    ...asked,
    people: peopleOf(journal),
    waits: waitFigures(waits),
    line: lineOf(record),
    capacity: capacityOf(timeline),
    admissions: admissionsOf(timeline, asked.rules),
    fairness: fairnessOf(journal),
    promise: promiseOf(journal),
    reasons: reasonShares(timeline),
    checkIns,
    endedMs,
    series: columnsOf(timeline.looks),
    waitBins: waitBinsOf(waits),
  };
}

function peopleOf(journal: Journal): People {
  return {
    straightThrough: journal.count(STRAIGHT_THROUGH),
    afterWaiting: journal.count(AFTER_WAITING),
    gaveUp: journal.count(GAVE_UP),
    noShow: journal.count(NO_SHOW),
    turnedAway: journal.count(TURNED_AWAY),
    turnedAwayBecause: Object.fromEntries(journal.reasons),
    stillWaiting: journal.count(STILL_WAITING),
  };
}

function* waitsOf(journal: Journal): Iterable<number> {
  for (let i = 0; i < journal.size; i++)
    if (journal.isIn(i)) yield journal.enteredMs[i]! - journal.joinedMs[i]!;
}

function waitFigures(waits: Sorted): Waits {
  const sum = waits.reduce((total, ms) => total + ms, 0);
  return {
    p50Ms: percentile(waits, 0.5),
    p90Ms: percentile(waits, 0.9),
    p95Ms: percentile(waits, 0.95),
    p99Ms: percentile(waits, 0.99),
    maxMs: waits.at(-1) ?? null,
    meanMs: waits.length === 0 ? null : Math.round(sum / waits.length),
  };
}

function waitBinsOf(waits: Sorted): Findings["waitBins"] {
  const widthMs = niceDuration((waits.at(-1) ?? 0) / BINS_WISHED);
  return { widthMs, bins: binned(waits, widthMs) };
}

function lineOf({ journal, timeline, lastTurnMs }: CrowdRecord): LineFindings {
  const { waiting, atMs } = timeline.longest;
  let lastEnteredMs: number | null = null;
  for (let i = 0; i < journal.size; i++)
    if (journal.isIn(i)) lastEnteredMs = Math.max(lastEnteredMs ?? 0, journal.enteredMs[i]!);
  const isOver = journal.count(STILL_WAITING) === 0;
  return { longest: waiting, longestAtMs: atMs, emptyAtMs: isOver ? lastTurnMs : null, lastEnteredMs };
}

function capacityOf({ used, looks }: Timeline): SlotsTaken {
  const slots = looks.reduce<number | null>(
    (most, look) => (look.slots === null ? most : Math.max(most ?? 0, look.slots)),
    null,
  );
  return { slots, peak: used.peak, mean: rounded(used.mean, 1), fullShare: rounded(used.fullShare, 4) };
}

function admissionsOf({ admittedByMinute: minutes }: Timeline, rules: DoorRules): Admissions {
  const first = minutes.findIndex((count) => count > 0);
  const spanned = first === -1 ? [] : minutes.slice(first);
  // The last minute is incomplete, unless it is the only one.
  const whole = spanned.length > 1 ? spanned.slice(0, -1) : spanned;
  const mean = whole.length === 0 ? 0 : whole.reduce((sum, count) => sum + count, 0) / whole.length;
  return {
    limitPerMinute: rules.newUsersPerMinute,
    peakPerMinute: minutes.reduce((most, count) => Math.max(most, count), 0),
    meanPerMinute: rounded(mean, 1),
  };
}

function fairnessOf(journal: Journal): Fairness {
  const turns: Turn[] = [];
  for (let i = 0; i < journal.size; i++)
    if (journal.isIn(i)) turns.push({ joined: i, admitted: journal.admittedMs[i]! });
  return { kendallTau: rounded(unfairness(turns), 6), displacementMax: displacementOf(turns) };
}

/** Turns come in order of joining; those of one run of the door count as admitted in that order. */
export function displacementOf(turns: readonly Turn[]): number {
  const ranks = turns.map((_, rank) => rank);
  ranks.sort((a, b) => turns[a]!.admitted - turns[b]!.admitted || a - b);
  return ranks.reduce((most, joined, admitted) => Math.max(most, Math.abs(joined - admitted)), 0);
}

function promiseOf(journal: Journal): PromiseKept {
  const ratios: number[] = [];
  let within = 0;
  for (let i = 0; i < journal.size; i++) {
    const told = journal.toldMs[i]!;
    if (journal.outcome[i] !== AFTER_WAITING || told === 0) continue;
    const waited = journal.admittedMs[i]! - journal.joinedMs[i]!;
    ratios.push(waited / told);
    if (waited >= journal.toldLowMs[i]! && waited <= journal.toldHighMs[i]!) within++;
  }
  const median = percentile(sorted(ratios), 0.5);
  if (median === null) return { medianRatio: null, withinRange: null };
  return { medianRatio: rounded(median, 3), withinRange: rounded(within / ratios.length, 4) };
}

function reasonShares({ reasonMs }: Timeline): Findings["reasons"] {
  const all = [...reasonMs.values()].reduce((sum, ms) => sum + ms, 0);
  const shares = [...reasonMs].map(([reason, ms]) => [reason, rounded(ms / Math.max(1, all), 4)]);
  return Object.fromEntries(shares);
}

function columnsOf(looks: readonly RoomMoment[]): Columns {
  return {
    atMs: looks.map(({ atMs }) => atMs),
    waiting: looks.map(({ waiting }) => waiting),
    used: looks.map(({ onSite, turns }) => onSite + turns),
    slots: looks.map(({ slots }) => slots),
    arrived: looks.map(({ arrived }) => arrived),
    admitted: looks.map(({ admitted }) => admitted),
  };
}

function rounded(value: number, digits: number): number {
  return Math.round(value * 10 ** digits) / 10 ** digits;
}
