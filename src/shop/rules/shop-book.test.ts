/**
 * Random histories over a catalogue with everything in it. `PlainShop` checks the three inequalities and recounts all counts from
 * the records after every command; here restarts are mixed in, and at the end everything that was held comes back.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seededFraction } from "../../sim/hand-world.ts";
import { catalogueOf, PlainShop, wishFor } from "../../testing/shop/plain-shop.ts";
import type { CountedBy } from "./catalogue.ts";
import type { WrittenCatalogue } from "./written-catalogue.ts";

const HISTORIES = 60;
const STEPS = 150;
const VISITORS = ["ann", "bob", "cem", "dan", "eve", "fay", "gus", "hal"];

type Dice = (sides: number) => number;

function catalogue(dice: Dice): WrittenCatalogue {
  const countedBy = () => (["reserved", "pending", "sold"] as const satisfies CountedBy[])[dice(3)]!;
  const stays = () => ({ staysSoldOut: dice(2) === 0, countedBy: countedBy() });
  return {
    ...catalogueOf(
      {
        bundle: {
          stock: dice(8),
          parts: { seat: 1 + dice(2), bag: 1 },
          options: { cap: 2 },
          choices: { meal: { from: { soup: 1, stew: 2 }, min: dice(2), max: 2 } },
          ...stays(),
        },
        seat: { stock: dice(10), limitPerCustomer: 1 + dice(4), holdBacks: { members: dice(3) }, ...stays() },
        bag: { stock: null, parts: { tag: 1 }, forSale: false },
        tag: { stock: dice(9), forSale: false, ...stays() },
        cap: { stock: dice(5), oversell: dice(2) * 5_000, ...stays() },
        soup: { stock: dice(5), ...stays() },
        stew: { stock: dice(5), ...stays() },
      },
      {
        itemsMax: 3 + dice(5),
        burst: dice(2) === 0 ? { items: 2 + dice(4), everyMs: 120_000 } : null,
        limitCounts: dice(2) === 0 ? "tickets" : "everything",
        shoppingWindowMs: 600_000,
        doneMs: 300_000,
        payingMs: 300_000,
        offerMs: 120_000,
        payment: {
          room: dice(2) === 0 ? "till" : null,
          attemptsMax: 1 + dice(2),
          lateSuccess: dice(2) === 0 ? "retake" : "refund",
        },
      },
    ),
    pools: { hall: { stock: 3 + dice(10), products: { seat: 1, cap: 1 }, countedBy: countedBy() } },
  };
}

/** One random command, or some time. */
function step(shop: PlainShop, dice: Dice, attempts: string[]): void {
  const visitor = VISITORS[dice(VISITORS.length)]!;
  const product = ["bundle", "seat", "cap", "soup", "stew"][dice(5)]!;
  const lineIds = () =>
    shop.book
      .basket(visitor, shop.now)
      ?.holds.flatMap(({ id, children }) => [id, ...children.map((one) => one.id)]) ?? [];
  const anyLine = () => lineIds()[dice(lineIds().length || 1)] ?? "1";
  const { book, now } = shop;
  const actions: (() => unknown)[] = [
    () => shop.hold(visitor, wishFor(product, 1 + dice(2), dice(2) === 0 ? [] : { soup: 1, cap: 1 })),
    () => shop.hold(visitor, product),
    () => shop.hold(visitor, product, `key ${dice(3)}`),
    () => shop.extend(visitor, anyLine(), ["cap", "soup", "stew"][dice(3)]!),
    () => shop.undo(visitor, anyLine()),
    () => shop.finish(visitor),
    () => shop.enterPayment(visitor),
    () => {
      const attempt = `attempt${attempts.length}`;
      if (shop.pay(visitor, attempt).kind === "attempt") attempts.push(attempt);
    },
    () => {
      const attempt = attempts[dice(attempts.length)];
      const kind = (["authorised", "succeeded", "failed", "refunded"] as const)[dice(4)]!;
      if (attempt) shop.tell(attempt, kind, `event ${dice(40)}`);
    },
    () => shop.leave(visitor),
    () => shop.kept(book.joinList(shop.shopper(visitor), product, 1 + dice(2), now)),
    () => shop.kept(book.setPaymentDoor(dice(2) === 0, now)),
    () =>
      shop.kept(
        book.adjust(["seat", "hall", "cap"][dice(3)]!, dice(7) - 3, dice(2) === 0 ? "refuse" : "record", now),
      ),
    () => shop.kept(book.reopen(product, now)),
    () => {
      const order = book.orders(0, 100).at(-1);
      if (order)
        shop.kept(book.cancel(order.id, dice(2) === 0 ? null : [order.tickets[0]!.id], "cancelled", now));
    },
    () => shop.set(catalogue(dice), { shortfall: dice(2) === 0 ? "refuse" : "record" }),
    () => shop.restart(),
    () => shop.pass(dice(4) * 60_000),
    () => shop.pass(1_000),
  ];
  actions[dice(actions.length)]!();
}

for (let seed = 1; seed <= HISTORIES; seed++)
  test(`history ${seed}: every count is right after every command, and everything held comes back`, () => {
    const fraction = seededFraction(seed);
    const dice = (sides: number) => Math.floor(fraction() * sides);
    const shop = new PlainShop();
    while (shop.set(catalogue(dice)).kind !== "set");
    for (const [i, visitor] of VISITORS.entries())
      shop.shopper(visitor, { lane: i % 3 === 0 ? "members" : "main", customer: `customer${i % 5}` });
    const attempts: string[] = [];
    for (let n = 0; n < STEPS; n++) {
      if (n % 30 === 0) for (const visitor of VISITORS) shop.shopper(visitor, { admittedAt: shop.now });
      step(shop, dice, attempts);
    }
    shop.kept(shop.book.setPaymentDoor(true, shop.now));
    for (const visitor of VISITORS)
      for (const { product } of shop.book.lists(visitor))
        shop.kept(shop.book.leaveList(shop.shopper(visitor), product, shop.now));
    shop.passMinutes(120);
    for (const { id } of shop.book.checkedCatalogue().products.values()) {
      const [reserved, pending] = shop.counts(id);
      assert.deepEqual([reserved, pending], [0, 0], id);
    }
    shop.restart();
  });
