/** One visitor, or one address, has only a limited number of requests under way; everybody else is served meanwhile. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http, { type RequestListener, type ServerResponse } from "node:http";
import http2 from "node:http2";
import net, { type AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import express from "express";
import type { SettingsInput } from "../../config/schema.ts";
import { createGateway } from "../../index.ts";
import { openStage, STAGE_SECRET, type Stage, TLS } from "../../testing/gateway/stage.ts";
import { PAGE, talk, Visitor } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";
import { GIVEN_UP_COUNTS_MS } from "../requests-under-way.ts";

/** A site that answers "/slow" only when told to. */
function slowSite(): { answer: RequestListener; held: ServerResponse[] } {
  const held: ServerResponse[] = [];
  const answer: RequestListener = (request, response) => {
    if (request.url!.startsWith("/slow")) held.push(response);
    else response.end("the site");
  };
  return { answer, held };
}

async function openSlow(t: TestContext, limits: SettingsInput["limits"], more: Partial<SettingsInput> = {}) {
  const { answer, held } = slowSite();
  const room = { totalActiveUsers: 100 };
  const stage = await openStage(t, { room, answer, settings: { limits, ...more } });
  return { stage, held };
}

/** Requests that stay under way until the site answers or the test ends. */
async function hold(
  visitor: Visitor,
  held: readonly ServerResponse[],
  count: number,
): Promise<Promise<unknown>[]> {
  const before = held.length;
  const asked = Array.from({ length: count }, () => visitor.open("/slow").catch(() => null));
  await until(() => held.length === before + count, "held requests");
  return asked;
}

test("a visitor over the limit gets 429 with word when to try again; others and later ones are served", async (t) => {
  const { stage, held } = await openSlow(t, { requestsPerVisitorMax: 3 });
  const [greedy, other] = [await stage.occupant(), await stage.occupant()];
  const asked = await hold(greedy, held, 3);
  const page = await greedy.open();
  assert.equal(page.status, 429);
  assert.match(page.headers["retry-after"]!, /^\d+$/);
  assert.match(page.text, /<h1>Too many requests at once<\/h1>/);
  assert.ok(await other.isIn());
  for (const response of held) response.end("done");
  await Promise.all(asked);
  assert.ok(await greedy.isIn());
  assert.deepEqual({ ...stage.proxied.gateway.traffic.requestsRefused }, { visitor: 1 });
});

test("a program that asks for JSON gets JSON, and what is no page gets a line", async (t) => {
  const { stage, held } = await openSlow(t, { requestsPerVisitorMax: 1 });
  const greedy = await stage.occupant();
  await hold(greedy, held, 1);
  const json = await greedy.ask("/", { headers: { accept: "application/json" } });
  assert.equal(json.status, 429);
  assert.equal(JSON.parse(json.text).kind, "tooManyRequests");
  assert.equal(json.headers["retry-after"], String(JSON.parse(json.text).retryAfterSeconds));
  const image = await greedy.ask("/logo.png", { headers: { accept: "image/*" } });
  assert.deepEqual([image.status, image.headers["content-type"]], [429, "text/plain; charset=utf-8"]);
  const form = await greedy.ask("/", { method: "POST", body: "x".repeat(100_000) });
  assert.equal(form.status, 429);
});

test("an address over the limit gets 429, with a pass and outside every room; another address is served", async (t) => {
  const { answer, held } = slowSite();
  const stage = await openStage(t, {
    answer,
    room: { totalActiveUsers: 10, path: "/tickets" },
    settings: { limits: { requestsPerAddressMax: 2 }, trustedProxies: ["127.0.0.1"] },
  });
  const visitor = stage.visitor();
  const from = (address: string) => ({ headers: { ...PAGE, "x-forwarded-for": address } });
  const asked = [1, 2].map((n) => visitor.ask(`/slow/${n}`, from(`2001:db8::${n}`)));
  await until(() => held.length === 2, "held requests");
  assert.equal((await visitor.ask("/", from("2001:db8::3"))).status, 429);
  assert.equal((await visitor.ask("/tickets", from("2001:db8::3"))).status, 429);
  assert.equal((await visitor.ask("/", from("2001:db8:0:1::3"))).text, "the site");
  assert.equal((await visitor.ask("/", {})).text, "the site", "a proxy that names nobody");
  for (const response of held) response.end();
  await Promise.all(asked);
  assert.equal((await visitor.ask("/", from("2001:db8::3"))).text, "the site");
});

test("upgraded connections count, and are refused over the limit", async (t) => {
  const { stage } = await openSlow(t, { requestsPerVisitorMax: 2 });
  const { server } = stage.origin;
  server.on("upgrade", (_request, socket) => {
    socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello");
    socket
      .on("error", () => {})
      .on("end", () => socket.end())
      .resume();
  });
  const greedy = await stage.occupant();
  const ask = `GET / HTTP/1.1\r\nHost: a\r\nCookie: fairgate_main=${greedy.token()}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`;
  const sockets = [1, 2].map(() => net.connect(stage.port, "127.0.0.1"));
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  await Promise.all(
    sockets.map(async (socket) => {
      let heard = "";
      socket.on("data", (chunk) => (heard += chunk)).write(ask);
      await until(() => heard.endsWith("hello"), "an upgraded connection");
    }),
  );
  const heard = await talk(stage.port, ask);
  assert.match(heard, /^HTTP\/1\.1 429 [\s\S]*Retry-After: \d+/);
  assert.equal((await greedy.open()).status, 429);
  sockets[0]!.destroy();
  await until(() => stage.proxied.origins()[0]!.inFlight === 1, "the closed connection");
  stage.world.pass(GIVEN_UP_COUNTS_MS);
  assert.ok(await greedy.isIn());
});

test("requests of one HTTP/2 connection count like any other", async (t) => {
  const { stage, held } = await openSlow(t, { requestsPerAddressMax: 5 }, { tls: TLS });
  const session = http2.connect(`https://localhost:${stage.port}`, { ca: readFileSync(TLS.certificateFile) });
  t.after(() => session.destroy());
  const status = (path: string) =>
    new Promise<number>((resolve) => {
      const stream = session.request({ ":path": path, ...PAGE });
      stream.on("response", (headers) => resolve(headers[":status"]!)).on("error", () => resolve(0));
      stream.resume();
    });
  const asked = Array.from({ length: 5 }, () => status("/slow"));
  await until(() => held.length === 5, "held requests");
  assert.equal(await status("/"), 429);
  for (const response of held) response.end();
  assert.deepEqual(await Promise.all(asked), [200, 200, 200, 200, 200]);
  assert.equal(await status("/"), 200);
});

for (const code of ["NGHTTP2_CANCEL", "NGHTTP2_NO_ERROR"] as const)
  test(`asking and giving up (${code}) in turn makes the origin begin no more than the limit a second`, async (t) => {
    const { stage, held } = await openSlow(t, { requestsPerAddressMax: 4 }, { tls: TLS });
    const session = http2.connect(`https://localhost:${stage.port}`, {
      ca: readFileSync(TLS.certificateFile),
    });
    t.after(() => session.destroy());
    const answers: number[] = [];
    for (let n = 0; n < 20; n++) {
      const before = held.length + answers.length;
      const stream = session.request({ ":path": "/slow", ...PAGE });
      stream.on("error", () => {}).on("response", (headers) => answers.push(headers[":status"]!));
      await until(() => held.length + answers.length > before, "the request to arrive");
      stream.close(http2.constants[code]);
    }
    assert.equal(held.length, 4);
    assert.deepEqual(answers, new Array(16).fill(429));
    stage.world.pass(GIVEN_UP_COUNTS_MS);
    session.request({ ":path": "/slow", ...PAGE }).on("error", () => {});
    await until(() => held.length === 5, "a request a second later");
  });

test("pipelined requests count each, and are all given back when their sender leaves", async (t) => {
  const { stage, held } = await openSlow(t, { requestsPerAddressMax: 3 });
  const socket = net.connect(stage.port, "127.0.0.1");
  socket.write("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n".repeat(5));
  await until(() => held.length === 3 && (refusedOf(stage).address ?? 0) === 2, "two refusals");
  const closed = held.map((response) => new Promise((resolve) => response.on("close", resolve)));
  socket.destroy();
  await Promise.all(closed);
  await until(() => stage.proxied.origins()[0]!.inFlight === 0, "nothing under way");
  stage.world.pass(GIVEN_UP_COUNTS_MS);
  assert.equal((await stage.visitor().open()).text, "the site");
});

test("a connection ends with its first 429: requests sent right behind it are not answered", async (t) => {
  const { stage, held } = await openSlow(t, { requestsPerVisitorMax: 1 });
  const greedy = await stage.occupant();
  await hold(greedy, held, 1);
  const ask = `GET / HTTP/1.1\r\nHost: a\r\nCookie: fairgate_main=${greedy.token()}\r\n\r\n`;
  const heard = await talk(stage.port, ask.repeat(5));
  assert.equal(heard.match(/^HTTP\/1\.1 /gm)?.length, 1);
  assert.match(heard, /^HTTP\/1\.1 429 [\s\S]*\r\nConnection: close\r\n/);
});

test("middleware refuses a visitor with too many under way before the site sees the request", async (t) => {
  const { answer, held } = slowSite();
  let seen = 0;
  const gateway = await createGateway({
    secret: STAGE_SECRET,
    log: { debug() {}, info() {}, warn() {}, error() {} },
    rooms: { main: { totalActiveUsers: 5 } },
    limits: { requestsPerVisitorMax: 2 },
  });
  t.after(() => gateway.close());
  const app = express();
  app.use(gateway.middleware);
  app.use((request, response) => {
    seen++;
    answer(request, response);
  });
  const server = http.createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const [greedy, other] = [new Visitor(port, t), new Visitor(port, t)];
  assert.ok((await greedy.isIn()) && (await other.isIn()));
  const asked = await hold(greedy, held, 2);
  assert.equal((await greedy.open()).status, 429);
  assert.equal(seen, 4);
  assert.ok(await other.isIn());
  for (const response of held) response.end("done");
  await Promise.all(asked);
  assert.ok(await greedy.isIn());
});

function refusedOf({ proxied }: Stage): Record<string, number> {
  return proxied.gateway.traffic.requestsRefused;
}
