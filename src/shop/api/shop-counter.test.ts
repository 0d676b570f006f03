import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../../sim/hand-world.ts";
import { deskOfBook } from "../../testing/shop/desk-of-book.ts";
import { catalogueOf } from "../../testing/shop/plain-shop.ts";
import { ShopCounter } from "./shop-counter.ts";
import type { VisitorCall } from "./visitor-shop.ts";

const NO_BASKET = 200;

const catalogue = (forSale = true) => catalogueOf({ seat: { stock: 10, forSale } });

async function stage() {
  const errors: string[] = [];
  const hand = handWorld();
  const world = { ...hand, log: { ...hand.log, error: (_: object, text: string) => void errors.push(text) } };
  const book = deskOfBook();
  const now = world.clock.now();
  await book.setCatalogue(catalogue(), { ifVersion: null, now });
  /** While set, the catalogue is read at once, and the answer comes when the test says. */
  const waiting = { line: null as (() => void)[] | null };
  const desk = new Proxy(book, {
    get(target, name) {
      if (name !== "catalogue" || waiting.line === null) return Reflect.get(target, name);
      const { line } = waiting;
      return async () => {
        const read = await book.catalogue();
        await new Promise<void>((resolve) => line.push(resolve));
        return read;
      };
    },
  });
  const counter = await ShopCounter.open({ desk, world, endVisit: () => {}, readCallback: null });
  return { world, errors, book, waiting, counter, now };
}

const call = (now: number): VisitorCall => ({
  action: "basket",
  shopper: { visitor: "ann", customer: "ann", room: "main", lane: "everybody", admittedAt: now },
  paymentVisit: null,
  named: null,
  body: null,
  idempotencyKey: null,
  now,
});

/** Lets everything happen that need not wait. */
const turns = () => new Promise((resolve) => setImmediate(resolve));

test("of what was learnt the latest counts, in whatever order it is answered", async () => {
  const { book, waiting, counter, now } = await stage();
  waiting.line = [];
  const first = counter.learn();
  await turns();
  await book.setCatalogue(catalogue(false), { ifVersion: null, now });
  const second = counter.learn();
  await turns();
  waiting.line[1]!();
  await second;
  assert.equal(counter.isForSale("seat"), false);
  waiting.line[0]!();
  await first;
  assert.equal(counter.isForSale("seat"), false);
  counter.close();
});

test("calls that come while the catalogue is learnt wait for that, and do not ask again", async () => {
  const { book, waiting, counter, now } = await stage();
  waiting.line = [];
  counter.learnSoon();
  const asked = [call(now), call(now)].map((one) => counter.call(one));
  await turns();
  assert.equal(waiting.line.length, 1);
  waiting.line[0]!();
  for (const { status } of await Promise.all(asked)) assert.equal(status, NO_BASKET);
  waiting.line = null;
  book.broken = new Error("away");
  counter.learnSoon();
  await turns();
  await assert.rejects(counter.call(call(now)), /away/);
  book.broken = null;
  assert.equal((await counter.call(call(now))).status, NO_BASKET);
  counter.close();
});

test("visits that end while the ledger is away are a line of the log, and none once the process ends", async () => {
  const { book, counter, errors } = await stage();
  book.broken = new Error("away");
  for (let visit = 0; visit < 100; visit++) counter.visitEnded(`visitor ${visit}`);
  await turns();
  assert.deepEqual(errors, ["the shop does not answer"]);
  counter.visitEnded("one more");
  counter.close();
  await turns();
  assert.equal(errors.length, 1);
});
