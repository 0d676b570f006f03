/** Event streams: boards for everyone in the room, the turn for the one it belongs to, and check-ins nobody sends. */
import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { openStage, type Stage } from "../../testing/gateway/stage.ts";
import { talk, type Visitor } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";

async function waitingVisitor(stage: Stage): Promise<Visitor> {
  const visitor = stage.visitor();
  assert.equal((await visitor.call("join")).status, "waiting");
  return visitor;
}

test("a stream begins with the board and goes on with each new one", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  stage.world.pass(1_000);
  const stream = await visitor.listen();
  assert.equal(stream.status, 200);
  assert.match(stream.headers["content-type"]!, /^text\/event-stream/);
  assert.match(stream.headers["cache-control"]!, /no-store/);
  await stream.heard("board");
  stage.world.pass(1_000);
  await stream.heard("board", 2);
  const [first, second] = stream.events.map(({ data }) => JSON.parse(data));
  assert.equal(first.waiting, 1);
  assert.ok(second.version > first.version);
  assert.equal(stage.proxied.gateway.traffic.sseConnections, 1);
  stream.hangUp();
  await until(() => stage.proxied.gateway.traffic.sseConnections === 0);
});

test("the turn is told to its own visitor and to nobody else", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  const [first, second] = [await waitingVisitor(stage), await waitingVisitor(stage)];
  const [mine, theirs] = [await first.listen(), await second.listen()];
  await occupant.call("leave");
  stage.world.pass(1_000);
  await mine.heard("turn");
  stage.world.pass(1_000);
  await theirs.heard("board", 3);
  assert.equal(theirs.count("turn"), 0);
  assert.ok(await first.isIn());
  assert.ok(!(await second.isIn()));
});

test("a turn that came before the stream was opened is told at once", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  const visitor = await waitingVisitor(stage);
  await occupant.call("leave");
  stage.world.pass(1_000);
  await (await visitor.listen()).heard("turn");
});

test("while a stream is open its place lives without a single poll, and lapses once it is closed", async (t) => {
  const stage = await openStage(t, { room: { lapseAfter: "5s" } });
  const occupant = await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const stream = await visitor.listen();
  await stream.heard("board");
  for (let minute = 0; minute < 3; minute++) {
    stage.world.pass(60_000);
    assert.ok(await occupant.isIn());
    const { waiting, lapsed } = await stage.engine.counts("main");
    assert.deepEqual({ waiting, lapsed }, { waiting: 1, lapsed: 0 });
  }
  assert.equal(stage.proxied.gateway.traffic.requests.checkIns, 0);
  stream.hangUp();
  await until(() => stage.proxied.gateway.traffic.sseConnections === 0);
  stage.world.pass(120_000);
  assert.equal((await stage.engine.counts("main")).lapsed, 1);
});

test("one ticket may open a few streams and no more", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const streams = [];
  for (let i = 0; i < 5; i++) streams.push(await visitor.listen());
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
  const refused = await visitor.listen();
  assert.equal(refused.status, 429);
  assert.match(refused.headers["retry-after"]!, /^\d+$/);
  assert.equal((await (await waitingVisitor(stage)).listen()).status, 200);
  streams[0]!.hangUp();
  await until(() => stage.proxied.gateway.traffic.sseConnections === 5);
  assert.equal((await visitor.listen()).status, 200);
  assert.deepEqual(stage.proxied.gateway.traffic.streamsRefused, { ticket: 1 });
});

test("an address may open a limited number of streams, with any tickets, and others are not touched", async (t) => {
  const settings = { trustedProxies: ["127.0.0.1"], limits: { streamsPerAddressMax: 3 } };
  const stage = await openStage(t, { settings });
  await stage.occupant();
  const listenFrom = async (address: string) =>
    (await waitingVisitor(stage)).listen("main", { "x-forwarded-for": address });
  const streams = [];
  for (let i = 0; i < 3; i++) streams.push(await listenFrom(`2001:db8:0:1::${i}`));
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
  assert.equal((await listenFrom("2001:db8:0:1:5::6")).status, 429);
  assert.equal((await listenFrom("2001:db8:0:2::1")).status, 200);
  streams[0]!.hangUp();
  await until(() => stage.proxied.gateway.traffic.sseConnections === 3);
  assert.equal((await listenFrom("2001:db8:0:1::9")).status, 200);
  assert.deepEqual(stage.proxied.gateway.traffic.streamsRefused, { address: 1 });
});

test("three quarters of the connections may be streams, and a reload changes that", async (t) => {
  const stage = await openStage(t, {
    settings: { limits: { connectionsMax: 4, streamsPerAddressMax: 100 } },
  });
  await stage.occupant();
  const status = async () => (await (await waitingVisitor(stage)).listen()).status;
  for (let i = 0; i < 3; i++) assert.equal(await status(), 200);
  assert.equal(await status(), 503);
  await stage.proxied.configure(
    stage.settings({ settings: { limits: { connectionsMax: 8, streamsPerAddressMax: 100 } } }),
  );
  assert.equal(await status(), 200);
});

test("without a ticket there is no stream", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  assert.equal((await stage.visitor().listen()).status, 403);
  assert.equal((await occupant.listen()).status, 403);
});

test("HEAD opens no stream", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  await visitor.ask("/.fairgate/main/events", { method: "HEAD" });
  assert.equal(stage.proxied.gateway.traffic.sseConnections, 0);
});

test("a gateway that closes says bye to every stream, and opens no new one", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const stream = await visitor.listen();
  await stream.heard("board");
  stage.proxied.gateway.closeStreams();
  await stream.heard("bye");
  await until(() => stream.isOver, "the end of the stream");
  assert.equal(stream.events.at(-1)!.name, "bye");
  const late = await visitor.listen();
  assert.equal(late.status, 503);
});

for (const version of ["1.0", "1.1"]) {
  test(`closing twice harms nobody who listens over HTTP/${version}`, async (t) => {
    const stage = await openStage(t);
    await stage.occupant();
    const visitor = await waitingVisitor(stage);
    const heard = talk(
      stage.port,
      `GET /.fairgate/main/events HTTP/${version}\r\nHost: a\r\nCookie: fairgate_main=${visitor.token()}\r\n\r\n`,
    );
    await until(() => stage.proxied.gateway.traffic.sseConnections === 1);
    stage.proxied.gateway.closeStreams();
    stage.proxied.gateway.closeStreams();
    await stage.engine.configure("main", { ...DEFAULT_RULES, totalActiveUsers: 2 });
    assert.equal((await heard).match(/event: bye/g)?.length, 1);
  });
}

test("a reader who does not keep up is let go, and the others are not kept waiting", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const [stuck, reading] = [await waitingVisitor(stage), await waitingVisitor(stage)];
  const socket = net.connect({ port: stage.port, host: "127.0.0.1" }).pause();
  t.after(() => socket.destroy());
  socket.write(
    `GET /.fairgate/main/events HTTP/1.1\r\nHost: a\r\nCookie: fairgate_main=${stuck.token()}\r\n\r\n`,
  );
  const stream = await reading.listen();
  const { traffic } = stage.proxied.gateway;
  await until(() => traffic.sseConnections === 2);
  const rules = { ...DEFAULT_RULES, totalActiveUsers: 1, message: "\u65e5".repeat(2_000) };
  await until(async () => {
    const boards = stream.count("board");
    for (let i = 0; i < 8; i++) stage.engine.configure("main", rules);
    // However slow the machine is, this one keeps up.
    await stream.heard("board", boards + 8);
    return traffic.sseConnections === 1;
  }, "the end of the stuck reader");
  const boards = stream.count("board");
  stage.world.pass(1_000);
  await stream.heard("board", boards + 1);
});
