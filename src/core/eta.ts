/**
 * An honest wait. The door's recent speed, measured only while people were waiting, is blended with what the rules
 * promise before anything was measured, and the doubt about both becomes a range: a place near the front has a wide
 * one because single visitors matter, a place far back because the speed may change.
 *
 * `middle` is as likely too long as too short; between `low` and `high` lie four waits out of five.
 */
import type { WaitRange } from "./board.ts";
import { type DoorRules, isHeld } from "./rules.ts";

const BIN_MS = 5_000;
const BINS_MAX = 24;
const BINS_MIN = 3;
/** At first the rules' promise counts as much as this long of measuring, after `PROMISE_BINS` only a tenth of it. */
const PROMISE_WEIGHT_MS = 15_000;
const PROMISE_BINS = 12;
const PROMISE_LEAST = 0.1;
/** A set rate is kept as long as the site has room; how long people stay is anybody's guess. */
const RATE_DOUBT = 0.2;
const SLOTS_DOUBT = 0.5;
const LEAST_DOUBT = 0.08;
const DOUBT_MAX = 1.2;
/** The 10th and 90th percentile of a normal distribution lie this many deviations out. */
const TENTH_DEVIATIONS = 1.2816;
/** Steps of the line to each doubling of it, as a power of two; the first doublings go by single places. */
const STEP_BITS = 6;
const STEP_SHIFT_BASE = 31 - STEP_BITS;

/** Admissions, and the time they took, in bins of some seconds. */
export interface Measured {
  readonly admitted: readonly number[];
  readonly spentMs: readonly number[];
}

/** How fast the door lets people in: visitors a millisecond, and the relative doubt about that. */
export interface Speed {
  readonly perMs: number;
  readonly doubt: number;
}

export class Pace {
  #admitted: number[] = [];
  #spentMs: number[] = [];
  #lastAt: number | null = null;
  /** What was measured, added up once a turn: visitors ask far more often than the door turns. */
  #admittedSum = 0;
  #spentSumMs = 0;
  #measuredDoubt: number | null = null;
  /** The same for the waits themselves, by step of the line; good until the next turn, or for other rules. */
  #waits: (WaitRange | undefined)[] = [];
  #waitsFor: DoorRules | null = null;

  /** One turn of the door. Time without a line, or while held, says nothing about its speed and is left out. */
  observe(turn: { admitted: number; isLine: boolean; now: number }): void {
    const spentMs = this.#lastAt === null ? 0 : turn.now - this.#lastAt;
    this.#lastAt = turn.now;
    if (!turn.isLine && turn.admitted === 0) return;
    const last = this.#spentMs.length - 1;
    if (last < 0 || this.#spentMs[last]! >= BIN_MS) {
      this.#admitted.push(turn.admitted);
      this.#spentMs.push(spentMs);
    } else {
      this.#admitted[last]! += turn.admitted;
      this.#spentMs[last]! += spentMs;
    }
    if (this.#admitted.length > BINS_MAX) {
      this.#admitted.shift();
      this.#spentMs.shift();
    }
    this.#addUp();
  }

  /** What was measured, to be taken over after a restart. */
  measured(): Measured {
    return { admitted: [...this.#admitted], spentMs: [...this.#spentMs] };
  }

  restore(measured: Measured): void {
    this.#admitted = [...measured.admitted];
    this.#spentMs = [...measured.spentMs];
    this.#addUp();
  }

  #addUp(): void {
    this.#waitsFor = null;
    this.#admittedSum = sum(this.#admitted);
    this.#spentSumMs = sum(this.#spentMs);
    this.#measuredDoubt = this.#spreadOfBins();
  }

  /** Visitors a millisecond, blending what was measured with what the rules promise. */
  perMs(rules: DoorRules): number {
    const promised = promise(rules)?.perMs ?? null;
    const spent = this.#spentSumMs;
    const trust = Math.max(PROMISE_LEAST, 1 - this.#admitted.length / PROMISE_BINS);
    const weight = promised === null ? 0 : PROMISE_WEIGHT_MS * trust;
    if (spent + weight === 0) return 0;
    return (this.#admittedSum + (promised ?? 0) * weight) / (spent + weight);
  }

  /**
   * The wait of someone with `ahead` before them, in milliseconds; null while nothing can be said. Worked out in steps
   * of about a hundredth of the line, which is far less than the doubt, and once for all who stand in one step.
   */
  wait(rules: DoorRules, ahead: number): WaitRange | null {
    return isHeld(rules) ? null : this.#waitOnceOpen(rules, ahead);
  }

  /**
   * The shortest wait to reckon with, in milliseconds, also while the door is held: it may open at any moment. The set
   * rate is never exceeded. Of a full site everyone may leave at once, so only those beyond that many have to wait for
   * visits to end. Without either limit it follows the poll budget, since everyone let in makes a request.
   */
  reach(rules: DoorRules, ahead: number): number {
    const { newUsersPerMinute, totalActiveUsers, pollBudgetPerSecond } = rules;
    if (newUsersPerMinute === null && totalActiveUsers === null) return (ahead / pollBudgetPerSecond) * 1_000;
    const byRateMs = newUsersPerMinute === null ? 0 : (ahead / newUsersPerMinute) * 60_000;
    if (totalActiveUsers === null || ahead <= totalActiveUsers) return byRateMs;
    const bySlotsMs = this.#waitOnceOpen(rules, ahead - totalActiveUsers - 1)?.low ?? 0;
    return Math.max(byRateMs, bySlotsMs);
  }

  #waitOnceOpen(rules: DoorRules, ahead: number): WaitRange | null {
    if (this.#waitsFor !== rules) {
      this.#waits = [];
      this.#waitsFor = rules;
    }
    const shift = stepShift(ahead);
    const index = (shift << STEP_BITS) + ((ahead + 1) >> shift);
    const known = this.#waits[index];
    if (known) return known;
    const wait = waitAt(this.#speed(rules), ahead);
    if (wait) this.#waits[index] = wait;
    return wait;
  }

  #speed(rules: DoorRules): Speed {
    return { perMs: this.perMs(rules), doubt: this.#doubt(rules) };
  }

  /** Relative doubt about the speed: the promise's at first, then what was measured, with less and less of the promise. */
  #doubt(rules: DoorRules): number {
    const promised = promise(rules)?.doubt ?? SLOTS_DOUBT;
    if (this.#measuredDoubt === null) return promised;
    return Math.max(LEAST_DOUBT, this.#measuredDoubt + promised / this.#admitted.length);
  }

  /** Relative standard error of the measured speed, from how much the bins differ; null while there are too few. */
  #spreadOfBins(): number | null {
    const bins = this.#admitted.length;
    if (bins < BINS_MIN) return null;
    const mean = this.#admittedSum / bins;
    if (mean === 0) return DOUBT_MAX;
    const variance = this.#admitted.reduce((total, n) => total + (n - mean) ** 2, 0) / (bins - 1);
    return Math.sqrt(variance / bins) / mean;
  }
}

/**
 * The wait of someone with `ahead` before them at a speed measured elsewhere, the same as `Pace.wait` tells it; null when
 * nobody is let in.
 */
export function waitAt({ perMs, doubt }: Speed, ahead: number): WaitRange | null {
  if (perMs <= 0) return null;
  const shift = stepShift(ahead);
  const step = (ahead + 1) >> shift;
  const turns = (step << shift) + ((1 << shift) >> 1);
  return spread(turns / perMs, Math.sqrt(doubt ** 2 + 1 / turns));
}

/** How wide the step of the line is in which `ahead` lies, as a power of two. */
function stepShift(ahead: number): number {
  return Math.max(0, STEP_SHIFT_BASE - Math.clz32(ahead + 1));
}

/** What the rules alone let through: the set rate, or every slot once a session, whichever is less. */
function promise(rules: DoorRules): Speed | null {
  const { newUsersPerMinute, totalActiveUsers, sessionDurationMs } = rules;
  const byRate = newUsersPerMinute === null ? Number.POSITIVE_INFINITY : newUsersPerMinute / 60_000;
  const bySlots = totalActiveUsers === null ? Number.POSITIVE_INFINITY : totalActiveUsers / sessionDurationMs;
  const perMs = Math.min(byRate, bySlots);
  return perMs === Number.POSITIVE_INFINITY
    ? null
    : { perMs, doubt: byRate <= bySlots ? RATE_DOUBT : SLOTS_DOUBT };
}

function spread(middle: number, doubt: number): WaitRange {
  const factor = Math.exp(TENTH_DEVIATIONS * Math.min(doubt, DOUBT_MAX));
  return { low: middle / factor, middle, high: middle * factor };
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
