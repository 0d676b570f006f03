/** Whole visits over HTTP: in order, never worse than shown, and with the place kept for those who come back. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { openStage, type Stage } from "../../testing/gateway/stage.ts";
import { assertWaitingPage, JSON_CLIENT, type Visitor } from "../../testing/gateway/visitor.ts";
import { proves } from "../../testing/requirements/proves.ts";

/** Ten seconds apart: by then somebody has lapsed who was told to stay away for the longest time, 72 seconds. */
const AWAY_LOOKS = 8;

async function waitingVisitors(stage: Stage, count: number): Promise<Visitor[]> {
  const visitors: Visitor[] = [];
  for (let i = 0; i < count; i++) {
    const visitor = stage.visitor();
    assertWaitingPage(await visitor.open());
    visitors.push(visitor);
  }
  return visitors;
}

/** Who of these is let in when they all try now, the last first. */
async function whoEnters(visitors: readonly Visitor[]): Promise<number[]> {
  const entered: number[] = [];
  for (const [index, visitor] of [...visitors.entries()].reverse())
    if (await visitor.isIn()) entered.push(index);
  return entered;
}

test(proves(["ce4"], "three visitors are let in in the order they came, however they push"), async (t) => {
  const stage = await openStage(t);
  let onSite = await stage.occupant();
  const visitors = await waitingVisitors(stage, 3);
  assert.deepEqual(await whoEnters(visitors), []);
  for (let turn = 0; turn < 3; turn++) {
    await onSite.call("leave");
    stage.world.pass(1_000);
    assert.deepEqual(await whoEnters(visitors.slice(turn)), [0]);
    onSite = visitors[turn]!;
    assert.equal((await stage.engine.counts("main")).onSite, 1);
  }
  assert.equal((await stage.engine.counts("main")).unfairness, 0);
});

test("ahead counts down and never up, on the page's numbers and at check-in", async (t) => {
  const stage = await openStage(t, { room: { lapseAfter: "5s", claimWindow: "1s" } });
  await stage.occupant();
  const visitors = await waitingVisitors(stage, 4);
  const last = visitors[3]!;
  const shown: number[] = [];
  const look = async () => shown.push((await last.call("check-in")).ahead!);
  await look();
  // The first three fall silent and lapse; then they are back, before the last again.
  for (let i = 0; i < 12; i++) {
    stage.world.pass(10_000);
    await look();
  }
  assert.equal(shown[0], 3);
  assert.equal(shown.at(-1), 0);
  for (const visitor of visitors.slice(0, 3)) assertWaitingPage(await visitor.open());
  assert.equal((await stage.engine.counts("main")).waiting, 4);
  for (let i = 0; i < 3; i++) {
    stage.world.pass(10_000);
    await look();
    const page = await last.ask("/", { headers: { accept: "application/json" } });
    shown.push(JSON.parse(page.text).ahead);
  }
  assert.deepEqual(
    shown,
    [...shown].sort((a, b) => b - a),
  );
});

test(proves(["ce8"], "someone who was away comes back to the same place"), async (t) => {
  const stage = await openStage(t, { room: { lapseAfter: "5s", sessionDuration: "10m" } });
  const occupant = await stage.occupant();
  const [first, second] = (await waitingVisitors(stage, 2)) as [Visitor, Visitor];
  for (let i = 0; i < AWAY_LOOKS; i++) {
    stage.world.pass(10_000);
    assert.equal((await second.call("check-in")).status, "waiting");
  }
  assert.equal((await stage.engine.counts("main")).lapsed, 1);
  assert.equal((await second.call("check-in")).ahead, 0);
  assertWaitingPage(await first.open());
  await occupant.call("leave");
  stage.world.pass(1_000);
  assert.deepEqual(await whoEnters([first, second]), [0]);
});

test("nobody waits for a closed tab at the head of the line", async (t) => {
  const stage = await openStage(t, { room: { lapseAfter: "5s" } });
  const occupant = await stage.occupant();
  const [, second] = (await waitingVisitors(stage, 2)) as [Visitor, Visitor];
  for (let i = 0; i < AWAY_LOOKS; i++) {
    stage.world.pass(10_000);
    await second.call("check-in");
  }
  await occupant.call("leave");
  stage.world.pass(1_000);
  assert.ok(await second.isIn());
});

test("a turn nobody takes goes to the next, and its holder is the first of the others on return", async (t) => {
  const stage = await openStage(t, { room: { claimWindow: "5s", lapseAfter: "1m" } });
  const occupant = await stage.occupant();
  const [first, second, third, fourth] = (await waitingVisitors(stage, 4)) as [
    ...[Visitor, Visitor],
    ...[Visitor, Visitor],
  ];
  await occupant.call("leave");
  stage.world.pass(6_000);
  assert.ok(await second.isIn());
  assertWaitingPage(await first.open());
  // Nothing is reserved for a place that has missed a turn, so the next in line may be quicker, once.
  await second.call("leave");
  stage.world.pass(1_000);
  assert.deepEqual(await whoEnters([first, third, fourth]), [1]);
  await third.call("leave");
  stage.world.pass(1_000);
  assert.deepEqual(await whoEnters([fourth, first]), [1]);
});

/** Two in a full room's line. The first has missed the only turn that a place may miss. */
async function withLostPlace(t: TestContext): Promise<{ stage: Stage; late: Visitor; inside: Visitor }> {
  const stage = await openStage(t, { room: { claimWindow: "5s", lapseAfter: "1m", missedTurnsMax: 1 } });
  const occupant = await stage.occupant();
  const [late, inside] = (await waitingVisitors(stage, 2)) as [Visitor, Visitor];
  await occupant.call("leave");
  stage.world.pass(6_000);
  assert.ok(await inside.isIn());
  return { stage, late, inside };
}

const PLACE_LOST = /data-live="notice"[^>]*>Your turn came several times and was not used/;

test("a visitor who lost the place by missed turns is told so with the new one, once", async (t) => {
  const { stage, late } = await withLostPlace(t);
  const page = await late.open();
  assertWaitingPage(page);
  assert.match(page.text, PLACE_LOST);
  assert.doesNotMatch((await late.open()).text, PLACE_LOST);
  assert.doesNotMatch((await stage.visitor().open()).text, PLACE_LOST);
});

test("a program is told so too, and not again when it checks in", async (t) => {
  const asked = [
    async (visitor: Visitor) => JSON.parse((await visitor.ask("/api/items", { headers: JSON_CLIENT })).text),
    (visitor: Visitor) => visitor.call("join"),
  ];
  for (const ask of asked) {
    const { stage, late } = await withLostPlace(t);
    const told = await ask(late);
    assert.deepEqual([told.status, told.formerPlace], ["waiting", "turnsMissed"]);
    for (const again of [await late.call("check-in"), await ask(late), await ask(stage.visitor())])
      assert.deepEqual([again.status, again.formerPlace], ["waiting", undefined]);
  }
});

test("a visitor who lost the place by missed turns and finds room goes in", async (t) => {
  const { stage, late, inside } = await withLostPlace(t);
  await inside.call("leave");
  stage.world.pass(1_000);
  assert.ok(await late.isIn());
});

for (const [how, look] of [
  ["reloads the page", (visitor: Visitor) => visitor.open()],
  ["checks in", (visitor: Visitor) => visitor.post("check-in")],
] as const) {
  test(`someone who ${how} all along keeps the place for longer than ticketTtl`, async (t) => {
    const stage = await openStage(t, { room: { ticketTtl: "20s", lapseAfter: "20s", claimWindow: "5s" } });
    const occupant = await stage.occupant();
    const [first, second] = (await waitingVisitors(stage, 2)) as [Visitor, Visitor];
    for (let i = 0; i < 10; i++) {
      stage.world.pass(7_000);
      await look(first);
      await look(second);
    }
    const { waiting, totals } = await stage.engine.counts("main");
    assert.deepEqual({ waiting, joined: totals.joined }, { waiting: 2, joined: 3 });
    await occupant.call("leave");
    stage.world.pass(1_000);
    assert.deepEqual(await whoEnters([first, second]), [0]);
  });
}

test("someone whose page listens to events keeps the place for longer than ticketTtl", async (t) => {
  const stage = await openStage(t, { room: { ticketTtl: "20s", lapseAfter: "20s", claimWindow: "5s" } });
  const occupant = await stage.occupant();
  const [first] = (await waitingVisitors(stage, 1)) as [Visitor];
  // As the page does: a stream that says bye, after half its ticket's life, is opened anew.
  for (let i = 1; i <= 6; i++) {
    const stream = await first.listen();
    first.keep(stream.headers["set-cookie"] ?? []);
    stage.world.pass(10_000);
    await stream.heard("bye");
    assert.equal(stream.count("turn"), 0, `after ${i * 10} seconds`);
  }
  await occupant.call("leave");
  stage.world.pass(1_000);
  assert.ok(await first.isIn());
  assert.equal((await stage.engine.counts("main")).totals.joined, 2);
});
