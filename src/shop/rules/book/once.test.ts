import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueOf, codeOfRefusal, granted, PlainShop, wishFor } from "../../../testing/shop/plain-shop.ts";
import { KEPT_LENGTH_MAX } from "./once.ts";

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
  granted(shop.hold("ann", "seat", "first"));
  const first = shop.records.get("key/ann/first")!;
  const times = Math.ceil(KEPT_LENGTH_MAX / first.length);
  for (let n = 0; n < 10 * times; n++) use(`key ${n}`);
  shop.kept(use("last"));
  const kept = () => [...shop.records].filter(([key]) => key.startsWith("key/ann/"));
  const length = kept().reduce((sum, [, text]) => sum + text.length, 0);
  assert.ok(length < KEPT_LENGTH_MAX + first.length && length > KEPT_LENGTH_MAX - first.length, `${length}`);
  assert.equal(shop.records.has("key/ann/first"), false, "the oldest is forgotten");
  shop.restart();
  granted(shop.hold("bob", "seat", "key"));
  granted(shop.finish("ann"));
  shop.pass(DAY_MS);
  assert.deepEqual(kept(), []);
});

test("whoever has made a large basket with keys can still finish and pay", () => {
  const shop = new PlainShop(catalogueOf({ drink: { stock: null } }));
  for (let n = 0; n < 200; n++) granted(shop.hold("ann", "drink", `key ${n}`));
  const { book, now } = shop;
  granted(shop.kept(book.finish(shop.shopper("ann"), now, "finish")));
  const paid = shop.pay("ann", "a1", "pay");
  assert.deepEqual(shop.pay("ann", "a2", "pay"), paid);
  assert.equal(paid.kind, "attempt");
});
