/** Origins over HTTP/2: what is true of HTTP/1.1 is true of it, with many requests on one connection. */
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import http2, { type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import https from "node:https";
import { test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import { handWorld } from "../../../sim/hand-world.ts";
import { openHttp2Origin, openServer, pair } from "../../../testing/proxy/http2-stage.ts";
import {
  askProxy,
  openProxiedOrigin,
  openProxyStage,
  readAnswer,
  talk,
  until,
} from "../../../testing/proxy/stage.ts";
import { ASK_AGAIN_MS } from "../http2-pool.ts";
import { UNUSED_MAX_MS } from "../pool.ts";

const HTTP2 = { origin: { http2: "tls" } } as const;
const TOTAL = 640 * 65_536;

/** Tells what it got. */
async function tell(request: Http2ServerRequest, response: Http2ServerResponse): Promise<void> {
  let bytes = 0;
  for await (const chunk of request) bytes += (chunk as Buffer).length;
  const { method, url, httpVersion, headers, rawHeaders } = request;
  response.setHeader("Set-Cookie", ["a=1", "b=2", "fairgate_pass=forged"]);
  response.setHeader("X-Odd", "caf\xe9");
  response.setHeader("Fairgate-Room", "forged");
  // As bytes: over HTTP/1.1 Node sends a head in the encoding of the text behind it.
  response.end(Buffer.from(JSON.stringify({ method, url, httpVersion, headers, rawHeaders, bytes })));
}

for (const isHttp2 of [false, true]) {
  const version = isHttp2 ? "2.0" : "1.1";

  test(`over HTTP/${version} headers, bodies, trailers and hints pass both ways`, async (t) => {
    const origin = await openHttp2Origin(t, (request, response) => {
      if (request.url !== "/trailers") return void tell(request, response);
      response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
      response.writeHead(200);
      response.write("body");
      response.addTrailers({ "X-Sum": "42", "Fairgate-Pass": "forged" });
      response.end();
    });
    const { port, proxy } = await openProxyStage(t, [origin.address], {
      origin: { http2: isHttp2 ? "tls" : "off" },
    });
    const headers = ["Host", "shop.example", "Cookie", "a=1; fairgate_pass=x", "X-Odd", "caf\xe9"];
    headers.push(
      "Connection",
      "X-Hop",
      "X-Hop",
      "1",
      "User-Agent",
      "a",
      "user-agent",
      "b",
      "X-A",
      "1",
      "x-a",
      "2",
    );
    const got = await askProxy(port, { path: "/a%20b?c=%2F", headers });
    const told = JSON.parse(got.body.toString());
    assert.deepEqual([told.method, told.url, told.httpVersion], ["GET", "/a%20b?c=%2F", version]);
    assert.equal(told.headers[":authority"] ?? told.headers.host, "shop.example");
    assert.equal(told.headers.cookie, "a=1");
    assert.equal(told.headers["x-odd"], "caf\xe9");
    assert.equal(told.headers["x-hop"], undefined);
    assert.equal(told.headers["x-a"], "1, 2");
    assert.equal(told.rawHeaders.filter((name: string) => name.toLowerCase() === "user-agent").length, 2);
    assert.equal(told.headers["x-forwarded-host"], "shop.example");
    assert.deepEqual(got.headers["set-cookie"], ["a=1", "b=2"]);
    assert.equal(got.headers["x-odd"], "caf\xe9");
    assert.equal(got.headers["fairgate-room"], undefined);

    const bodies: [string, http.OutgoingHttpHeaders, Buffer][] = [
      ["POST", {}, Buffer.alloc(1_500_000)],
      ["PUT", { "content-length": 100_000 }, Buffer.alloc(100_000)],
      ["DELETE", { "content-length": 4 }, Buffer.from("body")],
      ["POST", { "content-length": 0 }, Buffer.alloc(0)],
    ];
    for (const [method, headers, body] of bodies)
      assert.equal(
        JSON.parse((await askProxy(port, { method, headers, body })).body.toString()).bytes,
        body.length,
      );
    const head = await askProxy(port, { method: "HEAD" });
    assert.deepEqual([head.status, head.body.length], [200, 0]);

    let hints: unknown;
    const answer = await new Promise<http.IncomingMessage>((resolve) => {
      const request = http.get({ port, host: "127.0.0.1", path: "/trailers", agent: false }, resolve);
      request.on(
        "information",
        (information) => (hints = [information.statusCode, information.headers.link]),
      );
    }).then(readAnswer);
    assert.deepEqual(hints, [103, "</style.css>; rel=preload; as=style"]);
    assert.equal(answer.body.toString(), "body");
    assert.deepEqual({ ...answer.trailers }, { "x-sum": "42" });
    if (isHttp2) assert.equal(origin.connections, 1);
    await until(() => proxy.inFlight() === 0);
  });

  test(`over HTTP/${version} who leaves takes the request along, and no one else's`, async (t) => {
    const closed: string[] = [];
    const origin = await openHttp2Origin(t, (request, response) => {
      response.on("close", () => closed.push(request.url));
      response.write("begun");
      if (request.url === "/stays") setTimeout(() => response.end("."), 0);
    });
    const { port, proxy } = await openProxyStage(t, [origin.address], {
      origin: { http2: isHttp2 ? "tls" : "off" },
    });
    const leaving = http.get({ port, host: "127.0.0.1", path: "/leaves", agent: false });
    leaving.on("error", () => {});
    await once(leaving, "response");
    leaving.destroy();
    await until(() => closed.includes("/leaves") && proxy.inFlight() === 0);
    assert.equal((await askProxy(port, { path: "/stays" })).body.toString(), "begun.");
  });
}

test("over HTTP/2 a slow reader holds its own answer back, and loses nothing of it", async (t) => {
  let sent = 0;
  const origin = await openHttp2Origin(t, (request, response) => {
    if (request.url === "/quick") return void response.end("quick");
    const more = (): void => {
      while (sent < TOTAL) {
        sent += 65_536;
        if (!response.write(Buffer.alloc(65_536))) return void response.once("drain", more);
      }
      response.addTrailers({ "X-Sum": String(sent) });
      response.end();
    };
    response.writeHead(200);
    more();
  });
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  const response = await new Promise<http.IncomingMessage>((resolve) => {
    http.get({ port, host: "127.0.0.1", agent: false }, resolve);
  });
  let last = -1;
  let still = 0;
  await until(() => {
    still = sent === last ? still + 1 : 0;
    last = sent;
    return still > 40;
  });
  assert.ok(sent < TOTAL / 2, `origin could send ${sent} bytes`);
  assert.equal((await askProxy(port, { path: "/quick" })).body.toString(), "quick");
  const { body, trailers } = await readAnswer(response);
  assert.equal(body.length, TOTAL);
  assert.deepEqual({ ...trailers }, { "x-sum": String(TOTAL) });
});

test("many requests share a connection, never more at a time than connectionsMax", async (t) => {
  const held: Http2ServerResponse[] = [];
  const origin = await openHttp2Origin(t, (_request, response) => void held.push(response));
  const { port, proxy } = await openProxyStage(t, [origin.address], {
    origin: { http2: "tls", connectionsMax: 40 },
  });
  const asked = Array.from({ length: 50 }, () => askProxy(port));
  // The last eighth is for visitors on the site.
  await until(() => held.length === 35 && proxy.inFlight() === 50);
  for (const response of held.slice(0, 10)) response.end();
  await until(() => held.length === 45);
  for (const response of held) response.end();
  await until(() => held.length === 50);
  for (const response of held) response.end();
  for (const { status } of await Promise.all(asked)) assert.equal(status, 200);
  assert.equal(origin.connections, 1);
});

test("an origin that allows few requests on a connection gets more connections", async (t) => {
  const held: Http2ServerResponse[] = [];
  const settings = { maxConcurrentStreams: 2 };
  const origin = await openHttp2Origin(t, (_request, response) => void held.push(response), { settings });
  const { port } = await openProxyStage(t, [origin.address], HTTP2);
  const asked = Array.from({ length: 5 }, () => askProxy(port));
  await until(() => held.length === 5);
  assert.equal(origin.connections, 3);
  for (const response of held) response.end();
  await Promise.all(asked);
});

test("an address that speaks HTTP/1.1 alone is asked that way, and asked again after a while", async (t) => {
  const offered: unknown[] = [];
  const options = {
    ...pair,
    ALPNCallback: ({ protocols }: { protocols: string[] }) => {
      offered.push(protocols);
      return "http/1.1";
    },
  };
  const origin = await openServer(
    t,
    https.createServer(options, (request, response) => response.end(request.httpVersion)),
  );
  const time = handWorld();
  const { port } = await openProxyStage(t, [origin.address], { ...HTTP2, time });
  const both = ["h2", "http/1.1"];
  const askAll = () =>
    Promise.all(Array.from({ length: 3 }, async () => String((await askProxy(port)).body)));
  assert.deepEqual(await askAll(), ["1.1", "1.1", "1.1"]);
  await askProxy(port, { method: "POST", body: "x", headers: { expect: "100-continue" } });
  assert.deepEqual(offered.slice(0, 2), [both, ["http/1.1"]]);
  assert.equal(offered.filter((protocols) => (protocols as string[]).length === 2).length, 1);
  time.pass(ASK_AGAIN_MS);
  assert.deepEqual(await askAll(), ["1.1", "1.1", "1.1"]);
  assert.equal(offered.filter((protocols) => (protocols as string[]).length === 2).length, 2);
});

test("an address with http is asked over HTTP/2 where it always is to be", async (t) => {
  const origin = await openServer(t, http2.createServer(tell as never));
  const { port } = await openProxyStage(t, [origin.address], { origin: { http2: "always" } });
  const told = JSON.parse((await askProxy(port, { method: "POST", body: "form" })).body.toString());
  assert.deepEqual([told.httpVersion, told.headers[":scheme"], told.bytes], ["2.0", "http", 4]);
  const plain = await openProxiedOrigin(t, (_request, response) => void response.end("1.1"));
  const tls = await openProxyStage(t, [plain.address], HTTP2);
  assert.equal((await askProxy(tls.port)).body.toString(), "1.1");
  const always = await openProxyStage(t, [plain.address], { origin: { http2: "always" } });
  assert.equal((await askProxy(always.port)).status, 502);
});

test("over HTTP/2 the origin's answer decides whether a body is sent after Expect", async (t) => {
  const origin = await openHttp2Origin(t, tell);
  origin.server.on("checkContinue", (request, response) => {
    if (request.url === "/refused") return void response.writeHead(413).end("too large");
    response.writeContinue();
    void tell(request, response);
  });
  const { port } = await openProxyStage(t, [origin.address], { ...HTTP2, time: handWorld() });
  const put = (path: string) =>
    `PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n`;
  assert.match(await talk(port, put("/refused")), /^HTTP\/1\.1 413 [\s\S]*too large/);
  const request = http.request({
    ...{ port, host: "127.0.0.1", method: "PUT", agent: false },
    headers: { expect: "100-continue", "content-length": 4 },
  });
  request.on("continue", () => request.end("body")).flushHeaders();
  const [response] = (await once(request, "response")) as [http.IncomingMessage];
  const told = JSON.parse((await readAnswer(response)).body.toString());
  assert.deepEqual([told.httpVersion, told.headers.expect, told.bytes], ["2.0", "100-continue", 4]);
});

test("WebSockets go over HTTP/1.1, and health checks over what the address speaks", async (t) => {
  const paths: string[] = [];
  let status = 503;
  const origin = await openHttp2Origin(t, (request, response) => {
    paths.push(`${request.httpVersion} ${request.url} ${request.headers["user-agent"]}`);
    response.writeHead(status).end();
  });
  const sockets = new WebSocketServer({ server: origin.server as unknown as https.Server });
  t.after(() => sockets.close());
  sockets.on("connection", (socket, request) => socket.send(request.httpVersion));
  const healthCheck = { path: "/health", interval: 20, timeout: 60_000 };
  const { port, proxy } = await openProxyStage(t, [origin.address], {
    origin: { http2: "tls", healthCheck },
  });
  await until(() => proxy.health()[0]?.isUp === false);
  status = 200;
  await until(() => proxy.health()[0]?.isUp === true);
  assert.ok(
    paths.every((path) => path === "2.0 /health fairgate-health-check"),
    String(paths),
  );
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  assert.equal(String((await once(socket, "message"))[0]), "1.1");
  socket.terminate();
});

test("a connection that nobody uses is closed", async (t) => {
  const time = handWorld();
  const origin = await openHttp2Origin(t, (_request, response) => void response.end("ok"));
  let closed = 0;
  origin.server.on("session", (session) => session.on("close", () => closed++));
  const { port } = await openProxyStage(t, [origin.address], { ...HTTP2, time });
  await askProxy(port);
  time.pass(UNUSED_MAX_MS - 1);
  await askProxy(port);
  time.pass(UNUSED_MAX_MS - 1);
  assert.equal(closed, 0);
  time.pass(1);
  await until(() => closed === 1);
  await askProxy(port);
  assert.equal(origin.connections, 2);
});
