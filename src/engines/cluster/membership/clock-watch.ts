/**
 * How far the peers' clocks are from this node's, by their messages. A message is late by its travel time, so the one that makes
 * the clock look furthest ahead is nearest to the truth. A clock that is off by more than `maxClockSkew` is not followed
 * (order-clock.ts), so visitors who join there get the wrong place in the line, and operators must be told.
 */
const WINDOW_MS = 10_000;
/** A message may be this late without its writer's clock being behind. */
const LATE_MAX_MS = 2_000;

interface Seen {
  readonly since: number;
  /** The maximum of this window, and of the one before. */
  aheadMs: number;
  readonly before: number;
}

export class ClockWatch {
  readonly #skewMaxMs: number;
  readonly #seen = new Map<string, Seen>();

  constructor(skewMaxMs: number) {
    this.#skewMaxMs = skewMaxMs;
  }

  /** Takes in a message's time. */
  hear(id: string, time: number, now: number): void {
    const seen = this.#seen.get(id);
    const aheadMs = time - now;
    if (!seen || now - seen.since >= WINDOW_MS)
      this.#seen.set(id, { since: now, aheadMs, before: seen?.aheadMs ?? aheadMs });
    else if (aheadMs > seen.aheadMs) seen.aheadMs = aheadMs;
  }

  /** How far a peer's clock is ahead (negative: behind), if that is more than allowed; otherwise null. */
  wrongBy(id: string): number | null {
    const seen = this.#seen.get(id);
    return seen ? this.#wrong(Math.max(seen.aheadMs, seen.before)) : null;
  }

  /** The same by a single message. */
  wrongIn(time: number, now: number): number | null {
    return this.#wrong(time - now);
  }

  /** Stops watching all others. */
  keep(ids: readonly string[]): void {
    for (const id of this.#seen.keys()) if (!ids.includes(id)) this.#seen.delete(id);
  }

  #wrong(aheadMs: number): number | null {
    const isWrong = aheadMs > this.#skewMaxMs || aheadMs < -this.#skewMaxMs - LATE_MAX_MS;
    return isWrong ? aheadMs : null;
  }
}

/** For instance "3.2 s ahead of". */
export function clockText(aheadMs: number): string {
  const seconds = Math.abs(aheadMs) / 1_000;
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s ${aheadMs > 0 ? "ahead of" : "behind"}`;
}
