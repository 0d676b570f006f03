/**
 * The books of the crash test, kept for a cluster. What a cluster promises less strictly than a single gateway is measured here
 * instead of judged:
 *
 * - Order. A turn that a node held when it was killed or cut off is given once more, later; while a cluster is cut in two, each
 * part admits its own visitors. So order is judged only among visitors who neither waited nor got their turn while anything was
 * wrong. For all others the share of pairs in the wrong order is measured.
 *
 * - Leaving. It is acknowledged once two nodes have recorded it; the others have it soon after. A visitor who was told so by a
 * node that died a moment later may find their old pass accepted, since the other node may have died as well. A visitor who was
 * told by a node that lived on, whatever else happened to it, has left.
 */
import { unfairness } from "../../src/core/fairness.ts";
import {
  Books,
  type GuestTurn,
  type Left,
  type Note,
  type Summary,
  TURN_STEP_MS,
  type Violation,
} from "../crash/books.ts";

/** Other nodes know everything that a node learned this long before its death, even on a busy machine. */
const SPREAD_MS = 5_000;

export interface ClusterSummary extends Summary {
  /**
   * Visitors who came and were admitted while nothing was wrong; the order of their turns; and the most by which one of them was
   * admitted before another who had joined earlier.
   */
  readonly undisturbed: number;
  readonly quietTau: number;
  readonly overtakingMs: number;
  /** How many old passes and tickets were shown that must be refused. */
  readonly shownAgain: number;
}

/** From when a node was killed or cut off until all were one again. */
interface Trouble {
  readonly from: number;
  to: number;
}

export class ClusterBooks extends Books {
  readonly #left = new Map<number, Left>();
  /** Address of a node → when it was killed. */
  readonly #killedAt = new Map<string, number>();
  readonly #troubles: Trouble[] = [];
  #shownAgain = 0;

  override note(note: Note): void {
    if (note.kind === "replayed" && this.#mayBeLost(note.guest)) return;
    if (note.kind === "replayed") this.#shownAgain++;
    if (note.kind === "left") this.#left.set(note.guest, note);
    if (note.kind === "killed") {
      this.#troubles.push({ from: note.at, to: Number.POSITIVE_INFINITY });
      if (note.address !== undefined) this.#killedAt.set(note.address, note.at);
    }
    super.note(note);
  }

  /** All nodes are one again. */
  calm(at: number): void {
    for (const trouble of this.#troubles) trouble.to = Math.min(trouble.to, at);
  }

  override close(at: number): ClusterSummary {
    const summary = super.close(at);
    const violations = summary.violations.filter((violation) => !isMeasured(violation));
    const quiet = this.turns().filter((turn) => !this.#isDisturbed(turn));
    return {
      ...{ ...summary, violations, undisturbed: quiet.length, quietTau: unfairness(quiet) },
      ...{ overtakingMs: overtaking(quiet), shownAgain: this.#shownAgain },
    };
  }

  /** Whether something was wrong at any time between joining and the turn. */
  #isDisturbed({ joined, admitted }: GuestTurn): boolean {
    return this.#troubles.some(({ from, to }) => joined <= to && admitted * TURN_STEP_MS >= from);
  }

  /** Whether the node that confirmed a guest's leaving may have been the only one to know. */
  #mayBeLost(guest: number): boolean {
    const left = this.#left.get(guest);
    const killedAt = left && this.#killedAt.get(left.address);
    return killedAt !== undefined && killedAt - left!.at <= SPREAD_MS;
  }
}

function isMeasured({ wrong }: Violation): boolean {
  return wrong === "overtaken" || wrong === "wrong order";
}

/** The most by which anyone was admitted before somebody who had joined earlier. */
function overtaking(turns: readonly GuestTurn[]): number {
  let [most, joinedBefore, joinedSoFar, step] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  for (const { joined, admitted } of turns.toSorted((a, b) => a.admitted - b.admitted)) {
    // Those admitted in the same step of the door are simultaneous.
    if (admitted > step) [step, joinedBefore] = [admitted, joinedSoFar];
    joinedSoFar = Math.max(joinedSoFar, joined);
    most = Math.max(most, joinedBefore - joined);
  }
  return most;
}
