import assert from "node:assert/strict";
import { test } from "node:test";
import { proves } from "../../../testing/requirements/proves.ts";
import { catalogueOf, codeOfRefusal, granted, PlainShop, wishFor } from "../../../testing/shop/plain-shop.ts";

const SEATS = { seat: { stock: 2, price: 1_000 }, cap: { stock: 5, price: 300 } };

function shopWith(
  payment: { room?: string | null; attemptsMax?: number; lateSuccess?: "retake" | "refund" } = {},
  countedBy: "reserved" | "pending" | "sold" = "reserved",
): PlainShop {
  const products = { ...SEATS, seat: { ...SEATS.seat, countedBy } };
  return new PlainShop(
    catalogueOf(products, { payingMs: 300_000, payment: { room: "till", attemptsMax: 2, ...payment } }),
  );
}

test("success sells the basket, once, and leaves an order with a secret for each ticket", () => {
  const shop = shopWith();
  granted(shop.hold("ann", "cap"));
  shop.buyUpTo("ann", "seat", "a1");
  assert.equal(shop.tell("a1", "authorised"), "capture");
  assert.equal(shop.tell("a1", "succeeded"), "none");
  const basket = shop.basket("ann");
  assert.deepEqual([basket.phase, basket.holds.length], ["departed", 2]);
  const order = shop.book.order(basket.order!)!;
  assert.deepEqual([order.number, order.total, order.attempt], [1, 1_300, "a1"]);
  assert.deepEqual(
    order.tickets.map(({ product, state }) => [product, state]),
    [
      ["cap", "sold"],
      ["seat", "sold"],
    ],
  );
  assert.equal(new Set(order.tickets.map(({ secret }) => secret)).size, 2);
  assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
  assert.equal(shop.tell("a1", "succeeded"), "none");
  assert.equal(shop.tell("a1", "failed"), "none");
  assert.equal(shop.tell("a1", "authorised"), "none");
  assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
  assert.deepEqual(shop.book.orders(0, 10), [order]);
  assert.deepEqual(shop.book.orders(1, 10), []);
});

test(proves(["mc2"], "a failure with attempts left keeps the goods, and the last returns them once"), () => {
  const shop = shopWith();
  shop.buyUpTo("ann", "seat", "a1");
  assert.equal(shop.basket("ann").attemptsLeft, 1);
  shop.tell("a1", "failed");
  assert.deepEqual(shop.counts("seat"), [0, 1, 0]);
  assert.equal(shop.pay("ann", "a2").kind, "attempt");
  assert.equal(codeOfRefusal(shop.pay("ann", "a3")), "attemptsUsed");
  shop.tell("a2", "failed");
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
  assert.equal(shop.basket("ann").phase, "departed");
  shop.tell("a2", "failed");
  shop.tell("a1", "failed");
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
});

test("the last failure waits while another attempt is under way", () => {
  const shop = shopWith();
  shop.buyUpTo("ann", "seat", "a1");
  shop.pay("ann", "a2");
  shop.tell("a2", "failed");
  assert.equal(shop.basket("ann").phase, "paying");
  shop.tell("a1", "succeeded");
  assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
});

test("the same event again gets the same answer and changes nothing", () => {
  const shop = shopWith({ lateSuccess: "refund" });
  shop.buyUpTo("ann", "seat", "a1");
  assert.equal(shop.tell("a1", "authorised", "e1"), "capture");
  assert.equal(shop.tell("a1", "authorised", "e1"), "capture");
  shop.pass(300_000);
  assert.equal(shop.tell("a1", "succeeded", "e2"), "refund");
  shop.restart();
  assert.equal(shop.tell("a1", "succeeded", "e2"), "refund", "its answer may have been lost");
  assert.equal(shop.tell("a1", "succeeded", "e3"), "none", "but another event is no second refund");
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
});

test("an authorisation after the hold has ended is voided", () => {
  const shop = shopWith();
  shop.buyUpTo("ann", "seat", "a1");
  shop.pass(300_000);
  assert.equal(shop.tell("a1", "authorised"), "void");
});

test("success after the hold has ended takes everything again, if it can be had", () => {
  const shop = shopWith();
  shop.buyUpTo("ann", wishFor("seat", 2), "a1");
  shop.pass(300_000);
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
  assert.equal(shop.tell("a1", "succeeded"), "none");
  assert.deepEqual(shop.counts("seat"), [0, 0, 2]);
  assert.equal(shop.book.order(shop.basket("ann").order!)!.tickets.length, 2);
});

test("success after the hold has ended is refunded exactly once if the goods are gone", () => {
  const shop = shopWith();
  shop.buyUpTo("ann", wishFor("seat", 2), "a1");
  shop.pass(300_000);
  granted(shop.hold("bob", "seat"));
  assert.equal(shop.tell("a1", "succeeded"), "refund");
  assert.equal(shop.tell("a1", "succeeded"), "none");
  assert.equal(shop.tell("a1", "refunded"), "none");
  assert.deepEqual(shop.counts("seat"), [1, 0, 0]);
});

test("money that comes twice for one basket goes back once", () => {
  const shop = shopWith();
  shop.buyUpTo("ann", "seat", "a1");
  shop.pay("ann", "a2");
  assert.equal(shop.tell("a1", "authorised"), "capture");
  assert.equal(shop.tell("a2", "authorised"), "void");
  assert.equal(shop.tell("a1", "succeeded"), "none");
  assert.equal(shop.tell("a2", "succeeded"), "refund");
  assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
});

test("an attempt that failed and then succeeds is a success", () => {
  const shop = shopWith();
  shop.buyUpTo("ann", "seat", "a1");
  shop.tell("a1", "failed");
  assert.equal(shop.tell("a1", "succeeded"), "none");
  assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
});

test("leaving while paying waits for the provider", () => {
  const shop = shopWith();
  for (const [visitor, attempt, end] of [
    ["ann", "a1", "failed"],
    ["bob", "b1", "succeeded"],
  ] as const) {
    shop.buyUpTo(visitor, "seat", attempt);
    assert.equal(granted(shop.leave(visitor)).basket.phase, "paying");
    assert.equal(codeOfRefusal(shop.pay(visitor, "more")), "wrongPhase");
    shop.tell(attempt, end);
    assert.equal(shop.basket(visitor).phase, "departed");
  }
  assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
  shop.buyUpTo("cem", "seat", "c1");
  granted(shop.leave("cem"));
  shop.pass(300_000);
  assert.deepEqual(shop.counts("seat"), [0, 0, 1], "or for the deadline");
});

test(
  proves(
    ["op1"],
    "where only sold units count, the payment's success checks again, and refunds what others have bought",
  ),
  () => {
    const shop = shopWith({}, "sold");
    for (const visitor of ["ann", "bob", "cem"]) shop.buyUpTo(visitor, "seat", `${visitor}1`);
    granted(shop.hold("dan", wishFor("seat", 2)));
    granted(shop.finish("dan"));
    assert.deepEqual(shop.counts("seat"), [0, 5, 0]);
    assert.equal(shop.tell("ann1", "succeeded"), "none");
    assert.equal(shop.tell("bob1", "succeeded"), "none");
    assert.equal(shop.tell("cem1", "authorised"), "void");
    const { phase, released } = shop.basket("cem");
    assert.deepEqual([phase, released], ["departed", ["seat"]]);
    shop.enterPayment("dan");
    shop.pay("dan", "dan1");
    assert.equal(shop.tell("dan1", "succeeded"), "refund");
    assert.deepEqual(shop.counts("seat"), [0, 0, 2]);
  },
);

test("paying needs the payment door, unless there is none", () => {
  const shop = shopWith();
  granted(shop.hold("ann", "seat"));
  assert.equal(codeOfRefusal(shop.pay("ann", "a1")), "wrongPhase");
  granted(shop.finish("ann"));
  assert.equal(codeOfRefusal(shop.pay("ann", "a1")), "wrongPhase");
  const open = shopWith({ room: null });
  granted(open.hold("ann", "seat"));
  granted(open.finish("ann"));
  const answer = open.pay("ann", "a1");
  assert.ok(answer.kind === "attempt" && answer.total === 1_000 && answer.basket.phase === "paying");
});

test("an event for an attempt that nobody made changes nothing", () => {
  const shop = shopWith();
  assert.equal(shop.tell("unknown", "succeeded"), "none");
});

test("cancelling returns the stock of each ticket once, and a refund by the provider that of all", () => {
  const shop = shopWith();
  const order = shop.buy("ann", wishFor("seat", 2));
  const cancel = (tickets: string[] | null) =>
    shop.kept(shop.book.cancel(order, tickets, "cancelled", shop.now));
  assert.deepEqual(cancel([`${order}-9`]), { kind: "refused", code: "unknownTicket" });
  for (const changed of [[`${order}-1`], []]) {
    const answer = cancel([`${order}-1`]);
    assert.ok(answer.kind === "order");
    assert.deepEqual(answer.changed, changed);
    assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
  }
  assert.equal(shop.tell("attempt of ann", "refunded"), "none");
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
  assert.deepEqual(
    shop.book.order(order)!.tickets.map(({ state }) => state),
    ["cancelled", "refunded"],
  );
  cancel(null);
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
  assert.deepEqual(shop.kept(shop.book.cancel("none", null, "refunded", shop.now)), {
    kind: "refused",
    code: "unknownOrder",
  });
});

test("orders are forgotten after their time, and what they sold stays sold", () => {
  const shop = shopWith();
  shop.buy("ann", "seat");
  shop.pass(401 * 86_400_000);
  assert.deepEqual(shop.book.orders(0, 10), []);
  assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
  shop.restart();
  const order = shop.buy("bob", "seat");
  assert.equal(shop.book.order(order)!.number, 2, "numbers go on");
  assert.deepEqual(shop.counts("seat"), [0, 0, 2]);
});

test("a payment over another amount is never captured, and money that came goes back", () => {
  const shop = shopWith();
  shop.buyUpTo("ann", "seat", "a1");
  const tell = (kind: "authorised" | "succeeded", id: string, attempt: string, amount: number) =>
    shop.kept(
      shop.book.payment(
        { id, attempt, kind, payment: { id: "p", amount, currency: "EUR" } },
        { orderId: "o", secrets: ["s"] },
        shop.now,
      ),
    ).action;
  assert.equal(tell("authorised", "e1", "a1", 999), "void");
  shop.pay("ann", "a2");
  assert.equal(tell("succeeded", "e2", "a2", 1), "refund");
  assert.deepEqual(shop.counts("seat"), [0, 0, 0]);
  shop.buyUpTo("bob", "seat", "b1");
  assert.equal(tell("succeeded", "e3", "b1", 1_000), "none");
  assert.deepEqual(shop.counts("seat"), [0, 0, 1]);
});

test("what others have to be told is handed out once", () => {
  const shop = shopWith();
  const facts = () => shop.book.takeFacts().map(({ type }) => type);
  shop.buyUpTo("ann", wishFor("seat", 2), "a1");
  shop.tell("a1", "authorised");
  assert.deepEqual(facts(), ["payment.asked"]);
  shop.tell("a1", "succeeded");
  assert.deepEqual(facts(), ["order.made", "product.sold_out"]);
  shop.kept(shop.book.cancel(shop.basket("ann").order!, null, "cancelled", shop.now));
  assert.deepEqual(facts(), ["order.cancelled"]);
  assert.deepEqual(facts(), []);
});
