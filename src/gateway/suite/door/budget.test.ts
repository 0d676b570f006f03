/** Rooms that share one capacity: never more than the total, to each what it is guaranteed, and none starves. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { seededFraction } from "../../../sim/hand-world.ts";
import { assertSite } from "../../../testing/gateway/line.ts";
import { openStage, type Stage } from "../../../testing/gateway/stage.ts";
import type { Visitor } from "../../../testing/gateway/visitor.ts";
import { proves } from "../../../testing/requirements/proves.ts";

const TOTAL = 6;

function openShared(t: TestContext, guaranteed: { a: number; b: number }): Promise<Stage> {
  const room = (name: "a" | "b") => ({
    path: `/${name}`,
    budget: "shared",
    guaranteed: guaranteed[name],
    lapseAfter: "10m",
  });
  const budgets = { shared: { totalActiveUsers: TOTAL } };
  return openStage(t, { settings: { budgets, rooms: { a: room("a"), b: room("b") } } });
}

async function come(stage: Stage, room: "a" | "b", count: number): Promise<Visitor[]> {
  const visitors: Visitor[] = [];
  for (let i = 0; i < count; i++) {
    const visitor = stage.visitor();
    await visitor.call("join", { room });
    visitors.push(visitor);
  }
  return visitors;
}

async function used(stage: Stage, room: string): Promise<number> {
  const { onSite, admitted } = await stage.engine.counts(room);
  return onSite + admitted;
}

test(
  proves(["mt4"], "what a room is guaranteed is always there for it, whatever the crowd in the other"),
  async (t) => {
    const stage = await openShared(t, { a: 0, b: 2 });
    await come(stage, "a", 20);
    stage.world.pass(2_000);
    assert.equal(await used(stage, "a"), TOTAL - 2);
    for (let i = 0; i < 2; i++) assertSite(await stage.visitor().open("/b"));
    stage.world.pass(2_000);
    assert.deepEqual([await used(stage, "a"), await used(stage, "b")], [TOTAL - 2, 2]);
  },
);

test(
  proves(["mt3"], "a crowd in one room does not shut the other: as slots come free, it gets its part"),
  async (t) => {
    const stage = await openShared(t, { a: 0, b: 0 });
    const crowd = await come(stage, "a", 20);
    stage.world.pass(1_000);
    assert.equal(await used(stage, "a"), TOTAL);
    await come(stage, "b", 5);
    for (const visitor of crowd.slice(0, 3)) {
      await visitor.call("leave", { room: "a" });
      stage.world.pass(1_000);
    }
    assert.deepEqual([await used(stage, "a"), await used(stage, "b")], [3, 3]);
  },
);

test("rooms of one budget never have more than its total together, while visitors come and go", async (t) => {
  const stage = await openShared(t, { a: 1, b: 2 });
  const dice = seededFraction(7);
  const here: { visitor: Visitor; room: "a" | "b" }[] = [];
  let most = 0;
  for (let step = 0; step < 120; step++) {
    const room = dice() < 0.7 ? "a" : "b";
    const leaving = dice() < 0.35 ? here.splice(Math.floor(dice() * here.length), 1)[0] : undefined;
    if (leaving) await leaving.visitor.call("leave", { room: leaving.room });
    else here.push({ visitor: (await come(stage, room, 1))[0]!, room });
    if (dice() < 0.5) stage.world.pass(200 * Math.floor(dice() * 4));
    const [a, b] = [await used(stage, "a"), await used(stage, "b")];
    most = Math.max(most, a + b);
    assert.ok(a + b <= TOTAL && a <= TOTAL - 2 && b <= TOTAL - 1, `step ${step}: ${a} and ${b}`);
  }
  assert.equal(most, TOTAL);
});
