/** Settings changed while visitors are there: whole or not at all, and nobody loses a place by it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openOrigin, openStage } from "../../testing/gateway/stage.ts";
import { assertWaitingPage } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";

test("a bad custom page is refused, and everything stays as it was", async (t) => {
  const stage = await openStage(t, { room: { queueingStatusCode: 202 } });
  await stage.occupant();
  const before = stage.proxied.gateway.settings;
  const page = { customPageHtml: "<h1>{{#nosuch}}</h1>" };
  const bad = stage.settings({ room: { totalActiveUsers: 50, queueingStatusCode: 429, page } });
  await assert.rejects(stage.proxied.configure(bad), /custom page/);
  assert.equal(stage.proxied.gateway.settings, before);
  assertWaitingPage(await stage.visitor().open(), 202);
});

test("an engine that fails in the middle leaves every room, and every origin, as it was", async (t) => {
  const rooms = (totalActiveUsers: number) => ({
    one: { path: "/one", totalActiveUsers },
    two: { path: "/two", totalActiveUsers },
  });
  const stage = await openStage(t, { settings: { rooms: rooms(1) } });
  const before = stage.proxied.gateway.settings;
  const moved = await openOrigin(t);
  const changed = { rooms: rooms(50), origin: { addresses: [moved.address] } };
  stage.engine.failsToConfigure = "two";
  await assert.rejects(stage.proxied.configure(stage.settings({ settings: changed })), /store is away/);
  assert.equal(stage.proxied.gateway.settings, before);
  const limit = async (room: string) => (await stage.engine.counts(room)).limits.totalActiveUsers;
  assert.deepEqual([await limit("one"), await limit("two")], [1, 1]);
  assert.equal((await stage.visitor().open("/one")).text, "the site");
  assertWaitingPage(await stage.visitor().open("/one"));
  assert.equal(moved.seen.length, 0);
  stage.engine.failsToConfigure = null;
  await stage.proxied.configure(stage.settings({ settings: changed }));
  assert.deepEqual([await limit("one"), await limit("two")], [50, 50]);
  await stage.visitor().open("/elsewhere");
  assert.equal(moved.seen.length, 1);
});

test("new limits keep every place and pass", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  const visitors = [stage.visitor(), stage.visitor(), stage.visitor()];
  for (const visitor of visitors) assertWaitingPage(await visitor.open());
  const change = { totalActiveUsers: 3, message: "Nearly there" };
  await stage.proxied.configure(stage.settings({ room: change }));
  assert.equal((await stage.engine.counts("main")).waiting, 3);
  const board = await stage.visitor().ask("/.fairgate/main/board");
  assert.equal(JSON.parse(board.text).message, "Nearly there");
  stage.world.pass(1_000);
  assert.deepEqual(await Promise.all(visitors.map((visitor) => visitor.isIn())), [true, true, false]);
  assert.ok(await occupant.isIn());
});

test("a smaller limit throws nobody out", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 3 } });
  const visitors = [await stage.occupant(), await stage.occupant(), await stage.occupant()];
  await stage.proxied.configure(stage.settings({ room: { totalActiveUsers: 1 } }));
  for (const visitor of visitors) assert.ok(await visitor.isIn());
  await visitors[0]!.call("leave");
  stage.world.pass(1_000);
  assertWaitingPage(await stage.visitor().open());
});

test("a paused room lets nobody in and says so; opened again it goes on", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 5, paused: true } });
  const visitor = stage.visitor();
  assertWaitingPage(await visitor.open());
  const board = await visitor.ask("/.fairgate/main/board");
  assert.equal(JSON.parse(board.text).state, "paused");
  await stage.proxied.configure(stage.settings({ room: { paused: false } }));
  stage.world.pass(1_000);
  assert.ok(await visitor.isIn());
});

test("a room can be added and taken away", async (t) => {
  const stage = await openStage(t, { settings: { rooms: { main: { path: "/a", totalActiveUsers: 1 } } } });
  const two = { main: { path: "/a", totalActiveUsers: 1 }, more: { path: "/b", totalActiveUsers: 1 } };
  await stage.proxied.configure(stage.settings({ settings: { rooms: two } }));
  await stage.visitor().open("/b");
  assertWaitingPage(await stage.visitor().open("/b"));
  await stage.proxied.configure(stage.settings());
  assert.ok(await stage.visitor().isIn("/b"));
  assert.equal((await stage.visitor().ask("/.fairgate/more/board")).status, 404);
});

test("requests go to the new origin, and one decided before the change still gets an answer", async (t) => {
  const moved = await openOrigin(t, (_request, response) => response.end("the new site"));
  const stage = await openStage(t);
  const own = (address: string) => stage.settings({ room: { origin: { addresses: [address] } } });
  await stage.proxied.configure(own(stage.origin.address));
  const release = stage.engine.hold();
  const early = stage.visitor().open();
  await until(() => stage.engine.calls.join === 1);
  await stage.proxied.configure(own(moved.address));
  release();
  const { status } = await early;
  assert.ok(status === 200 || status === 502 || status === 503, `${status}`);
  await stage.proxied.configure(
    stage.settings({ room: { totalActiveUsers: 9, origin: { addresses: [moved.address] } } }),
  );
  assert.equal((await stage.visitor().open()).text, "the new site");
  assert.deepEqual(
    stage.world.logged.filter(({ level }) => level === "error"),
    [],
  );
});

test("a new limit for bodies holds from the next request on", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 5 } });
  const visitor = await stage.occupant();
  const body = "x".repeat(2_000);
  assert.equal((await visitor.ask("/", { method: "POST", body })).status, 200);
  await stage.proxied.configure(stage.settings({ settings: { limits: { bodyBytes: "1KB" } } }));
  assert.equal((await visitor.ask("/", { method: "POST", body })).status, 413);
});
