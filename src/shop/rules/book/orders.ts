/** The orders of a shop, by id and in the order of their numbers. They are kept for `ORDERS_KEPT_MS`; what was sold stays sold. */

import type { ShopOrder, SoldTicket } from "../commands.ts";
import type { TakenUnits } from "../limits.ts";
import type { Basket } from "./baskets.ts";
import type { ChangedRecords } from "./changed-records.ts";
import { linesOf } from "./holds.ts";
import { Queue } from "./queue.ts";
import { type RecordShape, readStored } from "./stored-records.ts";

export const ORDER_PREFIX = "order/";
/** The next order's number, when all orders are forgotten. */
export const ORDERS_KEY = "orders";
export const ORDERS_KEPT_MS = 400 * 86_400_000;
/** Of a call for orders. */
export const ORDERS_AT_ONCE_MAX = 10_000;

export class Orders {
  readonly #changes: ChangedRecords;
  readonly #byId = new Map<string, ShopOrder>();
  /** At the position of their number. */
  #queue = new Queue<ShopOrder["id"]>(1);

  constructor(changes: ChangedRecords) {
    this.#changes = changes;
  }

  get(id: string): ShopOrder | undefined {
    return this.#byId.get(id);
  }

  all(): IterableIterator<ShopOrder> {
    return this.#byId.values();
  }

  get nextNumber(): number {
    return this.#queue.next;
  }

  /** A new order, with the next number, or one that has changed. */
  put(order: ShopOrder): void {
    if (!this.#byId.has(order.id)) this.#queue.push(order.id);
    this.#byId.set(order.id, order);
    this.#changes.put(ORDER_PREFIX + order.id, () => JSON.stringify(order));
  }

  /** Orders with a number above `after`. */
  after(after: number, limit: number): ShopOrder[] {
    const found: ShopOrder[] = [];
    const most = Math.min(limit, ORDERS_AT_ONCE_MAX);
    for (const id of this.#queue.from(after + 1)) {
      if (found.length >= most) break;
      found.push(this.#byId.get(id)!);
    }
    return found;
  }

  /** When the oldest order is forgotten; null when there is none. */
  get nextEndAt(): number | null {
    const oldest = this.#byId.get(this.#queue.oldest ?? "");
    return oldest ? oldest.at + ORDERS_KEPT_MS : null;
  }

  /** Forgets the oldest order when its time is over, and returns it. */
  forgetOne(now: number): ShopOrder | null {
    const oldest = this.#byId.get(this.#queue.oldest ?? "");
    if (!oldest || oldest.at + ORDERS_KEPT_MS > now) return null;
    this.#byId.delete(oldest.id);
    this.#queue.remove(oldest.number);
    this.#changes.remove(ORDER_PREFIX + oldest.id);
    const { nextNumber } = this;
    if (this.#byId.size === 0) this.#changes.put(ORDERS_KEY, () => JSON.stringify(nextNumber));
    return oldest;
  }

  /** Takes up stored orders; `nextNumber` goes for the next one where there are none. */
  restore(records: readonly (readonly [key: string, text: string])[], nextNumber: number): void {
    const orders = records.map(([key, text]) => orderOfText(key, text)).sort((a, b) => a.number - b.number);
    this.#queue = new Queue(orders[0]?.number ?? nextNumber);
    for (const order of orders) {
      this.#byId.set(order.id, order);
      this.#queue.putAt(order.number, order.id);
    }
  }
}

/** The tickets of a basket that is sold, each with its secret. */
export function ticketsOf(basket: Basket, order: string, secrets: readonly string[]): SoldTicket[] {
  return basket.holds.map(({ line }, i) => ({
    id: `${order}-${i + 1}`,
    product: line.product,
    secret: secrets[i]!,
    lines: Array.from(linesOf(line), ({ product, units, price }) => ({ product, units, price })),
    state: "sold",
  }));
}

/** Units by product of the tickets that are still sold. */
export function soldUnits(tickets: readonly SoldTicket[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { lines, state } of tickets)
    if (state === "sold")
      for (const { product, units } of lines) found.set(product, (found.get(product) ?? 0) + units);
  return found;
}

/** The lines of tickets that are still sold, as limits see them. */
export function takenOfTickets(tickets: readonly SoldTicket[]): TakenUnits[] {
  return tickets
    .filter(({ state }) => state === "sold")
    .flatMap(({ lines }) => lines.map(({ product, units }, i) => ({ product, units, isTicket: i === 0 })));
}

const TICKET_SHAPE: RecordShape = {
  fields: {
    id: "text",
    product: "text",
    secret: "text",
    lines: { listOf: { fields: { product: "text", units: "count", price: "count" } } },
    state: "text",
  },
};
const ORDER_SHAPE: RecordShape = {
  fields: {
    id: "text",
    number: "count",
    visitor: "text",
    customer: "text",
    room: "text",
    lane: "text",
    at: "count",
    total: "count",
    currency: "text",
    attempt: "text",
    tickets: { listOf: TICKET_SHAPE },
  },
};

/** An order as it is stored. */
export function orderOfText(key: string, text: string): ShopOrder {
  return readStored<ShopOrder>(key, text, ORDER_SHAPE);
}
