/**
 * How far the clocks of peers are from this node's, as their messages tell. A message is late by its time on the way, so of
 * those that came lately the one that makes the clock look furthest ahead is nearest to the truth. Beyond `maxClockSkew` a
 * clock is not followed (order-clock.ts), and whoever joins where it is stands in the wrong place: that is nothing to put up
 * with in silence.
 */
const WINDOW_MS = 10_000;
/** A message may be so late without its writer's clock being behind. */
const LATE_MAX_MS = 2_000;

interface Seen {
  readonly since: number;
  /** The largest of this window, and of the one before. */
  aheadMs: number;
  readonly before: number;
}

export class ClockWatch {
  readonly #skewMaxMs: number;
  readonly #seen = new Map<string, Seen>();

  constructor(skewMaxMs: number) {
    this.#skewMaxMs = skewMaxMs;
  }

  /** A message says that it is `time` at its writer's. */
  hear(id: string, time: number, now: number): void {
    const seen = this.#seen.get(id);
    const aheadMs = time - now;
    if (!seen || now - seen.since >= WINDOW_MS)
      this.#seen.set(id, { since: now, aheadMs, before: seen?.aheadMs ?? aheadMs });
    else if (aheadMs > seen.aheadMs) seen.aheadMs = aheadMs;
  }

  /** By how much a peer's clock is ahead (below zero: behind), where that is more than it may be; otherwise null. */
  wrongBy(id: string): number | null {
    const seen = this.#seen.get(id);
    return seen ? this.#wrong(Math.max(seen.aheadMs, seen.before)) : null;
  }

  /** The same by one message alone. */
  wrongIn(time: number, now: number): number | null {
    return this.#wrong(time - now);
  }

  /** Only these are still watched. */
  keep(ids: readonly string[]): void {
    for (const id of this.#seen.keys()) if (!ids.includes(id)) this.#seen.delete(id);
  }

  #wrong(aheadMs: number): number | null {
    const isWrong = aheadMs > this.#skewMaxMs || aheadMs < -this.#skewMaxMs - LATE_MAX_MS;
    return isWrong ? aheadMs : null;
  }
}

/** "3.2 s ahead of", for people. */
export function clockText(aheadMs: number): string {
  const seconds = Math.abs(aheadMs) / 1_000;
  return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s ${aheadMs > 0 ? "ahead of" : "behind"}`;
}
