/**
 * A part that is cut off gives turns to its own people only. After a cut the larger part may act for nodes it cannot reach; the
 * smaller one must not, or both would give away the same places. So no node of the smaller part may report the first turn of a
 * place that was given out in the other part.
 *
 * Judged only when it is certain which part is which: the cluster was whole with every node up for a while, it is cut into two
 * parts of different size, and nothing else happens until they meet again.
 */
import type { Check, Notice } from "../notice.ts";
import { Disturbances } from "./disturbances.ts";

/** For this long before a cut nothing else may have happened. */
const WHOLE_FOR_MS = 10_000;
/** After this, messages on their way at the cut have been handled. */
const UNDER_WAY_MS = 500;

export class OwnPart implements Check {
  readonly name = "own part";
  readonly #disturbances = new Disturbances();
  readonly #givenAt = new Map<number, number>();
  readonly #turned = new Set<number>();
  #cut: { readonly at: number; readonly smaller: ReadonlySet<number> } | null = null;

  see(notice: Notice): string | null {
    if (notice.kind === "answered" && notice.request === "join" && notice.answer.kind === "waiting")
      this.#givenAt.set(notice.answer.ticket.sequence, notice.station);
    if (notice.kind === "parted") this.#part(notice.parts, notice.at);
    if (notice.kind === "stopped" || notice.kind === "started") this.#cut = null;
    if (notice.kind === "stopped") this.#bequeath(notice.station);
    // The part that acted for absent nodes may have kept their places.
    if (notice.kind === "split" && !notice.isSplit) this.#givenAt.clear();
    this.#disturbances.see(notice);
    return notice.kind === "turns" ? this.#turn(notice.station, notice.sequences, notice.at) : null;
  }

  /** The places of a node that is gone go to others. */
  #bequeath(station: number): void {
    for (const [sequence, home] of this.#givenAt) if (home === station) this.#givenAt.delete(sequence);
  }

  #part(parts: readonly (readonly number[])[] | null, at: number): void {
    const isWhole = !this.#disturbances.isAnySince(at - WHOLE_FOR_MS);
    const [smaller, larger] = [...(parts ?? [])].sort((a, b) => a.length - b.length);
    const isPlain = smaller !== undefined && larger !== undefined && smaller.length < larger.length;
    this.#cut = isWhole && isPlain && this.#cut === null ? { at, smaller: new Set(smaller) } : null;
  }

  #turn(station: number, sequences: readonly number[], at: number): string | null {
    const cut = this.#cut;
    const isJudged = cut?.smaller.has(station) === true && at > cut.at + UNDER_WAY_MS;
    let wrong: string | null = null;
    for (const sequence of sequences) {
      const home = this.#givenAt.get(sequence);
      const isForeign = home !== undefined && !cut?.smaller.has(home) && !this.#turned.has(sequence);
      if (isJudged && isForeign)
        wrong = `node-${station}, in the smaller part, gave a turn to place ${sequence} of node-${home}, in the other`;
      this.#turned.add(sequence);
    }
    return wrong;
  }
}
