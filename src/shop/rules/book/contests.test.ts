import assert from "node:assert/strict";
import { test } from "node:test";
import { proves } from "../../../testing/requirements/proves.ts";
import { catalogueOf, granted, PlainShop, wishFor } from "../../../testing/shop/plain-shop.ts";
import type { TieBreak } from "../catalogue.ts";
import type { Contender } from "./contests.ts";
import { logEntries } from "./movements.ts";

function contender(shop: PlainShop, visitor: string, product: string, arrival: number, count = 1): Contender {
  return { shopper: shop.shopper(visitor), wish: wishFor(product, count), parent: null, arrival };
}

function decide(shop: PlainShop, requests: readonly Contender[], seed = "seed"): string[] {
  const answers = shop.kept(shop.book.decide(requests, seed, shop.now));
  return requests.filter((_, i) => answers[i]!.kind === "basket").map(({ shopper }) => shopper.visitor);
}

/** The longest window that these requests would open; 0: none. */
function windowMs(shop: PlainShop, requests: readonly Contender[]): number {
  return Math.max(
    0,
    ...[...shop.book.contests(requests, new Set(), shop.now).values()].map((one) => one.windowMs),
  );
}

function shopWith(tieBreak: TieBreak): PlainShop {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 2, tieBreak }, cap: { stock: 9, price: 50 } }));
  for (const visitor of ["ann", "bob", "cem"]) {
    shop.shopper(visitor);
    shop.pass(1_000);
  }
  return shop;
}

test("only what has a tie-break and a window is gathered, also below a bundle or as a choice", () => {
  const shop = new PlainShop(
    catalogueOf({
      seat: { stock: 1, tieBreak: "random" },
      pair: { stock: 1, parts: { seat: 2 } },
      bag: { stock: 1, options: { seat: 1 } },
      off: { stock: 1, tieBreak: "random", tieWindowMs: 0 },
      cap: { stock: 1 },
      held: { stock: 1 },
    }),
  );
  const may = (product: string, chosen = {}) =>
    shop.book.mayTie(wishFor(product, 1, chosen), new Set(["held"]));
  assert.deepEqual(
    [
      may("seat"),
      may("pair"),
      may("bag"),
      may("bag", { seat: 1 }),
      may("off"),
      may("cap"),
      may("unknown"),
      may("held"),
    ],
    [true, true, false, true, false, false, false, true],
  );
});

test("a window opens only when the requests want more than is left", () => {
  const shop = shopWith("random");
  const [ann, bob, cem] = ["ann", "bob", "cem"].map((visitor, i) => contender(shop, visitor, "seat", i));
  assert.equal(windowMs(shop, [ann!, bob!]), 0);
  assert.equal(windowMs(shop, [ann!, bob!, cem!]), 50);
  const impossible = contender(shop, "dan", "seat", 3, 3);
  assert.equal(windowMs(shop, [ann!, bob!, impossible]), 0, "it could not be had anyway");
});

for (const [tieBreak, winners] of [
  ["earliestAdmitted", ["ann", "bob"]],
  ["latestAdmitted", ["bob", "cem"]],
  ["highestBasket", ["bob", "cem"]],
] as const)
  test(`the last units go by ${tieBreak}`, () => {
    const shop = shopWith(tieBreak);
    granted(shop.hold("cem", wishFor("cap", 2)));
    granted(shop.hold("bob", wishFor("cap", 1)));
    const requests = ["cem", "bob", "ann"].map((visitor, i) => contender(shop, visitor, "seat", i));
    assert.deepEqual(decide(shop, requests).sort(), winners);
    assert.deepEqual(shop.counts("seat"), [2, 0, 0]);
  });

test(proves(["sp8", "tb2"], "at random, the seed decides, and the log has it"), () => {
  const outcomes = new Set<string>();
  for (let seed = 0; seed < 20; seed++) {
    const shop = shopWith("random");
    const requests = ["ann", "bob", "cem"].map((visitor, i) => contender(shop, visitor, "seat", i));
    outcomes.add(decide(shop, requests, `seed ${seed}`).join());
    const again = shopWith("random");
    decide(again, requests.toReversed(), `seed ${seed}`);
    for (const visitor of ["ann", "bob", "cem"])
      assert.equal(
        shop.book.basket(visitor, shop.now) === null,
        again.book.basket(visitor, again.now) === null,
        "by seed and ids, not by order",
      );
    const notes = [...shop.records]
      .filter(([key]) => key.startsWith("log/"))
      .flatMap(([key, text]) => logEntries(key, text))
      .filter(({ cause }) => cause === "tie");
    assert.deepEqual(
      notes.map(({ about }) => JSON.parse(about)),
      [{ seed: `seed ${seed}`, product: "seat", tieBreak: "random", among: ["ann", "bob", "cem"] }],
    );
  }
  assert.equal(outcomes.size, 3);
});

test("asking often gives one visitor no better chance", () => {
  let wins = 0;
  for (let seed = 0; seed < 200; seed++) {
    const shop = new PlainShop(catalogueOf({ seat: { stock: 1, tieBreak: "random", limitPerCustomer: 1 } }));
    const requests = ["ann", "bob", "bob", "bob", "bob"].map((visitor, i) =>
      contender(shop, visitor, "seat", i),
    );
    if (decide(shop, requests, `${seed}`)[0] === "ann") wins++;
  }
  assert.ok(wins > 70 && wins < 130, `${wins} of 200`);
});

test(
  proves(["sp9", "tb1"], "a request gets all it asks for or nothing, and what does not fit is passed over"),
  () => {
    const shop = new PlainShop(
      catalogueOf({
        pair: { stock: 5, parts: { seat: 2 }, tieBreak: "earliestAdmitted" },
        seat: { stock: 3, tieBreak: "earliestAdmitted" },
      }),
    );
    for (const visitor of ["ann", "bob", "cem"]) {
      shop.shopper(visitor);
      shop.pass(1_000);
    }
    const requests = [
      contender(shop, "cem", "seat", 1),
      contender(shop, "bob", "pair", 2),
      contender(shop, "ann", "pair", 3),
    ];
    assert.deepEqual(decide(shop, requests).sort(), ["ann", "cem"]);
    assert.deepEqual(shop.counts("seat"), [3, 0, 0]);
    assert.deepEqual(shop.counts("pair"), [1, 0, 0]);
  },
);

test("a pool is decided by the tie-break of what is wished for", () => {
  const shop = new PlainShop({
    currency: "EUR",
    products: {
      front: { stock: 5, tieBreak: "latestAdmitted" },
      back: { stock: 5, tieBreak: "latestAdmitted" },
    },
    pools: { hall: { stock: 1, products: { front: 1, back: 1 } } },
  });
  shop.shopper("ann");
  shop.pass(1_000);
  const requests = [contender(shop, "ann", "front", 1), contender(shop, "bob", "back", 2)];
  assert.equal(windowMs(shop, requests), 50);
  assert.deepEqual(decide(shop, requests), ["bob"]);
});

test("a request without a tie-break of its own joins the contest for what it needs", () => {
  const shop = new PlainShop({
    currency: "EUR",
    products: { front: { stock: 5, tieBreak: "earliestAdmitted" }, back: { stock: 5 } },
    pools: { hall: { stock: 1, products: { front: 1, back: 1 } } },
  });
  shop.shopper("ann");
  shop.pass(1_000);
  assert.deepEqual(decide(shop, [contender(shop, "bob", "back", 1), contender(shop, "ann", "front", 2)]), [
    "ann",
  ]);
});
