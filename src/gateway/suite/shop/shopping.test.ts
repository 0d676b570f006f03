/** A visitor's way through a shop over HTTP: what is asked, what is answered, and what is refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { proves } from "../../../testing/requirements/proves.ts";
import { openShopStage, shop, TEN_SEATS } from "../../../testing/shop/shopper.ts";

test(
  proves(["cs1", "cp1"], "a visitor takes something, adds to it, finishes and pays, and gets an order"),
  async (t) => {
    const stage = await openShopStage(t);
    const visitor = await stage.shopper();
    const held = await shop(visitor, "POST holds", { json: { product: "seat", count: 2 } });
    assert.equal(held.status, 201);
    const [first] = held.words.made as string[];
    assert.deepEqual(
      [held.words.phase, held.words.total, held.words.expiresInMs],
      ["browsing", 9_000, 600_000],
    );
    const added = await shop(visitor, `POST holds/${encodeURIComponent(first!)}/items`, {
      json: { product: "parking" },
    });
    assert.deepEqual([added.status, added.words.total], [201, 9_800]);
    const seen = await shop(visitor, "GET basket");
    assert.deepEqual([seen.status, (seen.words.holds as unknown[]).length], [200, 2]);
    const undone = await shop(visitor, `DELETE holds/${encodeURIComponent(first!)}`);
    assert.deepEqual([undone.status, undone.words.total], [200, 4_500]);
    const done = await shop(visitor, "POST finish");
    assert.deepEqual([done.status, done.words.phase], [200, "done"]);
    const paid = await shop(visitor, "POST pay");
    assert.deepEqual([paid.status, paid.words.amount, paid.words.currency], [200, 4_500, "EUR"]);
    const after = await shop(visitor, "GET basket");
    assert.equal(after.words.phase, "departed");
    const [order] = await stage.desk.orders(0, 10);
    assert.equal(after.words.order, order!.id);
    assert.deepEqual([order!.total, order!.room, order!.tickets.length], [4_500, "main", 1]);
    assert.match(order!.tickets[0]!.secret, /^[0-9a-f]{32}$/);
    assert.deepEqual(stage.errors(), []);
  },
);

test("the catalogue has what is offered, with what is left of it", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  const before = await shop(visitor, "GET catalogue");
  assert.equal(before.status, 200);
  const products = before.words.products as { id: string; available: number | null; price: number }[];
  assert.deepEqual(
    products.map(({ id, available, price }) => [id, available, price]),
    [
      ["seat", 10, 4_500],
      ["pair", 5, 8_000],
      ["parking", null, 800],
    ],
  );
  await shop(visitor, "POST holds", { json: { product: "pair" } });
  const after = await shop(visitor, "GET catalogue");
  assert.deepEqual(
    (after.words.products as typeof products).map(({ available }) => available),
    [8, 4, null],
  );
  assert.ok((after.words.version as number) > (before.words.version as number));
});

test("what cannot be had is refused with what is left, and what is not right with why", async (t) => {
  const stage = await openShopStage(t, {
    catalogue: {
      ...TEN_SEATS,
      policies: { ...TEN_SEATS.policies, burst: { items: 8, every: "10s" } },
    },
  });
  const visitor = await stage.shopper();
  const hold = (json: unknown) => shop(visitor, "POST holds", { json });
  const reasonOf = async (json: unknown) => {
    const { status, words } = await hold(json);
    return [status, words.status, words.reason];
  };
  assert.deepEqual(await reasonOf({ product: "seat", count: 7 }), [409, "refused", "limitReached"]);
  assert.deepEqual(await reasonOf({ product: "nothing" }), [409, "refused", "notOffered"]);
  assert.equal((await hold({ product: "pair", count: 3 })).status, 201);
  assert.equal((await hold({ product: "seat", count: 3 })).status, 201);
  const short = await hold({ product: "seat", count: 2 });
  assert.deepEqual([short.status, short.words.reason, short.words.left], [409, "insufficientStock", 1]);
  const fast = await hold({ product: "pair", count: 4 });
  assert.deepEqual([fast.status, fast.words.reason], [409, "tooFast"]);
  assert.equal(fast.answer.headers["retry-after"], "10");
  for (const json of [
    3,
    [],
    {},
    { product: 1 },
    { product: "seat", count: 0 },
    { product: "seat", extra: 1 },
  ])
    assert.deepEqual(await reasonOf(json), [422, "refused", "invalid"]);
  assert.deepEqual((await shop(visitor, "DELETE holds/nothing")).status, 422);
});

test("a basket whose time is over has ended, and takes nothing more", async (t) => {
  const stage = await openShopStage(t, { room: { sessionDuration: "1h" } });
  const visitor = await stage.shopper();
  await shop(visitor, "POST holds", { json: { product: "seat" } });
  stage.world.pass(10 * 60_000);
  const done = await shop(visitor, "GET basket");
  assert.equal(done.words.phase, "done");
  const late = await shop(visitor, "POST holds", { json: { product: "seat" } });
  assert.deepEqual([late.status, late.words.reason], [409, "frozen"]);
  stage.world.pass(20 * 60_000);
  const gone = await shop(visitor, "POST holds", { json: { product: "seat" } });
  assert.deepEqual([gone.status, gone.words.reason], [410, "expired"]);
  const [seat] = (await stage.desk.products("main", null, stage.world.clock.now())).products;
  assert.equal(seat?.available, 10);
});

test("the same key makes the same hold once, and another call with it is refused", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  const headers = { "idempotency-key": "one" };
  const first = await shop(visitor, "POST holds", { json: { product: "seat" }, headers });
  const again = await shop(visitor, "POST holds", { json: { product: "seat" }, headers });
  assert.deepEqual([first.status, again.status], [201, 201]);
  assert.deepEqual(again.words.made, first.words.made);
  assert.equal((again.words.holds as unknown[]).length, 1);
  const other = await shop(visitor, "POST holds", { json: { product: "pair" }, headers });
  assert.deepEqual([other.status, other.words.reason], [422, "invalid"]);
  // Another visitor's keys are their own.
  const somebody = await shop(await stage.shopper(), "POST holds", { json: { product: "pair" }, headers });
  assert.equal(somebody.status, 201);
  for (const bad of ["", "x".repeat(201), "a b", "é"]) {
    const { status } = await shop(visitor, "POST finish", { headers: { "idempotency-key": bad } });
    assert.equal(status, 422, bad);
  }
});

test("whoever wants what is sold out waits for it, until they no longer do", async (t) => {
  const stage = await openShopStage(t, {
    catalogue: {
      currency: "EUR",
      products: { seat: { stock: 1, price: 100 } },
      policies: { offerWindow: "5m" },
    },
  });
  const [first, second] = [await stage.shopper(), await stage.shopper()];
  assert.equal((await shop(first, "POST holds", { json: { product: "seat" } })).status, 201);
  const listed = await shop(second, "POST waiting-list/seat", { json: { count: 1 } });
  assert.deepEqual([listed.status, listed.words.status], [200, "listed"]);
  assert.equal((await shop(second, "POST waiting-list/seat")).status, 200);
  const before = await shop(second, "GET basket");
  assert.deepEqual([before.status, before.words.lists], [200, [{ product: "seat", count: 1, ahead: 0 }]]);
  await shop(first, "POST leave");
  const offered = await shop(second, "GET basket");
  assert.equal((offered.words.holds as { offerEndsAt: number }[])[0]?.offerEndsAt !== null, true);
  assert.equal((await shop(second, "DELETE waiting-list/seat")).words.status, "left");
});

test("a shop without a catalogue is not open, and one that does not answer says so", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  stage.desk.broken = new Error("the disk is gone");
  for (const call of ["GET basket", "POST finish"]) {
    const { status, words, answer } = await shop(visitor, call);
    assert.deepEqual([status, words.status, answer.headers["retry-after"]], [503, "shopAway", "5"], call);
  }
  stage.desk.broken = null;
  assert.equal((await shop(visitor, "POST holds", { json: { product: "seat" } })).status, 201);
});
