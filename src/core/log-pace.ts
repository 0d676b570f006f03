/**
 * How often something is logged that outsiders can cause as often as they like: the first time at once, then at most once
 * a second, with the number of times it has happened since. What is counted last is told by the next time, or by `due`
 * where somebody asks for it now and then.
 */
export const LOG_EVERY_MS = 1_000;

export class LogPace {
  #nextAt = Number.NEGATIVE_INFINITY;
  #count = 0;

  /** Counts one more. Gives the number to log, or 0 when it is too early for another line. */
  add(now: number): number {
    this.#count++;
    return this.due(now);
  }

  /** The number that is still to be logged, or 0 when there is none or it is too early. */
  due(now: number): number {
    if (this.#count === 0 || now < this.#nextAt) return 0;
    const count = this.#count;
    this.#count = 0;
    this.#nextAt = now + LOG_EVERY_MS;
    return count;
  }
}
