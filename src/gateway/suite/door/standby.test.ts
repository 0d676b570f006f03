/** Standing by: no line until a threshold is crossed, by what the gateway itself sees of the site. */
import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { type TestContext, test } from "node:test";
import type { RoomInput } from "../../../config/schema.ts";
import { assertSite } from "../../../testing/gateway/line.ts";
import { openStage, type Stage } from "../../../testing/gateway/stage.ts";
import { assertWaitingPage, type Visitor } from "../../../testing/gateway/visitor.ts";

type Standby = NonNullable<RoomInput["standby"]>;

function openStandby(t: TestContext, standby: Standby, answer?: RequestListener): Promise<Stage> {
  const room = { totalActiveUsers: 1, standby: { quietFor: "5s", ...standby } };
  return openStage(t, { room, ...(answer && { answer }) });
}

async function browse(visitor: Visitor, path: string, times: number): Promise<void> {
  for (let i = 0; i < times; i++) await visitor.open(path);
}

async function isActive(stage: Stage): Promise<boolean> {
  return (await stage.engine.counts("main")).isActive;
}

test("below the thresholds nobody waits, even at a full site", async (t) => {
  const stage = await openStandby(t, { requestsPerSecond: 2 });
  for (let i = 0; i < 5; i++) {
    assertSite(await stage.visitor().open());
    stage.world.pass(1_000);
  }
  const { onSite, isActive: hasLine } = await stage.engine.counts("main");
  assert.deepEqual([onSite, hasLine], [5, false]);
});

test("too many requests a second start the line, and a quiet while stops it", async (t) => {
  const stage = await openStandby(t, { requestsPerSecond: 2, stopBelow: "50%" });
  const visitor = await stage.occupant();
  await browse(visitor, "/", 118);
  stage.world.pass(2_000);
  assertSite(await stage.visitor().open());
  await browse(visitor, "/", 5);
  stage.world.pass(2_000);
  const waiting = stage.visitor();
  assertWaitingPage(await waiting.open());
  const { remarks } = await stage.engine.counts("main");
  assert.match(remarks.at(-1)!.text, /^The line starts: 2\.1 requests a second, more than 2\.$/);
  await waiting.call("leave");
  // The minute is over, and then five seconds more.
  stage.world.pass(50_000);
  assert.equal(await isActive(stage), true);
  stage.world.pass(20_000);
  assert.equal(await isActive(stage), false);
  assertSite(await stage.visitor().open());
});

test("what came before anybody watched does not start the line", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 1 } });
  const visitor = await stage.occupant();
  for (let minute = 0; minute < 3; minute++) {
    await browse(visitor, "/", 100);
    stage.world.pass(60_000);
  }
  const standby = { requestsPerSecond: 2, quietFor: "5s" };
  await stage.proxied.configure(stage.settings({ room: { standby } }));
  stage.world.pass(2_000);
  assert.deepEqual(
    stage.engine.reports.map(({ requests, answers }) => [requests, answers]),
    [
      [0, 0],
      [0, 0],
    ],
  );
  assert.equal(await isActive(stage), false);
  assertSite(await stage.visitor().open());
});

test("too many visitors on the site start the line", async (t) => {
  const stage = await openStandby(t, { activeUsers: 3 });
  for (let i = 0; i < 4; i++) await stage.occupant();
  stage.world.pass(2_000);
  assertWaitingPage(await stage.visitor().open());
});

test("a slow origin starts the line, as slow as the proxy sees it", async (t) => {
  let world: { pass(ms: number): void } | null = null;
  const slow: RequestListener = (request, response) => {
    if (request.url === "/slow") world?.pass(90);
    response.end("the site");
  };
  const stage = await openStandby(t, { originLatency: "50ms" }, slow);
  world = stage.world;
  const visitor = await stage.occupant();
  await browse(visitor, "/quick", 60);
  stage.world.pass(2_000);
  assert.equal(await isActive(stage), false);
  await browse(visitor, "/slow", 80);
  stage.world.pass(2_000);
  assertWaitingPage(await stage.visitor().open());
});

test("an origin that fails starts the line, be it by errors or by no answer at all", async (t) => {
  const failing: RequestListener = (request, response) => {
    if (request.url === "/gone") request.socket.destroy();
    else if (request.url === "/broken") response.writeHead(500).end();
    else response.end("the site");
  };
  for (const path of ["/broken", "/gone"]) {
    const stage = await openStandby(t, { originErrors: "5%" }, failing);
    const visitor = await stage.occupant();
    await browse(visitor, "/", 60);
    stage.world.pass(1_000);
    assert.equal(await isActive(stage), false);
    await browse(visitor, path, 12);
    stage.world.pass(2_000);
    assertWaitingPage(await stage.visitor().open());
  }
});

test("what the engine is told is what came: requests, answers, errors, and what is under way", async (t) => {
  let release = () => {};
  const site: RequestListener = (request, response) => {
    if (request.url === "/hangs") release = () => response.end("the site");
    else response.writeHead(request.url === "/broken" ? 503 : 200).end("the site");
  };
  const stage = await openStandby(t, { requestsPerSecond: 1_000 }, site);
  const visitor = await stage.occupant();
  await browse(visitor, "/", 4);
  await browse(visitor, "/broken", 2);
  const hanging = visitor.open("/hangs");
  while (stage.origin.seen.length < 8) await new Promise((resolve) => setImmediate(resolve));
  stage.world.pass(1_000);
  const { requests, answers, errors, inFlight } = stage.engine.reports.at(-1)!;
  assert.deepEqual(
    { requests, answers, errors, inFlight },
    { requests: 8, answers: 7, errors: 2, inFlight: 1 },
  );
  release();
  await hanging;
  stage.world.pass(1_000);
  assert.equal(stage.engine.reports.at(-1)!.inFlight, 0);
});

test("a room where nobody weighs the load tells nothing of it", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  stage.world.pass(3_000);
  assert.deepEqual(stage.engine.reports, []);
});
