/**
 * The last moment before an unclean end: places given then are known to nobody but their tickets. A room restored from
 * the disk therefore holds back everyone behind them until their holders have had the time they were told to stay away,
 * and a little more.
 *
 * How long that can be has to be on disk before anyone is told to stay away for longer.
 */

/** How much longer than they were told the holders may take to come back. */
const SETTLE_MS = 3_000;
/** The next ones may be told to stay away this many times longer than any before, without keeping that first. */
const TOLD_RESERVE = 3;

/** Until then nobody from this sequence on is admitted: some before them may not be back yet. */
interface Hold {
  readonly from: number;
  readonly until: number;
}

export interface LastMomentMemo {
  /** Nobody whose place is not kept was told to stay away longer than this. 0: there is no such place. */
  readonly toldMs: number;
  /** What earlier unclean ends still hold back. */
  readonly holds: readonly Hold[];
}

export class LastMoment {
  #toldMs = 0;
  /** What of `toldMs` is on disk for sure, whichever of the last two memos is there. */
  #toldKeptMs: number;
  #holds: Hold[] = [];

  constructor(isKept: boolean) {
    this.#toldKeptMs = isKept ? 0 : Number.POSITIVE_INFINITY;
  }

  /** A newcomer is told to stay away for this long. True when the disk must know before they do. */
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

  /** To be kept together with every place there is now. */
  memo({ waiting, now }: { waiting: number; now: number }): LastMomentMemo {
    // The next to join an empty line is told anew.
    if (waiting === 0) this.#toldMs = 0;
    this.#toldKeptMs = Math.min(this.#toldKeptMs, this.#toldMs);
    this.#holds = this.#holds.filter(({ until }) => until > now);
    return { toldMs: this.#toldMs, holds: this.#holds };
  }

  /** The memo last made is on disk. */
  kept({ toldMs }: LastMomentMemo): void {
    this.#toldKeptMs = toldMs;
  }

  /** After an unclean end, with the first sequence that may have been given out unseen; null after a clean one. */
  restore({ toldMs, holds }: LastMomentMemo, unseenFrom: number | null, now: number): void {
    this.#holds = [...holds];
    if (unseenFrom !== null && toldMs > 0)
      this.#holds.push({ from: unseenFrom, until: now + toldMs + SETTLE_MS });
  }
}
