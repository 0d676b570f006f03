import assert from "node:assert/strict";
import { test } from "node:test";
import type { ProductView, ShopRoomFigures } from "../rules/commands.ts";
import { stockOutlook } from "./stock-outlook.ts";

const product = (
  id: string,
  available: number | null,
  state: ProductView["state"] = "available",
): ProductView => ({
  id,
  available,
  state: available === 0 && state === "available" ? "soldOut" : state,
});
const figures = (departed: number, sold: number): ShopRoomFigures => ({
  customers: { browsing: 0, done: 0, paying: 0 },
  tickets: { reserved: 0, pending: 0, sold },
  arrived: departed,
  departed,
  bought: departed,
});
const all = () => true;

test("everything is sold when each product that is sold by itself is", () => {
  const isForSale = (id: string) => id !== "parking";
  const products = [product("seat", 0), product("parking", 5)];
  assert.deepEqual(stockOutlook(products, isForSale, undefined), { isSoldOut: true, reach: 0 });
  assert.equal(stockOutlook([product("seat", 0, "inBaskets")], all, undefined).isSoldOut, false);
  assert.equal(
    stockOutlook([product("seat", 0, "inPayment"), product("b", 0)], all, undefined).isSoldOut,
    false,
  );
});

test("where nothing is offered, nothing is sold out", () => {
  assert.deepEqual(stockOutlook([], all, figures(100, 100)), { isSoldOut: false, reach: null });
  assert.deepEqual(
    stockOutlook([product("parking", 0)], () => false, undefined),
    { isSoldOut: false, reach: null },
  );
});

test("how far the rest reaches follows from what those who left took, with a margin", () => {
  assert.equal(stockOutlook([product("seat", 100)], all, figures(50, 100)).reach, 75);
  assert.equal(stockOutlook([product("seat", 100)], all, figures(50, 25)).reach, 300);
});

test("of too few visitors, of none who bought, and of stock without end nobody can say", () => {
  assert.equal(stockOutlook([product("seat", 100)], all, figures(19, 19)).reach, null);
  assert.equal(stockOutlook([product("seat", 100)], all, figures(50, 0)).reach, null);
  assert.equal(stockOutlook([product("seat", 100)], all, undefined).reach, null);
  assert.equal(stockOutlook([product("seat", 100), product("film", null)], all, figures(50, 50)).reach, null);
});

test("what is in baskets may come back, and is counted as left", () => {
  const some = { ...figures(50, 50), tickets: { reserved: 6, pending: 4, sold: 50 } };
  assert.equal(stockOutlook([product("seat", 0, "inBaskets")], all, some).reach, 15);
});
