/**
 * When something was done to the cluster, plus the time in which its effects may show: links were broken, a process began or
 * ended. Nodes that start before the first visitor do not count. Used by checks of what holds in quiet times.
 */
import type { Notice } from "../notice.ts";

/** What a node heard this shortly before its end may be known to no other. */
const BEFORE_MS = 1_000;
/** After this, a lost node was noticed or parts have met, and there is one line again. */
const AFTER_MS = 10_000;

export class Troubles {
  /** From and to, by time. */
  readonly #stretches: { readonly from: number; to: number }[] = [];
  #isSplit = false;
  #hasAnybodyCome = false;

  see(notice: Notice): void {
    if (notice.kind === "answered") this.#hasAnybodyCome = true;
    else if (notice.kind === "split") this.#split(notice.isSplit, notice.at);
    else if (notice.kind === "stopped" || (notice.kind === "started" && this.#hasAnybodyCome))
      this.#add(notice.at - BEFORE_MS, notice.at + AFTER_MS);
  }

  /** True when there was trouble at that time, as far as known. */
  isAt(at: number): boolean {
    return this.#stretches.some(({ from, to }) => from <= at && at <= to);
  }

  #split(isSplit: boolean, at: number): void {
    if (isSplit) this.#add(at - BEFORE_MS, Number.POSITIVE_INFINITY);
    else if (this.#isSplit) for (const one of this.#stretches) one.to = Math.min(one.to, at + AFTER_MS);
    this.#isSplit = isSplit;
  }

  #add(from: number, to: number): void {
    this.#stretches.push({ from, to });
  }
}
