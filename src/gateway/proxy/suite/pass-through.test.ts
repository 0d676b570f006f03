/** What goes through the proxy unchanged: methods, bodies both ways, and everything an answer can be. */
import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import http from "node:http";
import net from "node:net";
import { test } from "node:test";
import { gzipSync } from "node:zlib";
import { handWorld } from "../../../sim/hand-world.ts";
import {
  askProxy,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  readAnswer,
  talk,
  until,
} from "../../../testing/proxy/stage.ts";

test("every method reaches the origin with its path, query and body", async (t) => {
  const origin = await openProxiedOrigin(t, async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(`${request.method} ${request.url} ${body}`);
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const path = "/a%20b/../c?x=1&y=%2F";
  for (const method of ["GET", "OPTIONS", "DELETE", "PROPFIND", "REPORT"])
    assert.equal((await askProxy(port, { method, path })).body.toString(), `${method} ${path} `);
  for (const method of ["POST", "PUT", "PATCH", "QUERY", "DELETE", "GET"]) {
    const { body } = await askProxy(port, { method, path, headers: { "content-length": 4 }, body: "body" });
    assert.equal(body.toString(), `${method} ${path} body`);
  }
});

test("HEAD gets the headers of the answer and no body, on a connection that can go on", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.writeHead(200, { "Content-Length": 5, ETag: '"x"' }).end("12345");
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const heads = "HEAD / HTTP/1.1\r\nHost: a\r\n\r\nHEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const heard = await talk(port, heads);
  assert.equal(heard.match(/HTTP\/1\.1 200 OK/g)?.length, 2);
  assert.equal(heard.match(/Content-Length: 5/g)?.length, 2);
  assert.doesNotMatch(heard, /12345/);
});

test("answers without a body stay without one", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    response.writeHead(request.url === "/none" ? 204 : 304, { ETag: '"x"' }).end();
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  for (const [path, status] of [
    ["/none", 204],
    ["/same", 304],
    ["/none", 204],
  ] as const) {
    const answer = await askProxy(port, { path, agent });
    assert.equal(answer.status, status);
    assert.equal(answer.headers.etag, '"x"');
    assert.equal(answer.headers["transfer-encoding"], undefined);
    assert.equal(answer.body.length, 0);
  }
});

test("an upload and a download of many megabytes arrive whole", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    const hash = createHash("sha256");
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      hash.update(chunk);
    });
    request.on("end", () => {
      response.writeHead(200, { "x-hash": hash.digest("hex"), "x-bytes": bytes });
      response.end(big);
    });
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const big = randomBytes(8_000_000);
  const expected = createHash("sha256").update(big).digest("hex");
  for (const headers of [{ "content-length": big.length }, { "transfer-encoding": "chunked" }]) {
    const answer = await askProxy(port, { method: "POST", headers, body: big });
    assert.equal(answer.headers["x-bytes"], String(big.length));
    assert.equal(answer.headers["x-hash"], expected);
    assert.equal(createHash("sha256").update(answer.body).digest("hex"), expected);
  }
});

test("a body of unknown length stays chunked and one of known length keeps its length", async (t) => {
  const seen: unknown[] = [];
  const origin = await openProxiedOrigin(t, (request, response) => {
    seen.push([request.headers["content-length"], request.headers["transfer-encoding"]]);
    request.resume().on("end", () => {
      response.write("one ");
      response.end("two");
    });
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const chunked = await askProxy(port, {
    method: "POST",
    headers: { "transfer-encoding": "chunked" },
    body: "abc",
  });
  const whole = await askProxy(port, { method: "POST", headers: { "content-length": 3 }, body: "abc" });
  await askProxy(port, { method: "POST", headers: { "content-length": 0 } });
  assert.deepEqual(seen, [
    [undefined, "chunked"],
    ["3", undefined],
    ["0", undefined],
  ]);
  assert.equal(chunked.headers["transfer-encoding"], "chunked");
  assert.equal(whole.body.toString(), "one two");
});

test("an HTTP/1.0 visitor gets an answer without chunks, ended by closing", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.write("one ");
    response.end("two");
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const heard = await talk(port, "GET / HTTP/1.0\r\n\r\n");
  assert.doesNotMatch(heard, /transfer-encoding/i);
  assert.match(heard, /\r\n\r\none two$/);
});

test("ranges and compressed bodies pass untouched", async (t) => {
  const packed = gzipSync("hello hello hello hello");
  const origin = await openProxiedOrigin(t, (request, response) => {
    if (request.headers.range) {
      response.writeHead(206, { "Content-Range": "bytes 1-2/4", "Content-Length": 2 }).end("bc");
    } else {
      assert.equal(request.headers["accept-encoding"], "gzip, br");
      response.writeHead(200, { "Content-Encoding": "gzip", Vary: "Accept-Encoding" }).end(packed);
    }
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const part = await askProxy(port, { headers: { range: "bytes=1-2" } });
  assert.equal(part.status, 206);
  assert.equal(part.headers["content-range"], "bytes 1-2/4");
  assert.equal(part.body.toString(), "bc");
  const answer = await askProxy(port, { headers: { "accept-encoding": "gzip, br" } });
  assert.equal(answer.headers["content-encoding"], "gzip");
  assert.deepEqual(answer.body, packed);
});

test("status line, repeated headers, their order and case, and odd bytes in values are kept", async (t) => {
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", () => {
      const head =
        "HTTP/1.1 299 Rather Fine\r\nSet-Cookie: a=1\r\nX-Odd: caf\xe9\r\nset-cookie: b=2\r\nDate: now\r\n";
      socket.write(Buffer.from(`${head}Content-Length: 2\r\n\r\nok`, "latin1"));
    });
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const heard = await talk(port, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  assert.match(
    heard,
    /^HTTP\/1\.1 299 Rather Fine\r\nSet-Cookie: a=1\r\nX-Odd: caf\xe9\r\nset-cookie: b=2\r\n/,
  );
});

test("a head that comes long before its body is passed on at once, byte for byte", async (t) => {
  let send = (_text: string) => {};
  const origin = await openRawOrigin(t, (socket) => {
    send = (text) => socket.write(text, "latin1");
    socket.once("data", () => send("HTTP/1.1 200 OK\r\nX-Odd: caf\xe9\r\nContent-Length: 2\r\n\r\n"));
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const heard = await talk(port, "GET / HTTP/1.1\r\nHost: a\r\n\r\n", /\r\n\r\n$/);
  assert.match(heard, /\r\nX-Odd: caf\xe9\r\n/);
});

test("server-sent events arrive one by one, headers first", async (t) => {
  let send: (text: string) => void = () => {};
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.flushHeaders();
    send = (text) => response.write(text);
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const response = await new Promise<http.IncomingMessage>((resolve) => {
    http.get({ port, host: "127.0.0.1", agent: false }, resolve);
  });
  // The headers are here although not one event was sent yet.
  assert.equal(response.headers["content-type"], "text/event-stream");
  for (const event of ["data: 1\n\n", "data: 2\n\n", "data: 3\n\n"]) {
    const heard = new Promise<Buffer>((resolve) => response.once("data", resolve));
    send(event);
    assert.equal((await heard).toString(), event);
  }
  response.destroy();
});

test("trailers and early hints are passed on", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.writeEarlyHints({ link: "</style.css>; rel=preload; as=style" });
    response.writeHead(200, { Trailer: "X-Sum", "Transfer-Encoding": "chunked" });
    response.write("body");
    response.addTrailers({ "X-Sum": "42", "Fairgate-Pass": "forged" });
    response.end();
  });
  const { port } = await openProxyStage(t, [origin.address]);
  let hints: unknown;
  const answer = await new Promise<http.IncomingMessage>((resolve) => {
    const request = http.get({ port, host: "127.0.0.1", agent: false }, resolve);
    request.on("information", (information) => (hints = [information.statusCode, information.headers.link]));
  }).then(readAnswer);
  assert.deepEqual(hints, [103, "</style.css>; rel=preload; as=style"]);
  assert.deepEqual({ ...answer.trailers }, { "x-sum": "42" });
});

test("an answer that comes before the upload has ended is passed on, and the connection goes on", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    if (request.method === "POST") response.writeHead(403).end("no");
    else response.end("still here");
  });
  // The time for which the rest of the upload is waited for does not run out.
  const { port } = await openProxyStage(t, [origin.address], { time: handWorld() });
  const socket = net.connect(port, "127.0.0.1");
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk));
  const beginning = "x".repeat(100_000);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 500000\r\n\r\n${beginning}`);
  await until(() => heard.endsWith("0\r\n\r\n"));
  assert.match(heard, /^HTTP\/1\.1 403 /);
  socket.write("x".repeat(500_000 - beginning.length));
  socket.write("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => heard.endsWith("still here"));
  socket.destroy();
});

test("Expect: 100-continue is answered, and the body then passes", async (t) => {
  const origin = await openProxiedOrigin(t, async (request, response) => {
    assert.equal(request.headers.expect, "100-continue");
    let body = "";
    for await (const chunk of request) body += chunk;
    response.end(`got ${body}`);
  });
  const { port } = await openProxyStage(t, [origin.address]);
  let isContinued = false;
  const answer = await new Promise<http.IncomingMessage>((resolve) => {
    const request = http.request({
      port,
      host: "127.0.0.1",
      method: "PUT",
      agent: false,
      headers: { expect: "100-continue" },
    });
    request.flushHeaders();
    request.on("continue", () => {
      isContinued = true;
      request.end("the body");
    });
    request.on("response", resolve);
  }).then(readAnswer);
  assert.equal(isContinued, true);
  assert.equal(answer.body.toString(), "got the body");
});
