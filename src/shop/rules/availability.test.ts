import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { proves } from "../../testing/requirements/proves.ts";
import {
  available,
  cap,
  countedUnits,
  own,
  type StockShelf,
  shownState,
  unitsLacking,
} from "./availability.ts";
import type { CountedBy, Product } from "./catalogue.ts";
import { checkCatalogue, type WrittenCatalogue } from "./check-catalogue.ts";
import type { UnitCounts } from "./commands.ts";
import { Needs } from "./needs.ts";
import type { WrittenProduct } from "./written-catalogue.ts";

type Written = Omit<WrittenCatalogue, "currency">;

/** A shop with counts that tests change by hand. */
class CountedStock implements StockShelf {
  readonly products: ReadonlyMap<string, Product>;
  readonly needs: Needs;
  readonly #counts = new Map<string, UnitCounts>();
  readonly #byLane = new Map<string, Map<string, UnitCounts>>();

  constructor(written: Written) {
    const checked = checkCatalogue({ currency: "EUR", ...written }, 1);
    assert.ok(checked.ok, JSON.stringify(checked));
    this.products = checked.catalogue.products;
    this.needs = new Needs(checked.catalogue);
  }

  stateOf(product: string) {
    const { stock } = this.products.get(product)!;
    return { stock, counts: this.#countsOf(product), byLane: this.#byLane.get(product) ?? new Map() };
  }

  /** Takes units of a product with all its parts. */
  take(product: string, units: number, where: keyof UnitCounts = "sold"): void {
    for (const [id, each] of this.needs.of(product)) this.add(id, units * each, where);
  }

  add(product: string, units: number, where: keyof UnitCounts, lane?: string): void {
    const more = (counts: UnitCounts) => ({ ...counts, [where]: counts[where] + units });
    this.#counts.set(product, more(this.#countsOf(product)));
    if (lane === undefined) return;
    const lanes = this.#byLane.get(product) ?? new Map<string, UnitCounts>();
    lanes.set(lane, more(lanes.get(lane) ?? NONE));
    this.#byLane.set(product, lanes);
  }

  available(product: string, lane: string | null = null): number | null {
    return available(product, this, lane);
  }

  /** Availability of several products. */
  allOf(...ids: readonly string[]): Record<string, number | null> {
    return Object.fromEntries(ids.map((id) => [id, this.available(id)]));
  }

  /** What is left of the stocks themselves. */
  stocksOf(...ids: readonly string[]): Record<string, number | null> {
    return Object.fromEntries(ids.map((id) => [id, own(this.products.get(id)!, this.stateOf(id), null)]));
  }

  #countsOf(product: string): UnitCounts {
    return this.#counts.get(product) ?? NONE;
  }
}

const NONE: UnitCounts = { reserved: 0, pending: 0, sold: 0 };

/** Table 1.1: three products for sale, each of two of three others. */
const TABLE_1_1: Written = {
  products: {
    p1: { stock: 50, forSale: false },
    p2: { stock: 100, forSale: false },
    p3: { stock: 200, forSale: false },
    a: { stock: 100, parts: { p1: 1, p2: 1 } },
    b: { stock: 100, parts: { p2: 1, p3: 1 } },
    c: { stock: 40, parts: { p1: 1, p3: 1 } },
  },
};
const ALL = ["p1", "p2", "p3", "a", "b", "c"];

/** Table 1.1 after the purchases of table 1.2. */
function afterTable12(): CountedStock {
  const shop = new CountedStock(TABLE_1_1);
  shop.take("a", 20);
  shop.take("b", 10);
  shop.take("c", 25);
  return shop;
}

test(
  proves(
    ["sp2", "sp3"],
    "table 1.1: a compound is available as often as the scarcest of itself and its parts",
  ),
  () => {
    const shop = new CountedStock(TABLE_1_1);
    assert.deepEqual(shop.allOf(...ALL), { p1: 50, p2: 100, p3: 200, a: 50, b: 100, c: 40 });
  },
);

test(
  proves(["sp3"], "table 1.2: what is bought of one compound lowers the others that share its parts"),
  () => {
    const shop = afterTable12();
    assert.deepEqual(shop.stocksOf(...ALL), { p1: 5, p2: 70, p3: 165, a: 80, b: 90, c: 15 });
    assert.deepEqual(shop.allOf(...ALL), { p1: 5, p2: 70, p3: 165, a: 5, b: 70, c: 5 });
  },
);

test("table 1.3: five a and 65 b sell the shop out, with stocks left over", () => {
  const shop = afterTable12();
  shop.take("a", 5);
  shop.take("b", 65);
  assert.deepEqual(shop.stocksOf(...ALL), { p1: 0, p2: 0, p3: 100, a: 75, b: 25, c: 15 });
  assert.deepEqual(shop.allOf(...ALL), { p1: 0, p2: 0, p3: 100, a: 0, b: 0, c: 0 });
});

test("table 1.4: seventy b and 5 c sell it out as well", () => {
  const shop = afterTable12();
  shop.take("b", 70);
  shop.take("c", 5);
  assert.deepEqual(shop.stocksOf(...ALL), { p1: 0, p2: 0, p3: 90, a: 80, b: 20, c: 10 });
  assert.deepEqual(shop.allOf(...ALL), { p1: 0, p2: 0, p3: 90, a: 0, b: 0, c: 0 });
});

test(proves(["sp4"], "table 1.5: an option lowers what needs it only when it is chosen"), () => {
  const shop = new CountedStock({
    products: {
      q1: { stock: 50 },
      q2: { stock: 100 },
      x: { stock: 100, parts: { q1: 1 }, options: { q2: 1 } },
      y: { stock: 100, parts: { q2: 1 } },
    },
  });
  assert.deepEqual(shop.allOf("q1", "q2", "x", "y"), { q1: 50, q2: 100, x: 50, y: 100 });
  shop.take("x", 1);
  assert.deepEqual(shop.allOf("q1", "q2", "x", "y"), { q1: 49, q2: 100, x: 49, y: 100 });
  shop.take("x", 1);
  shop.take("q2", 1);
  assert.deepEqual(shop.allOf("q1", "q2", "x", "y"), { q1: 48, q2: 99, x: 48, y: 99 });
});

test("the tables are the same whether goods are in baskets, in payment or sold, where baskets count", () => {
  for (const where of ["reserved", "pending", "sold"] as const) {
    const shop = new CountedStock(TABLE_1_1);
    shop.take("a", 20, where);
    assert.deepEqual(shop.allOf(...ALL), { p1: 30, p2: 80, p3: 200, a: 30, b: 80, c: 30 });
  }
});

test(
  proves(
    ["op1", "op2", "op3"],
    "only what is sold counts, or what is in payment too, or what is in baskets too",
  ),
  () => {
    const counts = { reserved: 4, pending: 2, sold: 1 };
    const left = (countedBy: CountedBy) => {
      const shop = new CountedStock({ products: { p: { stock: 10, countedBy } } });
      for (const where of ["reserved", "pending", "sold"] as const) shop.add("p", counts[where], where);
      assert.equal(countedUnits(counts, countedBy), 10 - shop.available("p")!);
      return shop.available("p");
    };
    assert.equal(left("sold"), 9);
    assert.equal(left("pending"), 7);
    assert.equal(left("reserved"), 3);
  },
);

test("each product below counts by its own policy", () => {
  const shop = new CountedStock({
    products: {
      bundle: { stock: 100, parts: { seat: 2 }, countedBy: "reserved" },
      seat: { stock: 10, countedBy: "sold" },
    },
  });
  shop.take("bundle", 5, "reserved");
  assert.equal(shop.available("bundle"), 5);
  assert.deepEqual(unitsLacking(new Map([["seat", 10]]), shop, null), null);
});

test(proves(["sp1"], "a stock without end is never used up, and its parts may be"), () => {
  const shop = new CountedStock({
    products: { p: { stock: null, parts: { q: 3 } }, q: { stock: 10 }, r: { stock: null } },
  });
  shop.add("r", 1_000_000, "sold");
  assert.deepEqual(shop.allOf("p", "q", "r"), { p: 3, q: 10, r: null });
});

test(proves(["op4"], "over- and undersell change the cap in hundredths of a percent, rounded down"), () => {
  assert.equal(cap(100, 0), 100);
  assert.equal(cap(100, 250), 102);
  assert.equal(cap(100, -250), 97);
  assert.equal(cap(7, -10_000), 0);
  assert.equal(cap(null, 500), null);
  // As binary fractions, 1.1 times 110 is 121.00000000000001, and 0.29 times 100 is 28.999999999999996.
  assert.equal(cap(110, 1_000), 121);
  assert.equal(cap(100, -7_100), 29);
});

test("a cap is exact for every stock and every share", () => {
  fc.assert(
    fc.property(fc.nat(1_000_000_000), fc.integer({ min: -10_000, max: 1_000_000 }), (stock, oversell) => {
      assert.equal(BigInt(cap(stock, oversell)!), (BigInt(stock) * BigInt(10_000 + oversell)) / 10_000n);
    }),
  );
});

test("less than nothing is available of nothing", () => {
  const shop = new CountedStock({ products: { p: { stock: 3, parts: { q: 1 } }, q: { stock: 2 } } });
  shop.add("q", 5, "sold");
  assert.deepEqual(shop.stocksOf("q"), { q: -3 });
  assert.equal(shop.available("p"), 0);
  assert.deepEqual(unitsLacking(new Map([["q", 1]]), shop, null), { product: "q", left: 0 });
});

test("a product whose parts are several units of one is available as often as they can all be had", () => {
  const shop = new CountedStock({
    products: {
      family: { stock: 100, parts: { adult: 2, child: 3 } },
      adult: { stock: 9, parts: { seat: 1 } },
      child: { stock: 100, parts: { seat: 1 } },
      seat: { stock: 23 },
    },
  });
  assert.equal(shop.available("family"), 4);
  shop.take("child", 5);
  assert.equal(shop.available("family"), 3);
});

test("several products draw on one pool, and the pool is what runs out", () => {
  const shop = new CountedStock({
    products: { early: { stock: 30 }, late: { stock: null }, couple: { stock: null } },
    pools: { hall: { stock: 50, products: { early: 1, late: 1, couple: 2 } } },
  });
  assert.deepEqual(shop.allOf("early", "late", "couple"), { early: 30, late: 50, couple: 25 });
  shop.take("early", 30);
  shop.take("couple", 8);
  assert.deepEqual(shop.allOf("early", "late", "couple"), { early: 0, late: 4, couple: 2 });
});

const drinks = (from: Record<string, number>, min: number): Written["products"][string] => ({
  stock: 100,
  choices: { drinks: { from, min } },
});

test(proves(["sp5"], "a set with a minimum limits a product to how often it can be filled"), () => {
  const shop = new CountedStock({
    products: { menu: drinks({ cola: 2, beer: 1 }, 2), cola: { stock: 7 }, beer: { stock: 10 } },
  });
  // Each menu may have one beer at most, so that each needs a cola.
  assert.equal(shop.available("menu"), 7);
  shop.add("cola", 7, "sold");
  assert.equal(shop.available("menu"), 0);
});

test("a set may be filled by a member without end, as far as its maximum goes", () => {
  const products = (min: number): Written => ({
    products: { menu: drinks({ cola: 2, water: 1 }, min), cola: { stock: 5 }, water: { stock: null } },
  });
  assert.equal(new CountedStock(products(1)).available("menu"), 100);
  assert.equal(new CountedStock(products(2)).available("menu"), 5);
  assert.equal(new CountedStock(products(3)).available("menu"), 2);
});

test("the parts of a product are not counted again as what can be chosen with it", () => {
  const shop = new CountedStock({
    products: {
      menu: { stock: 100, parts: { cola: 1 }, choices: { more: { from: { cola: 1, beer: 1 }, min: 1 } } },
      cola: { stock: 3 },
      beer: { stock: 0 },
    },
  });
  assert.equal(shop.available("menu"), 1);
});

test("members of a set that draw on one pool fill it only once", () => {
  const shop = new CountedStock({
    products: { menu: drinks({ cola: 2, beer: 2 }, 2), cola: { stock: null }, beer: { stock: null } },
    pools: { bar: { stock: 9, products: { cola: 1, beer: 1 } } },
  });
  assert.equal(shop.available("menu"), 4);
});

test("sets below parts and below members count, with the units of what they belong to", () => {
  const shop = new CountedStock({
    products: {
      pair: { stock: 100, parts: { menu: 2 } },
      menu: drinks({ drink: 1 }, 1),
      drink: { stock: 50, choices: { cup: { from: { small: 1, large: 1 }, min: 1 } } },
      small: { stock: 3 },
      large: { stock: 4 },
    },
  });
  assert.deepEqual(shop.allOf("drink", "menu", "pair"), { drink: 7, menu: 7, pair: 3 });
});

test("units kept for a lane are not there for others until the lane has used them", () => {
  const shop = new CountedStock({
    products: { p: { stock: 100, holdBacks: { members: 50, crew: 10 } } },
  });
  assert.equal(shop.available("p"), 40);
  assert.equal(shop.available("p", "members"), 90);
  assert.equal(shop.available("p", "crew"), 50);
  shop.add("p", 30, "reserved", "members");
  assert.equal(shop.available("p"), 40);
  assert.equal(shop.available("p", "members"), 60);
  shop.add("p", 25, "sold", "members");
  assert.equal(shop.available("p"), 35, "five beyond what was kept");
  shop.add("p", 35, "reserved");
  assert.equal(shop.available("p"), 0);
  assert.equal(shop.available("p", "members"), 0);
  assert.equal(shop.available("p", "crew"), 10);
});

test("the state that is shown tells what may come back", () => {
  const shop = new CountedStock({ products: { p: { stock: 3, parts: { q: 1 } }, q: { stock: 3 } } });
  const shown = () => shownState("p", shop, null);
  assert.equal(shown(), "available");
  shop.add("q", 3, "reserved");
  assert.equal(shown(), "inBaskets");
  shop.add("q", -3, "reserved");
  shop.add("q", 3, "pending");
  assert.equal(shown(), "inPayment");
  shop.add("q", -3, "pending");
  shop.add("q", 3, "sold");
  assert.equal(shown(), "soldOut");
});

test("one unit in payment and the rest in baskets is in baskets: the sooner decides", () => {
  const shop = new CountedStock({ products: { p: { stock: 3 } } });
  shop.add("p", 1, "pending");
  shop.add("p", 2, "reserved");
  assert.equal(shownState("p", shop, null), "inBaskets");
});

test("what is kept for a lane is sold out for everyone else", () => {
  const shop = new CountedStock({ products: { p: { stock: 5, holdBacks: { members: 5 } } } });
  assert.equal(shownState("p", shop, null), "soldOut");
  assert.equal(shownState("p", shop, "members"), "available");
});

/** How many of p can be had by trying every choice, one p after the other. */
function triedOut(shop: CountedStock, lane: null): number {
  const left = new Map(
    [...shop.products.values()].map((one) => [one.id, own(one, shop.stateOf(one.id), lane)]),
  );
  const take = (id: string, units: number): boolean => {
    let fits = true;
    for (const [q, each] of shop.needs.of(id)) {
      const more = left.get(q)! - units * each;
      left.set(q, more);
      if (more < 0) fits = false;
    }
    return fits;
  };
  let most = 0;
  const fill = (sets: readonly Product["choices"][number][], k: number): void => {
    const [set, ...others] = sets;
    if (!set) {
      most = Math.max(most, k);
      return takeOne(k);
    }
    const choose = (member: number, missing: number): void => {
      if (missing === 0) return fill(others, k);
      const one = set.from[member];
      if (!one) return;
      for (let n = 0; n <= Math.min(one.max, missing); n++) {
        if (take(one.product, n)) choose(member + 1, missing - n);
        take(one.product, -n);
      }
    };
    choose(0, set.min);
  };
  const takeOne = (k: number): void => {
    if (take("p", 1)) fill(shop.products.get("p")!.choices, k + 1);
    take("p", -1);
  };
  takeOne(0);
  return most;
}

const smallStock = fc.nat(4);
const choiceShop = (isShared: boolean) =>
  fc
    .record({
      stocks: fc.tuple(smallStock, smallStock, smallStock, smallStock, smallStock),
      counts: fc.tuple(fc.integer({ min: 1, max: 2 }), fc.integer({ min: 1, max: 2 })),
      max: fc.integer({ min: 1, max: 2 }),
      min: fc.integer({ min: 1, max: 2 }),
    })
    .map(({ stocks, counts, max, min }): Written => {
      const member = (stock: number, part: string): WrittenProduct => ({
        stock,
        ...(isShared ? { parts: { [part]: 1 } } : {}),
      });
      return {
        products: {
          p: {
            stock: 4,
            parts: { x: counts[0] },
            choices: { one: { from: { m: max, n: counts[1], x: 1 }, min } },
          },
          x: { stock: stocks[0] },
          m: member(stocks[1], "y"),
          n: member(stocks[2], "z"),
          y: { stock: stocks[3] },
          z: { stock: stocks[4] },
        },
      };
    });

test("what is available is what can be had by trying every choice", () => {
  fc.assert(
    fc.property(fc.boolean().chain(choiceShop), (written) => {
      const shop = new CountedStock(written);
      assert.equal(shop.available("p"), triedOut(shop, null));
    }),
    { numRuns: 300 },
  );
});

test("where members share scarce parts in different combinations, it is never too low", () => {
  const shared = fc.record({
    y: smallStock,
    z: smallStock,
    m: smallStock,
    n: smallStock,
    min: fc.integer({ min: 1, max: 3 }),
  });
  fc.assert(
    fc.property(shared, ({ y, z, m, n, min }) => {
      const shop = new CountedStock({
        products: {
          p: { stock: 4, choices: { one: { from: { m: 2, n: 2 }, min } } },
          m: { stock: m, parts: { y: 1, z: 1 } },
          n: { stock: n, parts: { y: 2 } },
          y: { stock: y },
          z: { stock: z },
        },
      });
      assert.ok(shop.available("p")! >= triedOut(shop, null));
    }),
    { numRuns: 300 },
  );
});
