import assert from "node:assert/strict";
import type http2 from "node:http2";
import type net from "node:net";
import { type TestContext, test } from "node:test";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import { TLS } from "../../testing/gateway/stage.ts";
import { END_HEADERS, END_STREAM, frame, headersFor, RawSession } from "../../testing/http2-frames.ts";
import { until } from "../../testing/until.ts";
import { type Listener, listen } from "./listen.ts";

const LIMITS = {
  headerBytes: 4_096,
  bodyBytes: null,
  // A handshake has so long too, by the machine's own clock.
  headersTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 120_000,
  shutdownTimeoutMs: 1_000,
  answerPace: 250,
  paceWindowMs: 60_000,
  spooledAnswersBytes: 1_048_576,
};
const PING = frame({ type: "ping", payload: Buffer.alloc(8) });

interface Stage {
  readonly listener: Listener;
  readonly world: HandWorld;
  readonly target: { readonly host: string; readonly port: number };
  /** Answers that are held back, where they are. */
  readonly held: http2.Http2ServerResponse[];
  /** How many answers are over. */
  over(): number;
}

async function open(t: TestContext, { isSlow = false } = {}): Promise<Stage> {
  const world = handWorld();
  const held: http2.Http2ServerResponse[] = [];
  let over = 0;
  const answer = (_request: unknown, any: unknown) => {
    const response = any as http2.Http2ServerResponse;
    response.on("close", () => over++);
    if (isSlow) held.push(response);
    else response.end("answered");
  };
  const listener = await listen({
    settings: { listen: { host: "127.0.0.1", port: 0 }, tls: TLS, limits: LIMITS },
    handle: answer,
    handleContinue: answer,
    upgrade: (_request, socket) => void socket.destroy(),
    world,
  });
  t.after(async () => {
    const closed = listener.close();
    world.pass(LIMITS.shutdownTimeoutMs);
    await closed;
  });
  const target = { host: "127.0.0.1", port: listener.address.port };
  return { listener, world, held, over: () => over, target };
}

async function connect(t: TestContext, { target, listener }: Stage): Promise<RawSession> {
  const session = await RawSession.open(target, "127.0.0.1");
  t.after(() => session.end());
  await until(() => listener.connections.open > 0 && session.bytesRead > 0);
  return session;
}

function get(session: RawSession, stream: number): void {
  session.send([
    frame({ type: "headers", stream, flags: END_HEADERS | END_STREAM, payload: headersFor("GET", "/") }),
  ]);
}

test("a session that has had its first request is kept for the keep-alive time, and no longer", async (t) => {
  const stage = await open(t);
  const session = await connect(t, stage);
  get(session, 1);
  await until(() => stage.over() === 1);
  stage.world.pass(LIMITS.keepAliveTimeoutMs - 2_000);
  assert.equal(stage.listener.connections.open, 1);
  stage.world.pass(10_000);
  await until(() => stage.listener.connections.open === 0);
});

test("a session without a request is closed when its first header takes too long", async (t) => {
  const stage = await open(t);
  await connect(t, stage);
  stage.world.pass(LIMITS.headersTimeoutMs + 10_000);
  await until(() => stage.listener.connections.open === 0);
});

test("a peer that does not close its side cannot keep the connection", async (t) => {
  const stage = await open(t);
  const session = await connect(t, stage);
  // Nothing is read any more, so the end of the other side is never seen.
  session.socket.pause();
  (session.socket as net.Socket).allowHalfOpen = true;
  await until(() => {
    stage.world.pass(1_000);
    return stage.listener.connections.open === 0;
  });
});

test("pings do not make an idle session any less idle", async (t) => {
  const stage = await open(t);
  const session = await connect(t, stage);
  for (let i = 0; i < 8; i++) {
    const before = session.bytesRead;
    session.send([PING]);
    await until(() => session.bytesRead > before || session.isOver);
    stage.world.pass(LIMITS.headersTimeoutMs / 5);
  }
  await until(() => stage.listener.connections.open === 0);
});

test("a session with a request under way is not idle", async (t) => {
  const stage = await open(t, { isSlow: true });
  const session = await connect(t, stage);
  get(session, 1);
  await until(() => stage.held.length === 1);
  stage.world.pass(10 * LIMITS.keepAliveTimeoutMs);
  const before = session.bytesRead;
  stage.held[0]!.end("answered");
  await until(() => session.bytesRead > before);
  assert.equal(session.isOver, false);
});

for (const [name, bytes] of Object.entries({
  ping: PING,
  settings: frame({ type: "settings", payload: Buffer.from([0, 3, 0, 0, 0, 100]) }),
})) {
  test(`more than a few ${name} frames in a second end the session`, async (t) => {
    const stage = await open(t);
    const session = await connect(t, stage);
    // A few at a time, so that their answers never pile up.
    for (let i = 0; i < 100 && !session.isOver; i++) {
      const before = session.bytesRead;
      session.send(Array.from({ length: 20 }, () => bytes));
      await until(() => session.bytesRead > before || session.isOver);
    }
    await until(() => session.isOver && stage.listener.connections.open === 0);
  });
}

test("a ping now and then is answered for as long as there are requests", async (t) => {
  const stage = await open(t);
  const session = await connect(t, stage);
  for (let i = 0; i < 200; i++) {
    const before = session.bytesRead;
    if (i % 10 === 0) get(session, i + 1);
    session.send([PING]);
    await until(() => session.bytesRead > before);
    stage.world.pass(1_000);
  }
  assert.equal(session.isOver, false);
});
