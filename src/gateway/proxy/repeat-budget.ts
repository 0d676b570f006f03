/**
 * How many requests of an origin may be sent a second time: a fifth of all requests, and a few a second besides. A site in
 * trouble then never gets more than a little extra load, and nobody can multiply their own by asking for what makes the
 * origin hang up.
 *
 * What is not used is saved, up to as many as one address may have under way: all of them can be repeated elsewhere when
 * it dies.
 */

/** Of all requests. */
export const REPEATED_SHARE = 0.2;
/** On top of the share, for sites where little goes on. */
export const REPEATS_PER_SECOND = 10;

export class RepeatBudget {
  readonly #savedMax: number;
  #saved: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(savedMax: number) {
    this.#savedMax = savedMax;
    this.#saved = savedMax;
  }

  /** A request is sent for the first time. */
  earn(): void {
    this.#saved = Math.min(this.#saved + REPEATED_SHARE, this.#savedMax);
  }

  /** True when a request may be repeated now. */
  has(now: number): boolean {
    const earned = ((now - this.#at) / 1_000) * REPEATS_PER_SECOND;
    this.#saved = Math.min(this.#saved + earned, this.#savedMax);
    this.#at = now;
    return this.#saved >= 1;
  }

  /** Takes one repeat. False when there is none. */
  spend(now: number): boolean {
    if (!this.has(now)) return false;
    this.#saved--;
    return true;
  }
}
