/**
 * The order of admission as it was decided: by the instant that a visitor's pass says they were admitted at. Everybody
 * who gets a turn in one counting round has the same instant, the root's, and so nobody of them is before another;
 * whoever goes straight through has the instant at which their node let them.
 *
 * It only keeps the book. `tunnel/checks/order.ts` has the order in which nodes gave word of it, which differs: word of
 * one decision reaches nodes one after the other.
 */
import { type Turn, unfairness } from "../../core/fairness.ts";
import type { AnsweredNotice, Check, Notice } from "../tunnel/notice.ts";

export class Decisions implements Check {
  readonly name = "decisions";
  /** Who had to wait, straight-through visitors not among them. */
  waited = 0;
  /** Id → when a node was first asked, by the one true clock. */
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
