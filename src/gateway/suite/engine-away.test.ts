/** An engine that does not answer: visitors on the site notice nothing, the others what the operator chose. */
import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import { openStage, type Stage } from "../../testing/gateway/stage.ts";
import {
  type HttpAnswer as Answer,
  assertWaitingPage,
  JSON_CLIENT,
  PAGE,
  talk,
  type Visitor,
} from "../../testing/gateway/visitor.ts";
import type { Breakage } from "../../testing/gateway/watched-engine.ts";
import { until } from "../../testing/until.ts";

const BREAKAGES = [
  ["throws", "throws"],
  ["rejects", "rejects"],
  ["says nothing", "silent"],
] as const;
/** Longer than the gateway waits for an engine. */
const PATIENCE_MS = 2_500;

/** One who was let in, and one who waits. */
async function openFullStage(
  t: Parameters<typeof openStage>[0],
  engineFailure: "open" | "closed",
): Promise<{ stage: Stage; occupant: Visitor; waiting: Visitor }> {
  const stage = await openStage(t, { room: { engineFailure } });
  const occupant = await stage.occupant();
  const waiting = stage.visitor();
  assertWaitingPage(await waiting.open());
  return { stage, occupant, waiting };
}

/** Asks while the engine is away; where it is silent, lets the gateway's patience run out. */
async function whileAway(stage: Stage, ask: () => Promise<Answer>): Promise<Answer> {
  const { asked } = stage.engine;
  const answer = ask();
  if (stage.engine.broken === "silent") {
    await until(() => stage.engine.asked > asked);
    stage.world.pass(PATIENCE_MS);
  }
  return answer;
}

function breakEngine(stage: Stage, how: Breakage): void {
  stage.engine.broken = how;
}

for (const [what, how] of BREAKAGES) {
  test(`while the engine ${what}, passes keep working`, async (t) => {
    const { stage, occupant } = await openFullStage(t, "closed");
    breakEngine(stage, how);
    for (let i = 0; i < 3; i++) assert.ok(await occupant.isIn());
    stage.world.pass(60_000);
    const renewed = await occupant.open();
    assert.equal(renewed.text, "the site");
    assert.equal(renewed.headers["set-cookie"]?.length, 1);
  });

  test(`while the engine ${what}, a closed room tells newcomers and ticket holders so, and keeps their place`, async (t) => {
    const { stage, waiting } = await openFullStage(t, "closed");
    const ticket = waiting.token();
    const before = stage.origin.seen.length;
    breakEngine(stage, how);
    for (const visitor of [stage.visitor(), waiting]) {
      const page = await whileAway(stage, () => visitor.open());
      assertWaitingPage(page, 503);
      assert.match(page.headers["retry-after"]!, /^[1-9]\d*$/);
      assert.match(page.text, /cannot reach the line/);
      assert.equal(page.headers["set-cookie"], undefined);
      const json = await whileAway(stage, () => visitor.ask("/api", { headers: JSON_CLIENT }));
      assert.equal(json.status, 503);
      assert.equal(JSON.parse(json.text).status, "engineAway");
      assert.equal(json.headers["cache-control"], "no-store");
    }
    assert.equal(waiting.token(), ticket);
    assert.equal(stage.origin.seen.length, before);
  });

  test(`while the engine ${what}, an open room lets newcomers and ticket holders through`, async (t) => {
    const { stage, waiting } = await openFullStage(t, "open");
    breakEngine(stage, how);
    for (const visitor of [stage.visitor(), waiting]) {
      const answer = await whileAway(stage, () => visitor.open());
      assert.equal(answer.text, "the site");
      assert.equal(answer.headers["set-cookie"], undefined);
      assert.equal(stage.origin.seen.at(-1)!.headers["fairgate-visitor"], undefined);
    }
  });

  test(`while the engine ${what}, the endpoints answer 503 and the board goes on`, async (t) => {
    const { stage, waiting } = await openFullStage(t, "open");
    breakEngine(stage, how);
    for (const [visitor, endpoint] of [
      [stage.visitor(), "join"],
      [waiting, "check-in"],
      [waiting, "enter"],
      [waiting, "leave"],
    ] as const) {
      const answer = await whileAway(stage, () => visitor.post(endpoint));
      assert.equal(answer.status, 503, endpoint);
      assert.deepEqual(JSON.parse(answer.text), { status: "engineAway" });
      assert.match(answer.headers["retry-after"]!, /^[1-9]\d*$/);
      assert.equal(answer.headers["set-cookie"], undefined);
    }
    assert.equal((await waiting.ask("/.fairgate/main/board")).status, 200);
  });

  test(`after an engine that ${what} is back, everyone goes on where they were`, async (t) => {
    const { stage, occupant, waiting } = await openFullStage(t, "closed");
    breakEngine(stage, how);
    await whileAway(stage, () => waiting.open());
    stage.engine.broken = null;
    assertWaitingPage(await waiting.open());
    await occupant.call("leave");
    stage.world.pass(1_000);
    assert.ok(await waiting.isIn());
    assert.equal((await stage.engine.counts("main")).totals.joined, 2);
  });

  test(`while the engine ${what}, the failures are counted and logged once a second`, async (t) => {
    const { stage } = await openFullStage(t, "closed");
    breakEngine(stage, how);
    for (let i = 0; i < 3; i++) await whileAway(stage, () => stage.visitor().open());
    const lines = stage.world.logged.filter(({ message }) => message === "the engine does not answer");
    assert.equal(lines.length, how === "silent" ? 3 : 1);
    assert.equal(stage.proxied.gateway.traffic.engineFailures, 3);
  });
}

test("an engine that answers late is as good as one that answers at once", async (t) => {
  const stage = await openStage(t);
  breakEngine(stage, "late");
  const occupant = await stage.occupant();
  const waiting = stage.visitor();
  assertWaitingPage(await waiting.open());
  assert.equal((await waiting.call("check-in")).status, "waiting");
  const stream = await waiting.listen();
  await occupant.call("leave");
  stage.world.pass(1_000);
  await stream.heard("turn");
  assert.ok(await waiting.isIn());
  assert.deepEqual(stage.errors(), []);
});

test("a visitor who left before the engine answered is not sent on to the origin", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 5 } });
  const release = stage.engine.hold();
  const request = http.get({
    ...{ host: "127.0.0.1", port: stage.port, path: "/gone", agent: false },
    headers: PAGE,
  });
  request.on("error", () => {});
  await until(() => stage.engine.calls.join === 1);
  request.destroy();
  await until(() => stage.underWay() === 0, "the end of the request");
  release();
  await stage.visitor().open("/there");
  assert.deepEqual(
    stage.origin.seen.map(({ url }) => url),
    ["/there"],
  );
});

test("an upgrade is refused with 503 while the engine is away, or goes through where the room is open", async (t) => {
  const head = "GET /ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  const closed = (await openFullStage(t, "closed")).stage;
  breakEngine(closed, "throws");
  assert.match(await talk(closed.port, head), /^HTTP\/1\.1 503 .*\r\nRetry-After: \d/s);
  const open = (await openFullStage(t, "open")).stage;
  breakEngine(open, "throws");
  assert.match(await talk(open.port, head), /the site/);
});

for (const [what, how] of BREAKAGES) {
  test(`presence an engine that ${what} did not take is told again, and closing does not wait for it`, async (t) => {
    const { stage, occupant } = await openFullStage(t, "closed");
    stage.world.pass(31_000);
    const taken = stage.engine.calls.touch;
    breakEngine(stage, how);
    await occupant.open();
    stage.world.pass(1_000);
    assert.ok(stage.engine.calls.touch > taken);
    await new Promise(setImmediate);
    stage.world.pass(5_000);
    await new Promise(setImmediate);
    stage.engine.broken = null;
    const seen = watchTouches(stage);
    stage.world.pass(5_000);
    await until(() => seen.length > 0, "presence");
    breakEngine(stage, how);
    stage.world.pass(61_000);
    await occupant.open();
    let isClosed = false;
    void stage.proxied.gateway.close().then(() => {
      isClosed = true;
    });
    await new Promise(setImmediate);
    stage.world.pass(10_000);
    await until(() => isClosed, "the end");
  });
}

/** What the engine is told of visitors on the site from now on. */
function watchTouches(stage: Stage): string[] {
  const seen: string[] = [];
  const { touch } = stage.engine;
  Object.assign(stage.engine, {
    touch: (room: string, presences: Parameters<typeof touch>[1]) => {
      seen.push(...presences.map(({ id }) => id));
      return touch(room, presences);
    },
  });
  return seen;
}
