import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { WrittenCatalogue } from "../shop/rules/written-catalogue.ts";
import { readCatalogue, readCatalogueFile, showCatalogue } from "./catalogue-form.ts";

const FILE = `
currency: EUR
products:
  standing:
    name: Standing
    price: 4500
    stock: 1000
    limitPerCustomer: 4
    saleStart: 2026-12-01T11:00:00+01:00
    oversell: 2.5%
    holdBacks: {members: 50}
    options: {parking: 1}
    tieBreak: random
    tieWindow: 100ms
  bundle:
    stock: null
    parts: {standing: 2}
    choices:
      drinks: {from: {beer: 2, juice: 2}, min: 1}
  parking: {stock: 20, price: 800, forSale: false}
  beer: {stock: null, price: 400, forSale: false}
  juice: {stock: null, price: 300, forSale: false}
pools:
  hall: {stock: 900, products: {standing: 1}}
policies:
  opensAt: 2026-12-01T10:00:00Z
  itemsMax: 6
  burst: {items: 4, every: 10s}
  shoppingWindow: 10m
  doneWindow: 20m
  payingWindow: 5m
  offerWindow: 90s
  payment: {room: pay, attemptsMax: 2}
`;

const WRITTEN: WrittenCatalogue = {
  currency: "EUR",
  products: {
    standing: {
      name: "Standing",
      price: 4_500,
      stock: 1_000,
      limitPerCustomer: 4,
      saleStart: Date.UTC(2026, 11, 1, 10),
      oversell: 250,
      holdBacks: { members: 50 },
      options: { parking: 1 },
      tieBreak: "random",
      tieWindowMs: 100,
    },
    bundle: {
      stock: null,
      parts: { standing: 2 },
      choices: { drinks: { from: { beer: 2, juice: 2 }, min: 1 } },
    },
    parking: { stock: 20, price: 800, forSale: false },
    beer: { stock: null, price: 400, forSale: false },
    juice: { stock: null, price: 300, forSale: false },
  },
  pools: { hall: { stock: 900, products: { standing: 1 } } },
  policies: {
    opensAt: Date.UTC(2026, 11, 1, 10),
    itemsMax: 6,
    burst: { items: 4, everyMs: 10_000 },
    shoppingWindowMs: 600_000,
    doneMs: 1_200_000,
    payingMs: 300_000,
    offerMs: 90_000,
    payment: { room: "pay", attemptsMax: 2 },
  },
};

test("a catalogue is read from YAML, with durations, instants and percentages as people write them", () => {
  assert.deepEqual(readCatalogueFile(FILE, "catalogue.yaml"), { ok: true, written: WRITTEN });
});

test("JSON is read the same way", () => {
  assert.deepEqual(readCatalogueFile(JSON.stringify(showCatalogue(WRITTEN)), "catalogue.json"), {
    ok: true,
    written: WRITTEN,
  });
});

test("what is shown reads as the same catalogue", () => {
  const whole = (min: number, max: number) => fc.integer({ min, max });
  const id = fc.constantFrom("a", "opensAt", "every", "doneWindow", "products", "constructor");
  const instant = fc.option(whole(1_000_000_000, 4_000_000_000).map((seconds) => seconds * 1_000));
  const optional = { requiredKeys: ["stock"] as ["stock"] };
  const product = fc.record(
    {
      stock: fc.option(whole(0, 1_000)),
      price: whole(0, 1_000),
      saleStart: instant,
      saleEnd: instant,
      oversell: whole(-10_000, 1_000_000),
      parts: fc.dictionary(id, whole(1, 9)),
      tieWindowMs: whole(0, 10_000),
      holdBacks: fc.dictionary(id, whole(0, 9)),
    },
    optional,
  );
  const policies = fc.record(
    { opensAt: instant, shoppingWindowMs: whole(1_000, 10_000_000), offerMs: fc.option(whole(1_000, 9_999)) },
    { requiredKeys: [] },
  );
  const catalogue = fc.record({
    currency: fc.constant("EUR"),
    products: fc.dictionary(id, product),
    policies,
  });
  fc.assert(
    fc.property(catalogue, (drawn) => {
      const written = JSON.parse(JSON.stringify(drawn)) as WrittenCatalogue;
      assert.deepEqual(readCatalogue(showCatalogue(written)), { ok: true, written });
    }),
  );
});

test("every problem is told at once, at its place and in the words of the settings", () => {
  const wrong = FILE.replace("10m", "10").replace("price: 4500", "price: 45.00").replace("2.5%", "2.5");
  const reading = readCatalogueFile(wrong.replace("itemsMax: 6", "itemMax: 6"), "catalogue.yaml");
  assert.ok(!reading.ok);
  assert.deepEqual(
    reading.problems.map(({ path, message }) => [path, message]),
    [
      ["products.standing.oversell", "products.standing.oversell is 2.5, which has no percent sign"],
      ["policies.shoppingWindow", "policies.shoppingWindow is 10, which has no unit"],
      ["policies.itemMax", 'there is no setting "itemMax" in policies'],
    ],
  );
  assert.equal(reading.problems.at(-1)?.hint, "Did you mean itemsMax?");
});

test("what is no catalogue at all is told so", () => {
  for (const text of ["", "[]", "a: [", "3", "currency: EUR"]) {
    const reading = readCatalogueFile(text, "catalogue.yaml");
    assert.ok(!reading.ok && reading.problems.length > 0, text);
  }
  for (const value of [null, 3, [], "x", { currency: 3, products: [] }])
    assert.equal(readCatalogue(value).ok, false);
  const large = readCatalogueFile(`currency: EUR\n${"#".repeat(4 * 1_048_576)}`, "catalogue.yaml");
  assert.ok(!large.ok);
  assert.equal(large.problems[0]?.message, "the file is larger than 4 MB");
});

test("a name that would be lost is refused, in JSON as in YAML", () => {
  const text =
    '{"currency":"EUR","products":{"__proto__":{"stock":1},"a":{"stock":1,"parts":{"__proto__":1}}}}';
  for (const reading of [readCatalogue(JSON.parse(text)), readCatalogueFile(text, "a.yaml")]) {
    assert.ok(!reading.ok);
    assert.deepEqual(
      reading.problems.map(({ path, message }) => [path, message]),
      [
        ["products.__proto__", '"__proto__" is no name'],
        ["products.a.parts.__proto__", '"__proto__" is no name'],
      ],
    );
  }
  assert.ok(!readCatalogue(JSON.parse("[".repeat(100_000) + "]".repeat(100_000))).ok);
});
