/** WebSockets and other upgrades: joined on 101, relayed otherwise, and gone when either side goes. */
import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import {
  closedPort,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  type ProxyStageOptions,
  talk,
  until,
} from "../../../testing/proxy/stage.ts";

const HANDSHAKE = "GET /chat HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";

/** An origin that sends every message back. */
async function openEcho(t: TestContext, options: ProxyStageOptions = {}) {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end("plain");
  });
  const sockets = new WebSocketServer({ server: origin.server });
  t.after(() => sockets.close());
  sockets.on("connection", (socket, request) => {
    socket.send(JSON.stringify([request.url, request.headers]));
    socket.on("message", (data, isBinary) => socket.send(data, { binary: isBinary }));
  });
  const stage = await openProxyStage(t, [origin.address], options);
  return { ...stage, origin, sockets };
}

test("a WebSocket talks through the proxy both ways, large messages too", async (t) => {
  const { port, proxy } = await openEcho(t);
  const socket = new WebSocket(`ws://127.0.0.1:${port}/chat?x=1`);
  const [hello] = await once(socket, "message");
  assert.equal(JSON.parse(String(hello))[0], "/chat?x=1");
  assert.equal(proxy.inFlight(), 1);
  for (const message of ["short", "x".repeat(2_000_000)]) {
    socket.send(message);
    const [back] = await once(socket, "message");
    assert.equal(String(back), message);
  }
  socket.close(4_001, "bye");
  const [code, reason] = await once(socket, "close");
  assert.deepEqual([code, String(reason)], [4_001, "bye"]);
  await until(() => proxy.inFlight() === 0);
});

test("the origin of a WebSocket sees cleaned headers, and the visitor gets ours", async (t) => {
  const { port } = await openEcho(t, {
    forward: () => ({
      requestHeaders: ["Fairgate-Room", "main"],
      responseHeaders: ["Set-Cookie", "fairgate_pass=1"],
    }),
  });
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, {
    headers: {
      cookie: "fairgate_pass=x; own=1",
      "fairgate-room": "vip",
      "x-forwarded-for": "6.6.6.6",
      host: "shop.example",
    },
  });
  const [[response], [hello]] = await Promise.all([once(socket, "upgrade"), once(socket, "message")]);
  const [, headers] = JSON.parse(String(hello));
  assert.equal(headers.cookie, "own=1");
  assert.equal(headers["fairgate-room"], "main");
  assert.equal(headers["x-forwarded-for"], "127.0.0.1");
  assert.equal(headers.host, "shop.example");
  assert.equal(headers["x-request-id"], "test-1");
  assert.deepEqual(response.headers["set-cookie"], ["fairgate_pass=1"]);
  socket.terminate();
});

test("when either side goes the other is closed", async (t) => {
  const { port, proxy, sockets } = await openEcho(t);
  const leaving = new WebSocket(`ws://127.0.0.1:${port}/`);
  await once(leaving, "message");
  const [atOrigin] = [...sockets.clients];
  leaving.terminate();
  await once(atOrigin!, "close");
  await until(() => proxy.inFlight() === 0);
  const left = new WebSocket(`ws://127.0.0.1:${port}/`);
  await once(left, "message");
  for (const socket of sockets.clients) socket.terminate();
  await once(left, "close");
  await until(() => proxy.inFlight() === 0);
});

test("an origin that refuses the upgrade is heard, and the connection is closed", async (t) => {
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", () => {
      socket.write(
        "HTTP/1.1 401 Unauthorized\r\nContent-Length: 6\r\nWWW-Authenticate: Basic\r\nFairgate-X: 1\r\n\r\nlogin!",
      );
    });
  });
  const { port, proxy, outcomes } = await openProxyStage(t, [origin.address]);
  const heard = await talk(port, `${HANDSHAKE}\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n`);
  assert.match(heard, /^HTTP\/1\.1 401 Unauthorized\r\n/);
  assert.match(heard, /WWW-Authenticate: Basic/);
  assert.doesNotMatch(heard, /Fairgate-X/);
  assert.match(heard, /login!$/);
  assert.equal(outcomes[0]?.status, 401);
  await until(() => proxy.inFlight() === 0);
});

test("an upgrade goes to the next address, and is a 502 page with an id when there is none", async (t) => {
  const dead = `http://127.0.0.1:${await closedPort()}`;
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", () =>
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nhi"),
    );
  });
  const both = await openProxyStage(t, [dead, origin.address]);
  assert.match(await talk(both.port, `${HANDSHAKE}\r\n`, /hi$/), /^HTTP\/1\.1 101 /);
  const none = await openProxyStage(t, [dead]);
  const heard = await talk(none.port, `${HANDSHAKE}Accept: application/json\r\n\r\n`);
  assert.match(heard, /^HTTP\/1\.1 502 [\s\S]*"id":"test-1"/);
  assert.equal(none.world.entries.at(-1)?.fields.id, "test-1");
});

test("an upgrade the origin does not answer in time is a 504", async (t) => {
  const silent = await openRawOrigin(t, () => {});
  const slow = await openProxyStage(t, [silent.address], { origin: { headersTimeout: 50 } });
  assert.match(await talk(slow.port, `${HANDSHAKE}\r\n`), /^HTTP\/1\.1 504 /);
  const deaf = await openProxyStage(t, [`https://127.0.0.1:${silent.port}`], {
    origin: { connectTimeout: 50 },
  });
  assert.match(await talk(deaf.port, `${HANDSHAKE}\r\n`), /^HTTP\/1\.1 504 /);
});

test("a silent pair of connections is closed after the idle time", async (t) => {
  const { port, proxy } = await openEcho(t, { origin: { idleTimeout: 80 } });
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  await once(socket, "close");
  await until(() => proxy.inFlight() === 0);
});

test("bytes sent right behind the handshake, and right behind its answer, are not lost", async (t) => {
  let heardAtOrigin = "";
  const origin = await openRawOrigin(t, (socket: Socket) => {
    socket.on("data", (chunk) => {
      heardAtOrigin += chunk;
      if (heardAtOrigin.includes("\r\n\r\n") && !socket.bytesWritten)
        socket.write(
          "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nfrom origin",
        );
    });
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const request = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\nfrom visitor";
  const heard = await talk(port, request, /from origin$/);
  assert.match(heard, /Upgrade: other\r\n\r\nfrom origin$/);
  await until(() => heardAtOrigin.endsWith("from visitor"));
  assert.match(heardAtOrigin, /Connection: Upgrade\r\nUpgrade: other\r\n/);
});

test("an upgrade to HTTP/2, or with a body, is served as an ordinary request", async (t) => {
  const seen: unknown[] = [];
  const origin = await openProxiedOrigin(t, (request, response) => {
    seen.push([request.headers.upgrade, request.headers["http2-settings"], request.headers.connection]);
    request.resume().on("end", () => response.end("plain"));
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const h2c =
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n\r\n";
  assert.match(await talk(port, h2c, /plain/), /^HTTP\/1\.1 200 /);
  const body =
    "POST / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 3\r\n\r\nabc";
  assert.match(await talk(port, body, /plain/), /^HTTP\/1\.1 200 /);
  assert.deepEqual(seen, [
    [undefined, undefined, "keep-alive"],
    [undefined, undefined, "keep-alive"],
  ]);
});

test("a visitor who leaves during the handshake takes the origin's along", async (t) => {
  let isAsked = false;
  let isClosed = false;
  const origin = await openRawOrigin(t, (socket) =>
    socket.on("data", () => (isAsked = true)).on("close", () => (isClosed = true)),
  );
  const { port, proxy } = await openProxyStage(t, [origin.address]);
  const socket = net.connect(port, "127.0.0.1");
  socket.write(`${HANDSHAKE}\r\n`);
  await until(() => isAsked);
  assert.equal(proxy.inFlight(), 1);
  socket.destroy();
  await until(() => isClosed && proxy.inFlight() === 0);
});
