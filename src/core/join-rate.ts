/**
 * Joins a second, lately: an average in which a join counts less the longer ago it was, by a factor e every ten
 * seconds. One number is kept, whatever the rate.
 */
const MEMORY_MS = 10_000;

export class JoinRate {
  #weight = 0;
  #at = 0;

  /** Counts one join. */
  add(now: number): void {
    this.#weight = this.#weightAt(now) + 1;
    this.#at = now;
  }

  perSecond(now: number): number {
    return this.#weightAt(now) / (MEMORY_MS / 1_000);
  }

  #weightAt(now: number): number {
    return this.#weight * Math.exp(-Math.max(0, now - this.#at) / MEMORY_MS);
  }
}
