/**
 * Slots of this node's whose visit was left or revoked, held while connections of it may still be open at any gateway. These
 * hear of the end when this node does, or before, so time counts from when this node looks next.
 */
import { Deadlines } from "../../../core/deadlines.ts";

export class LingeringSlots {
  readonly #due = new Deadlines<true>();
  /** Added since the last look. */
  #fresh = 0;

  get size(): number {
    return this.#fresh + this.#due.size;
  }

  add(): void {
    this.#fresh++;
  }

  /** Frees those that were held for long enough. */
  sweep(now: number, lingerMs: number): void {
    for (; this.#fresh > 0; this.#fresh--) this.#due.add(now + lingerMs, true);
    while (this.#due.takeDue(now));
  }
}
