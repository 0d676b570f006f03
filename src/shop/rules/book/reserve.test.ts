import assert from "node:assert/strict";
import { test } from "node:test";
import { customerOfVisit } from "../../../core/visit-name.ts";
import { proves } from "../../../testing/requirements/proves.ts";
import { catalogueOf, codeOfRefusal, granted, PlainShop, wishFor } from "../../../testing/shop/plain-shop.ts";
import { LINES_MAX } from "./plan.ts";

/** A weekend needs two day tickets, each with a locker; a camper may add up to two cars, and chooses one to two of three meals. */
const FESTIVAL = catalogueOf(
  {
    weekend: {
      stock: 10,
      price: 9_000,
      parts: { day: 2 },
      options: { parking: 2 },
      choices: { meals: { from: { soup: 2, stew: 1, salad: 1 }, min: 1, max: 2 } },
    },
    day: { stock: 20, price: 5_000, parts: { locker: 1 }, options: { cap: 1 } },
    locker: { stock: 20, price: 500, forSale: false },
    parking: { stock: 3, price: 1_500, parts: { bay: 1 } },
    bay: { stock: 3, forSale: false },
    soup: { stock: 5, price: 700 },
    stew: { stock: 5, price: 900 },
    salad: { stock: 5, price: 800 },
    cap: { stock: 2, price: 1_000 },
  },
  { itemsMax: null },
);

test(
  proves(
    ["cs1", "sp2", "sp3", "sp4"],
    "hold takes a ticket with its whole closure and all that is chosen, in one call",
  ),
  () => {
    const shop = new PlainShop(FESTIVAL);
    const { basket, made } = granted(shop.hold("ann", wishFor("weekend", 1, { parking: 1, soup: 1 })));
    assert.deepEqual(shop.counts("weekend"), [1, 0, 0]);
    assert.deepEqual(shop.counts("day"), [2, 0, 0]);
    assert.deepEqual(shop.counts("locker"), [2, 0, 0]);
    assert.deepEqual(shop.counts("bay"), [1, 0, 0]);
    assert.equal(basket.total, 9_000 + 1_500 + 700);
    assert.ok(basket.isValid);
    const [hold] = basket.holds;
    assert.deepEqual(made, [hold!.id]);
    const lines = hold!.children.map(({ product, units, isModifiable }) => [product, units, isModifiable]);
    assert.deepEqual(lines, [
      ["day", 2, false],
      ["locker", 2, false],
      ["parking", 1, true],
      ["soup", 1, true],
    ]);
  },
);

test(proves(["tb1"], "a wish that cannot be had whole takes nothing"), () => {
  const shop = new PlainShop(FESTIVAL);
  granted(shop.hold("bob", wishFor("parking", 2)));
  const refusal = shop.hold("ann", wishFor("weekend", 1, { parking: 2 }));
  assert.deepEqual(refusal, {
    kind: "refused",
    code: "insufficientStock",
    product: "parking",
    left: 1,
    holds: [],
  });
  assert.deepEqual(shop.counts("weekend"), [0, 0, 0]);
  assert.equal(shop.book.basket("ann", shop.now), null);
});

test(
  proves(
    ["sp5"],
    "hold, extend and undo build a hold step by step, and it is valid once its minima are filled",
  ),
  () => {
    const shop = new PlainShop(FESTIVAL);
    const { basket, made } = granted(shop.hold("ann", "weekend"));
    assert.ok(!basket.isValid);
    const ticket = made[0]!;
    assert.ok(granted(shop.extend("ann", ticket, "soup")).basket.isValid);
    const parking = granted(shop.extend("ann", ticket, "parking")).made[0]!;
    assert.deepEqual(shop.counts("bay"), [1, 0, 0]);
    const after = granted(shop.undo("ann", parking)).basket;
    assert.deepEqual(shop.counts("bay"), [0, 0, 0]);
    assert.equal(after.total, 9_700);
    granted(shop.undo("ann", ticket));
    for (const product of ["weekend", "day", "locker", "soup"])
      assert.deepEqual(shop.counts(product), [0, 0, 0]);
  },
);

test("a required part is released only with what needs it, and its own options hang below it", () => {
  const shop = new PlainShop(FESTIVAL);
  const { basket } = granted(shop.hold("ann", "weekend"));
  const day = basket.holds[0]!.children.find(({ product }) => product === "day")!;
  assert.equal(codeOfRefusal(shop.undo("ann", day.id)), "invalid");
  granted(shop.extend("ann", day.id, wishFor("cap", 2)));
  assert.deepEqual(shop.counts("cap"), [2, 0, 0]);
  assert.deepEqual(shop.extend("ann", day.id, "cap"), {
    kind: "refused",
    code: "limitReached",
    limit: "option",
    product: "cap",
    max: 1,
  });
});

test("a whole wish may choose the options of required parts", () => {
  const shop = new PlainShop(FESTIVAL);
  const { basket } = granted(shop.hold("ann", wishFor("weekend", 1, { soup: 1, cap: 2 })));
  const day = basket.holds[0]!.children.find(({ product }) => product === "day")!;
  assert.deepEqual(
    day.children.map(({ product }) => product),
    ["cap", "cap"],
  );
});

test(proves(["sp6", "sp7"], "no more is chosen than a set, a member or an option allows"), () => {
  const shop = new PlainShop(FESTIVAL);
  const refusalOf = (chosen: Record<string, number>) => shop.hold("ann", wishFor("weekend", 1, chosen));
  const limit = { kind: "refused", code: "limitReached" };
  assert.deepEqual(refusalOf({ soup: 2, stew: 1 }), { ...limit, limit: "choice", product: "stew", max: 2 });
  assert.deepEqual(refusalOf({ stew: 2 }), { ...limit, limit: "choice", product: "stew", max: 1 });
  assert.deepEqual(refusalOf({ soup: 1, parking: 3 }), {
    ...limit,
    limit: "option",
    product: "parking",
    max: 2,
  });
  assert.equal(codeOfRefusal(refusalOf({ day: 1 })), "invalid");
});

test("several tickets of one wish are holds of their own", () => {
  const shop = new PlainShop(FESTIVAL);
  const { made } = granted(shop.hold("ann", wishFor("weekend", 3, { soup: 1 })));
  assert.equal(made.length, 3);
  assert.deepEqual(shop.counts("day"), [6, 0, 0]);
  granted(shop.undo("ann", made[1]!));
  assert.deepEqual(shop.counts("day"), [4, 0, 0]);
  assert.deepEqual(shop.counts("soup"), [2, 0, 0]);
});

test(proves(["mc1"], "what is not offered here and now cannot be held"), () => {
  const shop = new PlainShop();
  const { now } = shop;
  shop.set(
    catalogueOf(
      {
        here: { stock: 1 },
        elsewhere: { stock: 1, rooms: ["other"] },
        later: { stock: 1, saleStart: now + 60_000 },
        hidden: { stock: 1, saleStart: now + 60_000, hiddenBefore: true },
        over: { stock: 1, saleEnd: now },
        part: { stock: 1, forSale: false },
        drawing: { stock: 1 },
      },
      {},
    ),
  );
  const codes = ["elsewhere", "later", "hidden", "over", "part", "unknown"].map((product) =>
    codeOfRefusal(shop.hold("ann", product)),
  );
  assert.deepEqual(codes, ["notOffered", "notOpen", "notOffered", "notOffered", "notOffered", "notOffered"]);
  assert.deepEqual(
    shop.book.products("room", null, now).products.map(({ id }) => id),
    ["here", "later", "over", "part", "drawing"],
  );
  shop.pass(60_000);
  granted(shop.hold("ann", "later"));
  granted(shop.hold("ann", "hidden"));
});

test("nothing is held before the shop opens, while it is closed, and before there is a catalogue", () => {
  const shop = new PlainShop();
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "notOpen");
  shop.set(catalogueOf({ seat: { stock: 2 } }, { opensAt: shop.now + 1_000 }));
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "notOpen");
  shop.pass(1_000);
  granted(shop.hold("ann", "seat"));
  shop.kept(shop.book.close(shop.now));
  assert.equal(codeOfRefusal(shop.hold("bob", "seat")), "notOpen");
  granted(shop.finish("ann"));
  shop.kept(shop.book.open(shop.now));
  granted(shop.hold("bob", "seat"));
});

test("a wish has whole counts, and a basket a limit of lines", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: null } }));
  for (const count of [0, -1, 0.5, Number.NaN, 2 ** 60])
    assert.notEqual(shop.hold("ann", wishFor("seat", count)).kind, "basket", String(count));
  assert.deepEqual(shop.hold("ann", wishFor("seat", LINES_MAX + 1)), {
    kind: "refused",
    code: "limitReached",
    limit: "items",
    product: null,
    max: LINES_MAX,
  });
  granted(shop.hold("ann", wishFor("seat", LINES_MAX)));
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "limitReached");
});

test(proves(["cs3", "cs4"], "limits count baskets, payments and orders of all visits of a customer"), () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 100, limitPerCustomer: 3 } }, { itemsMax: 4 }));
  const as = { customer: "carol" };
  for (const visit of ["one", "two", "three"]) shop.shopper(visit, as);
  shop.buy("one", "seat");
  granted(shop.hold("two", "seat"));
  granted(shop.finish("two"));
  granted(shop.hold("three", "seat"));
  assert.equal(codeOfRefusal(shop.hold("three", "seat")), "limitReached");
  shop.restart();
  assert.equal(codeOfRefusal(shop.hold("three", "seat")), "limitReached");
  shop.kept(shop.book.cancel(shop.basket("one").order!, null, "cancelled", shop.now));
  granted(shop.hold("three", "seat"));
});

test("who says who they are only later takes what is in the basket along", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 100, limitPerCustomer: 2 } }));
  shop.shopper("two", { customer: "carol" });
  granted(shop.hold("two", "seat"));
  granted(shop.hold("one", "seat"));
  shop.shopper("one", { customer: "carol" });
  assert.equal(codeOfRefusal(shop.hold("one", "seat")), "limitReached");
  granted(shop.undo("two", "1"));
  granted(shop.hold("one", "seat"));
  assert.equal(codeOfRefusal(shop.hold("two", "seat")), "limitReached");
  shop.shopper("one", { customer: "one" });
  assert.equal(codeOfRefusal(shop.hold("one", "seat")), "limitReached");
});

test("who said who they are does not become nameless again, so that their limit begins anew", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 100, limitPerCustomer: 2 }, cap: { stock: 9 } }));
  for (const visit of ["one", "two"]) shop.shopper(visit, { customer: "carol" });
  granted(shop.hold("one", wishFor("seat", 2)));
  for (const nameless of ["one", customerOfVisit("one")]) {
    shop.shopper("one", { customer: nameless });
    granted(shop.hold("one", "cap"));
    assert.equal(codeOfRefusal(shop.hold("two", "seat")), "limitReached");
  }
});

test("the window of additions counts those from before their owner said who they are", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 100 } }, { burst: { items: 2, everyMs: 10_000 } }));
  granted(shop.hold("one", wishFor("seat", 2)));
  shop.shopper("one", { customer: "carol" });
  assert.equal(codeOfRefusal(shop.hold("one", "seat")), "tooFast");
  shop.pass(10_000);
  granted(shop.hold("one", "seat"));
});

test(proves(["cs2"], "releases give nothing back to the window of additions"), () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 100 } }, { burst: { items: 2, everyMs: 10_000 } }));
  for (let n = 0; n < 2; n++) {
    const { made } = granted(shop.hold("ann", "seat"));
    granted(shop.undo("ann", made[0]!));
    shop.pass(1_000);
  }
  assert.deepEqual(shop.hold("ann", "seat"), {
    kind: "refused",
    code: "tooFast",
    retryAt: shop.now + 8_000,
  });
  shop.restart();
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "tooFast");
  shop.pass(8_000);
  granted(shop.hold("ann", "seat"));
});

test("a visitor can name holds in their own basket only", () => {
  const shop = new PlainShop(FESTIVAL);
  granted(shop.hold("ann", "weekend"));
  assert.equal(codeOfRefusal(shop.undo("bob", "1")), "noBasket");
  granted(shop.hold("bob", "soup"));
  assert.equal(codeOfRefusal(shop.extend("bob", "2", "cap")), "invalid");
  assert.equal(codeOfRefusal(shop.undo("bob", "2")), "invalid");
  assert.deepEqual(shop.counts("weekend"), [1, 0, 0]);
});

test("hold-backs are kept for their lane, and its visitors draw on them first", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 5, holdBacks: { members: 3 } } }));
  shop.shopper("max", { lane: "members" });
  granted(shop.hold("max", "seat"));
  granted(shop.hold("ann", wishFor("seat", 2)));
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "insufficientStock");
  assert.equal(shop.left("seat"), 0);
  assert.equal(shop.left("seat", "members"), 2);
  shop.restart();
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "insufficientStock");
  granted(shop.hold("max", wishFor("seat", 2)));
  assert.equal(codeOfRefusal(shop.hold("max", "seat")), "insufficientStock");
  granted(shop.undo("max", "1"));
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "insufficientStock");
});
