/** What a visitor gets, and the log tells, when the origin fails or either side goes away. */
import assert from "node:assert/strict";
import type http from "node:http";
import net from "node:net";
import { test } from "node:test";
import { handWorld } from "../../../sim/hand-world.ts";
import {
  askProxy,
  closedPort,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  talk,
  until,
} from "../../../testing/proxy/stage.ts";

const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
/** Says that the connection may be kept for long. */
const OK = "HTTP/1.1 200 OK\r\nKeep-Alive: timeout=300\r\nContent-Length: 2\r\n\r\nok";

test("a refused connection is a 502 page with an id that the log knows", async (t) => {
  const address = `http://127.0.0.1:${await closedPort()}`;
  const { port, world, outcomes } = await openProxyStage(t, [address], {
    forward: () => ({ id: "id<7>", responseHeaders: ["Set-Cookie", "fairgate_pass=1"] }),
  });
  const answer = await askProxy(port, { headers: { accept: "text/html" } });
  assert.equal(answer.status, 502);
  assert.match(answer.headers["content-type"]!, /^text\/html/);
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.deepEqual(answer.headers["set-cookie"], ["fairgate_pass=1"]);
  assert.match(answer.body.toString(), /id&lt;7&gt;/);
  const entry = world.entries.find(({ fields }) => fields.id === "id<7>");
  assert.deepEqual([entry?.fields.code, entry?.fields.address], ["ORIGIN_UNREACHABLE", address]);
  assert.equal(outcomes[0]?.status, 502);
});

test("a program that asks for JSON gets the problem as JSON", async (t) => {
  const { port } = await openProxyStage(t, [`http://127.0.0.1:${await closedPort()}`]);
  const answer = await askProxy(port, { method: "POST", headers: { accept: "application/json" }, body: "x" });
  const { kind, status, id } = JSON.parse(answer.body.toString());
  assert.deepEqual({ kind, status, id }, { kind: "originAway", status: 502, id: "test-1" });
});

test("a connection that is never made is a 504", async (t) => {
  // TCP connects, TLS never does: a connection is made only when both are.
  const silent = await openRawOrigin(t, () => {});
  const { port, world } = await openProxyStage(t, [`https://127.0.0.1:${silent.port}`], {
    origin: { connectTimeout: 50 },
  });
  assert.equal((await askProxy(port)).status, 504);
  assert.equal(world.entries.at(-1)?.fields.code, "ORIGIN_CONNECT_TIMEOUT");
});

test("an origin that does not begin to answer is a 504", async (t) => {
  const origin = await openProxiedOrigin(t, () => {});
  const { port, world } = await openProxyStage(t, [origin.address], { origin: { headersTimeout: 50 } });
  const answer = await askProxy(port);
  assert.equal(answer.status, 504);
  assert.match(answer.body.toString(), /test-1/);
  assert.equal(world.entries.at(-1)?.fields.code, "ORIGIN_HEADERS_TIMEOUT");
});

test("an answer that falls silent is broken off, not ended as if whole", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.write("first half");
  });
  const { port, world } = await openProxyStage(t, [origin.address], { origin: { idleTimeout: 50 } });
  await assert.rejects(askProxy(port), { code: "ECONNRESET" });
  assert.equal(world.entries.at(-1)?.fields.code, "ORIGIN_IDLE_TIMEOUT");
});

test("an answer shorter than its length is broken off", async (t) => {
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", () => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort"));
  });
  const { port } = await openProxyStage(t, [origin.address]);
  await assert.rejects(askProxy(port), { code: "ECONNRESET" });
});

test("an origin that speaks nonsense, or hangs up on a form, is a 502", async (t) => {
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", (chunk) =>
      chunk.toString().startsWith("POST") ? socket.destroy() : socket.end("nonsense\r\n\r\n"),
    );
  });
  const { port } = await openProxyStage(t, [origin.address]);
  assert.equal((await askProxy(port)).status, 502);
  assert.equal((await askProxy(port, { method: "POST", body: "x" })).status, 502);
});

test("an answer with two lengths is a 502", async (t) => {
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", () =>
      socket.end("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\nX: y\r\n\r\nok"),
    );
  });
  const { port } = await openProxyStage(t, [origin.address]);
  assert.equal((await askProxy(port)).status, 502);
});

test("a kept connection that the origin closes under a GET is tried again once; a POST is not", async (t) => {
  let connections = 0;
  const origin = await openRawOrigin(t, (socket) => {
    connections++;
    // Answers one request on each connection, then hangs up on the next.
    socket.once("data", () => {
      socket.write(OK);
      socket.once("data", () => socket.destroy());
    });
  });
  const { port } = await openProxyStage(t, [origin.address]);
  assert.equal((await askProxy(port)).status, 200);
  assert.equal((await askProxy(port)).body.toString(), "ok");
  assert.equal(connections, 2);
  assert.equal((await askProxy(port, { method: "POST", body: "x" })).status, 502);
});

test("a GET on which every connection is closed is tried twice, not for ever", async (t) => {
  let connections = 0;
  const origin = await openRawOrigin(t, (socket) => {
    connections++;
    socket.once("data", () => socket.destroy());
  });
  const { port } = await openProxyStage(t, [origin.address]);
  assert.equal((await askProxy(port)).status, 502);
  assert.equal(connections, 2);
});

test("a visitor who leaves takes the origin's request along, at every stage", async (t) => {
  const closed: string[] = [];
  const begun: string[] = [];
  const origin = await openProxiedOrigin(t, (request, response) => {
    const stage = request.url!;
    begun.push(stage);
    response.on("close", () => closed.push(stage));
    if (stage === "/answering") response.write("x".repeat(1_000));
    if (stage === "/uploading") request.resume();
  });
  const { port, proxy, outcomes } = await openProxyStage(t, [origin.address]);
  for (const stage of ["/waiting", "/answering", "/uploading"]) {
    const socket = net.connect(port, "127.0.0.1");
    const upload = `Content-Length: 1000000\r\n\r\n${"x".repeat(100_000)}`;
    const rest = stage === "/uploading" ? upload : "\r\n";
    socket.write(`PUT ${stage} HTTP/1.1\r\nHost: a\r\n${rest}`);
    await until(() => begun.includes(stage));
    assert.equal(proxy.inFlight(), 1);
    socket.destroy();
    await until(() => closed.includes(stage));
    await until(() => proxy.inFlight() === 0);
  }
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [499, 499, 499],
  );
});

test("a visitor who leaves before a connection is made is not sent to the origin at all", async (t) => {
  const seen: string[] = [];
  const held: http.ServerResponse[] = [];
  const origin = await openProxiedOrigin(t, (request, response) => {
    seen.push(request.url!);
    held.push(response);
  });
  const { port, proxy, outcomes } = await openProxyStage(t, [origin.address], {
    origin: { connectionsMax: 1 },
  });
  const first = askProxy(port, { path: "/first" });
  await until(() => seen.length === 1);
  const gone = net.connect(port, "127.0.0.1");
  gone.write("GET /gone HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => proxy.inFlight() === 2);
  gone.destroy();
  await until(() => outcomes.length === 1);
  held[0]!.end();
  await first;
  const last = askProxy(port, { path: "/last" });
  await until(() => seen.length === 2);
  held[1]!.end("done");
  await last;
  assert.deepEqual(seen, ["/first", "/last"]);
  assert.equal(origin.connections, 1);
});

test("a visitor who stops reading is let go after the pace window", async (t) => {
  let isClosed = false;
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.on("close", () => (isClosed = true));
    response.write(Buffer.alloc(64 * 1_048_576));
  });
  const { port, proxy } = await openProxyStage(t, [origin.address], {
    limits: { paceWindowMs: 100, answerPace: 1_048_576 },
  });
  const socket = net.connect(port, "127.0.0.1").pause();
  socket.on("error", () => {});
  socket.write(GET);
  await until(() => isClosed && proxy.inFlight() === 0);
  socket.destroy();
});

test("requests beyond the connections wait for a free one, and get 503 when none comes", async (t) => {
  const held: http.ServerResponse[] = [];
  const origin = await openProxiedOrigin(t, (_request, response) => {
    held.push(response);
  });
  const world = handWorld();
  const { port, proxy } = await openProxyStage(t, [origin.address], {
    origin: { connectionsMax: 1, connectTimeout: 30_000 },
    time: world,
  });
  const first = askProxy(port);
  await until(() => held.length === 1);
  const waiting = askProxy(port);
  await until(() => proxy.inFlight() === 2);
  assert.equal((await askProxy(port)).status, 503, "only as many wait as there are connections");
  world.pass(30_000);
  assert.equal((await waiting).status, 503);
  held[0]!.end();
  assert.equal((await first).status, 200);
  const next = askProxy(port);
  await until(() => held.length === 2);
  held[1]!.end("free again");
  assert.equal((await next).body.toString(), "free again");
});

test("a request that cannot be written is refused and does not use up a connection", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end("ok");
  });
  const { port } = await openProxyStage(t, [origin.address], {
    origin: { connectionsMax: 2 },
    forward: (request) => (request.url === "/bad" ? { requestHeaders: ["Fairgate-Room", "a\nb"] } : {}),
  });
  for (let i = 0; i < 5; i++) assert.equal((await askProxy(port, { path: "/bad" })).status, 400);
  assert.equal((await askProxy(port)).body.toString(), "ok");
});

test("a body over the limit is a 413 at once by its length, without asking the origin", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end();
  });
  const { port } = await openProxyStage(t, [origin.address], {
    limits: { bodyBytes: 1_000 },
    time: handWorld(),
  });
  const big = "x".repeat(500_000);
  assert.equal(
    (await askProxy(port, { method: "POST", headers: { "content-length": big.length }, body: big })).status,
    413,
  );
  const expecting = `POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5000\r\n\r\n`;
  const heard = await talk(port, expecting, /\r\n\r\n</);
  assert.match(heard, /^HTTP\/1\.1 413 /);
  assert.equal(origin.connections, 0);
  assert.equal((await askProxy(port, { method: "POST", body: "x".repeat(1_000) })).status, 200);
});

test("a visitor who goes on sending can still read the refusal afterwards", async (t) => {
  // The time for which the connection is left open does not run out.
  const { port } = await openProxyStage(t, [`http://127.0.0.1:${await closedPort()}`], {
    limits: { bodyBytes: 1_000 },
    time: handWorld(),
  });
  const socket = net.connect(port, "127.0.0.1").pause();
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n");
  for (let i = 0; i < 4; i++) {
    // On a connection closed too early this would be answered with a reset, and the refusal be lost.
    socket.write(Buffer.alloc(32_768));
    await until(() => socket.writableLength === 0);
  }
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk)).resume();
  await until(() => heard.includes("</html>"));
  assert.match(heard, /^HTTP\/1\.1 413 /);
  socket.destroy();
});

test("a chunked body over the limit is a 413 while it streams, and the origin's request is cut", async (t) => {
  let isCut = false;
  let isWhole = false;
  const origin = await openProxiedOrigin(t, (request) => {
    request.on("error", () => (isCut = true));
    request.on("end", () => (isWhole = true)).resume();
  });
  const { port } = await openProxyStage(t, [origin.address], {
    limits: { bodyBytes: 100_000 },
    time: handWorld(),
  });
  const socket = net.connect(port, "127.0.0.1");
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk));
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
  const chunk = `8000\r\n${"x".repeat(0x8000)}\r\n`;
  for (let i = 0; i < 8; i++) socket.write(chunk);
  await until(() => heard.includes("</html>") && isCut);
  assert.match(heard, /^HTTP\/1\.1 413 /);
  assert.match(heard, /Connection: close/);
  assert.equal(isWhole, false);
  socket.destroy();
});

test("a body cut short by the visitor never reaches the origin as whole", async (t) => {
  const ends: string[] = [];
  let begun = 0;
  const origin = await openProxiedOrigin(t, (request) => {
    begun++;
    request
      .on("end", () => ends.push("whole"))
      .on("error", () => ends.push("cut"))
      .resume();
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const part = "x".repeat(100_000);
  for (const body of [
    `Transfer-Encoding: chunked\r\n\r\n${part.length.toString(16)}\r\n${part}\r\n`,
    `Content-Length: 1000000\r\n\r\n${part}`,
  ]) {
    const before = { begun, ended: ends.length };
    const socket = net.connect(port, "127.0.0.1");
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${body}`);
    await until(() => begun > before.begun);
    socket.destroy();
    await until(() => ends.length > before.ended);
  }
  assert.deepEqual(ends, ["cut", "cut"]);
});
