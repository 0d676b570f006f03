/**
 * Limits log lines that outsiders can cause at will: the first is logged at once, later ones at most once a second, and once
 * it has gone on for a while every ten seconds, with the number of times it has happened since. The last ones are reported at the next call, or by `due` where it is polled.
 */
export const LOG_EVERY_MS = 1_000;
/** From so many lines in a row on, and until nothing has happened for as long, they are this far apart. */
const BRISK_LINES = 10;
const SLOW_EVERY_MS = 10_000;

export class LogPace {
  #nextAt = Number.NEGATIVE_INFINITY;
  #count = 0;
  #inARow = 0;

  /** Counts one more. Returns the number to log, or 0 when it is too early for another line. */
  add(now: number): number {
    this.#count++;
    return this.due(now);
  }

  /** The number that is still to be logged, or 0 when there is none or it is too early. */
  due(now: number): number {
    if (this.#count === 0 || now < this.#nextAt) return 0;
    const count = this.#count;
    this.#count = 0;
    this.#inARow = now - this.#nextAt < SLOW_EVERY_MS ? this.#inARow + 1 : 1;
    this.#nextAt = now + (this.#inARow < BRISK_LINES ? LOG_EVERY_MS : SLOW_EVERY_MS);
    return count;
  }
}
