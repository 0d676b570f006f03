import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueOf } from "../../testing/shop/plain-shop.ts";
import { completeCatalogue } from "../rules/written-catalogue.ts";
import { catalogueJson } from "./shown-catalogue.ts";

const CATALOGUE = completeCatalogue(
  catalogueOf({
    seat: {
      stock: 9,
      parts: { badge: 1 },
      options: { encore: 1, cap: 1 },
      choices: { meal: { from: { encore: 1, soup: 1 } } },
    },
    badge: { stock: null, forSale: false, rooms: ["elsewhere"] },
    cap: { stock: 9 },
    soup: { stock: 9 },
    encore: { stock: 9, saleStart: 1_000, hiddenBefore: true },
  }),
  1,
);

function shown(...ids: string[]) {
  const products = ids.map((id) => ({ id, state: "available", available: 9 }) as const);
  return catalogueJson(CATALOGUE, { version: 1, catalogueVersion: 1, products }, false);
}

test("a product that is not shown yet is not named with what it can be chosen for", () => {
  const text = shown("seat", "cap", "soup");
  assert.doesNotMatch(text, /encore/);
  const [seat] = JSON.parse(text).products;
  assert.deepEqual(
    [seat.parts, seat.options, seat.choices[0].from].map((list) => list[0].product),
    ["badge", "cap", "soup"],
  );
});

test("one that is shown is", () => {
  const [seat] = JSON.parse(shown("seat", "cap", "soup", "encore")).products;
  assert.equal(seat.options[0].product, "encore");
});
