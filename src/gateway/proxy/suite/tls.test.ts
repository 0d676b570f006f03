/** With a certificate: HTTP/2 and HTTP/1.1 on one port, WebSocket on the latter, and origins behind TLS. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http2, { type ClientHttp2Session, type ClientHttp2Stream, type OutgoingHttpHeaders } from "node:http2";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import tls from "node:tls";
import { WebSocket, WebSocketServer } from "ws";
import { fixturePath } from "../../../testing/fixtures.ts";
import {
  LIMITS,
  openProxiedOrigin,
  openProxyStage,
  type ProxyStageOptions,
  readAnswer,
  until,
} from "../../../testing/proxy/stage.ts";

const certificateFile = fixturePath("localhost.cert.pem");
const keyFile = fixturePath("localhost.key.pem");
const ca = readFileSync(certificateFile);
const TOTAL = 640 * 65_536;
const TLS = { certificateFile, keyFile };

function connect(t: TestContext, port: number): ClientHttp2Session {
  const session = http2.connect(`https://localhost:${port}`, { ca });
  session.on("error", () => {});
  t.after(() => session.destroy());
  return session;
}

/** One request over HTTP/2 and its whole answer. */
async function ask2(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: Buffer | string) {
  const stream = session.request(headers);
  stream.end(body);
  return readStream(stream);
}

async function readStream(stream: ClientHttp2Stream) {
  const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return { status: headers[":status"], headers, body: Buffer.concat(chunks).toString() };
}

/** An origin that tells what it got: header lines, then the body. */
async function openTelling(t: TestContext, options: ProxyStageOptions = {}) {
  const origin = await openProxiedOrigin(t, async (request, response) => {
    let bytes = 0;
    request.on("data", (chunk: Buffer) => (bytes += chunk.length));
    await once(request, "end").catch(() => response.destroy());
    response.setHeader("Set-Cookie", ["a=1", "b=2", "fairgate_pass=forged"]);
    response.setHeader("Keep-Alive", "timeout=9");
    response.end(
      JSON.stringify({ method: request.method, url: request.url, headers: request.headers, bytes }),
    );
  });
  return openProxyStage(t, [origin.address], { tls: TLS, ...options });
}

test("a browser's HTTP/2 request becomes a proper HTTP/1.1 one", async (t) => {
  const { port } = await openTelling(t, {
    forward: () => ({
      requestHeaders: ["Fairgate-Room", "main"],
      responseHeaders: ["Set-Cookie", "fairgate_pass=real"],
    }),
  });
  const session = connect(t, port);
  const cookie = ["a=1", "fairgate_pass=x", "b=2"];
  const answer = await ask2(session, { ":path": "/x?y=1", cookie, "fairgate-room": "vip", te: "trailers" });
  const { method, url, headers } = JSON.parse(answer.body);
  assert.deepEqual([answer.status, method, url], [200, "GET", "/x?y=1"]);
  assert.equal(headers.host, `localhost:${port}`);
  assert.equal(headers.cookie, "a=1; b=2");
  assert.equal(headers["fairgate-room"], "main");
  assert.equal(headers["x-forwarded-proto"], "https");
  assert.equal(headers["x-forwarded-for"], "127.0.0.1");
  assert.equal(headers.forwarded, `for=127.0.0.1;host="localhost:${port}";proto=https`);
  assert.ok(!Object.keys(headers).some((name) => name.startsWith(":")));
  assert.deepEqual(answer.headers["set-cookie"], ["a=1", "b=2", "fairgate_pass=real"]);
  assert.equal(answer.headers["keep-alive"], undefined);
});

test("uploads, HEAD, many streams at once and problems work over HTTP/2", async (t) => {
  const { port, proxy } = await openTelling(t, { limits: { bodyBytes: 2_000_000 } });
  const session = connect(t, port);
  const big = Buffer.alloc(1_500_000, "x");
  const upload = await ask2(session, { ":method": "POST", ":path": "/" }, big);
  assert.equal(JSON.parse(upload.body).bytes, big.length);
  const sized = await ask2(session, { ":method": "PUT", ":path": "/", "content-length": 3 }, "abc");
  assert.equal(JSON.parse(sized.body).headers["content-length"], "3");
  const head = session.request({ ":method": "HEAD", ":path": "/" });
  const [headers] = await once(head, "response");
  assert.equal(headers[":status"], 200);
  const many = await Promise.all(Array.from({ length: 50 }, (_, i) => ask2(session, { ":path": `/${i}` })));
  assert.deepEqual(
    many.map(({ body }) => JSON.parse(body).url),
    Array.from({ length: 50 }, (_, i) => `/${i}`),
  );
  const tooLarge = session.request({ ":method": "POST", ":path": "/", accept: "application/json" });
  tooLarge.on("error", () => {});
  tooLarge.end(Buffer.alloc(3_000_000));
  const refused = await readStream(tooLarge);
  assert.equal(refused.status, 413);
  assert.match(refused.body, /"kind":"tooLarge"/);
  assert.equal((await ask2(session, { ":path": "/after" })).status, 200);
  await until(() => proxy.inFlight() === 0);
});

test("Expect: 100-continue is answered on HTTP/2 and on HTTP/1.1 over TLS", async (t) => {
  const { port } = await openTelling(t);
  const stream = connect(t, port).request({ ":method": "POST", ":path": "/", expect: "100-continue" });
  await once(stream, "continue");
  stream.end("abc");
  assert.equal(JSON.parse((await readStream(stream)).body).bytes, 3);
  const options = {
    port,
    host: "localhost",
    ca,
    method: "POST",
    agent: false,
    headers: { expect: "100-continue" },
  } as const;
  const request = https.request(options);
  request.flushHeaders();
  await once(request, "continue");
  request.end("abcd");
  const [response] = await once(request, "response");
  assert.equal(JSON.parse((await readAnswer(response)).body.toString()).bytes, 4);
});

test("server-sent events flow over HTTP/2, and a visitor who leaves takes the request along", async (t) => {
  let isClosed = false;
  let send = (_text: string) => {};
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" }).flushHeaders();
    response.on("close", () => (isClosed = true));
    send = (text) => response.write(text);
  });
  const { port, proxy } = await openProxyStage(t, [origin.address], { tls: TLS });
  const stream = connect(t, port).request({ ":path": "/" });
  await once(stream, "response");
  for (const event of ["data: 1\n\n", "data: 2\n\n"]) {
    send(event);
    assert.equal(String((await once(stream, "data"))[0]), event);
  }
  stream.close(http2.constants.NGHTTP2_CANCEL);
  await until(() => isClosed && proxy.inFlight() === 0);
});

test("a slow reader over HTTP/2 holds the origin back", async (t) => {
  let sent = 0;
  const origin = await openProxiedOrigin(t, (_request, response) => {
    const more = () => {
      while (sent < TOTAL) {
        sent += 65_536;
        if (!response.write(Buffer.alloc(65_536))) return void response.once("drain", more);
      }
      response.end();
    };
    more();
  });
  const { port } = await openProxyStage(t, [origin.address], { tls: TLS });
  const stream = connect(t, port).request({ ":path": "/" });
  await once(stream, "response");
  let last = -1;
  let still = 0;
  await until(() => {
    still = sent === last ? still + 1 : 0;
    last = sent;
    return still > 40;
  });
  assert.ok(sent < TOTAL / 2, `origin could send ${sent} bytes`);
  let bytes = 0;
  for await (const chunk of stream) bytes += (chunk as Buffer).length;
  assert.equal(bytes, TOTAL);
});

test("an answer that breaks off is an error of the stream, not its end", async (t) => {
  let breakOff = () => {};
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.write("half");
    breakOff = () => response.destroy();
  });
  const { port } = await openProxyStage(t, [origin.address], { tls: TLS });
  const stream = connect(t, port).request({ ":path": "/" });
  stream.once("data", () => breakOff());
  await assert.rejects(readStream(stream), { code: "ERR_HTTP2_STREAM_ERROR" });
});

test("a WebSocket works over TLS beside HTTP/2", async (t) => {
  const origin = await openProxiedOrigin(t, () => {});
  const sockets = new WebSocketServer({ server: origin.server });
  t.after(() => sockets.close());
  sockets.on("connection", (socket, request) => socket.send(String(request.headers["x-forwarded-proto"])));
  const { port } = await openProxyStage(t, [origin.address], { tls: TLS });
  const socket = new WebSocket(`wss://localhost:${port}/`, { ca });
  const [message] = await once(socket, "message");
  assert.equal(String(message), "https");
  socket.terminate();
});

test("two names for the host, and a CONNECT, are refused on HTTP/2", async (t) => {
  const { port } = await openTelling(t);
  const session = connect(t, port);
  assert.equal(
    (await ask2(session, { ":path": "/", ":authority": "a.example", host: "b.example" })).status,
    400,
  );
  const tunnel = session.request({ ":method": "CONNECT", ":authority": "inner:22" });
  const [headers] = await once(tunnel, "response");
  assert.equal(headers[":status"], 405);
  tunnel.resume().end();
});

test("smuggling is refused on HTTP/1.1 over TLS too", async (t) => {
  const { port } = await openTelling(t);
  const socket = tls.connect({ port, host: "localhost", ca });
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n");
  assert.match(String((await once(socket, "data"))[0]), /^HTTP\/1\.1 400 /);
  socket.destroy();
});

test("an origin behind TLS is asked under its own name, and refused when its certificate is not good", async (t) => {
  const server = https.createServer({ cert: ca, key: readFileSync(keyFile) }, (request, response) => {
    response.end(`${request.headers.host} ${(request.socket as tls.TLSSocket).servername}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port: originPort } = server.address() as AddressInfo;
  const doubtful = await openProxyStage(t, [`https://localhost:${originPort}`], { tls: TLS });
  assert.equal((await ask2(connect(t, doubtful.port), { ":path": "/" })).status, 502);
  const usual = tls.getCACertificates("default");
  tls.setDefaultCACertificates([...usual, ca]);
  t.after(() => tls.setDefaultCACertificates(usual));
  const good = await openProxyStage(t, [`https://localhost:${originPort}`], { tls: TLS });
  const session = connect(t, good.port);
  const answer = await ask2(session, { ":path": "/", ":authority": "shop.example" });
  assert.equal(answer.body, "shop.example localhost");
  // An address without a name has none to give (RFC 6066, section 3).
  const bare = await openProxyStage(t, [`https://127.0.0.1:${originPort}`], { tls: TLS });
  const other = await ask2(connect(t, bare.port), { ":path": "/", ":authority": "shop.example" });
  assert.equal(other.body, "shop.example false");
});

test("a renewed certificate is taken over without a restart, a bad one is not", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), "fairgate-tls-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const own = { certificateFile: join(folder, "cert.pem"), keyFile: join(folder, "key.pem") };
  copyFileSync(certificateFile, own.certificateFile);
  copyFileSync(keyFile, own.keyFile);
  const { port, listener } = await openTelling(t, { tls: own });
  const settings = { listen: { host: "127.0.0.1", port: 0 }, tls: own, limits: LIMITS };
  await listener.reload(settings);
  assert.equal((await ask2(connect(t, port), { ":path": "/" })).status, 200);
  copyFileSync(certificateFile, own.keyFile);
  await assert.rejects(listener.reload(settings));
  assert.equal((await ask2(connect(t, port), { ":path": "/" })).status, 200);
});

test("closing finishes the streams that are open", async (t) => {
  let finish: (() => void) | null = null;
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.write("a");
    finish = () => response.end("b");
  });
  const { port, close } = await openProxyStage(t, [origin.address], { tls: TLS });
  const answer = ask2(connect(t, port), { ":path": "/" });
  const idle = connect(t, port);
  await once(idle, "remoteSettings");
  await until(() => finish !== null);
  const closing = close();
  await once(idle, "close");
  finish!();
  assert.equal((await answer).body, "ab");
  await closing;
});
