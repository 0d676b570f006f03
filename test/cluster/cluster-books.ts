/**
 * The books of the crash test, kept before a cluster. What a cluster promises less exactly than one gateway does is
 * measured here instead of judged there:
 *
 * - Order. A turn that was in hand when its node was killed or cut off is given once more, later; while a cluster is cut in
 *   two each part lets its own people in. So it is added up how many pairs stand the wrong way round, and by how
 *   much later somebody had joined who was let in before another.
 * - The end of a visit takes a moment to reach all nodes. What a node is told while others are dead or out of reach, and
 *   nobody has noticed yet, may reach nobody. So who left in such a time, or just now, may find their old pass good.
 */
import { Books, type Note, type Served, type Summary, type Violation } from "../crash/books.ts";

/** What one node was told this long ago all of them know. */
const SPREAD_MS = 1_000;
/** Doors note their turns in tenths of a second, rounded up. */
const TURN_STEP_MS = 100;

export interface ClusterSummary extends Summary {
  /** By how much later somebody joined, at the most, who was let in before another. */
  readonly overtakingMs: number;
  /** Old passes and tickets that were shown and must not have been taken. */
  readonly shownAgain: number;
}

/** From when a node was killed or cut off until all were one again. */
interface Trouble {
  readonly from: number;
  to: number;
}

export class ClusterBooks extends Books {
  readonly #served = new Map<number, Served>();
  readonly #leftAt = new Map<number, number>();
  readonly #troubles: Trouble[] = [];
  #shownAgain = 0;

  override note(note: Note): void {
    if (note.kind === "replayed" && this.#isNews(note.guest, note.at)) return;
    if (note.kind === "replayed") this.#shownAgain++;
    if (note.kind === "served" && !this.#leftAt.has(note.guest)) this.#served.set(note.guest, note);
    if (note.kind === "left") this.#leftAt.set(note.guest, note.at);
    if (note.kind === "killed")
      this.#troubles.push({ from: note.at - SPREAD_MS, to: Number.POSITIVE_INFINITY });
    super.note(note);
  }

  /** All nodes are one again. */
  calm(at: number): void {
    for (const trouble of this.#troubles) trouble.to = Math.min(trouble.to, at);
  }

  override close(at: number): ClusterSummary {
    const summary = super.close(at);
    const violations = summary.violations.filter((violation) => !isMeasured(violation));
    const overtakingMs = overtaking([...this.#served.values()]);
    return { ...summary, violations, overtakingMs, shownAgain: this.#shownAgain };
  }

  /** Whether not all nodes need know that a guest has left. */
  #isNews(guest: number, at: number): boolean {
    const leftAt = this.#leftAt.get(guest) ?? Number.NEGATIVE_INFINITY;
    return at - leftAt <= SPREAD_MS || this.#troubles.some(({ from, to }) => leftAt >= from && leftAt <= to);
  }
}

function isMeasured({ wrong }: Violation): boolean {
  return wrong === "overtaken" || wrong === "wrong order";
}

/** For each, how much later the last of those joined who were let in before them; the most of it. */
function overtaking(served: readonly Pick<Served, "joinedAt" | "admittedAt">[]): number {
  const turnOf = ({ admittedAt }: Pick<Served, "admittedAt">) => Math.ceil(admittedAt / TURN_STEP_MS);
  let [most, joinedBefore, joinedSoFar, turn] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  for (const one of served.toSorted((a, b) => a.admittedAt - b.admittedAt)) {
    // Those of one turn of the door are let in together.
    if (turnOf(one) > turn) [turn, joinedBefore] = [turnOf(one), joinedSoFar];
    joinedSoFar = Math.max(joinedSoFar, one.joinedAt);
    most = Math.max(most, joinedBefore - one.joinedAt);
  }
  return most;
}
