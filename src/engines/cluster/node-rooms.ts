/**
 * The rooms of one node: their books, the rules they were given, and what is the same for all of them: whether this node is
 * alone, which part of the cluster it is in, and the budgets that rooms share.
 */
import type { RoomRules } from "../../core/rules.ts";
import { WholeDoor } from "./door/hand.ts";
import { leftByBudget, unbudgeted } from "./door/room-budget.ts";
import { isWhole, type View } from "./membership/view.ts";
import { type LogOwner, RoomBooks, type RoomEvents } from "./visitors/room-books.ts";
import { observe, sweep } from "./visitors/room-duty.ts";

export interface NodeRoomsParts {
  readonly self: LogOwner;
  readonly eventsOf: (room: string) => RoomEvents;
  readonly spreadMs: number;
  readonly now: () => number;
}

export class NodeRooms {
  readonly #parts: NodeRoomsParts;
  readonly #books = new Map<string, RoomBooks>();
  readonly #rules = new Map<string, RoomRules>();
  #view: View | null = null;
  #nodeNumber = 0;

  constructor(parts: NodeRoomsParts) {
    this.#parts = parts;
  }

  get books(): ReadonlyMap<string, RoomBooks> {
    return this.#books;
  }

  /** Opens a room or changes its rules. Returns true for a new room. */
  configure(name: string, rules: RoomRules, now: number): boolean {
    this.#rules.set(name, rules);
    const known = this.#books.get(name);
    if (known) {
      known.change(this.#fit(rules), now);
      return false;
    }
    const { self, eventsOf } = this.#parts;
    const books = new RoomBooks({ name, rules: this.#fit(rules), self, now, events: eventsOf(name) });
    this.#books.set(name, books);
    this.#standAs(books);
    return true;
  }

  /** Starts a view, in which this node has that number. */
  start(view: View, nodeNumber: number): void {
    this.#view = view;
    this.#nodeNumber = nodeNumber;
    for (const books of this.#books.values()) this.#standAs(books);
  }

  /** Ends what has expired, and measures how fast the doors are. */
  sweep(now: number): void {
    for (const books of this.#books.values()) {
      sweep(books, now);
      books.tellTurns();
      const { rules, isPrequeue } = books.door.phase(now);
      observe(books, books.lines.size > 0 && !rules.paused && !rules.queueAll && !isPrequeue, now);
    }
  }

  letGoOfSpares(): void {
    for (const books of this.#books.values()) books.letGoOfSpares();
  }

  /** The smallest key that waits at this node, in any room. */
  first(): number | null {
    let first: number | null = null;
    for (const { own } of this.#books.values()) {
      const key = own.first();
      if (key !== null && (first === null || key < first)) first = key;
    }
    return first;
  }

  #standAs(books: RoomBooks): void {
    const view = this.#view;
    const { now, spreadMs } = this.#parts;
    if (this.#isWhole()) {
      books.takeWhole(new WholeDoor(books, () => this.#budgetFree(books.name)), now());
      books.spreadMs = 0;
    } else {
      books.takeShare();
      books.spreadMs = spreadMs;
    }
    if (view)
      books.setBacks.share(
        this.#nodeNumber,
        [...view.members, ...view.lost].map(({ number }) => number),
      );
    books.flow.share = view ? view.members.length / (view.members.length + view.lost.length) : 1;
    books.change(this.#fit(this.#rules.get(books.name)!), this.#parts.now());
  }

  #isWhole(): boolean {
    return this.#view !== null && isWhole(this.#view);
  }

  /** No-shows cannot be filled where several nodes give turns. */
  #fit(rules: RoomRules): RoomRules {
    if (this.#view === null || this.#isWhole()) return rules;
    const events = rules.events.map((event) => ({ ...event, rules: { ...event.rules, fillNoShows: false } }));
    return { ...rules, fillNoShows: false, events };
  }

  /** Slots that the other rooms of its budget leave to a room, on a node that is alone. */
  #budgetFree(room: string): number {
    const booksOf = (name: string) => this.#books.get(name)!;
    return leftByBudget(room, this.#books, {
      usedBy: (name) => booksOf(name).used,
      wantedBy: (name) => unbudgeted(booksOf(name), this.#parts.now()),
    });
  }
}
