import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueOf, verifyRecords, wishFor } from "../../../testing/shop/plain-shop.ts";
import { ShopBook } from "../shop-book.ts";
import { ShopState } from "./shop-state.ts";
import { stockOfText } from "./stock.ts";

const BEHIND_MAX = 1_000;

test("records of counts follow the log by so many entries at most, and a start counts those again", () => {
  const records = new Map<string, string>();
  let book = new ShopBook(new ShopState({ behindMax: BEHIND_MAX }));
  const keep = () => {
    for (const [key, text] of book.takeChanges())
      if (text === null) records.delete(key);
      else records.set(key, text);
  };
  const storedAt = (product: string) => stockOfText("", records.get(`count/${product}`)!).storedAt!;
  const countsOf = (product: string) => book.stock(product)!.counts;
  book.setCatalogue(
    catalogueOf({
      seat: { stock: null, holdBacks: {} },
      cap: { stock: 10, holdBacks: { members: 5 } },
      bag: { stock: 9 },
    }),
    { ifVersion: null, now: 1 },
  );
  keep();
  const shopper = (n: number) => {
    const visitor = `visitor${n % 500}`;
    return { visitor, customer: visitor, room: "r", lane: n % 2 === 0 ? "members" : "main", admittedAt: 1 };
  };
  const trade = (times: number) => {
    for (let n = 0; n < times; n++) {
      const answer = book.hold(shopper(n), wishFor(n % 5 === 0 ? "cap" : "seat"), 1);
      assert.ok(answer.kind === "basket");
      if (n % 5 === 0 || n % 3 === 0) book.undo(shopper(n), answer.made[0]!, 1);
      keep();
    }
  };
  trade(10);
  assert.equal(storedAt("seat"), 1, "moves alone store no record");
  trade(BEHIND_MAX / 2);
  const behind = book.version - storedAt("seat");
  assert.ok(behind > BEHIND_MAX / 2 && behind <= BEHIND_MAX, `${behind}`);
  trade(BEHIND_MAX);
  for (const product of ["seat", "cap"]) assert.ok(book.version - storedAt(product) <= BEHIND_MAX);
  assert.equal(storedAt("bag"), 1, "what does not move is not stored again");
  const before = [countsOf("seat"), countsOf("cap")];
  book = ShopBook.restore([...records].sort());
  assert.deepEqual([countsOf("seat"), countsOf("cap")], before);
  trade(BEHIND_MAX / 10);
  assert.equal(verifyRecords(records).kind, "clean");
});

test("a recount compares each record at the entry that it is as of", () => {
  const records = new Map<string, string>();
  const book = new ShopBook();
  book.setCatalogue(catalogueOf({ seat: { stock: 5 } }), { ifVersion: null, now: 1 });
  const shopper = { visitor: "ann", customer: "ann", room: "r", lane: "l", admittedAt: 1 };
  book.hold(shopper, wishFor("seat", 2), 1);
  book.adjust("seat", 1, "refuse", 1);
  book.hold(shopper, wishFor("seat"), 1);
  for (const [key, text] of book.takeChanges()) records.set(key, text!);
  assert.equal(verifyRecords(records).kind, "clean");
  const count = JSON.parse(records.get("count/seat")!);
  records.set("count/seat", JSON.stringify({ ...count, counts: { ...count.counts, reserved: 1 } }));
  assert.deepEqual(verifyRecords(records), {
    kind: "different",
    difference: "reserved units of seat: the count has 1, the log 3",
  });
});
