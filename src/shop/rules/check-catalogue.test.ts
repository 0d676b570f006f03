import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueOf } from "../../testing/shop/plain-shop.ts";
import { CATALOGUE_LIMITS as LIMITS } from "./catalogue-limits.ts";
import { checkCatalogue, type WrittenCatalogue } from "./check-catalogue.ts";
import type { WrittenProduct } from "./written-catalogue.ts";

const plain: WrittenProduct = { stock: 10 };

/** The problems of a catalogue, as "path: message". */
function problemsOf(written: Partial<WrittenCatalogue>): string[] {
  const checked = checkCatalogue({ currency: "EUR", products: {}, ...written }, 1);
  return checked.ok ? [] : checked.problems.map(({ path, message }) => `${path}: ${message}`);
}

function problemsOfProduct(product: Partial<WrittenProduct>, others: Record<string, WrittenProduct> = {}) {
  return problemsOf({ products: { p: { ...plain, ...product }, ...others } });
}

function accepted(written: Partial<WrittenCatalogue>) {
  const checked = checkCatalogue({ currency: "EUR", products: {}, ...written }, 7);
  assert.ok(checked.ok, JSON.stringify(checked));
  return checked.catalogue;
}

test("what is left out of a catalogue has a default", () => {
  const catalogue = accepted({
    products: { seat: { stock: 40 }, random: { stock: null, tieBreak: "random" } },
  });
  assert.equal(catalogue.version, 7);
  assert.deepEqual(catalogue.products.get("seat"), {
    id: "seat",
    name: "seat",
    price: 0,
    stock: 40,
    isForSale: true,
    isPool: false,
    rooms: null,
    parts: [],
    options: [],
    choices: [],
    limitPerCustomer: null,
    saleStart: null,
    saleEnd: null,
    isHiddenBefore: false,
    countedBy: "reserved",
    oversell: 0,
    staysSoldOut: false,
    holdBacks: [],
    tieBreak: "first",
    tieWindowMs: 0,
  });
  assert.equal(catalogue.products.get("random")?.tieWindowMs, 50);
  assert.equal(catalogue.policies.payment.attemptsMax, 3);
  assert.equal(catalogue.policies.limitCounts, "tickets");
});

test("the most of a set is all that can be chosen, where no maximum is written", () => {
  const { products } = accepted({
    products: {
      menu: { stock: null, choices: { drinks: { from: { cola: 2, beer: 1 } } } },
      cola: plain,
      beer: plain,
    },
  });
  assert.deepEqual(products.get("menu")?.choices, [
    {
      name: "drinks",
      from: [
        { product: "cola", max: 2 },
        { product: "beer", max: 1 },
      ],
      min: 0,
      max: 3,
    },
  ]);
});

test("a pool becomes a hidden part of those that draw on it, and a product may draw on several", () => {
  const { products } = accepted({
    products: { early: { stock: 20, parts: { badge: 1 } }, late: { stock: null }, badge: plain },
    pools: {
      hall: { stock: 100, products: { early: 1, late: 2 }, countedBy: "pending" },
      food: { stock: 50, products: { late: 1 } },
    },
  });
  assert.deepEqual(products.get("early")?.parts, [
    { product: "badge", count: 1 },
    { product: "hall", count: 1 },
  ]);
  assert.deepEqual(products.get("late")?.parts, [
    { product: "hall", count: 2 },
    { product: "food", count: 1 },
  ]);
  const { isPool, isForSale, stock, countedBy } = products.get("hall")!;
  assert.deepEqual(
    { isPool, isForSale, stock, countedBy },
    { isPool: true, isForSale: false, stock: 100, countedBy: "pending" },
  );
});

test("a catalogue may be empty", () => {
  assert.equal(accepted({}).products.size, 0);
});

test("every problem is reported at once, each with its path", () => {
  const problems = problemsOf({
    currency: "euro",
    products: {
      a: { stock: -1, price: 9.5, parts: { nothing: 1 } },
      "b c": { stock: 1 },
    },
    policies: { itemsMax: 0, doneMs: 0, payment: { attemptsMax: 0 } },
  });
  assert.deepEqual(problems, [
    'currency: must be a code of ISO 4217 such as EUR, not "euro"',
    "policies.itemsMax: must be a whole number from 1 to 1000000, not 0",
    "policies.doneMs: must be a whole number from 1 to 31622400000, not 0",
    "policies.payment.attemptsMax: must be a whole number from 1 to 100, not 0",
    "products.a.price: must be a whole number from 0 to 10000000000, not 9.5",
    "products.a.stock: must be a whole number from 0 to 1000000000, not -1",
    'products.b c: "b c" is no name: 1 to 64 letters, digits, "-" and "_", a letter or digit first',
    'products.a.parts.nothing: there is no product "nothing"',
  ]);
});

test("numbers are whole, not negative and within their limits", () => {
  const bad = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];
  for (const value of bad) {
    for (const key of [
      "stock",
      "price",
      "limitPerCustomer",
      "saleStart",
      "saleEnd",
      "tieWindowMs",
    ] as const) {
      const problems = problemsOfProduct({ [key]: value });
      assert.equal(problems.length, 1, `${key}: ${value}`);
      assert.match(problems[0]!, new RegExp(`^products.p.${key}: must be a whole number from`));
    }
    assert.equal(problemsOfProduct({ parts: { q: value } }, { q: plain }).length, 1, `part: ${value}`);
    assert.equal(problemsOfProduct({ options: { q: value } }, { q: plain }).length, 1, `option: ${value}`);
    assert.equal(problemsOf({ policies: { burst: { items: value, everyMs: value } } }).length, 2);
  }
  assert.deepEqual(problemsOfProduct({ oversell: -10_000 }), []);
  assert.equal(problemsOfProduct({ oversell: -10_001 }).length, 1);
  assert.equal(problemsOfProduct({ parts: { q: 0 } }, { q: plain }).length, 1);
});

test("a product that is below itself is refused, and the way round is named", () => {
  const parts = problemsOf({
    products: {
      bundle: { stock: 1, parts: { seat: 1 } },
      seat: { stock: 1, parts: { cushion: 1 } },
      cushion: { stock: 1, parts: { bundle: 1 } },
    },
  });
  assert.deepEqual(parts, ["products.bundle: is below itself: bundle → seat → cushion → bundle"]);
  assert.deepEqual(problemsOfProduct({ parts: { p: 1 } }), ["products.p: is below itself: p → p"]);
});

test("an option or a choice that is its own ancestor is refused", () => {
  const option = problemsOfProduct({ options: { q: 1 } }, { q: { stock: 1, options: { p: 1 } } });
  assert.deepEqual(option, ["products.p: is below itself: p → q → p"]);
  const choice = problemsOfProduct(
    { choices: { set: { from: { q: 1 } } } },
    { q: { stock: 1, parts: { p: 1 } } },
  );
  assert.deepEqual(choice, ["products.p: is below itself: p → q → p"]);
});

test("a long cycle is named without filling the answer", () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `p${i}`);
  const products = Object.fromEntries(
    names.map((name, i) => [name, { stock: 1, parts: { [names[(i + 1) % names.length]!]: 1 } }]),
  );
  const [problem, ...others] = problemsOf({ products });
  assert.match(problem!, /^products\.p0: is below itself: p0 → p1 → .+ → p19 → 4980 more → p0$/);
  assert.deepEqual(others, []);
});

test("products reached over many paths are no cycle", () => {
  const products = {
    top: { stock: 1, parts: { left: 1, right: 1 } },
    left: { stock: 1, parts: { bottom: 1 } },
    right: { stock: 1, options: { bottom: 1 } },
    bottom: plain,
  };
  assert.deepEqual(problemsOf({ products }), []);
});

test("more is demanded of a set than can be chosen", () => {
  const choices = (min: number, max?: number) =>
    problemsOfProduct(
      { choices: { set: { from: { q: 2, r: 1 }, min, ...(max === undefined ? {} : { max }) } } },
      { q: plain, r: plain },
    );
  assert.deepEqual(choices(3), []);
  assert.deepEqual(choices(4, 5), ["products.p.choices.set.min: is 4, but only 3 can be chosen"]);
  assert.deepEqual(choices(2, 1), [
    "products.p.choices.set.min: must not be more than the maximum: 2 is more than 1",
  ]);
  assert.deepEqual(problemsOfProduct({ choices: { set: { from: {} } } }), [
    "products.p.choices.set.from: has nothing to choose from",
  ]);
});

test("a product can be chosen in one place of its parent only", () => {
  const problems = problemsOfProduct(
    {
      parts: { q: 1 },
      options: { q: 1 },
      choices: { one: { from: { q: 1, r: 1 } }, two: { from: { r: 1 } } },
    },
    { q: plain, r: plain },
  );
  assert.deepEqual(problems, [
    "products.p.choices.one.from.q: is also one of the options",
    "products.p.choices.two.from.r: is also one of the choices one",
  ]);
});

test("a product is offered where all its required parts are", () => {
  const checked = checkCatalogue(
    catalogueOf({
      bundle: { rooms: ["main", "vip"], parts: { seat: 1, box: 1 } },
      seat: { parts: { hall: 1 } },
      hall: { rooms: ["vip", "main", "side"] },
      box: { rooms: ["vip", "side"] },
      extra: { options: { box: 1 } },
    }),
    1,
  );
  assert.ok(checked.ok);
  const rooms = (id: string) => checked.catalogue.products.get(id)!.rooms;
  assert.deepEqual(
    [rooms("bundle"), rooms("seat"), rooms("extra")],
    [["vip"], ["vip", "main", "side"], null],
  );
});

test("what belongs together is offered in a common room", () => {
  const part = problemsOfProduct(
    { rooms: ["main", "vip"], parts: { q: 1 } },
    { q: { stock: 1, rooms: ["side"] } },
  );
  assert.deepEqual(part, [
    "products.p.parts.q: is never offered: there is no room that has both p and all of q",
  ]);
  const option = problemsOfProduct(
    { rooms: ["main"], options: { q: 1 } },
    { q: { stock: 1, rooms: ["side"] } },
  );
  assert.equal(option.length, 1);
  const deep = problemsOfProduct(
    { parts: { q: 1, s: 1 } },
    {
      q: { stock: 1, parts: { r: 1 } },
      r: { stock: 1, rooms: ["main", "side"] },
      s: { stock: 1, rooms: ["vip"] },
    },
  );
  assert.deepEqual(deep, [
    "products.p.parts.s: is never offered: there is no room that has both p and all of s",
  ]);
  const some = problemsOfProduct(
    { rooms: ["main", "vip"], parts: { q: 1 } },
    { q: { stock: 1, rooms: ["vip"] } },
  );
  assert.deepEqual(some, []);
});

test("a sale ends after it starts, and what is hidden has a start", () => {
  assert.deepEqual(problemsOfProduct({ saleStart: 2_000, saleEnd: 2_000 }), [
    "products.p.saleEnd: the sale must not end before it starts",
  ]);
  assert.deepEqual(problemsOfProduct({ saleStart: 1_000, saleEnd: 2_000, hiddenBefore: true }), []);
  assert.deepEqual(problemsOfProduct({ hiddenBefore: true }), [
    "products.p.hiddenBefore: needs a saleStart until which the product is hidden",
  ]);
});

test("not more is held back than can be sold", () => {
  assert.deepEqual(problemsOfProduct({ holdBacks: { members: 6, crew: 4 } }), []);
  assert.deepEqual(problemsOfProduct({ oversell: -5_000, holdBacks: { members: 6 } }), [
    "products.p.holdBacks: keeps back 6, but at most 5 can be sold",
  ]);
  assert.deepEqual(problemsOfProduct({ stock: null, holdBacks: { members: 6 } }), [
    "products.p.holdBacks: nothing can be kept back of a stock without end",
  ]);
});

test("pools draw on no pools, and are linked in one way only", () => {
  const problems = problemsOf({
    products: { p: { stock: 1, parts: { hall: 1 } }, q: plain },
    pools: { hall: { stock: 5, products: { q: 1, other: 1 } }, q: { stock: 1, products: { hall: 1 } } },
  });
  assert.deepEqual(problems, [
    'pools.hall.products.other: there is no product "other"',
    "pools.q: has the name of a product",
    'pools.q.products.hall: there is no product "hall"',
    "products.p: hall is a pool: write p under pools.hall.products instead",
  ]);
});

test("limits for a customer leave room for one of everything that is for sale", () => {
  const products = {
    p: { stock: 10, parts: { q: 2 }, choices: { set: { from: { r: 3 }, min: 3 } } },
    q: { stock: 10, limitPerCustomer: 1 },
    r: plain,
  };
  const policies = { itemsMax: 5, burst: { items: 4, everyMs: 1_000 } };
  assert.deepEqual(problemsOf({ products, policies }), []);
  assert.deepEqual(problemsOf({ products, policies: { ...policies, limitCounts: "everything" } }), [
    "products.p: one has 2 units of q, and a customer may have 1",
    "products.p: one has 6 items, and a customer may have 5 (policies.itemsMax)",
    "products.p: one has 6 items, and at most 4 are added at once (policies.burst)",
  ]);
});

test("pools are no items", () => {
  const problems = problemsOf({
    products: { p: plain },
    pools: { hall: { stock: 100, products: { p: 20 } } },
    policies: { itemsMax: 1, limitCounts: "everything" },
  });
  assert.deepEqual(problems, []);
});

test("the units of one product in another have a limit, and only the first to pass it is named", () => {
  const levels = Array.from({ length: 6 }, (_, i) => [`p${i}`, { stock: 1, parts: { [`p${i + 1}`]: 100 } }]);
  const products = { ...Object.fromEntries(levels), p6: plain };
  assert.deepEqual(problemsOf({ products }), [
    `products.p2: one takes ${10 ** 8} units of p6; at most ${LIMITS.unitsInOne} are possible`,
  ]);
});

test("a product has a limited number of levels and of other products below it", () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, i) => [
        `p${i}`,
        i + 1 < length ? { stock: 1, options: { [`p${i + 1}`]: 1 } } : plain,
      ]),
    );
  assert.deepEqual(problemsOf({ products: chain(LIMITS.depth + 1) }), []);
  assert.deepEqual(problemsOf({ products: chain(LIMITS.depth + 5) }), [
    "products.p3: has more than 50 levels of products below it",
  ]);
  const wide = Array.from({ length: LIMITS.needs }, (_, i) => `w${i}`);
  const parts = Object.fromEntries(wide.map((id) => [id, 1]));
  const products = { top: { stock: 1, parts }, ...Object.fromEntries(wide.map((id) => [id, plain])) };
  assert.deepEqual(problemsOf({ products }), [
    "products.top: needs 100 other products; at most 99 are possible",
  ]);
});

test("a catalogue has a limited number of products and links", () => {
  const many = (length: number) =>
    Object.fromEntries(Array.from({ length }, (_, i) => [`p${i}`, { stock: i }]));
  assert.deepEqual(problemsOf({ products: many(LIMITS.products + 1) }), [
    "products: there are 20001 products and pools; at most 20000 are possible",
  ]);
  const ids = Object.keys(many(400));
  const linked = Object.fromEntries(
    ids.map((id) => [id, { stock: 1, options: Object.fromEntries(ids.map((other) => [other, 1])) }]),
  );
  assert.deepEqual(problemsOf({ products: linked }), [
    "products: have 160000 parts, options and choices in all; at most 100000 are possible",
  ]);
});

test("of very many problems the first are reported, and how many more there are", () => {
  const products = Object.fromEntries(Array.from({ length: 130 }, (_, i) => [`p${i}`, { stock: -1 }]));
  const problems = problemsOf({ products });
  assert.equal(problems.length, 101);
  assert.equal(problems.at(-1), ": and 30 more problems");
});

test("names of the language itself are ordinary names or refused, and never found by accident", () => {
  assert.deepEqual(problemsOfProduct({ parts: { toString: 1 } }), [
    'products.p.parts.toString: there is no product "toString"',
  ]);
  const products = JSON.parse('{"__proto__": {"stock": 1}, "constructor": {"stock": 1}}');
  assert.equal(problemsOf({ products }).length, 1);
});
