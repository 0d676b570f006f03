/**
 * How fast the door is, and the shortest wait to reckon with, by which check-ins are paced. The recent speed, measured only
 * while people were waiting, is blended with what the rules promise before anything was measured. By the doubt about both,
 * nine waits out of ten are longer than the shortest one. The waits that visitors are told are forecast.ts's.
 */
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

/** What the rules alone let through: visitors a millisecond, and the relative doubt about that. */
interface Promised {
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
  /** The shortest waits by step of the line; good until the next turn, or for other rules. */
  #lows: (number | undefined)[] = [];
  #lowsFor: DoorRules | null = null;

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
    this.#lowsFor = null;
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

  /** The shortest wait of someone with `ahead` before them, in milliseconds; null while nothing can be said. */
  waitLow(rules: DoorRules, ahead: number): number | null {
    return isHeld(rules) ? null : this.#lowOnceOpen(rules, ahead);
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
    const bySlotsMs = this.#lowOnceOpen(rules, ahead - totalActiveUsers - 1) ?? 0;
    return Math.max(byRateMs, bySlotsMs);
  }

  /** Worked out in steps of about a hundredth of the line, which is far less than the doubt, once for all in one step. */
  #lowOnceOpen(rules: DoorRules, ahead: number): number | null {
    if (this.#lowsFor !== rules) {
      this.#lows = [];
      this.#lowsFor = rules;
    }
    const shift = stepShift(ahead);
    const step = (ahead + 1) >> shift;
    const index = (shift << STEP_BITS) + step;
    const known = this.#lows[index];
    if (known !== undefined) return known;
    const perMs = this.perMs(rules);
    if (perMs <= 0) return null;
    const turns = (step << shift) + ((1 << shift) >> 1);
    const doubt = Math.min(Math.sqrt(this.#doubt(rules) ** 2 + 1 / turns), DOUBT_MAX);
    const low = turns / perMs / Math.exp(TENTH_DEVIATIONS * doubt);
    this.#lows[index] = low;
    return low;
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

/** How wide the step of the line is in which `ahead` lies, as a power of two. */
function stepShift(ahead: number): number {
  return Math.max(0, STEP_SHIFT_BASE - Math.clz32(ahead + 1));
}

/** The set rate, or every slot once a session, whichever is less. */
function promise(rules: DoorRules): Promised | null {
  const { newUsersPerMinute, totalActiveUsers, sessionDurationMs } = rules;
  const byRate = newUsersPerMinute === null ? Number.POSITIVE_INFINITY : newUsersPerMinute / 60_000;
  const bySlots = totalActiveUsers === null ? Number.POSITIVE_INFINITY : totalActiveUsers / sessionDurationMs;
  const perMs = Math.min(byRate, bySlots);
  return perMs === Number.POSITIVE_INFINITY
    ? null
    : { perMs, doubt: byRate <= bySlots ? RATE_DOUBT : SLOTS_DOUBT };
}

function sum(values: readonly number[]): number {
  let total = 0;
  for (const value of values) total += value;
  return total;
}
