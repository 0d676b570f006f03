/**
 * How many customers and tickets are where, and how many came and went, for each room of the shop (me2 to me8). Where they are
 * follows from baskets and orders; only what has happened in all is stored.
 */

import type { BasketPhase, ShopFigures, ShopRoomFigures, UnitCounts } from "../commands.ts";
import type { ChangedRecords } from "./changed-records.ts";
import { readStored } from "./stored-records.ts";

export const FIGURES_PREFIX = "figures/";

type Writable<T> = { -readonly [K in keyof T]: T[K] extends number ? number : Writable<T[K]> };
type Counted = Writable<ShopRoomFigures>;

export class FigureCounts {
  readonly #changes: ChangedRecords;
  readonly #rooms = new Map<string, Counted>();

  constructor(changes: ChangedRecords) {
    this.#changes = changes;
  }

  /** A basket comes into a phase, or leaves it for another: `from` and `to` are null before and after its life. */
  movePhase(room: string, from: BasketPhase | null, to: BasketPhase | null): void {
    const { customers } = this.#of(room);
    if (from !== null && from !== "departed") customers[from]--;
    if (to !== null && to !== "departed") customers[to]++;
  }

  moveTickets(room: string, count: number, from: keyof UnitCounts | null, to: keyof UnitCounts | null): void {
    const { tickets } = this.#of(room);
    if (from !== null) tickets[from] -= count;
    if (to !== null) tickets[to] += count;
    if (from === "sold" || to === "sold") this.#save(room);
  }

  count(room: string, what: "arrived" | "departed" | "bought"): void {
    this.#of(room)[what]++;
    this.#save(room);
  }

  all(waiting: number): Omit<ShopFigures, "isClosed"> {
    const rooms = Object.fromEntries(Array.from(this.#rooms, ([room, one]) => [room, structuredClone(one)]));
    const total = Object.values(rooms).reduce(sumOf, noFigures());
    return { total, rooms, waiting };
  }

  restore(key: string, text: string): void {
    const shape = {
      fields: { sold: "count", arrived: "count", departed: "count", bought: "count" },
    } as const;
    const { sold, ...totals } = readStored<StoredFigures>(key, text, shape);
    const figures = this.#of(key.slice(FIGURES_PREFIX.length));
    Object.assign(figures, totals);
    figures.tickets.sold = sold;
  }

  #save(room: string): void {
    const { tickets, arrived, departed, bought } = this.#of(room);
    const stored: StoredFigures = { sold: tickets.sold, arrived, departed, bought };
    this.#changes.put(FIGURES_PREFIX + room, () => JSON.stringify(stored));
  }

  #of(room: string): Counted {
    let figures = this.#rooms.get(room);
    if (!figures) {
      figures = noFigures();
      this.#rooms.set(room, figures);
    }
    return figures;
  }
}

interface StoredFigures {
  readonly sold: number;
  readonly arrived: number;
  readonly departed: number;
  readonly bought: number;
}

function noFigures(): Counted {
  return {
    customers: { browsing: 0, done: 0, paying: 0 },
    tickets: { reserved: 0, pending: 0, sold: 0 },
    arrived: 0,
    departed: 0,
    bought: 0,
  };
}

function sumOf(a: Counted, b: Counted): Counted {
  const { customers, tickets } = a;
  return {
    customers: {
      browsing: customers.browsing + b.customers.browsing,
      done: customers.done + b.customers.done,
      paying: customers.paying + b.customers.paying,
    },
    tickets: {
      reserved: tickets.reserved + b.tickets.reserved,
      pending: tickets.pending + b.tickets.pending,
      sold: tickets.sold + b.tickets.sold,
    },
    arrived: a.arrived + b.arrived,
    departed: a.departed + b.departed,
    bought: a.bought + b.bought,
  };
}
