import assert from "node:assert/strict";
import { test } from "node:test";
import { sendCrowd } from "../../src/cli/demo/crowd.ts";
import { openDemoStage } from "../../src/testing/shop/demo-stage.ts";
import { until } from "../../src/testing/until.ts";

test("the crowd buys through both lines, nothing fails, and what it paid for is what was sold", async () => {
  await using stage = await openDemoStage();
  const news: string[] = [];
  const crowd = sendCrowd(stage.address, {
    size: 20,
    waiting: () => (stage.fairgate.engine.counts("main") as { waiting: number }).waiting,
    tell: (one) => news.push(one),
  });
  await until(async () => (await stage.desk.orders(0, 10)).length >= 5, "five orders");
  crowd.close();
  const { bank } = stage.site;
  const isDecided = () => bank.payments.every(({ state }) => state !== "opened" && state !== "authorised");
  await until(() => isDecided() && bank.unacknowledged === 0, "the shop heard of every payment");
  assert.deepEqual(
    news.filter((one) => /failed/.test(one)),
    [],
  );
  assert.ok(news.some((one) => / bought /.test(one)));
  const captured = () => bank.payments.filter(({ state }) => state === "captured");
  const orders = async () => stage.desk.orders(0, 1_000);
  await until(
    async () => captured().length === (await orders()).length,
    "each captured payment has an order",
  );
  const total = (await orders()).reduce((sum, order) => sum + order.total, 0);
  assert.equal(
    captured().reduce((sum, { amount }) => sum + amount, 0),
    total,
  );
});
