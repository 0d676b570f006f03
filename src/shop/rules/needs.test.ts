import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCatalogue, type WrittenCatalogue } from "./check-catalogue.ts";
import { Needs } from "./needs.ts";

const plain = { stock: 10 };

function needsFor(written: Omit<WrittenCatalogue, "currency">): Needs {
  const checked = checkCatalogue({ currency: "EUR", ...written }, 1);
  assert.ok(checked.ok, JSON.stringify(checked));
  return new Needs(checked.catalogue);
}

test("a product needs one of itself, and its parts times their counts", () => {
  const needs = needsFor({
    products: {
      bundle: { stock: 1, parts: { seat: 2, meal: 1 } },
      seat: { stock: 1, parts: { cushion: 3 } },
      meal: plain,
      cushion: plain,
    },
  });
  assert.deepEqual(Object.fromEntries(needs.of("bundle")), { bundle: 1, seat: 2, meal: 1, cushion: 6 });
  assert.deepEqual(Object.fromEntries(needs.of("cushion")), { cushion: 1 });
  assert.equal([...needs.of("bundle").keys()][0], "bundle");
});

test("what is reached over several paths counts on each of them", () => {
  const needs = needsFor({
    products: {
      top: { stock: 1, parts: { left: 2, right: 3, bottom: 1 } },
      left: { stock: 1, parts: { bottom: 5 } },
      right: { stock: 1, parts: { bottom: 7 } },
      bottom: plain,
    },
  });
  assert.equal(needs.of("top").get("bottom"), 2 * 5 + 3 * 7 + 1);
});

test("as many paths as there are atoms take no longer than the links", () => {
  const levels = 19;
  const products: Record<string, WrittenCatalogue["products"][string]> = { bottom0: plain };
  for (let i = 1; i <= levels; i++) {
    products[`a${i}`] = { stock: 1, parts: { [`bottom${i - 1}`]: 1 } };
    products[`b${i}`] = { stock: 1, parts: { [`bottom${i - 1}`]: 1 } };
    products[`bottom${i}`] = { stock: 1, parts: { [`a${i}`]: 1, [`b${i}`]: 1 } };
  }
  const needs = needsFor({ products });
  assert.equal(needs.of(`bottom${levels}`).get("bottom0"), 2 ** levels);
});

test("options are not needed, and choices only as far as their minimum demands in any case", () => {
  const needs = needsFor({
    products: {
      menu: {
        stock: 1,
        options: { flag: 2 },
        choices: {
          drinks: { from: { cola: 2, beer: 2 }, min: 3 },
          extras: { from: { nuts: 1 } },
        },
      },
      cola: plain,
      beer: plain,
      flag: plain,
      nuts: plain,
    },
    pools: { bar: { stock: 50, products: { cola: 1, beer: 2 } } },
  });
  assert.deepEqual(Object.fromEntries(needs.of("menu")), { menu: 1 });
  // Of three drinks at least one is a cola and one a beer; the fewest from the bar are two colas and a beer.
  assert.deepEqual(Object.fromEntries(needs.least("menu")), { menu: 1, cola: 1, beer: 1, bar: 4 });
});

test("sets below required parts are found with the units of what they belong to", () => {
  const needs = needsFor({
    products: {
      pair: { stock: 1, parts: { menu: 2, bag: 1 } },
      bag: { stock: 1, parts: { menu: 1 } },
      menu: { stock: 1, choices: { drink: { from: { cola: 1 }, min: 1 } } },
      cola: plain,
    },
  });
  assert.deepEqual(
    needs.setsBelow("pair").map(({ set, parents }) => [set.name, parents]),
    [["drink", 3]],
  );
  assert.equal(needs.least("pair").get("cola"), 3);
});

test("the products whose availability may change with another's units are known", () => {
  const needs = needsFor({
    products: {
      bundle: { stock: 1, parts: { seat: 1 } },
      seat: { stock: 1, options: { cushion: 1 }, choices: { drink: { from: { cola: 1 }, min: 1 } } },
      cushion: plain,
      cola: plain,
    },
  });
  assert.deepEqual(needs.affectedBy("cola"), new Set(["cola", "seat", "bundle"]));
  assert.deepEqual(needs.affectedBy("cushion"), new Set(["cushion"]));
});

test("asking for a product that is not in the catalogue is a mistake of the caller", () => {
  assert.throws(() => needsFor({ products: {} }).of("ghost"), /no product "ghost"/);
});
