import assert from "node:assert/strict";
import type http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { type TestContext, test } from "node:test";
import { limitsSchema } from "../../config/schema.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import { TLS } from "../../testing/gateway/stage.ts";
import { until } from "../../testing/until.ts";
import { type Listener, type ListenOptions, listen } from "./listen.ts";
import { PIPELINED_MAX } from "./unread-answers.ts";

const PAGE = Buffer.alloc(20_000, "x");
const LOOK_MS = 1_000;

interface Stage {
  readonly listener: Listener;
  readonly world: HandWorld;
  readonly answers: http.ServerResponse[];
}

async function open(
  t: TestContext,
  limits: Partial<ListenOptions["settings"]["limits"]>,
  { tls = null as typeof TLS | null, page = PAGE as Buffer | null } = {},
): Promise<Stage> {
  const world = handWorld();
  const answers: http.ServerResponse[] = [];
  const handle: ListenOptions["handle"] = (_request, response) => {
    answers.push(response as http.ServerResponse);
    if (page !== null) (response as http.ServerResponse).end(page);
  };
  const all = { ...limitsSchema.parse({}), ...limits };
  const listener = await listen({
    settings: { listen: { host: "127.0.0.1", port: 0 }, tls, limits: all },
    handle,
    handleContinue: handle,
    upgrade: (_request, socket) => void socket.destroy(),
    world,
  });
  t.after(async () => {
    const closed = listener.close();
    world.pass(all.shutdownTimeoutMs);
    await closed;
  });
  return { listener, world, answers };
}

/** A session whose streams may not send anything. */
async function closedWindow(t: TestContext, { listener }: Stage): Promise<http2.ClientHttp2Session> {
  const session = http2.connect(`https://127.0.0.1:${listener.address.port}`, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: 0 },
  });
  session.on("error", () => {});
  t.after(() => session.destroy());
  await new Promise((resolve) => session.once("localSettings", resolve));
  return session;
}

function ask(session: http2.ClientHttp2Session, count: number): { ended: number } {
  const seen = { ended: 0 };
  for (let i = 0; i < count; i++)
    session
      .request({ ":path": "/" })
      .on("error", () => {})
      .on("close", () => seen.ended++)
      .resume();
  return seen;
}

const requests = (count: number) => "GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(count);

test("only a limited number of requests may wait behind another on a connection; with one more it is closed", async (t) => {
  const stage = await open(t, {}, { page: null });
  const patient = net.connect(stage.listener.address.port, "127.0.0.1");
  const greedy = net.connect(stage.listener.address.port, "127.0.0.1");
  t.after(() => patient.destroy());
  patient.write(requests(PIPELINED_MAX + 1));
  await until(() => stage.answers.length === PIPELINED_MAX + 1, "as many as may be");
  const closed = new Promise((resolve) => greedy.on("error", () => {}).once("close", resolve));
  greedy.write(requests(1_000));
  greedy.resume();
  await closed;
  assert.equal(stage.answers.length, 2 * (PIPELINED_MAX + 1));
  assert.equal(patient.destroyed, false);
});

test("requests that were answered make room for others on their connection", async (t) => {
  const stage = await open(t, {});
  const socket = net.connect(stage.listener.address.port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.resume();
  for (let round = 1; round <= 5; round++) {
    socket.write(requests(PIPELINED_MAX));
    await until(
      () => stage.answers.filter((answer) => answer.writableFinished).length === round * PIPELINED_MAX,
    );
  }
});

test("an answer that is not read at the pace asked for is cut off, over HTTP/2", async (t) => {
  const stage = await open(t, { answerPace: 1_000, paceWindowMs: 10_000 }, { tls: TLS });
  const seen = ask(await closedWindow(t, stage), 3);
  await until(() => stage.answers.length === 3, "three answers");
  stage.world.pass(LOOK_MS);
  // As long as the page may take.
  stage.world.pass(18_000);
  assert.equal(seen.ended, 0);
  stage.world.pass(4_000);
  await until(() => seen.ended === 3, "all cut off");
});

test("the same over HTTP/1", async (t) => {
  const page = Buffer.alloc(16_777_216, "x");
  const stage = await open(t, { answerPace: 1_048_576, paceWindowMs: 10_000 }, { page });
  const socket = net.connect(stage.listener.address.port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.pause();
  socket.write(requests(1));
  await until(() => stage.answers.length === 1, "an answer");
  stage.world.pass(LOOK_MS);
  stage.world.pass(10_000);
  assert.equal(stage.answers[0]!.destroyed, false);
  stage.world.pass(10_000);
  await until(() => stage.answers[0]!.destroyed, "cut off");
});

test("when unread answers need too much memory, those unread for longest go at once", async (t) => {
  const stage = await open(t, { spooledAnswersBytes: 5 * PAGE.length }, { tls: TLS });
  const session = await closedWindow(t, stage);
  const early = ask(session, 4);
  await until(() => stage.answers.length === 4, "four answers");
  stage.world.pass(2 * LOOK_MS);
  assert.equal(early.ended, 0);
  const late = ask(session, 4);
  await until(() => stage.answers.length === 8, "four more");
  stage.world.pass(LOOK_MS);
  await until(() => early.ended === 3, "three of the early ones");
  assert.equal(late.ended, 0);
});
