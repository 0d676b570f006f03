/** Uploads whose visitors wait for 100: the origin decides whether the body is sent. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import http2 from "node:http2";
import net, { type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { handWorld } from "../../../sim/hand-world.ts";
import { fixturePath } from "../../../testing/fixtures.ts";
import {
  askProxy,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  type ProxyStageOptions,
  until,
} from "../../../testing/proxy/stage.ts";
import { CONTINUE_WAIT_MS } from "../origin-call.ts";

const TLS = {
  certificateFile: fixturePath("localhost.cert.pem"),
  keyFile: fixturePath("localhost.key.pem"),
};
const HEAD = "PUT /file HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n";
const CONTINUE = "HTTP/1.1 100 Continue\r\n\r\n";

/** A visitor who writes what it likes, and everything it hears. */
function visit(
  t: TestContext,
  port: number,
  text: string,
): { heard: string; isClosed: boolean; socket: Socket } {
  const socket = net.connect(port, "127.0.0.1");
  const visitor = { heard: "", isClosed: false, socket };
  socket.on("data", (chunk) => (visitor.heard += chunk.toString("latin1")));
  socket.on("error", () => {}).on("close", () => (visitor.isClosed = true));
  socket.write(text, "latin1");
  t.after(() => socket.destroy());
  return visitor;
}

/** An origin that writes what it likes; `heard` is what it got on each connection. */
async function openScripted(t: TestContext, options: ProxyStageOptions = {}) {
  const connections: { heard: string; socket: Socket }[] = [];
  const origin = await openRawOrigin(t, (socket) => {
    const connection = { heard: "", socket };
    connections.push(connection);
    socket.on("data", (chunk) => (connection.heard += chunk.toString("latin1")));
  });
  const stage = await openProxyStage(t, [origin.address], options);
  const asked = async () => {
    await until(() => connections.at(-1)?.heard.includes("\r\n\r\n") ?? false);
    return connections.at(-1)!;
  };
  return { ...stage, connections, asked };
}

test("an origin that refuses an upload is heard before any of it is asked for", async (t) => {
  const statuses = [401, 413, 417];
  let bytes = 0;
  const origin = await openProxiedOrigin(t, () => assert.fail("no other request was to come"));
  origin.server.on("checkContinue", (request, response) => {
    request.on("data", (chunk) => (bytes += chunk.length));
    response.writeHead(Number(request.url!.slice(1)), { "Content-Length": 2 }).end("no");
  });
  const { port, proxy } = await openProxyStage(t, [origin.address]);
  for (const status of statuses) {
    const visitor = visit(t, port, HEAD.replace("/file", `/${status}`));
    visitor.socket.once("data", () => visitor.socket.write("GET /hidden HTTP/1.1\r\nHost: a\r\n\r\n"));
    // Closed by us: the next bytes on it could be the body or another request.
    await until(() => visitor.isClosed);
    assert.match(visitor.heard, new RegExp(`^HTTP/1\\.1 ${status} [\\s\\S]*\\r\\nConnection: close\\r\\n`));
    assert.match(visitor.heard, /\r\n\r\nno$/);
  }
  assert.equal(bytes, 0);
  assert.equal(proxy.inFlight(), 0);
});

test("the origin's 100 brings ours and the body, once, however often it is said", async (t) => {
  const { port, asked, connections } = await openScripted(t);
  const visitor = visit(t, port, HEAD);
  const origin = await asked();
  assert.match(origin.heard, /\r\nExpect: 100-continue\r\n/);
  assert.equal(visitor.heard, "");
  origin.socket.write(`${CONTINUE}${CONTINUE}`);
  await until(() => visitor.heard !== "");
  visitor.socket.write("body");
  await until(() => origin.heard.endsWith("\r\n\r\nbody"));
  origin.socket.write(`${CONTINUE}HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n`);
  origin.socket.write("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok");
  await until(() => visitor.heard.endsWith("ok"));
  assert.deepEqual(visitor.heard.match(/^HTTP\/1\.1 \d+/gm), [
    "HTTP/1.1 100",
    "HTTP/1.1 103",
    "HTTP/1.1 201",
  ]);
  assert.doesNotMatch(visitor.heard, /\r\nConnection: close\r\n/);
  visitor.socket.write("GET /next HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => connections[1]?.heard.startsWith("GET /next ") ?? false);
});

test("an origin that says nothing gets the body after a while, and its own time for the answer", async (t) => {
  const time = handWorld();
  const { port, asked } = await openScripted(t, {
    time,
    origin: { headersTimeout: 10_000 },
    // Waiting for us is nothing that a visitor could do faster.
    limits: { requestTimeoutMs: CONTINUE_WAIT_MS / 2 },
  });
  const visitor = visit(t, port, HEAD);
  const origin = await asked();
  time.pass(CONTINUE_WAIT_MS - 1);
  // Whatever was on its way before this is answered has come.
  await askProxy(port, { method: "TRACE" });
  assert.equal(visitor.heard, "");
  time.pass(1);
  await until(() => visitor.heard === CONTINUE);
  visitor.socket.write("body");
  await until(() => origin.heard.endsWith("\r\n\r\nbody"));
  time.pass(10_000);
  await until(() => visitor.isClosed || /^HTTP\/1\.1 504 /m.test(visitor.heard));
  assert.match(visitor.heard, /^HTTP\/1\.1 504 /m);
  await until(() => origin.socket.destroyed || origin.socket.readableEnded);
});

test("a body that is sent without waiting arrives whole, and the connection goes on", async (t) => {
  const origin = await openProxiedOrigin(t, async (request, response) => {
    const body = (await request.toArray()).join("");
    response.end(`<${request.method} ${request.headers.expect ?? "-"} ${body}>`);
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const chunked = HEAD.replace("Content-Length: 4", "Transfer-Encoding: chunked");
  const visitor = visit(
    t,
    port,
    `${HEAD}body${chunked}4\r\nmore\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`,
  );
  await until(() => visitor.heard.includes("<GET - >"));
  assert.deepEqual(visitor.heard.match(/<[^>]*>/g), [
    "<PUT 100-continue body>",
    "<PUT 100-continue more>",
    "<GET - >",
  ]);
});

test("an origin that refuses a body which is coming already is heard, and what follows is still a request", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => void response.end("<next>"));
  let refuse: (() => void) | null = null;
  origin.server.on("checkContinue", (_request, response) => {
    refuse = () => response.writeHead(403, { "Content-Length": 4 }).end("<no>");
  });
  const { port } = await openProxyStage(t, [origin.address], { time: handWorld() });
  const visitor = visit(t, port, `${HEAD}bo`);
  await until(() => refuse !== null);
  refuse!();
  await until(() => visitor.heard.includes("<no>"));
  visitor.socket.write("dyGET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await until(() => visitor.heard.includes("<next>"));
  assert.ok(visitor.heard.startsWith(`${CONTINUE}HTTP/1.1 403 `), visitor.heard);
});

test("a visitor who is asked for the body and sends none is cut off, and holds nothing", async (t) => {
  const time = handWorld();
  const { port, asked, proxy } = await openScripted(t, { time, limits: { paceWindowMs: 5_000 } });
  const visitor = visit(t, port, HEAD);
  const origin = await asked();
  origin.socket.write(CONTINUE);
  await until(() => visitor.heard === CONTINUE);
  time.pass(10_000);
  await until(() => /^HTTP\/1\.1 408 /m.test(visitor.heard));
  await until(() => proxy.inFlight() === 0 && origin.socket.readableEnded);
});

test("a visitor who leaves while waiting for 100 takes the origin's request along", async (t) => {
  const { port, asked, proxy, outcomes } = await openScripted(t, { time: handWorld() });
  const visitor = visit(t, port, HEAD);
  const origin = await asked();
  visitor.socket.destroy();
  await until(() => proxy.inFlight() === 0 && origin.socket.readableEnded);
  assert.equal(outcomes[0]?.status, 499);
});

test("an answer that cannot be read is a problem page, never more than one answer", async (t) => {
  const answers: Record<string, string> = {
    "no answer": "",
    "nothing after 100": CONTINUE,
    "not HTTP": "hello\r\n\r\n",
    "a length and a coding":
      "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "two lengths": "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde",
    "a header with a line feed": "HTTP/1.1 200 OK\r\nA: b\nSet-Cookie: c=1\r\nContent-Length: 0\r\n\r\n",
    "another protocol": "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
    "a header without end": `HTTP/1.1 200 OK\r\nA: ${"b".repeat(70_000)}`,
  };
  for (const [name, answer] of Object.entries(answers)) {
    const { port, asked } = await openScripted(t, { time: handWorld() });
    const visitor = visit(t, port, HEAD);
    (await asked()).socket.end(answer);
    await until(() => /^HTTP\/1\.1 502 /m.test(visitor.heard));
    assert.equal(visitor.heard.replace(CONTINUE, "").match(/HTTP\/1\.1 /g)?.length, 1, name);
  }
});

test("an answer that breaks off in place of the 100 is broken off", async (t) => {
  const { port, asked } = await openScripted(t);
  const visitor = visit(t, port, HEAD);
  (await asked()).socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\nhalf");
  await until(() => visitor.isClosed);
  assert.match(visitor.heard, /^HTTP\/1\.1 403 [\s\S]*\r\n\r\nhalf$/);
});

test("a visitor over HTTP/2 hears the origin's word, too", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    request.toArray().then((chunks) => response.end(`got ${chunks.join("")}`));
  });
  origin.server.on("checkContinue", (request, response) => {
    if (request.url === "/refused") return response.writeHead(413).end("too large");
    response.writeContinue();
    origin.server.emit("request", request, response);
  });
  const { port } = await openProxyStage(t, [origin.address], { tls: TLS, time: handWorld() });
  const session = http2.connect(`https://localhost:${port}`, { ca: readFileSync(TLS.certificateFile) });
  t.after(() => session.destroy());
  const put = (path: string) => session.request({ ":method": "PUT", ":path": path, expect: "100-continue" });
  const refused = put("/refused");
  refused.on("continue", () => assert.fail("no 100 was to be said")).on("error", () => {});
  const [head] = await once(refused, "response");
  assert.equal(head[":status"], 413);
  assert.equal(String((await once(refused, "data"))[0]), "too large");
  const taken = put("/taken");
  await once(taken, "continue");
  taken.end("body");
  assert.equal(String((await once(taken, "data"))[0]), "got body");
});

test("the head of an upload says what the visitor said, and no more", async (t) => {
  const { port, asked } = await openScripted(t, { time: handWorld(), origin: { hostHeader: "origin" } });
  visit(
    t,
    port,
    "DELETE /a?b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\nTE: trailers\r\nX-A: caf\xe9\r\n\r\n",
  );
  const { heard, socket } = await asked();
  const lines = heard.trimEnd().split("\r\n");
  assert.equal(lines[0], "DELETE /a?b HTTP/1.1");
  for (const line of [
    "X-A: caf\xe9",
    `Host: 127.0.0.1:${socket.localPort}`,
    "Expect: 100-continue",
    "Connection: close",
    "Transfer-Encoding: chunked",
  ])
    assert.equal(lines.filter((other) => other === line).length, 1, line);
  assert.ok(!lines.some((line) => /^(?:te|content-length):/i.test(line)));
});
