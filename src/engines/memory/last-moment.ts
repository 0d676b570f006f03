/**
 * Places given just before a crash may be missing on disk; only their tickets prove them. A restored room therefore holds back
 * everyone behind them until their holders have had the time they were told to stay away, and a little more.
 *
 * So a longer interval must be on disk before anyone is told it.
 */

/** How much later than told the holders may come back. */
const SETTLE_MS = 3_000;
/** The next visitors may be told an interval this many times as long as any before, without a write first. */
const TOLD_RESERVE = 3;

/** Until `until` nobody from sequence `from` on is admitted: visitors before them may not be back yet. */
interface Hold {
  readonly from: number;
  readonly until: number;
}

export interface LastMomentMemo {
  /** The longest interval that holders of places not on disk may have been told. 0: there are none. */
  readonly toldMs: number;
  /** Those from earlier crashes that still hold. */
  readonly holds: readonly Hold[];
}

export class LastMoment {
  #toldMs = 0;
  /** The `toldMs` that is surely on disk, whichever of the last two memos was written. */
  #toldKeptMs: number;
  #holds: Hold[] = [];

  constructor(isKept: boolean) {
    this.#toldKeptMs = isKept ? 0 : Number.POSITIVE_INFINITY;
  }

  /** A newcomer is told this interval. True when it must be on disk first. */
  tell(ms: number): boolean {
    if (ms > this.#toldMs) this.#toldMs = ms * TOLD_RESERVE;
    return ms > this.#toldKeptMs;
  }

  isHeld(sequence: number, now: number): boolean {
    return this.#holds.some(({ from, until }) => sequence >= from && now < until);
  }

  /** True while anyone is held back. */
  isHolding(now: number): boolean {
    return this.#holds.some(({ until }) => now < until);
  }

  /** To be stored together with all present places. */
  memo({ waiting, now }: { waiting: number; now: number }): LastMomentMemo {
    // The next visitor to join an empty line starts a new measure.
    if (waiting === 0) this.#toldMs = 0;
    this.#toldKeptMs = Math.min(this.#toldKeptMs, this.#toldMs);
    this.#holds = this.#holds.filter(({ until }) => until > now);
    return { toldMs: this.#toldMs, holds: this.#holds };
  }

  /** The last memo is on disk. */
  kept({ toldMs }: LastMomentMemo): void {
    this.#toldKeptMs = toldMs;
  }

  /** `unseenFrom`: the first sequence that may have been given out without being stored; null after an orderly shutdown. */
  restore({ toldMs, holds }: LastMomentMemo, unseenFrom: number | null, now: number): void {
    this.#holds = [...holds];
    if (unseenFrom !== null && toldMs > 0)
      this.#holds.push({ from: unseenFrom, until: now + toldMs + SETTLE_MS });
  }
}
