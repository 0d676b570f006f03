/**
 * What excuses a cluster that contradicts itself: parts of it could not talk, or whoever knew has died before it could
 * pass the news on. Checks ask this book whether something of the kind lies between two instants.
 */
import type { Notice } from "../notice.ts";

/** News that a node had for longer than this is known to others, if it could talk to them. */
export const SPREAD_MS = 5_000;
/** So long after links were mended parts may not have met yet. */
const MEET_MS = 10_000;
/** What a node said this shortly before its end may have died with it. */
const UNSPREAD_MS = 1_000;

export class Disturbances {
  #isSplit = false;
  #splitUntil = Number.NEGATIVE_INFINITY;
  #forgotAt = Number.NEGATIVE_INFINITY;
  #stoppedAt = Number.NEGATIVE_INFINITY;
  /** "station/life" → when it ended. */
  readonly #ends = new Map<string, number>();

  see(notice: Notice): void {
    if (notice.kind === "split") {
      this.#isSplit = notice.isSplit;
      this.#splitUntil = notice.at;
    } else if (notice.kind === "stopped") {
      this.#stoppedAt = notice.at;
      this.#ends.set(`${notice.station}/${notice.life}`, notice.at);
      if (notice.isLast) this.#forgotAt = notice.at;
    }
  }

  /** True when some links were broken at some time since `at`, or so shortly before that news may not have spread. */
  isSplitSince(at: number): boolean {
    return this.#isSplit || this.#splitUntil + SPREAD_MS > at;
  }

  /** True while links are broken, and until parts have met again after that. */
  isApart(at: number): boolean {
    return this.#isSplit || at - this.#splitUntil <= MEET_MS;
  }

  isForgottenSince(at: number): boolean {
    return this.#forgotAt >= at;
  }

  /** True when links were broken or a process ended since then, or so shortly before that it may have been lost. */
  isAnySince(at: number): boolean {
    return this.isSplitSince(at) || this.#stoppedAt + UNSPREAD_MS > at;
  }

  /** True when what this process said at that instant may have died with it. */
  mayBeLost(said: { readonly at: number; readonly station: number; readonly life: number }): boolean {
    const endedAt = this.#ends.get(`${said.station}/${said.life}`);
    return endedAt !== undefined && endedAt - said.at <= UNSPREAD_MS;
  }
}
