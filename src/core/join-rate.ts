/**
 * The recent join rate: an exponential average, in which a join counts less by a factor e every ten seconds. It takes one
 * number, whatever the rate.
 */
const MEMORY_MS = 10_000;

export class JoinRate {
  #weight = 0;
  #at = 0;

  /** Counts one join. */
  add(now: number): void {
    this.#weight = this.#weightAt(now) + 1;
    this.#at = Math.max(this.#at, now);
  }

  /** Takes back a join that failed, as if it had never been counted. */
  giveBack(joinedAt: number): void {
    this.#weight = Math.max(0, this.#weight - Math.exp(-Math.max(0, this.#at - joinedAt) / MEMORY_MS));
  }

  perSecond(now: number): number {
    return this.#weightAt(now) / (MEMORY_MS / 1_000);
  }

  #weightAt(now: number): number {
    return this.#weight * Math.exp(-Math.max(0, now - this.#at) / MEMORY_MS);
  }
}
