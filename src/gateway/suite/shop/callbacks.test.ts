/** The payment provider's callbacks: signed, repeated, late; and what they do to baskets, money and the payment room. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { readWebhookSecret, signWebhook, type WebhookKeys } from "../../../shop/baskets/standard-webhooks.ts";
import type { Visitor } from "../../../testing/gateway/visitor.ts";
import { openShopStage, type ShopStage, shop, TEN_SEATS } from "../../../testing/shop/shopper.ts";
import { until } from "../../../testing/until.ts";

const SECRET = `whsec_${"provider0secret1of2tests".repeat(2)}`;
const reading = readWebhookSecret(SECRET);
const KEYS: WebhookKeys = [reading.kind === "key" ? reading.key : Buffer.alloc(0)];
const SEAT = { json: { product: "seat" } };

async function openProviderStage(t: TestContext, payment: object = { room: "pay", attemptsMax: 2 }) {
  const folder = mkdtempSync(join(tmpdir(), "fairgate-provider-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const secretFile = join(folder, "secret");
  writeFileSync(secretFile, SECRET);
  return openShopStage(t, {
    catalogue: { ...TEN_SEATS, policies: { ...TEN_SEATS.policies, payment } },
    rooms: { pay: { path: "/pay", totalActiveUsers: 1, newcomerDuration: "1d", sessionDuration: "1h" } },
    shopSettings: { payment: { callbacks: "standard", secretFile } },
    room: { sessionDuration: "1h" },
  });
}

/** Someone who has begun to pay, and their attempt. */
async function payer(stage: ShopStage): Promise<{ visitor: Visitor; attempt: string }> {
  const visitor = await stage.shopper();
  await shop(visitor, "POST holds", SEAT);
  await shop(visitor, "POST finish");
  assert.equal(await visitor.isIn("/pay"), true);
  const { status, words } = await shop(visitor, "POST pay");
  assert.deepEqual([status, words.status, words.amount], [200, "paying", 4_500]);
  return { visitor, attempt: words.attempt as string };
}

interface Call {
  readonly kind: string;
  readonly attempt: string;
  readonly id?: string;
  readonly amount?: number;
  readonly keys?: WebhookKeys;
  readonly ageMs?: number;
}

async function call(
  stage: ShopStage,
  { kind, attempt, id = `${kind}-1`, amount = 4_500, keys = KEYS, ageMs = 0 }: Call,
) {
  const data = { attempt, payment: "payment-1", amount, currency: "EUR" };
  const body = JSON.stringify({ type: `payment.${kind}`, timestamp: "2026-01-01T00:00:00Z", data });
  const headers = signWebhook({ id, at: stage.world.clock.now() - ageMs, body }, keys);
  const answer = await stage
    .visitor()
    .ask("/.fairgate/main/shop/payments", { method: "POST", body, headers });
  return [answer.status, JSON.parse(answer.text)] as const;
}

test("an authorised payment is to be captured, and what succeeds is sold; each event counts once", async (t) => {
  const stage = await openProviderStage(t);
  const { visitor, attempt } = await payer(stage);
  assert.deepEqual(await call(stage, { kind: "authorised", attempt }), [
    200,
    { status: "ok", action: "capture" },
  ]);
  assert.equal((await shop(visitor, "GET basket")).words.phase, "paying");
  for (let time = 0; time < 2; time++)
    assert.deepEqual(await call(stage, { kind: "succeeded", attempt }), [
      200,
      { status: "ok", action: "none" },
    ]);
  const { words } = await shop(visitor, "GET basket");
  assert.equal(words.phase, "departed");
  const orders = await stage.desk.orders(0, 10);
  assert.deepEqual([orders.length, orders[0]?.id], [1, words.order]);
  assert.deepEqual(stage.errors(), []);
});

test("the sale ends the visit to the payment room, though the callback knows no cookie", async (t) => {
  const stage = await openProviderStage(t);
  const { attempt } = await payer(stage);
  const next = stage.visitor();
  assert.equal(await next.isIn("/pay"), false);
  await call(stage, { kind: "succeeded", attempt });
  await until(async () => {
    stage.world.pass(1_000);
    return next.isIn("/pay");
  }, "the next one's turn");
});

test("failures leave the goods while attempts are left, and the last one returns them and ends the visit", async (t) => {
  const stage = await openProviderStage(t);
  const { visitor, attempt } = await payer(stage);
  await call(stage, { kind: "failed", attempt });
  stage.world.pass(2_000);
  const between = await shop(visitor, "GET basket");
  assert.deepEqual([between.words.phase, between.words.attemptsLeft], ["paying", 1]);
  const again = await shop(visitor, "POST pay");
  assert.equal(again.status, 200);
  const second = again.words.attempt as string;
  assert.notEqual(second, attempt);
  await call(stage, { kind: "failed", attempt: second, id: "failed-2" });
  const { words } = await shop(visitor, "GET basket");
  assert.deepEqual([words.phase, words.order], ["departed", null]);
  assert.deepEqual((await shop(visitor, "POST pay")).status, 410);
  await until(async () => {
    stage.world.pass(1_000);
    return (await stage.engine.counts("pay")).onSite === 0;
  }, "the end of the visit");
  assert.equal((await stage.desk.stock("seat"))?.counts.pending, 0);
});

test("whoever lets the time to pay run out makes room for the next", async (t) => {
  const stage = await openProviderStage(t);
  await payer(stage);
  assert.equal((await stage.engine.counts("pay")).onSite, 1);
  await until(async () => {
    stage.world.pass(5_000);
    await new Promise(setImmediate);
    return (await stage.engine.counts("pay")).onSite === 0;
  }, "the end of the visit");
});

test("a payment that comes too late, or over another amount, is not kept", async (t) => {
  const stage = await openProviderStage(t, { room: "pay", lateSuccess: "refund" });
  const { attempt } = await payer(stage);
  const [, less] = await call(stage, { kind: "authorised", attempt, amount: 1 });
  assert.equal(less.action, "void");
  stage.world.pass(6 * 60_000);
  await stage.desk.figures(stage.world.clock.now());
  const [, late] = await call(stage, { kind: "succeeded", attempt });
  assert.equal(late.action, "refund");
  assert.deepEqual(await stage.desk.orders(0, 10), []);
});

test("only what the provider signed is read, and the shop is not asked about the rest", async (t) => {
  const stage = await openProviderStage(t);
  const { attempt } = await payer(stage);
  const before = { ...stage.desk.calls };
  const other: WebhookKeys = [Buffer.alloc(32, 7)];
  const reasons = [
    await call(stage, { kind: "succeeded", attempt, keys: other }),
    await call(stage, { kind: "succeeded", attempt, ageMs: 600_000 }),
    await call(stage, { kind: "succeeded", attempt: "%%" }),
  ];
  assert.deepEqual(
    reasons.map(([status, { reason }]) => [status, reason]),
    [
      [400, "forged"],
      [400, "tooOld"],
      [400, "unreadable"],
    ],
  );
  const anybody = stage.visitor();
  const path = "/.fairgate/main/shop/payments";
  const unsigned = await anybody.ask(path, { method: "POST", body: "{}" });
  assert.deepEqual([unsigned.status, JSON.parse(unsigned.text).reason], [400, "unsigned"]);
  const large = await anybody.ask(path, { method: "POST", body: "x".repeat(300_000) });
  assert.equal(large.status, 413);
  assert.equal((await anybody.ask(path)).status, 405);
  assert.deepEqual(await call(stage, { kind: "something", attempt }), [
    200,
    { status: "ignored", reason: "another type" },
  ]);
  assert.deepEqual(stage.desk.calls, before);
});

test("a callback about an attempt that nobody knows changes nothing", async (t) => {
  const stage = await openProviderStage(t);
  assert.deepEqual(await call(stage, { kind: "succeeded", attempt: "unknown" }), [
    200,
    { status: "ok", action: "none" },
  ]);
});

test("without a provider there are no callbacks", async (t) => {
  const stage = await openShopStage(t);
  const answer = await stage.visitor().ask("/.fairgate/main/shop/payments", { method: "POST", body: "{}" });
  assert.equal(answer.status, 404);
});
