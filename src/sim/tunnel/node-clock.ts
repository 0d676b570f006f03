/**
 * A node's own clock: simulated time with a skew, a drift, and jumps. Like the clock of a real node it counts whole milliseconds
 * and stands still when it is set back, so it never goes backwards.
 */
/** Simulated time 0, by a correct clock. */
export const START_AT = Date.UTC(2026, 0, 1);
/** A correct clock's step; readings may be short by this, because instants are not whole numbers. */
const STEP_MS = 1;

export class NodeClock {
  #offsetMs: number;
  readonly #rate: number;
  #last = 0;

  /** `driftPpm`: how many microseconds it gains in a second. */
  constructor({ skewMs, driftPpm }: { skewMs: number; driftPpm: number }) {
    this.#offsetMs = skewMs;
    this.#rate = 1 + driftPpm / 1e6;
  }

  /** What the clock shows at this simulated instant; instants must not decrease. */
  read(time: number): number {
    this.#last = Math.max(this.#last, Math.floor(START_AT + this.#offsetMs + time * this.#rate));
    return this.#last;
  }

  /** The simulated instant, not before `time`, at which the clock will show `at` or more. */
  timeOf(at: number, time: number): number {
    if (at <= this.#last) return time;
    const due = (at - START_AT - this.#offsetMs) / this.#rate;
    const isShort = Math.floor(START_AT + this.#offsetMs + due * this.#rate) < at;
    return Math.max(time, isShort ? due + STEP_MS / 16 : due);
  }

  jump(byMs: number): void {
    this.#offsetMs += byMs;
  }
}
