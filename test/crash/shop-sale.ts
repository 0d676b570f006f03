/**
 * A sale for tests that kill what serves it: visitors who repeat what got no answer, with the same idempotency key, as a page
 * would, and the books at the end. Nothing was sold twice, nothing that was acknowledged is lost, and what nobody bought is there again.
 */
import assert from "node:assert/strict";
import { eventually } from "../../src/testing/cli/eventually.ts";
import type { Control } from "../../src/testing/cli/fairgate.ts";
import { ProcessShopper, type ShopAnswer } from "../../src/testing/shop/process-shopper.ts";
import { pause } from "./ask.ts";

export const SEATS = 60;
const SHOPPERS = 90;
const AT_ONCE = 8;
/** Of those who take something, so many do not go on. */
const IDLE_EVERY = 6;
const PATIENCE_MS = 180_000;

export const SALE_CATALOGUE = `currency: EUR
products:
  seat: {price: 4500, stock: ${SEATS}}
  pair: {price: 8000, stock: null, parts: {seat: 2}}
policies: {shoppingWindow: 20s, doneWindow: 20s, payingWindow: 20s}
`;

/** Settings of the sale's room and shop. */
export const SALE_SETTINGS = {
  limits: { newcomersPerAddressMax: null },
  shops: { tickets: { catalogueFile: "catalogue.yaml", callsPerAddressMax: 1_000_000 } },
  rooms: {
    main: { totalActiveUsers: 1_000, newcomerDuration: "1h", sessionDuration: "1h", shop: "tickets" },
  },
};

interface Order {
  readonly id: string;
  readonly visitor: string;
  readonly total: number;
  readonly tickets: readonly { readonly id: string; readonly secret: string }[];
}

/** Repeats a call until it is answered. A shop that does not answer is no answer. */
async function insist(ask: () => Promise<ShopAnswer>): Promise<ShopAnswer> {
  const endAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask().catch(() => null);
    if (answer && answer.status !== 503) return answer;
    if (performance.now() > endAt) throw new Error("no answer");
    await pause(20);
  }
}

/** Buys one thing; null when there is none left. Returns the order that was acknowledged. */
async function buy(addresses: readonly string[], number: number): Promise<string | null> {
  const visitor = new ProcessShopper(addresses[number % addresses.length]!);
  await eventually("the shop is entered", async () => visitor.isIn().catch(() => false));
  const keyed = (step: string) => ({ "idempotency-key": `${number}-${step}` });
  const product = number % 5 === 0 ? "pair" : "seat";
  const held = await insist(() => visitor.shop("POST holds", { product }, keyed("hold")));
  if (held.status !== 201) return null;
  if (number % IDLE_EVERY === 0) return null;
  const done = await insist(() => visitor.shop("POST finish", undefined, keyed("finish")));
  if (done.status !== 200) return null;
  const paid = await insist(() => visitor.shop("POST pay", undefined, keyed("pay")));
  if (paid.status !== 200) return null;
  const basket = await insist(() => visitor.shop("GET basket"));
  return (basket.words.order as string | null) ?? assert.fail(JSON.stringify(basket));
}

export interface Sale {
  /** Orders that visitors were told of. */
  readonly acknowledged: readonly string[];
  readonly isOver: boolean;
  readonly done: Promise<unknown>;
  /** Waits until so many more have begun to buy, or all have. */
  someHaveCome(count: number): Promise<unknown>;
}

/** Lets everybody buy, some at a time, at these gateways in turn. */
export function beginSale(addresses: readonly string[]): Sale {
  const acknowledged: string[] = [];
  let next = 0;
  let isOver = false;
  const shopping = Array.from({ length: AT_ONCE }, async () => {
    while (next < SHOPPERS) {
      const order = await buy(addresses, ++next);
      if (order !== null) acknowledged.push(order);
    }
  });
  const done = Promise.all(shopping).finally(() => {
    isOver = true;
  });
  return {
    acknowledged,
    done,
    get isOver() {
      return isOver;
    },
    someHaveCome: (count) => {
      const until = next + count;
      return eventually("some have come", () => isOver || next >= until);
    },
  };
}

/** What must hold when everybody is through; waits for baskets that nobody went on with. */
export async function checkBooks(control: Control, acknowledged: readonly string[]): Promise<void> {
  const { orders } = (await control.ask<{ orders: Order[] }>("GET", "/shops/tickets/orders?limit=1000")).body;
  const byId = new Map(orders.map((order) => [order.id, order]));
  assert.ok(acknowledged.length > SHOPPERS / 3, `only ${acknowledged.length} bought`);
  for (const id of acknowledged) assert.ok(byId.has(id), `${id} was acknowledged and is lost`);
  assert.equal(new Set(acknowledged).size, acknowledged.length);
  assert.equal(new Set(orders.map(({ visitor }) => visitor)).size, orders.length, "nobody bought twice");
  const secrets = orders.flatMap(({ tickets }) => tickets.map(({ secret }) => secret));
  assert.equal(new Set(secrets).size, secrets.length);

  const soldSeats = orders.reduce((sum, { total }) => sum + (total === 8_000 ? 2 : 1), 0);
  assert.ok(soldSeats <= SEATS, `${soldSeats} of ${SEATS} were sold`);
  const seats = await eventually("every basket has ended", async () => {
    const answer = await control.ask<{ products: { id: string; counts: Record<string, number> }[] }>(
      "GET",
      "/shops/tickets/stock",
    );
    const { counts } = answer.body.products.find(({ id }) => id === "seat")!;
    return counts.reserved === 0 && counts.pending === 0 && counts;
  });
  assert.equal(seats.sold, soldSeats);
}
