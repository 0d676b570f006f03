import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueOf, codeOfRefusal, granted, PlainShop, wishFor } from "../../../testing/shop/plain-shop.ts";
import { GIVEN_KEY, KEPT_LENGTH_MAX } from "./once.ts";

const DAY_MS = 86_400_000;
const SEATS = catalogueOf({ seat: { stock: 3 } }, { shoppingWindowMs: 3 * DAY_MS });

test("the same key with the same command does it once and gives the first answer, across a restart, for a day", () => {
  const shop = new PlainShop(SEATS);
  const first = shop.hold("ann", "seat", "key");
  granted(shop.hold("ann", "seat"));
  assert.deepEqual(shop.hold("ann", "seat", "key"), first);
  shop.restart();
  assert.deepEqual(shop.hold("ann", "seat", "key"), first);
  assert.deepEqual(shop.counts("seat"), [2, 0, 0]);
  shop.pass(DAY_MS);
  assert.notDeepEqual(shop.hold("ann", "seat", "key"), first);
  assert.deepEqual(shop.counts("seat"), [3, 0, 0]);
});

test("the same key with another command is invalid, and another visitor's key is another key", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", "seat", "key"));
  assert.equal(codeOfRefusal(shop.hold("ann", wishFor("seat", 2), "key")), "invalid");
  assert.equal(codeOfRefusal(shop.extend("ann", "1", "seat", "key")), "invalid");
  granted(shop.hold("bob", "seat", "key"));
  assert.deepEqual(shop.counts("seat"), [2, 0, 0]);
});

test("a refusal is not kept: the key may be tried again", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("bob", wishFor("seat", 3)));
  assert.equal(codeOfRefusal(shop.hold("ann", "seat", "key")), "insufficientStock");
  granted(shop.leave("bob"));
  granted(shop.hold("ann", "seat", "key"));
});

test("an attempt that was begun is given again, whatever id was handed in the second time", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", "seat"));
  granted(shop.finish("ann"));
  const first = shop.pay("ann", "a1", "key");
  assert.deepEqual(shop.pay("ann", "a2", "key"), first);
  assert.equal(shop.basket("ann").attemptsLeft, 2);
});

test("the organiser's writes have keys too", () => {
  const shop = new PlainShop(SEATS);
  const adjust = (delta: number) => shop.kept(shop.book.adjust("seat", delta, "refuse", shop.now, "key"));
  assert.deepEqual(adjust(5), adjust(5));
  assert.equal(shop.book.stock("seat")!.stock, 8);
  assert.equal(adjust(6).kind, "refused");
  const order = shop.buy("ann", "seat");
  const cancel = () => shop.kept(shop.book.cancel(order, null, "cancelled", shop.now, "other key"));
  assert.deepEqual(cancel(), cancel());
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
});

test("keys have a length, and so have the answers that are kept for one visitor", () => {
  const shop = new PlainShop(SEATS);
  assert.equal(codeOfRefusal(shop.hold("ann", "seat", "")), "invalid");
  assert.equal(codeOfRefusal(shop.hold("ann", "seat", "k".repeat(201))), "invalid");
  assert.equal(codeOfRefusal(shop.hold("ann", "seat", "\ud800")), "invalid");
  const { book, now } = shop;
  const ann = shop.shopper("ann");
  const use = (key: string) => book.leaveList(ann, "seat", now, key);
  let used = 0;
  while (use(`key ${used}`).kind === "left") used++;
  assert.ok(used > 1_000 && used * JSON.stringify(use("key 0")).length < KEPT_LENGTH_MAX, `${used}`);
  assert.equal(use("key 0").kind, "left", "those that were used are still answered");
  granted(shop.hold("bob", "seat", "key"));
  shop.pass(DAY_MS);
  assert.equal(shop.records.has("key/ann/key 1"), false);
  granted(shop.hold("ann", "seat", "one more"));
});

test("a write that a gateway gave a key is done also where no more answers of its visitor are kept", () => {
  const shop = new PlainShop(SEATS);
  const ann = shop.shopper("ann");
  const use = (key: string) => shop.book.leaveList(ann, "seat", shop.now, key).kind;
  for (let i = 0; use(`key ${i}`) === "left"; i++);
  assert.equal(use("one more"), "refused");
  assert.equal(use(`${GIVEN_KEY}1`), "left");
});
