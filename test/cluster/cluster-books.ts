/**
 * The books of the crash test, kept before a cluster. What a cluster promises less exactly than one gateway does is
 * measured here instead of judged there:
 *
 * - Order. A turn that was in hand when its node was killed or cut off is given once more, later; while a cluster is cut in
 *   two each part lets its own people in. So it is added up how many pairs stand the wrong way round, and by how
 *   much later somebody had joined who was let in before another.
 * - The end of a visit is its owner's to write down. It takes a moment to reach all nodes; while the owner is dead and not yet
 *   missed, it waits at the node that was told, and dies with that one. Whoever left just now, or shortly before a node was
 *   killed, may find their old pass good.
 */
import { Books, type Note, type Served, type Summary, type Violation } from "../crash/books.ts";

/** What one node was told this long ago all of them know, if it lives. */
const SPREAD_MS = 3_000;
/** Doors note their turns in tenths of a second, rounded up. */
const TURN_STEP_MS = 100;

export interface ClusterSummary extends Summary {
  /** By how much later somebody joined, at the most, who was let in before another. */
  readonly overtakingMs: number;
}

export class ClusterBooks extends Books {
  readonly #served = new Map<number, Served>();
  readonly #leftAt = new Map<number, number>();
  readonly #killedAt: number[] = [];

  override note(note: Note): void {
    if (note.kind === "replayed" && this.#isNews(note.guest, note.at)) return;
    if (note.kind === "served" && !this.#leftAt.has(note.guest)) this.#served.set(note.guest, note);
    if (note.kind === "left") this.#leftAt.set(note.guest, note.at);
    if (note.kind === "killed") this.#killedAt.push(note.at);
    super.note(note);
  }

  override close(at: number): ClusterSummary {
    const summary = super.close(at);
    const violations = summary.violations.filter((violation) => !isMeasured(violation));
    return { ...summary, violations, overtakingMs: overtaking([...this.#served.values()]) };
  }

  /** Whether a guest left so shortly before this instant, or before a kill, that not all nodes need know. */
  #isNews(guest: number, at: number): boolean {
    const leftAt = this.#leftAt.get(guest);
    if (leftAt === undefined) return false;
    return [...this.#killedAt, at].some((then) => then >= leftAt && then - leftAt <= SPREAD_MS);
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
