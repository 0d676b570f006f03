/** Visits: how long a pass lasts, how it is renewed, and how little the engine hears of it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStage } from "../../testing/gateway/stage.ts";
import { assertWaitingPage } from "../../testing/gateway/visitor.ts";

test("a pass slides: after a tenth of the session a request gets it anew", async (t) => {
  const stage = await openStage(t, { room: { sessionDuration: "100s" } });
  const visitor = await stage.occupant();
  stage.world.pass(9_999);
  assert.equal((await visitor.open()).headers["set-cookie"], undefined);
  stage.world.pass(1);
  const old = visitor.token();
  const renewed = await visitor.open();
  assert.match(renewed.headers["set-cookie"]![0]!, /^fairgate_main=[\w-]+; Max-Age=86500;/);
  assert.notEqual(visitor.token(), old);
  for (let i = 0; i < 10; i++) {
    stage.world.pass(60_000);
    assert.ok(await visitor.isIn());
  }
  assert.equal((await stage.engine.counts("main")).onSite, 1);
});

test("requests side by side with the same old pass are given the same new one", async (t) => {
  const stage = await openStage(t, { room: { sessionDuration: "100s" } });
  const visitor = await stage.occupant();
  stage.world.pass(20_000);
  const answers = await Promise.all([1, 2, 3].map((n) => visitor.ask(`/${n}`)));
  assert.equal(new Set(answers.map(({ headers }) => headers["set-cookie"]![0])).size, 1);
});

test("with disableSessionRenewal a visit ends when it ends, whatever its visitor does", async (t) => {
  const stage = await openStage(t, { room: { sessionDuration: "100s", disableSessionRenewal: true } });
  const visitor = await stage.occupant();
  for (let i = 0; i < 9; i++) {
    stage.world.pass(11_000);
    const answer = await visitor.open();
    assert.equal(answer.text, "the site");
    assert.equal(answer.headers["set-cookie"], undefined);
  }
  stage.world.pass(1_000);
  const next = stage.visitor();
  await next.open();
  assertWaitingPage(await visitor.open());
  assert.deepEqual(stage.refusals(), ["expired"]);
});

test("someone whose pass has run out joins anew, at the end", async (t) => {
  const stage = await openStage(t, { room: { sessionDuration: "100s", lapseAfter: "10m" } });
  const visitor = await stage.occupant();
  const waiting = stage.visitor();
  assertWaitingPage(await waiting.open());
  stage.world.pass(103_000);
  assertWaitingPage(await visitor.open());
  assert.equal((await visitor.call("check-in")).status, "waiting");
  assert.ok(await waiting.isIn());
  assert.deepEqual(stage.refusals(), ["expired"]);
  assert.equal((await stage.engine.counts("main")).totals.expired, 1);
});

test("leaving with a pass that has just expired frees the slot, which the engine still holds", async (t) => {
  const stage = await openStage(t, { room: { sessionDuration: "100s" } });
  const visitor = await stage.occupant();
  stage.world.pass(100_500);
  assert.equal((await stage.engine.counts("main")).onSite, 1);
  assert.equal((await visitor.call("leave")).status, "left");
  assert.equal((await stage.engine.counts("main")).onSite, 0);
  await stage.occupant();
});

test("presence is told in batches: once a second for the room, once in a tenth of the session for each", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 10, sessionDuration: "100s" } });
  const visitors = [await stage.occupant(), await stage.occupant(), await stage.occupant()];
  stage.world.pass(5_000);
  for (const visitor of visitors) for (let i = 0; i < 5; i++) await visitor.open();
  stage.world.pass(5_000);
  assert.equal(stage.engine.calls.touch, 0);
  stage.world.pass(2_500);
  for (const visitor of visitors) for (let i = 0; i < 5; i++) await visitor.open();
  assert.equal(stage.engine.calls.touch, 0);
  stage.world.pass(5_000);
  assert.equal(stage.engine.calls.touch, 1);
  for (const visitor of visitors) await visitor.open();
  stage.world.pass(5_000);
  assert.equal(stage.engine.calls.touch, 1);
  assert.equal((await stage.engine.counts("main")).onSite, 3);
});

test("an engine that forgot everyone learns of them from their passes, once each", async (t) => {
  const before = await openStage(t, { room: { totalActiveUsers: 2 } });
  const visitor = await before.occupant();
  const after = await openStage(t, { room: { totalActiveUsers: 2 }, origin: before.origin });
  const back = after.visitor();
  back.cookies.set("fairgate_main", visitor.token()!);
  for (let i = 0; i < 5; i++) assert.ok(await back.isIn());
  after.world.pass(1_000);
  assert.equal(after.engine.calls.touch, 1);
  assert.equal((await after.engine.counts("main")).onSite, 1);
  assert.equal(after.engine.calls.join, 0);
});

test("a line that an engine forgot is rebuilt in order from those who come back", async (t) => {
  const before = await openStage(t);
  await before.occupant();
  const tickets: string[] = [];
  for (let i = 0; i < 3; i++) {
    const visitor = before.visitor();
    await visitor.open();
    tickets.push(visitor.token()!);
  }
  const after = await openStage(t, { origin: before.origin });
  let onSite = await after.occupant();
  const back = tickets.map((ticket) => {
    const visitor = after.visitor();
    visitor.cookies.set("fairgate_main", ticket);
    return visitor;
  });
  for (const visitor of [...back].reverse()) assertWaitingPage(await visitor.open());
  for (let turn = 0; turn < 3; turn++) {
    await onSite.call("leave");
    after.world.pass(1_000);
    assert.deepEqual(await Promise.all(back.slice(turn).map((visitor) => visitor.isIn())), [
      true,
      ...back.slice(turn + 1).map(() => false),
    ]);
    onSite = back[turn]!;
  }
});
