/**
 * Who is where in a room, as the doorkeeper asks when somebody joins: as it is where this node is alone, otherwise the slots
 * it has in hand are all the room there is.
 */
import type { Crowd } from "../../../core/doorkeeper.ts";
import { isFirm } from "./place.ts";
import type { RoomBooks } from "./room-books.ts";

export class RoomCrowd implements Crowd {
  readonly #books: RoomBooks;

  constructor(books: RoomBooks) {
    this.#books = books;
  }

  get waiting(): number {
    return this.#books.lines.size;
  }

  get admitted(): number {
    return this.#books.isAlone ? this.#books.turns : 0;
  }

  get onSite(): number {
    const { isAlone, onSite, door, spare } = this.#books;
    return isAlone ? onSite : (door.capacity ?? spare) - spare;
  }

  get budgetFree(): number {
    const { isAlone, budgetFree, door, spare } = this.#books;
    if (isAlone) return budgetFree();
    return door.rules.budget ? spare : Number.POSITIVE_INFINITY;
  }

  waitingIn(lane: number): number {
    return this.#books.lines.waitingIn(lane);
  }

  *turnAges(now: number): Generator<number> {
    for (const place of this.#books.places.values()) if (isFirm(place)) yield this.#books.turnAge(place, now);
  }

  isHeldBack(now: number): boolean {
    return this.#books.isDrawDue(this.#books.door.phase(now));
  }
}
