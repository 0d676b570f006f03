/**
 * The rooms of one node: their books, the rules they were given, and what makes a difference to all of them: whether the
 * node is alone, how large a part of the cluster it is in, and budgets that rooms share.
 */
import type { RoomRules } from "../../core/rules.ts";
import { leftByBudget, unbudgeted } from "./door/room-budget.ts";
import type { View } from "./membership/view.ts";
import { type Origin, RoomBooks, type RoomEvents } from "./visitors/room-books.ts";
import { observe, sweep } from "./visitors/room-duty.ts";

export interface NodeRoomsParts {
  readonly self: Origin;
  readonly eventsOf: (room: string) => RoomEvents;
  readonly isAlone: () => boolean;
  readonly spreadMs: number;
  readonly now: () => number;
}

export class NodeRooms {
  readonly #parts: NodeRoomsParts;
  readonly #books = new Map<string, RoomBooks>();
  /** As they were set. */
  readonly #rules = new Map<string, RoomRules>();
  #view: View | null = null;
  #slot = 0;

  constructor(parts: NodeRoomsParts) {
    this.#parts = parts;
  }

  get books(): ReadonlyMap<string, RoomBooks> {
    return this.#books;
  }

  /** Opens a room or changes its rules. True when it is new. */
  configure(name: string, rules: RoomRules, now: number): boolean {
    this.#rules.set(name, rules);
    const known = this.#books.get(name);
    if (known) {
      known.change(this.#fit(rules), now);
      return false;
    }
    const { self, eventsOf, spreadMs } = this.#parts;
    const books = new RoomBooks({ name, rules: this.#fit(rules), self, now, events: eventsOf(name) });
    books.spreadMs = spreadMs;
    books.budgetFree = () => this.#budgetFree(name);
    this.#books.set(name, books);
    this.#standAs(books);
    return true;
  }

  /** Another view, in which this node has that slot. */
  start(view: View, slot: number): void {
    this.#view = view;
    this.#slot = slot;
    for (const books of this.#books.values()) this.#standAs(books);
  }

  /** Ends what is over, where several nodes let people in; one that is alone does so whenever it turns its doors. */
  sweep(now: number): void {
    if (this.#parts.isAlone()) return;
    for (const books of this.#books.values()) {
      sweep(books, now);
      books.tellTurns();
      const { rules, isPrequeue } = books.door.phase(now);
      observe(books, books.lines.size > 0 && !rules.paused && !rules.queueAll && !isPrequeue, now);
    }
  }

  letGoOfSpares(): void {
    if (this.#parts.isAlone()) return;
    for (const books of this.#books.values()) books.letGoOfSpares();
  }

  /** The smallest key of this node's who waits, in any room. */
  first(): number | null {
    let first: number | null = null;
    for (const { own } of this.#books.values()) {
      const key = own.first();
      if (key !== null && (first === null || key < first)) first = key;
    }
    return first;
  }

  /** Alone or one of several: where a room's slots and its rate come from. */
  #standAs(books: RoomBooks): void {
    const view = this.#view;
    const isAlone = this.#parts.isAlone();
    if (books.isAlone && !isAlone) {
      books.held = books.used;
      books.flow.leave = 0;
    }
    books.isAlone = isAlone;
    books.flow.isRoot = isAlone;
    // Nobody else is there to hear of them.
    if (isAlone) books.flow.enter(books.turnNews.take().entered, this.#parts.now());
    if (view)
      books.setBacks.share(
        this.#slot,
        [...view.members, ...view.lost].map(({ slot }) => slot),
      );
    books.flow.share = view ? view.members.length / (view.members.length + view.lost.length) : 1;
    books.change(this.#fit(this.#rules.get(books.name)!), this.#parts.now());
  }

  /** Turns on top cannot be counted where several give them out. */
  #fit(rules: RoomRules): RoomRules {
    if (this.#view === null || this.#parts.isAlone()) return rules;
    const events = rules.events.map((event) => ({ ...event, rules: { ...event.rules, fillNoShows: false } }));
    return { ...rules, fillNoShows: false, events };
  }

  /** Slots that the other rooms of its budget leave to a room, where this node is alone. */
  #budgetFree(room: string): number {
    const booksOf = (name: string) => this.#books.get(name)!;
    return leftByBudget(room, this.#books, {
      usedBy: (name) => booksOf(name).used,
      wantedBy: (name) => unbudgeted(booksOf(name), this.#parts.now()),
    });
  }
}
