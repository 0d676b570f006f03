import assert from "node:assert/strict";
import { test } from "node:test";
import { catalogueOf, codeOfRefusal, granted, PlainShop, wishFor } from "../../../testing/shop/plain-shop.ts";

test("a catalogue is set whole, at the version that the organiser has seen", () => {
  const shop = new PlainShop();
  assert.equal(shop.book.catalogue(), null);
  const first = catalogueOf({ seat: { stock: 1 } });
  assert.deepEqual(shop.set(first, { ifVersion: 0 }), { kind: "set", version: 1 });
  const refusal = shop.set(catalogueOf({}), { ifVersion: 0 });
  assert.deepEqual(refusal, { kind: "refused", code: "versionMismatch", version: 1 });
  const wrong = shop.set(catalogueOf({ seat: { stock: -1 } }), { ifVersion: 1 });
  assert.ok(wrong.kind === "refused" && wrong.code === "invalidCatalogue");
  assert.deepEqual(
    wrong.problems.map(({ path }) => path),
    ["products.seat.stock"],
  );
  assert.deepEqual(shop.book.catalogue(), { version: 1, written: first });
  shop.restart();
  assert.deepEqual(shop.book.catalogue(), { version: 1, written: first });
});

test("a catalogue changes the stock by the difference to the one before", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 10 } }));
  granted(shop.hold("ann", wishFor("seat", 4)));
  shop.kept(shop.book.adjust("seat", 5, "refuse", shop.now));
  shop.set(catalogueOf({ seat: { stock: 8 } }));
  assert.equal(shop.book.stock("seat")!.stock, 13);
  shop.set(catalogueOf({ seat: { stock: 8 }, other: { stock: 1 } }));
  assert.equal(shop.book.stock("seat")!.stock, 13);
  shop.set(catalogueOf({ seat: { stock: null } }));
  assert.equal(shop.left("seat"), null);
  shop.set(catalogueOf({ seat: { stock: 6 } }));
  assert.equal(shop.left("seat"), 2);
});

test("a change below what is held is refused, or recorded as a shortfall until fewer are held", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 4 } }));
  granted(shop.hold("ann", wishFor("seat", 3)));
  const adjust = (delta: number, shortfall: "refuse" | "record") =>
    shop.kept(shop.book.adjust("seat", delta, shortfall, shop.now));
  assert.deepEqual(adjust(-2, "refuse"), { kind: "refused", code: "belowHeld", product: "seat" });
  assert.deepEqual(adjust(-5, "record"), { kind: "refused", code: "belowZero", product: "seat" });
  const refused = shop.set(catalogueOf({ seat: { stock: 2 } }));
  assert.ok(refused.kind === "refused" && refused.code === "belowHeld");
  assert.match(refused.problems[0]!.message, /1 less than what is held/);
  assert.equal(shop.book.stock("seat")!.stock, 4);
  adjust(-2, "record");
  assert.equal(shop.book.stock("seat")!.shortfall, 1);
  assert.equal(shop.left("seat"), 0);
  assert.equal(adjust(1, "refuse").kind, "stock");
  assert.equal(shop.book.stock("seat")!.shortfall, 0);
  assert.equal(shop.set(catalogueOf({ seat: { stock: 2 } }), { shortfall: "record" }).kind, "set");
  assert.equal(shop.book.stock("seat")!.shortfall, 2);
  granted(shop.undo("ann", "1"));
  assert.equal(shop.book.stock("seat")!.shortfall, 1);
  granted(shop.leave("ann"));
  assert.equal(shop.book.stock("seat")!.shortfall, 0);
});

test("adjusting knows its product, and an endless stock has nothing to adjust", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: null } }));
  const codeOf = (product: string, delta: number) =>
    codeOfRefusal(shop.kept(shop.book.adjust(product, delta, "refuse", shop.now)) as { kind: string });
  assert.equal(codeOf("unknown", 1), "unknownProduct" as never);
  assert.equal(codeOf("seat", 1), "endless" as never);
});

test("a removed product takes no new holds, and those there are finish under their old price and rules", () => {
  const shop = new PlainShop(
    catalogueOf({
      menu: { stock: 5, price: 1_000, choices: { main: { from: { soup: 1, stew: 1 }, min: 1 } } },
      soup: { stock: 5, price: 100 },
      stew: { stock: 5, price: 200 },
    }),
  );
  granted(shop.hold("ann", wishFor("menu", 1, { soup: 1 })));
  granted(shop.hold("bob", "menu"));
  granted(shop.hold("cem", "menu"));
  shop.set(
    catalogueOf({ soup: { stock: 5, price: 150 }, menu: { stock: 5, price: 2_000, parts: { soup: 1 } } }),
  );
  assert.equal(codeOfRefusal(shop.hold("dan", "stew")), "notOffered");
  assert.equal(shop.basket("ann").total, 1_100);
  assert.equal(shop.basket("bob").isValid, false);
  shop.restart();
  assert.equal(codeOfRefusal(shop.extend("bob", "1", "stew")), "notOffered");
  const { basket } = granted(shop.extend("bob", "1", "soup"));
  assert.deepEqual([basket.total, basket.isValid], [1_150, true]);
  shop.set(catalogueOf({ soup: { stock: 5, price: 150 } }));
  assert.equal(codeOfRefusal(shop.finish("cem")), "invalid");
  shop.buyUpTo("bob", "soup", "b1");
  shop.tell("b1", "succeeded");
  assert.deepEqual(shop.counts("menu"), [2, 0, 1]);
  granted(shop.finish("ann"));
  assert.deepEqual(shop.counts("menu"), [1, 1, 1]);
  shop.restart();
  granted(shop.leave("ann"));
  granted(shop.leave("cem"));
  assert.deepEqual(shop.counts("menu"), [0, 0, 1]);
  shop.set(catalogueOf({ soup: { stock: 5 }, menu: { stock: 5 } }));
  assert.equal(shop.left("menu"), 4, "what was sold before counts when it comes back");
});

test("former definitions are kept only as long as a basket needs them", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 5, price: 1 }, cap: { stock: 5 } }));
  const editions = () => [...shop.records.keys()].filter((key) => key.startsWith("edition/"));
  granted(shop.hold("ann", "seat"));
  shop.set(catalogueOf({ seat: { stock: 5, price: 2 } }));
  assert.deepEqual(editions().sort(), ["edition/cap/1", "edition/seat/1"]);
  granted(shop.leave("ann"));
  shop.set(catalogueOf({ seat: { stock: 5, price: 3 }, cap: { stock: 5 } }));
  assert.deepEqual(editions(), []);
});

test("what was bought is shown as it was, however often the catalogue changes", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 5 } }, { payment: { room: null } }));
  shop.buy("ann", "seat");
  for (const price of [200, 300]) shop.set(catalogueOf({ seat: { stock: 5, price } }));
  shop.restart();
  assert.equal(shop.basket("ann").total, 100);
});

test("the currency stays while there are baskets", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 5 } }));
  granted(shop.hold("ann", "seat"));
  const other = { ...catalogueOf({ seat: { stock: 5 } }), currency: "CHF" };
  const refused = shop.set(other);
  assert.ok(refused.kind === "refused" && refused.code === "invalidCatalogue");
  assert.equal(refused.problems[0]!.path, "currency");
  granted(shop.leave("ann"));
  assert.equal(shop.set(other).kind, "set");
});

test("hold-backs and limits that come later count what was taken before", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 10 } }));
  shop.shopper("max", { lane: "members" });
  granted(shop.hold("max", wishFor("seat", 2)));
  shop.buy("mia", "seat");
  shop.set(catalogueOf({ seat: { stock: 10, holdBacks: { members: 5 }, limitPerCustomer: 3 } }));
  assert.equal(shop.left("seat"), 4, "ten, less one, less two, less three that are still kept");
  assert.equal(codeOfRefusal(shop.hold("max", wishFor("seat", 2))), "limitReached");
  granted(shop.hold("max", "seat"));
  shop.restart();
  assert.equal(shop.left("seat"), 4);
});

test("a large catalogue is stored in parts and comes back whole", () => {
  const shop = new PlainShop();
  const products = Object.fromEntries(
    Array.from({ length: 7_000 }, (_, i) => [`product-${i}`, { stock: i, name: "x".repeat(100) }]),
  );
  const written = catalogueOf(products);
  shop.set(written);
  const parts = () => [...shop.records].filter(([key]) => key.startsWith("catalogue/"));
  assert.ok(parts().length > 1);
  assert.ok(parts().every(([, text]) => text.length * 2 < 2 ** 21));
  shop.restart();
  assert.deepEqual(shop.book.catalogue()!.written, written);
  shop.set(catalogueOf({ seat: { stock: 1 } }));
  assert.equal(parts().length, 1);
});

test("closing stops new holds across a restart, and a catalogue that says so closes too", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 5 } }));
  shop.kept(shop.book.close(shop.now));
  shop.restart();
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "notOpen");
  shop.kept(shop.book.open(shop.now));
  granted(shop.hold("ann", "seat"));
  shop.set(catalogueOf({ seat: { stock: 5 } }, { closed: true }));
  assert.equal(codeOfRefusal(shop.hold("ann", "seat")), "notOpen");
});
