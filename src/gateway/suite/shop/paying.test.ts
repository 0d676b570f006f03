/** The second line: who is through the payment room's door pays, and the next may when they are done. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Visitor } from "../../../testing/gateway/visitor.ts";
import { proves } from "../../../testing/requirements/proves.ts";
import { openShopStage, type ShopStage, shop, TEN_SEATS } from "../../../testing/shop/shopper.ts";
import { until } from "../../../testing/until.ts";

const SEAT = { json: { product: "seat" } };
const CATALOGUE = { ...TEN_SEATS, policies: { ...TEN_SEATS.policies, payment: { room: "pay" } } };

function openPayStage(t: Parameters<typeof openShopStage>[0]): Promise<ShopStage> {
  const pay = { path: "/pay", totalActiveUsers: 1, newcomerDuration: "1d", sessionDuration: "10m" };
  return openShopStage(t, { catalogue: CATALOGUE, rooms: { pay } });
}

/** Someone with a seat in a finished basket. */
async function finisher(stage: ShopStage): Promise<Visitor> {
  const visitor = await stage.shopper();
  await shop(visitor, "POST holds", SEAT);
  assert.equal((await shop(visitor, "POST finish")).words.phase, "done");
  return visitor;
}

test(
  proves(["cp3"], "paying takes the payment room's pass, and the sale lets the next one in"),
  async (t) => {
    const stage = await openPayStage(t);
    const [one, two] = [await finisher(stage), await finisher(stage)];
    const early = await shop(one, "POST pay");
    assert.deepEqual([early.status, early.words.reason, early.words.room], [403, "noPaymentPass", "pay"]);
    assert.equal(await one.isIn("/pay"), true);
    assert.equal(await two.isIn("/pay"), false);
    // A ticket of the payment room is no pass.
    assert.equal((await shop(two, "POST pay")).status, 403);
    const paid = await shop(one, "POST pay");
    assert.equal(paid.status, 200);
    assert.equal((paid.words.basket as { phase: string }).phase, "departed");
    await until(async () => {
      stage.world.pass(1_000);
      return two.isIn("/pay");
    }, "the next one's turn");
    assert.equal((await shop(two, "POST pay")).status, 200);
    assert.equal((await stage.desk.orders(0, 10)).length, 2);
    assert.deepEqual(stage.errors(), []);
  },
);

test("a pass that is lent to others gets nobody past the payment line", async (t) => {
  const stage = await openPayStage(t);
  const [one, two] = [await finisher(stage), await finisher(stage)];
  await one.isIn("/pay");
  two.cookies.set("fairgate_pay", one.cookies.get("fairgate_pay")!);
  const answers = await Promise.all([one, two, two].map((visitor) => shop(visitor, "POST pay")));
  assert.deepEqual(
    answers.map(({ status, words }) => [status, words.reason ?? null, words.room ?? null]),
    [
      [200, null, null],
      [403, "noPaymentPass", "pay"],
      [403, "noPaymentPass", "pay"],
    ],
  );
  assert.equal((await stage.desk.orders(0, 10)).length, 1);
});

test("the same call with the same key is answered the same, also when it sold", async (t) => {
  const stage = await openPayStage(t);
  const visitor = await finisher(stage);
  await visitor.isIn("/pay");
  const keyed = { headers: { "idempotency-key": "pay" } };
  const paid = await shop(visitor, "POST pay", keyed);
  const again = await shop(visitor, "POST pay", keyed);
  assert.deepEqual([again.status, again.words], [paid.status, paid.words]);
  assert.equal((await shop(visitor, "POST pay")).words.reason, "expired");
  assert.equal((await stage.desk.orders(0, 10)).length, 1);
});

test("whoever leaves while paying, or lets the time run out, makes room too", async (t) => {
  const stage = await openPayStage(t);
  const inPay = async () => (await stage.engine.counts("pay")).onSite;
  const one = await finisher(stage);
  await one.isIn("/pay");
  await shop(one, "POST leave");
  // They have not begun to pay, so nobody knows that their visit there was about this basket.
  assert.equal(await inPay(), 1);
  await one.post("leave", { room: "pay" });
  const two = await finisher(stage);
  stage.world.pass(3_000);
  assert.equal(await two.isIn("/pay"), true);
});

test(
  proves(["cp2"], "while nobody is let into the payment room, the time to get there stands still"),
  async (t) => {
    const stage = await openPayStage(t);
    const visitor = await finisher(stage);
    const { proxied } = stage;
    const settings = stage.settings({ settings: {} });
    await proxied.configure({
      ...settings,
      rooms: { ...settings.rooms, pay: { ...settings.rooms.pay!, paused: true } },
    });
    stage.world.pass(1_000);
    stage.world.pass(60 * 60_000);
    const still = await shop(visitor, "GET basket");
    assert.deepEqual([still.words.phase, still.words.expiresAt], ["done", null]);
    await proxied.configure(settings);
    stage.world.pass(1_000);
    const { words } = await shop(visitor, "GET basket");
    assert.equal(words.phase, "done");
    assert.ok((words.expiresInMs as number) > 19 * 60_000 - 5_000);
  },
);
