/** Behind a load balancer that passes on TCP, visitors come from the address that its PROXY header names. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http, { type ServerResponse } from "node:http";
import http2 from "node:http2";
import https from "node:https";
import net, { type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { HANDSHAKES_PER_TURN } from "../../sockets/connections.ts";
import { openBalancer } from "../../testing/gateway/balancer.ts";
import { headerV1, headerV2, localV2, tlv } from "../../testing/gateway/proxy-header.ts";
import { openStage, type Stage, type StageOptions, TLS } from "../../testing/gateway/stage.ts";
import { talk } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";

const VISITOR = "203.0.113.7";
const OTHER = "203.0.113.8";
/** Another proxy that the operator named, further away than the load balancer. */
const CDN = "198.51.100.1";
const PROXIED = { proxyProtocol: true, trustedProxies: ["127.0.0.1", CDN] };
const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.66\r\n";
const LAST = `${REQUEST}Connection: close\r\n\r\n`;
const AT_ONCE = 3 * HANDSHAKES_PER_TURN;
const ca = readFileSync(TLS.certificateFile);

function open(t: TestContext, options: StageOptions = {}): Promise<Stage> {
  const room = { totalActiveUsers: 100 };
  return openStage(t, { room, ...options, settings: { ...PROXIED, ...options.settings } });
}

/** Whom the origin was told that each request came from. */
function visitorsSeen(stage: Stage) {
  return stage.origin.seen.map(({ headers }) => headers["x-forwarded-for"]);
}

/** A connection that begins with these bytes. */
function connect(t: TestContext, { port }: Stage, ...first: (Buffer | string)[]): Socket & { heard: string } {
  const socket = Object.assign(net.connect(port, "127.0.0.1"), { heard: "" });
  socket.on("data", (chunk) => (socket.heard += chunk)).on("error", () => {});
  t.after(() => socket.destroy());
  socket.write(Buffer.concat(first.map((part) => Buffer.from(part))));
  return socket;
}

test("a request right behind the header comes from the address that it names", async (t) => {
  const stage = await open(t);
  const tlvs = Buffer.concat([tlv(0xea, Buffer.from("vpce-1")), tlv(0x03, Buffer.alloc(4))]);
  const headers = [
    headerV1(VISITOR),
    headerV1("2001:db8::7"),
    headerV2(OTHER),
    headerV2("2001:db8::8", { tlvs }),
  ];
  for (const header of headers)
    assert.match(await talk(stage.port, header.toString("latin1") + LAST), /^HTTP\/1\.1 200 /);
  assert.deepEqual(visitorsSeen(stage), [VISITOR, "2001:db8::7", OTHER, "2001:db8::8"]);
});

test("the header may come byte by byte, with pipelined requests behind it", async (t) => {
  const stage = await open(t);
  for (const header of [headerV1(VISITOR), headerV2(OTHER)]) {
    const socket = connect(t, stage).setNoDelay();
    await once(socket, "connect");
    for (const byte of Buffer.concat([header, Buffer.from(`${REQUEST}\r\n${LAST}`)])) {
      socket.write(Buffer.from([byte]));
      await new Promise(setImmediate);
    }
    await once(socket, "close");
  }
  assert.deepEqual(visitorsSeen(stage), [VISITOR, VISITOR, OTHER, OTHER]);
});

test("every request of a kept connection comes from there, large uploads right behind the header too", async (t) => {
  const stage = await open(t, {
    answer: async (request, response) => {
      let bytes = 0;
      for await (const chunk of request) bytes += (chunk as Buffer).length;
      response.end(`got ${bytes} bytes`);
    },
  });
  const body = Buffer.alloc(3_000_000);
  const upload = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n`;
  const socket = connect(t, stage, headerV2(VISITOR), upload, body);
  await until(() => socket.heard.includes("got 3000000 bytes"));
  socket.write(LAST);
  await once(socket, "close");
  assert.deepEqual(visitorsSeen(stage), [VISITOR, VISITOR]);
});

for (const isLazy of [true, false])
  test(`the header comes before the TLS handshake, ${isLazy ? "in its first packet" : "at once"}`, async (t) => {
    const stage = await open(t, { settings: { tls: TLS } });
    const port = await openBalancer(t, { to: stage.port, header: () => headerV2(VISITOR), isLazy });
    const session = http2.connect(`https://localhost:${port}`, { ca });
    t.after(() => session.destroy());
    for (const _ of [1, 2]) {
      const stream = session.request({ ":path": "/" });
      const [headers] = await once(stream, "response");
      assert.equal(headers[":status"], 200);
      stream.resume();
    }
    // More at once than handshakes are begun in one turn of the event loop.
    const get = async () => {
      const request = https.get({ host: "localhost", port, ca, agent: false });
      const [response] = await once(request, "response");
      response.resume();
      return response.statusCode;
    };
    const statuses = await Promise.all(Array.from({ length: AT_ONCE }, get));
    assert.deepEqual(new Set(statuses), new Set([200]));
    assert.deepEqual(visitorsSeen(stage), new Array(2 + AT_ONCE).fill(VISITOR));
  });

test("a WebSocket comes from the named address, and talks both ways", async (t) => {
  const stage = await open(t);
  const sockets = new WebSocketServer({ server: stage.origin.server });
  t.after(() => sockets.close());
  sockets.on("connection", (socket, { headers }) => {
    socket.send(String(headers["x-forwarded-for"]));
    socket.on("message", (data) => socket.send(data));
  });
  const port = await openBalancer(t, { to: stage.port, header: () => headerV1(VISITOR), isLazy: true });
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  t.after(() => socket.terminate());
  assert.equal(String((await once(socket, "message"))[0]), VISITOR);
  const message = "x".repeat(200_000);
  socket.send(message);
  assert.equal(String((await once(socket, "message"))[0]), message);
});

test("a header that names nobody leaves the proxy itself as the peer, as in health checks", async (t) => {
  const stage = await open(t);
  const nobody = [Buffer.from("PROXY UNKNOWN\r\n"), localV2(), localV2(Buffer.alloc(12))];
  for (const header of nobody) {
    const plain = `GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
    assert.match(await talk(stage.port, header.toString("latin1") + plain), /^HTTP\/1\.1 200 /);
    assert.match(await talk(stage.port, header.toString("latin1") + LAST), /^HTTP\/1\.1 200 /);
  }
  // The proxy is trusted, so what it says about visitors in the usual headers still counts.
  assert.deepEqual(new Set(visitorsSeen(stage)), new Set(["127.0.0.1", "192.0.2.66, 127.0.0.1"]));
});

test("forwarded headers count when the named address is a trusted proxy, and only then", async (t) => {
  const stage = await open(t, { settings: { limits: { requestsPerAddressMax: 1 } } });
  await talk(stage.port, headerV1(CDN) + LAST);
  await talk(stage.port, headerV1(VISITOR) + LAST);
  assert.deepEqual(visitorsSeen(stage), [`192.0.2.66, ${CDN}`, VISITOR]);
});

test("a connection from elsewhere is served as it is", async (t) => {
  const stage = await open(t);
  const request = http.get({ port: stage.port, localAddress: "127.0.0.2", host: "127.0.0.1", agent: false });
  const [response] = await once(request, "response");
  assert.equal(response.statusCode, 200);
  response.resume();
  assert.deepEqual(visitorsSeen(stage), ["127.0.0.2"]);
});

test("requests under way are counted by the named address", async (t) => {
  const held: ServerResponse[] = [];
  const stage = await open(t, {
    settings: { limits: { requestsPerAddressMax: 1 } },
    answer: (_request, response) => void held.push(response),
  });
  connect(t, stage, headerV2(VISITOR), LAST);
  await until(() => held.length === 1);
  assert.match(await talk(stage.port, headerV1(VISITOR) + LAST), /^HTTP\/1\.1 429 /);
  connect(t, stage, headerV2(OTHER), LAST);
  await until(() => held.length === 2);
});

test("the limit on connections is the named address's, and the proxy itself has none", async (t) => {
  const held: ServerResponse[] = [];
  const stage = await open(t, {
    connections: { max: 100, perAddressMax: 2 },
    answer: (_request, response) => void held.push(response),
  });
  const idle = connect(t, stage, headerV1(VISITOR));
  await until(() => stage.listener.connections.open === 1);
  for (const n of [1, 2]) {
    connect(t, stage, headerV2(VISITOR), LAST);
    await until(() => held.length === n);
  }
  await until(() => idle.destroyed, "the idle connection of the same address goes first");
  assert.match(
    await talk(stage.port, headerV1(VISITOR) + LAST),
    /^HTTP\/1\.1 503 [\s\S]*too many connections/,
  );
  for (const n of [3, 4, 5]) {
    connect(t, stage, localV2(), LAST);
    await until(() => held.length === n);
  }
  connect(t, stage, headerV2(OTHER), LAST);
  await until(() => held.length === 6);
  assert.deepEqual({ ...stage.listener.connections.refused }, { full: 0, address: 1, header: 0 });
});

test("the setting can be turned on and off at run time, for connections from then on", async (t) => {
  const stage = await open(t);
  const before = connect(t, stage, headerV1(VISITOR));
  const off = { ...stage.settings(), proxyProtocol: false };
  await until(() => stage.listener.connections.open === 1);
  await stage.listener.reload(off);
  assert.match(await talk(stage.port, LAST), /^HTTP\/1\.1 200 /);
  before.write(LAST);
  await once(before, "close");
  await stage.listener.reload({ ...off, proxyProtocol: true });
  assert.match(await talk(stage.port, LAST), /^HTTP\/1\.1 400 /);
  assert.deepEqual(visitorsSeen(stage), ["192.0.2.66, 127.0.0.1", VISITOR]);
});

test("closing does not wait for connections whose header has not come", async (t) => {
  const stage = await open(t);
  const silent = connect(t, stage);
  const begun = connect(t, stage, "PROXY TCP4 ");
  await until(() => stage.listener.connections.open === 2);
  await stage.listener.close();
  await until(() => silent.destroyed && begun.destroyed);
});
