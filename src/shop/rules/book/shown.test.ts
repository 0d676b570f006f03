import assert from "node:assert/strict";
import { test } from "node:test";
import { proves } from "../../../testing/requirements/proves.ts";
import { catalogueOf, codeOfRefusal, granted, PlainShop, wishFor } from "../../../testing/shop/plain-shop.ts";

test("what is shown follows every change, for the product and for all above it", () => {
  const shop = new PlainShop(
    catalogueOf({ pair: { stock: 10, parts: { seat: 2 } }, seat: { stock: 3 } }, { payment: { room: null } }),
  );
  assert.deepEqual([shop.left("pair"), shop.left("seat")], [1, 3]);
  const before = shop.book.products("room", null, shop.now).version;
  granted(shop.hold("ann", "pair"));
  assert.deepEqual(shop.shown("pair"), { id: "pair", state: "inBaskets", available: 0 });
  assert.deepEqual(shop.shown("seat"), { id: "seat", state: "available", available: 1 });
  granted(shop.finish("ann"));
  assert.equal(shop.shown("pair")!.state, "inPayment");
  shop.pay("ann", "a1");
  shop.tell("a1", "succeeded");
  assert.equal(shop.shown("pair")!.state, "soldOut");
  assert.ok(shop.book.products("room", null, shop.now).version > before);
});

test(
  proves(
    ["cs6"],
    "what is sold out stays so when units come back, for it and for compounds, until the organiser opens it again",
  ),
  () => {
    const shop = new PlainShop(
      catalogueOf({
        pair: { stock: 10, parts: { seat: 2 }, staysSoldOut: true },
        seat: { stock: 3, staysSoldOut: true },
        lone: { stock: 10, parts: { seat: 1 } },
      }),
    );
    granted(shop.hold("ann", wishFor("seat", 2)));
    granted(shop.leave("ann"));
    assert.equal(shop.shown("pair")!.state, "soldOut", "one seat was left for a moment");
    assert.equal(shop.left("seat"), 3);
    assert.equal(codeOfRefusal(shop.hold("bob", "pair")), "soldOut");
    granted(shop.hold("bob", wishFor("seat", 3)));
    granted(shop.leave("bob"));
    shop.restart();
    assert.deepEqual([shop.left("pair"), shop.left("seat"), shop.left("lone")], [0, 0, 3]);
    assert.deepEqual(shop.book.stock("seat")!.staysSoldOutIn, [""]);
    shop.kept(shop.book.reopen("seat", shop.now));
    assert.deepEqual([shop.left("pair"), shop.left("seat")], [0, 3]);
    assert.equal(codeOfRefusal(shop.hold("cem", "pair")), "soldOut");
    granted(shop.hold("cem", wishFor("seat", 3)));
    assert.equal(shop.left("seat"), 0);
    granted(shop.leave("cem"));
    assert.equal(codeOfRefusal(shop.hold("dan", "seat")), "soldOut", "and it stays sold out again");
  },
);

test("a compound whose choices have run out stays sold out too", () => {
  const shop = new PlainShop(
    catalogueOf({
      menu: { stock: 10, staysSoldOut: true, choices: { main: { from: { soup: 1, stew: 1 }, min: 2 } } },
      soup: { stock: 2, parts: { bowl: 1 } },
      stew: { stock: 2, parts: { bowl: 1 } },
      bowl: { stock: 3, forSale: false },
    }),
  );
  assert.equal(shop.left("menu"), 1);
  granted(shop.hold("ann", wishFor("soup", 2)));
  assert.equal(shop.shown("menu")!.state, "soldOut");
  granted(shop.leave("ann"));
  assert.equal(shop.left("menu"), 0);
});

test("before the sale nothing stays sold out, and what is gone when it begins does", () => {
  const shop = new PlainShop();
  const later = shop.now + 60_000;
  shop.set(
    catalogueOf(
      {
        gone: { stock: 0, staysSoldOut: true },
        gift: { stock: 5, parts: { gone: 1 }, staysSoldOut: true, saleStart: later + 60_000 },
        filled: { stock: 0, staysSoldOut: true },
      },
      { opensAt: later },
    ),
  );
  shop.kept(shop.book.adjust("filled", 5, "refuse", shop.now));
  const { version } = shop.book.products("room", null, shop.now);
  shop.pass(60_000);
  assert.ok(shop.book.products("room", null, shop.now).version > version);
  shop.kept(shop.book.adjust("gone", 5, "refuse", shop.now));
  assert.deepEqual([shop.left("gone"), shop.left("gift"), shop.left("filled")], [0, 5, 5]);
  shop.kept(shop.book.adjust("gone", -5, "refuse", shop.now));
  shop.pass(60_000);
  shop.kept(shop.book.adjust("gone", 5, "refuse", shop.now));
  assert.equal(shop.left("gift"), 0);
});

test("what is gone when the sale begins stays sold out also when nothing was running then", () => {
  const opensAt = new PlainShop().now + 60_000;
  const shop = new PlainShop(catalogueOf({ gone: { stock: 0, staysSoldOut: true } }, { opensAt }));
  const { version } = shop.book.products("room", null, shop.now);
  shop.now = opensAt + 1;
  shop.restart();
  shop.pass(0);
  assert.ok(shop.book.products("room", null, shop.now).version > version);
  shop.kept(shop.book.adjust("gone", 5, "refuse", shop.now));
  assert.equal(shop.left("gone"), 0);
});

test("a lane with a hold-back runs out by itself", () => {
  const shop = new PlainShop(
    catalogueOf({ seat: { stock: 3, holdBacks: { members: 1 }, staysSoldOut: true } }),
  );
  shop.shopper("max", { lane: "members" });
  granted(shop.hold("ann", wishFor("seat", 2)));
  assert.deepEqual([shop.left("seat"), shop.left("seat", "members")], [0, 1]);
  granted(shop.leave("ann"));
  assert.deepEqual([shop.left("seat"), shop.left("seat", "members")], [0, 3]);
  granted(shop.hold("max", wishFor("seat", 3)));
  granted(shop.leave("max"));
  assert.equal(shop.left("seat", "members"), 0);
});

test("news are told once: the products that changed, and the baskets that changed by themselves", () => {
  const shop = new PlainShop(
    catalogueOf({ pair: { stock: 10, parts: { seat: 2 } }, seat: { stock: 3 }, cap: { stock: 1 } }),
  );
  const news = () => shop.book.takeNews(shop.now);
  assert.equal(news()!.products.length, 3);
  assert.equal(news(), null);
  granted(shop.hold("ann", "seat"));
  const told = news()!;
  assert.deepEqual(told.products.map(({ id, available }) => [id, available]).sort(), [
    ["pair", 1],
    ["seat", 2],
  ]);
  assert.equal(told.version, shop.book.products("room", null, shop.now).version);
  assert.deepEqual(told.visitors, []);
  shop.passMinutes(15);
  assert.deepEqual(news()!.visitors, ["ann"]);
});

test("thousands of products above one pool run out together, and stay so", () => {
  const names = Array.from({ length: 5_000 }, (_, i) => `p${i}`);
  const shop = new PlainShop({
    currency: "EUR",
    products: Object.fromEntries(names.map((name) => [name, { stock: null, staysSoldOut: true }])),
    pools: { room: { stock: 10, products: Object.fromEntries(names.map((name) => [name, 1])) } },
  });
  granted(shop.hold("ann", wishFor("p1", 10)));
  assert.ok(names.every((name) => shop.book.stock(name)!.staysSoldOutIn.length === 1));
  granted(shop.leave("ann"));
  assert.equal(codeOfRefusal(shop.hold("bob", "p4999")), "soldOut");
});
