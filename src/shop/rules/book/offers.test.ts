import assert from "node:assert/strict";
import { test } from "node:test";
import {
  catalogueOf,
  codeOfRefusal,
  granted,
  PlainShop,
  SHOP_OPENS_AT,
  wishFor,
} from "../../../testing/shop/plain-shop.ts";

const MINUTE_MS = 60_000;
const POLICIES = { offerMs: 5 * MINUTE_MS, shoppingWindowMs: 10 * MINUTE_MS };

function soldOutShop(staysSoldOut = false): PlainShop {
  const shop = new PlainShop(
    catalogueOf({ seat: { stock: 2, staysSoldOut }, cap: { stock: 5 } }, { ...POLICIES }),
  );
  granted(shop.hold("owner", wishFor("seat", 2)));
  return shop;
}

function join(shop: PlainShop, visitor: string, count = 1) {
  return shop.kept(shop.book.joinList(shop.shopper(visitor), "seat", count, shop.now));
}

test("what comes back is offered in the order of the list, as a hold with a deadline of its own", () => {
  const shop = soldOutShop();
  for (const visitor of ["ann", "bob"]) assert.equal(join(shop, visitor).kind, "listed");
  granted(shop.undo("owner", "1"));
  const [hold] = shop.basket("ann").holds;
  assert.deepEqual([hold!.product, hold!.offerEndsAt], ["seat", shop.now + POLICIES.offerMs]);
  assert.equal(shop.book.basket("bob", shop.now), null);
  assert.equal(shop.left("seat"), 0);
  shop.pass(POLICIES.offerMs);
  assert.deepEqual(shop.basket("ann").released, ["seat"]);
  assert.equal(shop.basket("bob").holds.length, 1);
  assert.deepEqual(shop.counts("seat"), [2, 0, 0]);
});

test("an offer is taken by finishing the basket", () => {
  const shop = soldOutShop();
  join(shop, "ann");
  granted(shop.leave("owner"));
  const { basket } = granted(shop.finish("ann"));
  assert.deepEqual([basket.phase, basket.holds[0]!.offerEndsAt], ["done", null]);
  shop.pass(POLICIES.offerMs);
  assert.equal(shop.basket("ann").phase, "done");
});

test("someone who wants more than has come back is passed over, and keeps their place", () => {
  const shop = soldOutShop();
  join(shop, "ann", 2);
  join(shop, "bob", 1);
  granted(shop.undo("owner", "1"));
  assert.equal(shop.book.basket("ann", shop.now), null);
  assert.equal(shop.basket("bob").holds.length, 1);
  granted(shop.undo("owner", "2"));
  granted(shop.leave("bob"));
  assert.equal(shop.basket("ann").holds.length, 2);
});

test("who has departed meanwhile gets a basket for the offer alone, and nothing else fits in", () => {
  const shop = soldOutShop();
  granted(shop.hold("ann", "cap"));
  join(shop, "ann");
  granted(shop.leave("ann"));
  granted(shop.leave("owner"));
  assert.deepEqual([shop.basket("ann").phase, shop.basket("ann").holds.length], ["browsing", 1]);
  shop.restart();
  granted(shop.hold("ann", "cap"));
  shop.pass(POLICIES.shoppingWindowMs);
  assert.equal(shop.basket("ann").phase, "done", "the window of the visit had not ended");
  const late = soldOutShop();
  join(late, "ann");
  late.pass(8 * MINUTE_MS);
  granted(late.leave("owner"));
  late.pass(3 * MINUTE_MS);
  assert.equal(codeOfRefusal(late.hold("ann", "cap")), "expired");
  assert.equal(late.basket("ann").holds.length, 1, "the offer goes on beyond the window");
  granted(late.finish("ann"));
});

test("an offer that nobody answers ends the basket that was made for it", () => {
  const shop = soldOutShop();
  join(shop, "ann");
  shop.pass(9 * MINUTE_MS);
  granted(shop.leave("owner"));
  shop.pass(POLICIES.offerMs);
  assert.deepEqual([shop.basket("ann").phase, shop.basket("ann").released], ["departed", ["seat"]]);
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
});

test("beyond the window, giving back the only offer ends the basket", () => {
  const shop = soldOutShop();
  join(shop, "ann");
  shop.pass(9 * MINUTE_MS);
  granted(shop.leave("owner"));
  shop.pass(3 * MINUTE_MS);
  assert.equal(granted(shop.undo("ann", shop.basket("ann").holds[0]!.id)).basket.phase, "departed");
});

test("looking at an offer beyond the window stores nothing", () => {
  const shop = soldOutShop();
  join(shop, "ann");
  shop.pass(9 * MINUTE_MS);
  granted(shop.leave("owner"));
  shop.pass(3 * MINUTE_MS);
  shop.basket("ann");
  assert.equal(shop.book.basket("ann", shop.now)?.holds.length, 1);
  assert.deepEqual(shop.book.takeChanges(), []);
});

test("at the end of the window an offer is finished with the rest of the basket", () => {
  const shop = soldOutShop();
  granted(shop.hold("ann", "cap"));
  join(shop, "ann");
  shop.pass(8 * MINUTE_MS);
  granted(shop.leave("owner"));
  shop.pass(2 * MINUTE_MS);
  assert.deepEqual([shop.basket("ann").phase, shop.basket("ann").holds.length], ["done", 2]);
});

test("nobody is offered anything while they pay, and is when they have paid", () => {
  const shop = soldOutShop();
  shop.buyUpTo("ann", "cap", "a1");
  join(shop, "ann");
  granted(shop.leave("owner"));
  assert.equal(shop.basket("ann").holds.length, 1);
  granted(shop.hold("bob", "seat"));
  shop.tell("a1", "succeeded");
  const basket = shop.basket("ann");
  assert.deepEqual(
    [basket.phase, basket.order, basket.holds.map(({ product }) => product)],
    ["browsing", null, ["seat"]],
  );
  assert.equal(shop.tell("a1", "refunded"), "none", "the former basket is still known to the provider");
  assert.deepEqual(shop.counts("cap"), [0, 0, 0]);
});

test("what stays sold out for everyone is still offered to the list", () => {
  const shop = soldOutShop(true);
  join(shop, "ann");
  granted(shop.leave("owner"));
  assert.equal(shop.basket("ann").holds.length, 1);
  assert.equal(codeOfRefusal(shop.hold("bob", "seat")), "soldOut");
});

test("stock that the organiser adds is offered too, and tickets that are cancelled", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 1 } }, POLICIES));
  const order = shop.buy("owner", "seat");
  for (const visitor of ["ann", "bob"]) join(shop, visitor);
  shop.kept(shop.book.adjust("seat", 1, "refuse", shop.now));
  assert.equal(shop.basket("ann").holds.length, 1);
  shop.kept(shop.book.cancel(order, null, "refunded", shop.now));
  assert.equal(shop.basket("bob").holds.length, 1);
});

test("a list is for what is sold out, in shops that have one, and one visitor stands there once", () => {
  const shop = soldOutShop();
  assert.deepEqual(join(shop, "ann"), { kind: "listed", place: { product: "seat", count: 1, ahead: 0 } });
  assert.deepEqual(join(shop, "bob"), { kind: "listed", place: { product: "seat", count: 1, ahead: 1 } });
  assert.deepEqual(join(shop, "ann", 2), { kind: "listed", place: { product: "seat", count: 1, ahead: 0 } });
  shop.kept(shop.book.leaveList(shop.shopper("ann"), "seat", shop.now));
  assert.deepEqual(shop.book.lists("bob"), [{ product: "seat", count: 1, ahead: 0 }]);
  shop.restart();
  assert.deepEqual(shop.book.lists("bob"), [{ product: "seat", count: 1, ahead: 0 }]);
  granted(shop.leave("owner"));
  assert.deepEqual(shop.book.lists("bob"), []);
  assert.equal(codeOfRefusal(join(shop, "cem")), "invalid", "one is left");
  const without = new PlainShop(catalogueOf({ seat: { stock: 0 } }));
  assert.equal(codeOfRefusal(join(without, "ann")), "invalid");
});

test("who has reached a limit meanwhile is on the list no more", () => {
  const shop = new PlainShop(catalogueOf({ seat: { stock: 2, limitPerCustomer: 1 } }, POLICIES));
  granted(shop.hold("owner", "seat"));
  granted(shop.hold("ann", "seat"));
  join(shop, "ann");
  join(shop, "bob");
  granted(shop.leave("owner"));
  assert.deepEqual(shop.book.lists("ann"), []);
  assert.equal(shop.basket("bob").holds.length, 1);
});

test("who comes back within the window by an offer goes on browsing until its end", () => {
  const shop = soldOutShop();
  join(shop, "ann");
  granted(shop.hold("ann", "cap"));
  granted(shop.leave("ann"));
  granted(shop.leave("owner"));
  assert.equal(shop.basket("ann").expiresAt, shop.now + POLICIES.shoppingWindowMs);
  granted(shop.hold("ann", "cap"));
  shop.pass(POLICIES.offerMs);
  assert.deepEqual([shop.basket("ann").phase, shop.basket("ann").holds.length], ["browsing", 1]);
  shop.pass(POLICIES.shoppingWindowMs - POLICIES.offerMs);
  assert.equal(shop.basket("ann").phase, "done");
});

test("many who want more than ever comes back do not keep it from those behind them", () => {
  const shop = soldOutShop();
  for (let n = 0; n < 300; n++) join(shop, `greedy${n}`, 3);
  for (const visitor of ["ann", "bob"]) join(shop, visitor);
  granted(shop.undo("owner", "1"));
  assert.equal(shop.basket("ann").holds.length, 1);
  assert.equal(shop.book.basket("bob", shop.now), null);
  granted(shop.undo("owner", "2"));
  assert.equal(shop.basket("bob").holds.length, 1);
  assert.equal(shop.left("seat"), 0);
});

test("a waiting list says nothing of a product that is not shown yet", () => {
  const saleStart = SHOP_OPENS_AT + 10 * MINUTE_MS;
  const written = catalogueOf(
    { seat: { stock: 2, saleStart, hiddenBefore: true }, cap: { stock: 0, saleStart } },
    POLICIES,
  );
  const shop = new PlainShop(written);
  const { now } = shop;
  const join = (product: string, count: number) =>
    shop.kept(shop.book.joinList(shop.shopper("ann"), product, count, now));
  for (const count of [2, 3])
    assert.deepEqual(join("seat", count), { ...join("none", count), product: "seat" });
  assert.equal(join("cap", 1).kind, "listed");
});
