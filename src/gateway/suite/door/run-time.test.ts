/** Changing how people are let in while they wait: every place is kept, and the order with it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoomInput } from "../../../config/schema.ts";
import { aheadOfEach, change, joinLine, orderOfEntry } from "../../../testing/gateway/line.ts";
import { openStage } from "../../../testing/gateway/stage.ts";

const HELD: readonly [what: string, room: RoomInput][] = [
  ["paused", { paused: true }],
  ["queueAll", { queueAll: true }],
  ["closed", { closed: true }],
  ["random", { queueingMethod: "random", paused: true }],
  ["reject", { queueingMethod: "reject" }],
  ["privilegedOnly", { privilegedOnly: true, lanes: { vip: { privileged: true } } }],
  ["suspended", { suspended: true, paused: true }],
  ["fewer places", { totalActiveUsers: 1, newUsersPerMinute: 1 }],
];

for (const [what, room] of HELD) {
  test(`turning ${what} on and off again keeps every place and the order`, async (t) => {
    const stage = await openStage(t, { room: { lapseAfter: "10m" } });
    const onSite = await stage.occupant();
    const line = await joinLine(stage, 4);
    await change(stage, room);
    stage.world.pass(2_000);
    const { waiting, lapsed } = await stage.engine.counts("main");
    assert.deepEqual({ waiting, lapsed }, { waiting: 4, lapsed: 0 });
    await change(stage, {});
    assert.deepEqual(await aheadOfEach(line), [0, 1, 2, 3]);
    assert.deepEqual(await orderOfEntry(stage, { line, onSite }), [0, 1, 2, 3]);
  });
}

test("a visitor who waits when the method becomes reject goes on waiting and is let in", async (t) => {
  const stage = await openStage(t);
  const onSite = await stage.occupant();
  const line = await joinLine(stage, 3);
  await change(stage, { queueingMethod: "reject" });
  assert.equal((await stage.visitor().open()).status, 503);
  assert.deepEqual(await orderOfEntry(stage, { line, onSite }), [0, 1, 2]);
});

test("when the method becomes passthrough everyone who waits is let in", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const line = await joinLine(stage, 3);
  await change(stage, { queueingMethod: "passthrough" });
  stage.world.pass(1_000);
  assert.deepEqual(await Promise.all(line.map((visitor) => visitor.isIn())), [true, true, true]);
});

test("new lanes take nobody out of the line, and lanes that go leave their people in it, in order of arrival", async (t) => {
  const lanes = { vip: { members: { header: { name: "X-Tier", values: ["gold"] } } } };
  const settings = { trustedProxies: ["127.0.0.1"] };
  const stage = await openStage(t, { room: { lapseAfter: "10m" }, settings });
  const onSite = await stage.occupant();
  const [first] = await joinLine(stage, 1);
  await change(stage, { lanes, othersShare: 0 });
  const [vip] = await joinLine(stage, 1, { headers: { "x-tier": "gold" } });
  const [last] = await joinLine(stage, 1);
  const line = [first!, vip!, last!];
  assert.deepEqual(await aheadOfEach(line), [0, 0, 2]);
  await change(stage, {});
  assert.deepEqual(await orderOfEntry(stage, { line, onSite }), [0, 1, 2]);
});
