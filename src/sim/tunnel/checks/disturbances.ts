/**
 * What excuses a cluster that contradicts itself: its parts could not talk, or the nodes that knew have died before telling
 * others. Checks ask whether that happened between two instants.
 */
import type { Notice } from "../notice.ts";

/** News older than this has reached every node that could be reached. */
export const SPREAD_MS = 5_000;
/** For this long after links were mended parts may not have met. */
const MEET_MS = 10_000;
/** What a node said this shortly before its end may have died with it. */
const UNSPREAD_MS = 1_000;

export class Disturbances {
  #isSplit = false;
  #splitUntil = Number.NEGATIVE_INFINITY;
  #forgotAt = Number.NEGATIVE_INFINITY;
  #stoppedAt = Number.NEGATIVE_INFINITY;
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

  /** True when links were broken since `at`, or so shortly before that the news may not have spread. */
  isSplitSince(at: number): boolean {
    return this.#isSplit || this.#splitUntil + SPREAD_MS > at;
  }

  /** True while links are broken, and until parts have met again. */
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

  /** True when what this process said may have died with it. */
  mayBeLost(said: { readonly at: number; readonly station: number; readonly life: number }): boolean {
    const endedAt = this.#ends.get(`${said.station}/${said.life}`);
    return endedAt !== undefined && endedAt - said.at <= UNSPREAD_MS;
  }
}
