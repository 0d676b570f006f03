/**
 * An honest wait. The door's recent speed, measured only while people were waiting, is blended with what the rules
 * promise before anything was measured, and the doubt about both becomes a range: a place near the front has a wide
 * one because single visitors matter, a place far back because the speed may change.
 *
 * `middle` is as likely too long as too short; between `low` and `high` lie four waits out of five.
 */
import type { WaitRange } from "./board.ts";
import type { RoomRules } from "./rules.ts";

const BIN_MS = 5_000;
const BINS_MAX = 24;
/** At first the rules' promise counts as much as this long of measuring, after `PROMISE_BINS` only a tenth of it. */
const PROMISE_WEIGHT_MS = 15_000;
const PROMISE_BINS = 12;
const PROMISE_LEAST = 0.1;
const PROMISE_DOUBT = 0.5;
const LEAST_DOUBT = 0.08;
const DOUBT_MAX = 1.2;
/** The 10th and 90th percentile of a normal distribution lie this many deviations out. */
const TENTH_DEVIATIONS = 1.2816;

export class Pace {
  #admitted: number[] = [];
  #spentMs: number[] = [];
  #lastAt: number | null = null;
  /** What was measured, added up once a turn: visitors ask far more often than the door turns. */
  #admittedSum = 0;
  #spentSumMs = 0;
  #doubt = PROMISE_DOUBT;

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
    this.#admittedSum = sum(this.#admitted);
    this.#spentSumMs = sum(this.#spentMs);
    this.#doubt = this.#newDoubt();
  }

  /** Visitors a millisecond, blending what was measured with what the rules promise. */
  perMs(rules: RoomRules): number {
    const promised = promisedPerMs(rules);
    const spent = this.#spentSumMs;
    const trust = Math.max(PROMISE_LEAST, 1 - this.#admitted.length / PROMISE_BINS);
    const weight = promised === null ? 0 : PROMISE_WEIGHT_MS * trust;
    if (spent + weight === 0) return 0;
    return (this.#admittedSum + (promised ?? 0) * weight) / (spent + weight);
  }

  /** The wait of someone with `ahead` before them, in milliseconds; null while nothing can be said. */
  wait(rules: RoomRules, ahead: number): WaitRange | null {
    const perMs = this.perMs(rules);
    if (perMs <= 0 || rules.paused) return null;
    return spread((ahead + 1) / perMs, Math.sqrt(this.#doubt ** 2 + 1 / (ahead + 1)));
  }

  /** Milliseconds for a hundred visitors to be admitted, for the board. */
  perHundred(rules: RoomRules): WaitRange | null {
    const perMs = this.perMs(rules);
    return perMs <= 0 || rules.paused ? null : spread(100 / perMs, this.#doubt);
  }

  /** Relative standard error of the speed: from how much the bins differ, shrinking as they grow in number. */
  #newDoubt(): number {
    const bins = this.#admitted.length;
    if (bins < 3) return PROMISE_DOUBT;
    const mean = this.#admittedSum / bins;
    if (mean === 0) return DOUBT_MAX;
    const variance = this.#admitted.reduce((total, n) => total + (n - mean) ** 2, 0) / (bins - 1);
    return Math.max(LEAST_DOUBT, Math.sqrt(variance / bins) / mean + PROMISE_DOUBT / bins);
  }
}

/** What the rules alone let through: the set rate, or every slot once a session, whichever is less. */
function promisedPerMs(rules: RoomRules): number | null {
  const byRate = rules.newUsersPerMinute === null ? null : rules.newUsersPerMinute / 60_000;
  const bySlots = rules.totalActiveUsers === null ? null : rules.totalActiveUsers / rules.sessionDurationMs;
  if (byRate === null) return bySlots;
  return bySlots === null ? byRate : Math.min(byRate, bySlots);
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
