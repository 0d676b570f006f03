/**
 * The order of admission as it was decided, by the instant of admission in a visitor's pass. All who get a turn in one counting
 * round have the same instant, the root's, so none of them is before another; visitors who go straight through have the instant
 * at which their node let them in.
 *
 * `tunnel/checks/order.ts` has the order in which nodes reported admissions. It differs, since a decision reaches the nodes one
 * after the other.
 */
import { type Turn, unfairness } from "../../core/fairness.ts";
import type { AnsweredNotice, Check, Notice } from "../tunnel/notice.ts";

export class Decisions implements Check {
  readonly name = "decisions";
  /** How many had to wait. */
  waited = 0;
  /** By id: when a node was first asked, in simulated time. */
  readonly #joined = new Map<string, number>();
  readonly #turns = new Map<string, Turn>();

  see(notice: Notice): null {
    if (notice.kind === "answered") this.#answer(notice);
    return null;
  }

  /** The Kendall tau distance from the order of joining. */
  tau(): number {
    return unfairness([...this.#turns.values()]);
  }

  #answer({ id, askedAt, request, answer }: AnsweredNotice): void {
    if (request === "join" && !this.#joined.has(id)) {
      this.#joined.set(id, askedAt);
      if (answer.kind === "waiting") this.waited++;
    }
    if (answer.kind !== "entered" || this.#turns.has(id)) return;
    this.#turns.set(id, { joined: this.#joined.get(id)!, admitted: answer.pass.admittedAt });
  }
}
