/** Events: before, while people gather, from the start on, and after the end, each with the settings that hold then. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  aheadOfEach,
  askJson,
  assertProblemPage,
  assertSite,
  boardAt,
  change,
  ENDS_MS,
  GATHERS_MS,
  instantAfter,
  joinLine,
  OPENED_AT,
  passTo,
  STARTS_MS,
  saleEvent,
} from "../../../testing/gateway/line.ts";
import { openStage } from "../../../testing/gateway/stage.ts";
import { assertWaitingPage, talk, type Visitor } from "../../../testing/gateway/visitor.ts";

function whoIsIn(line: readonly Visitor[]): Promise<boolean[]> {
  return Promise.all(line.map((visitor) => visitor.isIn()));
}

test("before the prequeue the room's own settings hold, and after the end they hold again", async (t) => {
  const event = saleEvent({ totalActiveUsers: 1, queueingStatusCode: 429 });
  const stage = await openStage(t, { room: { totalActiveUsers: 2, events: [event] } });
  assertSite(await stage.visitor().open());
  assertSite(await stage.visitor().open());
  assertWaitingPage(await stage.visitor().open(), 200);
  passTo(stage, STARTS_MS);
  assertWaitingPage(await stage.visitor().open(), 429);
  passTo(stage, ENDS_MS + 1_000);
  const { event: on, limits } = await stage.engine.counts("main");
  assert.deepEqual([on, limits.totalActiveUsers], [null, 2]);
  assertWaitingPage(await stage.visitor().open(), 200);
});

test("in the prequeue everyone gathers and nobody goes in; page and JSON say when it opens", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 50, events: [saleEvent()] } });
  passTo(stage, GATHERS_MS + 1_000);
  const visitor = stage.visitor();
  const page = await visitor.open();
  assertWaitingPage(page);
  assert.match(page.text, /Not open yet/);
  assert.match(page.text, /<time datetime="2026-06-01T10:00:30\.000Z" data-live="opens"/);
  assert.match(page.text, /data-live="countdown"/);
  const { told } = await askJson(visitor);
  assert.deepEqual([told.opensAt, told.state, told.ahead], [OPENED_AT + STARTS_MS, "prequeue", 0]);
  assert.equal((await boardAt(stage)).nextEventAt, OPENED_AT + STARTS_MS);
  stage.world.pass(15_000);
  assertWaitingPage(await visitor.open());
  assert.equal(stage.origin.seen.length, 0);
});

test("an upgrade or a form gets nobody in before the start", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 50, events: [saleEvent()] } });
  passTo(stage, GATHERS_MS + 1_000);
  const visitor = stage.visitor();
  const form = await visitor.ask("/buy", { method: "POST", body: "a=1", headers: { accept: "text/html" } });
  assertWaitingPage(form, 429);
  assert.equal((await visitor.call("enter")).status, "waiting");
  const upgrade = "GET /live HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  assert.match(await talk(stage.port, upgrade), /^HTTP\/1\.1 429 /);
  assert.equal(stage.origin.seen.length, 0);
});

test("without a draw the start lets people in as they came, and latecomers are behind them", async (t) => {
  const event = saleEvent({ totalActiveUsers: 2 });
  const stage = await openStage(t, { room: { totalActiveUsers: 50, lapseAfter: "10m", events: [event] } });
  passTo(stage, GATHERS_MS + 1_000);
  const early = await joinLine(stage, 3);
  assert.deepEqual(await aheadOfEach(early), [0, 1, 2]);
  passTo(stage, STARTS_MS + 100);
  const [late] = await joinLine(stage, 1);
  stage.world.pass(1_000);
  assert.deepEqual(await whoIsIn([...early, late!]), [true, true, false, false]);
  await early[0]!.call("leave");
  stage.world.pass(1_000);
  assert.deepEqual(await whoIsIn([early[2]!, late!]), [true, false]);
});

test("an event's message, status, title and limits hold from its prequeue to its end", async (t) => {
  const event = saleEvent({
    message: "Two tickets each",
    queueingStatusCode: 202,
    totalActiveUsers: 1,
    sessionDuration: "1h",
    page: { title: "The autumn sale" },
  });
  const room = { totalActiveUsers: 1, message: "Hello", page: { title: "The shop" }, events: [event] };
  const stage = await openStage(t, { room });
  await stage.occupant();
  const usual = await stage.visitor().open();
  assertWaitingPage(usual, 200);
  assert.match(usual.text, /The shop/);
  assert.match(usual.text, /Hello/);
  passTo(stage, GATHERS_MS + 1_000);
  const visitor = stage.visitor();
  const gathering = await visitor.open();
  assertWaitingPage(gathering, 202);
  assert.match(gathering.text, /The autumn sale/);
  assert.match(gathering.text, /Two tickets each/);
  assert.doesNotMatch(gathering.text, /The shop|Hello/);
  assert.equal((await askJson(visitor)).told.message, "Two tickets each");
  assert.equal((await boardAt(stage)).message, "Two tickets each");
  assert.equal((await stage.engine.counts("main")).limits.totalActiveUsers, 1);
  passTo(stage, ENDS_MS + 1_000);
  await change(stage, { ...room, queueAll: true });
  const after = await stage.visitor().open();
  assertWaitingPage(after, 200);
  assert.match(after.text, /The shop/);
});

test("an event may say who is kept out, what goes past the line, and what visitors may know", async (t) => {
  const event = saleEvent({
    bypass: [{ path: ["/healthz"] }],
    show: { ahead: false },
    abuse: { bindTickets: "userAgent" },
  });
  const stage = await openStage(t, { room: { totalActiveUsers: 50, events: [event] } });
  passTo(stage, GATHERS_MS + 1_000);
  assertSite(await stage.visitor().open("/healthz"));
  const visitor = stage.visitor();
  assertWaitingPage(await visitor.open("/", { "user-agent": "one" }));
  assert.equal((await askJson(visitor, "/", { "user-agent": "one" })).told.ahead, null);
  assertProblemPage(await visitor.open("/", { "user-agent": "another" }), 403, /another browser/);
});

test("an event's settings hold from the very instant of its opening, before there is a new board", async (t) => {
  const event = saleEvent({ abuse: { entryDelay: true }, bypass: [{ path: ["/healthz"] }] });
  const room = { queueAll: true, events: [event] };
  const first: readonly ((visitor: Visitor) => Promise<void>)[] = [
    async (visitor) => assertProblemPage(await visitor.open(), 200, /One moment…/),
    async (visitor) => assertSite(await visitor.open("/healthz")),
    async (visitor) => assert.equal((await visitor.post("join")).status, 202),
  ];
  for (const come of first) {
    const stage = await openStage(t, { room, opensLaterMs: 500 });
    passTo(stage, GATHERS_MS - 1);
    assertWaitingPage(await stage.visitor().open("/healthz"));
    passTo(stage, GATHERS_MS);
    await come(stage.visitor());
    assert.equal((await stage.engine.counts("main")).waiting, 1);
  }
});

test("several events follow one another, each with its own start, and none is on in between", async (t) => {
  const second = {
    name: "second",
    prequeueStartTime: instantAfter(70_000),
    eventStartTime: instantAfter(80_000),
    eventEndTime: instantAfter(90_000),
    closed: false,
  };
  const room = { closed: true, events: [saleEvent({ closed: false }), second] };
  const stage = await openStage(t, { room, opensLaterMs: 500 });
  assert.equal((await askJson(stage.visitor())).told.until, OPENED_AT + GATHERS_MS);
  passTo(stage, STARTS_MS + 1_000);
  assertSite(await stage.visitor().open());
  // The very instant of the end: the board is older than that, and the page is right all the same.
  passTo(stage, ENDS_MS);
  const between = await stage.visitor().open();
  assertProblemPage(between, 503, /Not open yet/);
  assert.equal(between.headers["retry-after"], "10");
  passTo(stage, 71_000);
  assert.equal((await askJson(stage.visitor())).told.opensAt, OPENED_AT + 80_000);
  passTo(stage, 91_000);
  assertProblemPage(await stage.visitor().open(), 503, /This has ended/);
});

test("a suspended event is as if it were not there", async (t) => {
  const event = saleEvent({ suspended: true, message: "never seen" });
  const stage = await openStage(t, { room: { totalActiveUsers: 50, events: [event] } });
  passTo(stage, GATHERS_MS + 1_000);
  assertSite(await stage.visitor().open());
  assert.equal((await boardAt(stage)).nextEventAt, null);
});

test("an event added while people wait holds at once and keeps every place", async (t) => {
  const stage = await openStage(t, { room: { lapseAfter: "10m" } });
  const onSite = await stage.occupant();
  const line = await joinLine(stage, 3);
  await change(stage, { lapseAfter: "10m", events: [saleEvent({ prequeueStartTime: instantAfter(0) })] });
  assert.equal((await boardAt(stage)).state, "prequeue");
  await onSite.call("leave");
  stage.world.pass(5_000);
  assert.deepEqual(await whoIsIn(line), [false, false, false]);
  assert.deepEqual(await aheadOfEach(line), [0, 1, 2]);
  passTo(stage, STARTS_MS + 1_000);
  assert.deepEqual(await whoIsIn(line), [true, false, false]);
});
