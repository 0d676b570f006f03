/** Every way to let people in or to hold them, as a visitor meets it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aheadOfEach,
  askJson,
  assertProblemPage,
  assertSite,
  boardAt,
  change,
  instantAfter,
  joinLine,
  OPENED_AT,
  orderOfEntry,
} from "../../../testing/gateway/line.ts";
import { openStage } from "../../../testing/gateway/stage.ts";
import { assertWaitingPage } from "../../../testing/gateway/visitor.ts";
import { proves } from "../../../testing/requirements/proves.ts";

test(proves(["cp3"], "by fifo people are let in in the order they came"), async (t) => {
  const stage = await openStage(t, { room: { queueingMethod: "fifo" } });
  const onSite = await stage.occupant();
  const line = await joinLine(stage, 5);
  assert.deepEqual(await aheadOfEach(line), [0, 1, 2, 3, 4]);
  assert.deepEqual(await orderOfEntry(stage, { line, onSite }), [0, 1, 2, 3, 4]);
});

test(
  proves(
    ["ce5", "cp3"],
    "by random each turn is drawn among all who wait, and nobody is told how many are ahead",
  ),
  async (t) => {
    const stage = await openStage(t, { room: { queueingMethod: "random", lapseAfter: "10m" } });
    const onSite = await stage.occupant();
    const line = await joinLine(stage, 12);
    assert.deepEqual(new Set(await aheadOfEach(line)), new Set([null]));
    stage.world.pass(1_000);
    const { marks, waiting } = await boardAt(stage);
    assert.deepEqual([marks, waiting], [[], 12]);
    const order = await orderOfEntry(stage, { line, onSite });
    assert.deepEqual(
      [...order].sort((a, b) => a - b),
      line.map((_, index) => index),
    );
    // Of half a billion orders this one would mean that nothing was drawn.
    assert.notDeepEqual(
      order,
      line.map((_, index) => index),
    );
  },
);

test("by passthrough everybody goes through and is counted, however full the site is", async (t) => {
  const stage = await openStage(t, { room: { queueingMethod: "passthrough", totalActiveUsers: 1 } });
  for (let i = 0; i < 4; i++) assertSite(await stage.visitor().open());
  const { onSite, waiting } = await stage.engine.counts("main");
  assert.deepEqual({ onSite, waiting }, { onSite: 4, waiting: 0 });
});

test("by reject there is no line: people go through while there is room, and are turned away otherwise", async (t) => {
  const stage = await openStage(t, { room: { queueingMethod: "reject" } });
  const onSite = await stage.occupant();
  const visitor = stage.visitor();
  const page = await visitor.open();
  assertProblemPage(page, 503, /Too many people right now/);
  assert.match(page.headers["retry-after"]!, /^\d+$/);
  assert.equal(page.headers["set-cookie"], undefined);
  const { answer, told } = await askJson(visitor);
  assert.equal(answer.status, 503);
  assert.match(answer.headers["retry-after"]!, /^\d+$/);
  assert.deepEqual([told.status, told.reason], ["refused", "rejected"]);
  const joined = await visitor.post("join");
  assert.deepEqual([joined.status, JSON.parse(joined.text).reason], [403, "rejected"]);
  assert.match(joined.headers["retry-after"]!, /^\d+$/);
  assert.equal((await stage.engine.counts("main")).waiting, 0);
  assert.equal(stage.origin.seen.length, 1);
  await onSite.call("leave");
  assertSite(await visitor.open());
});

test("with queueAll everyone joins the line and nobody is let in, without a word of a pause", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 50, queueAll: true } });
  const visitor = stage.visitor();
  const page = await visitor.open();
  assertWaitingPage(page);
  assert.match(page.text, /You are (in line|next)/);
  assert.doesNotMatch(page.text, /<h1[^>]*>The line is paused/);
  stage.world.pass(10_000);
  assertWaitingPage(await visitor.open());
  assert.equal((await boardAt(stage)).state, "queueing");
  await change(stage, { queueAll: false });
  stage.world.pass(1_000);
  assertSite(await visitor.open());
});

test("a suspended room does nothing: requests reach the site without a cookie or a question", async (t) => {
  const stage = await openStage(t, { room: { suspended: true } });
  for (let i = 0; i < 3; i++) {
    const answer = await stage.visitor().open("/some/page");
    assertSite(answer);
    assert.equal(answer.headers["set-cookie"], undefined);
  }
  assert.equal(stage.engine.asked, 0);
  assert.equal(stage.origin.seen[0]!.headers["fairgate-room"], undefined);
});

test("a paused room lets nobody in and says so", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 50, paused: true } });
  const visitor = stage.visitor();
  assert.match((await visitor.open()).text, /The line is paused/);
  stage.world.pass(10_000);
  assertWaitingPage(await visitor.open());
  assert.equal((await boardAt(stage)).state, "paused");
});

test("a drained room lets all in at once, whatever the limits", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const line = await joinLine(stage, 4);
  await change(stage, { drained: true });
  stage.world.pass(1_000);
  for (const visitor of line) assertSite(await visitor.open());
  assertSite(await stage.visitor().open());
  assert.equal((await stage.engine.counts("main")).onSite, 6);
});

test("a closed room takes nobody and says that it is over; who is inside stays, who waits keeps the place", async (t) => {
  const stage = await openStage(t);
  const onSite = await stage.occupant();
  const line = await joinLine(stage, 2);
  await change(stage, { closed: true });
  const newcomer = stage.visitor();
  assertProblemPage(await newcomer.open(), 503, /This has ended/);
  const { answer, told } = await askJson(newcomer);
  assert.deepEqual([answer.status, told.reason, told.until], [503, "closed", null]);
  assertSite(await onSite.open());
  await onSite.call("leave");
  stage.world.pass(5_000);
  for (const visitor of line) assertWaitingPage(await visitor.open());
  assert.equal((await boardAt(stage)).state, "closed");
  await change(stage, { closed: false });
  stage.world.pass(1_000);
  assert.deepEqual(await Promise.all(line.map((visitor) => visitor.isIn())), [true, false]);
});

test("a closed room with an event to come says when it opens, for people and for programs", async (t) => {
  const event = {
    name: "sale",
    eventStartTime: instantAfter(60_000),
    eventEndTime: instantAfter(120_000),
    closed: false,
  };
  const stage = await openStage(t, { room: { closed: true, events: [event] } });
  const visitor = stage.visitor();
  const page = await visitor.open();
  assertProblemPage(page, 503, /Not open yet/);
  assert.match(page.text, /datetime="2026-06-01T10:01:00\.000Z"/);
  assert.equal(page.headers["retry-after"], "60");
  assert.match(String(page.headers.refresh), /^\d+$/);
  const { answer, told } = await askJson(visitor);
  assert.equal(answer.headers["retry-after"], "60");
  assert.deepEqual([told.reason, told.until], ["closed", OPENED_AT + 60_000]);
  stage.world.pass(60_000);
  assertSite(await visitor.open());
  stage.world.pass(60_000);
  assertProblemPage(await stage.visitor().open(), 503, /This has ended/);
});
