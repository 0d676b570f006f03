import assert from "node:assert/strict";
import { test } from "node:test";
import { proves } from "../../../testing/requirements/proves.ts";
import { catalogueOf, codeOfRefusal, granted, PlainShop, wishFor } from "../../../testing/shop/plain-shop.ts";

const MINUTE_MS = 60_000;
const TIMES = { shoppingWindowMs: 10 * MINUTE_MS, doneMs: 20 * MINUTE_MS, payingMs: 5 * MINUTE_MS };
const SEATS = catalogueOf({ seat: { stock: 3, price: 1_000 } }, { ...TIMES, payment: { room: "till" } });

test("finish moves the whole basket from reserved to pending, and freezes it", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", wishFor("seat", 2)));
  const { basket } = granted(shop.finish("ann"));
  assert.equal(basket.phase, "done");
  assert.deepEqual(shop.counts("seat"), [0, 2, 0]);
  assert.ok(basket.holds.every(({ isModifiable }) => !isModifiable));
  for (const answer of [shop.hold("ann", "seat"), shop.undo("ann", "1"), shop.finish("ann")])
    assert.equal(codeOfRefusal(answer), "frozen");
});

test("an empty basket, and one with unfilled minima, cannot be finished", () => {
  const shop = new PlainShop(
    catalogueOf({
      menu: { stock: 3, choices: { main: { from: { soup: 1, stew: 1 }, min: 1 } } },
      soup: { stock: 3 },
      stew: { stock: 3 },
    }),
  );
  const { made } = granted(shop.hold("ann", "menu"));
  assert.equal(codeOfRefusal(shop.finish("ann")), "invalid");
  granted(shop.extend("ann", made[0]!, "stew"));
  granted(shop.finish("ann"));
  granted(shop.undo("bob", granted(shop.hold("bob", "soup")).made[0]!));
  assert.equal(codeOfRefusal(shop.finish("bob")), "invalid");
  assert.equal(codeOfRefusal(shop.finish("eve")), "noBasket");
});

test(proves(["cs5"], "the end of browsing finishes a valid basket"), () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", "seat"));
  assert.equal(shop.basket("ann").expiresAt, shop.now + TIMES.shoppingWindowMs);
  shop.pass(TIMES.shoppingWindowMs - 1);
  assert.equal(shop.basket("ann").phase, "browsing");
  shop.pass(1);
  assert.equal(shop.basket("ann").phase, "done");
  assert.deepEqual(shop.counts("seat"), [0, 1, 0]);
});

test("the end of browsing releases and names what is incomplete, and an empty basket departs", () => {
  const shop = new PlainShop(
    catalogueOf(
      {
        menu: { stock: 3, choices: { main: { from: { soup: 1 }, min: 1 } } },
        soup: { stock: 3 },
      },
      TIMES,
    ),
  );
  granted(shop.hold("ann", "menu"));
  granted(shop.hold("ann", "soup"));
  granted(shop.hold("bob", "menu"));
  shop.pass(TIMES.shoppingWindowMs);
  const ann = shop.basket("ann");
  assert.deepEqual([ann.phase, ann.released, ann.holds.length], ["done", ["menu"], 1]);
  const bob = shop.basket("bob");
  assert.deepEqual([bob.phase, bob.released, bob.holds.length], ["departed", ["menu"], 0]);
  assert.deepEqual(shop.counts("menu"), [0, 0, 0]);
  assert.equal(codeOfRefusal(shop.hold("bob", "soup")), "expired");
});

test(
  proves(["cs5"], "who comes too late for the window gets no basket, also when nothing has expired yet"),
  () => {
    const shop = new PlainShop(SEATS);
    granted(shop.hold("ann", "seat"));
    shop.shopper("bob");
    shop.now += TIMES.shoppingWindowMs;
    assert.equal(codeOfRefusal(shop.hold("bob", "seat")), "expired");
    assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "frozen");
    assert.equal(shop.basket("ann").phase, "done");
  },
);

test("the deadlines of done and paying return the goods", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", "seat"));
  granted(shop.finish("ann"));
  granted(shop.hold("bob", "seat"));
  granted(shop.finish("bob"));
  granted(shop.enterPayment("bob"));
  assert.equal(shop.basket("bob").expiresAt, shop.now + TIMES.payingMs);
  shop.pass(TIMES.payingMs);
  assert.equal(shop.basket("bob").phase, "departed");
  assert.deepEqual(shop.counts("seat"), [0, 1, 0]);
  shop.pass(TIMES.doneMs - TIMES.payingMs);
  assert.equal(shop.basket("ann").phase, "departed");
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
});

test("while the payment door is closed the deadlines of done and paying stand still, and those of browsing do not", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", "seat"));
  granted(shop.finish("ann"));
  granted(shop.hold("bob", "seat"));
  shop.passMinutes(1);
  shop.kept(shop.book.setPaymentDoor(false, shop.now));
  assert.equal(shop.basket("ann").expiresAt, null);
  shop.passMinutes(500);
  shop.restart();
  assert.deepEqual([shop.basket("ann").phase, shop.basket("bob").phase], ["done", "done"]);
  shop.kept(shop.book.setPaymentDoor(true, shop.now));
  assert.equal(shop.basket("ann").expiresAt, shop.now + 19 * MINUTE_MS);
  assert.equal(shop.basket("bob").expiresAt, shop.now + 20 * MINUTE_MS);
  shop.passMinutes(19);
  assert.deepEqual([shop.basket("ann").phase, shop.basket("bob").phase], ["departed", "done"]);
});

test("leaving while browsing or done returns the goods at once, and the visit is over", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", wishFor("seat", 3)));
  granted(shop.leave("ann"));
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "expired");
  granted(shop.hold("bob", "seat"));
  granted(shop.finish("bob"));
  granted(shop.leave("bob"));
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
  granted(shop.leave("bob"));
  assert.equal(codeOfRefusal(shop.leave("eve")), "noBasket");
});

test("the payment door is passed only from done, and passing it twice changes nothing", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", "seat"));
  assert.equal(codeOfRefusal(shop.enterPayment("ann")), "wrongPhase");
  granted(shop.finish("ann"));
  const { expiresAt } = granted(shop.enterPayment("ann")).basket;
  shop.pass(1_000);
  assert.equal(granted(shop.enterPayment("ann")).basket.expiresAt, expiresAt);
});

test(
  proves(
    ["op2"],
    "where only pending and sold units count, finish checks the whole basket again and names what is lost",
  ),
  () => {
    const shop = new PlainShop(
      catalogueOf({ seat: { stock: 2, countedBy: "pending" }, cap: { stock: 9 } }, TIMES),
    );
    granted(shop.hold("ann", wishFor("seat", 2)));
    granted(shop.hold("ann", "cap"));
    granted(shop.hold("bob", "seat"));
    assert.deepEqual(shop.counts("seat"), [3, 0, 0]);
    granted(shop.finish("bob"));
    const refusal = shop.finish("ann");
    assert.deepEqual(refusal, {
      kind: "refused",
      code: "insufficientStock",
      product: "seat",
      left: 1,
      holds: ["2"],
    });
    assert.deepEqual(shop.counts("cap"), [1, 0, 0]);
    granted(shop.undo("ann", "2"));
    granted(shop.finish("ann"));
  },
);

test("what is lost of a product that is sold no more is named too", () => {
  const products = { seat: { stock: 1, countedBy: "pending" as const } };
  const shop = new PlainShop(catalogueOf({ ...products, pair: { parts: { seat: 1 } } }, TIMES));
  for (const visitor of ["ann", "bob"]) granted(shop.hold(visitor, "pair"));
  granted(shop.finish("bob"));
  shop.set(catalogueOf(products, TIMES));
  assert.deepEqual(shop.finish("ann"), {
    ...{ kind: "refused", code: "insufficientStock", product: "pair", left: 0, holds: ["1"] },
  });
});

test("at the end of browsing what others have finished before is released, and the rest is finished", () => {
  const shop = new PlainShop(
    catalogueOf({ seat: { stock: 2, countedBy: "pending" }, cap: { stock: 9 } }, TIMES),
  );
  granted(shop.hold("ann", wishFor("seat", 2)));
  granted(shop.hold("ann", "cap"));
  granted(shop.hold("bob", "seat"));
  granted(shop.finish("bob"));
  shop.pass(TIMES.shoppingWindowMs);
  const { phase, released, holds } = shop.basket("ann");
  assert.deepEqual(
    [phase, released, holds.map(({ product }) => product)],
    ["done", ["seat"], ["seat", "cap"]],
  );
  assert.deepEqual(shop.counts("seat"), [0, 2, 0]);
});

test("a departed basket can be seen for a while, and is then forgotten", () => {
  const shop = new PlainShop(SEATS);
  granted(shop.hold("ann", "seat"));
  granted(shop.leave("ann"));
  assert.equal(shop.basket("ann").phase, "departed");
  shop.passMinutes(61);
  assert.equal(shop.book.basket("ann", shop.now), null);
  assert.deepEqual(
    [...shop.records.keys()].filter((key) => key.startsWith("basket/")),
    [],
  );
});
