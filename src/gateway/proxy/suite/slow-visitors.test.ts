/** Slow visitors: small bodies hold no connection to the origin, and visitors slower than the pace are cut off. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import http2, { type ClientHttp2Session } from "node:http2";
import net, { type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { handWorld } from "../../../sim/hand-world.ts";
import { fixturePath } from "../../../testing/fixtures.ts";
import {
  askProxy,
  LIMITS,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  type ProxyStageOptions,
  talk,
  until,
} from "../../../testing/proxy/stage.ts";
import { PIPELINED_MAX } from "../../listener/unread-answers.ts";
import { LINGER_MAX_MS } from "../answer.ts";
import type { AnyRequest } from "../any-http.ts";

const MB = 1_048_576;
/** More than the system's buffers between two sockets hold. */
const LARGE = 64 * MB;
const WINDOW_MS = LIMITS.paceWindowMs;
/** Longer than a batch of an answer may take at the pace, window and all. */
const LONG_MS = 60 * WINDOW_MS;
const TLS = {
  certificateFile: fixturePath("localhost.cert.pem"),
  keyFile: fixturePath("localhost.key.pem"),
};
const GET = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const UPGRADE = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";
const AGREED = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";

/** A stage whose time is moved by hand. */
async function openByHand(t: TestContext, address: string, options: ProxyStageOptions = {}) {
  const time = handWorld();
  return { time, ...(await openProxyStage(t, [address], { time, ...options })) };
}

/** An origin that reads everything and answers with how much it was. */
async function openCounting(t: TestContext, options: ProxyStageOptions = {}) {
  const origin = await openProxiedOrigin(t, (request, response) => {
    const told = { bytes: 0 };
    seen.push(told);
    request.on("data", (chunk: Buffer) => (told.bytes += chunk.length));
    request.on("error", () => {}).on("end", () => response.end(`got ${told.bytes}`));
  });
  const seen: { bytes: number }[] = [];
  return { origin, seen, ...(await openByHand(t, origin.address, options)) };
}

function connect(t: TestContext, port: number): { socket: Socket; heard: () => string } {
  const socket = net.connect(port, "127.0.0.1");
  t.after(() => socket.destroy());
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk.toString("latin1"))).on("error", () => {});
  return { socket, heard: () => heard };
}

/** A connection that reads nothing until it is told to. */
function connectDeaf(t: TestContext, port: number): Socket {
  const socket = net.connect(port, "127.0.0.1").pause();
  socket.on("error", () => {});
  t.after(() => socket.destroy());
  return socket;
}

function connectHttp2(t: TestContext, port: number): ClientHttp2Session {
  const session = http2.connect(`https://localhost:${port}`, { ca: readFileSync(TLS.certificateFile) });
  t.after(() => session.destroy());
  return session;
}

/** Resolves when a number has stopped changing. */
async function settled(read: () => number): Promise<void> {
  let last = -1;
  let still = 0;
  await until(() => {
    still = read() === last ? still + 1 : 0;
    last = read();
    return last > 0 && still > 20;
  });
}

test("small bodies that come slowly take no connection until they are whole", async (t) => {
  const { port, proxy, origin, slow } = await openCounting(t, { origin: { connectionsMax: 1 } });
  const uploads = ["Content-Length: 10\r\n\r\n01234", "Transfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n"].map(
    (rest) => {
      const upload = connect(t, port);
      upload.socket.write(`POST / HTTP/1.1\r\nHost: a\r\n${rest}`);
      return upload;
    },
  );
  await until(() => slow.bodies.taken === 10);
  assert.equal(proxy.inFlight(), 0);
  assert.equal(origin.connections, 0);
  assert.equal((await askProxy(port)).body.toString(), "got 0", "an honest visitor");
  uploads[0]!.socket.write("56789");
  uploads[1]!.socket.write("5\r\n56789\r\n0\r\n\r\n");
  for (const { heard } of uploads) await until(() => heard().includes("got 10"));
  assert.equal(slow.bodies.taken, 0);
});

test("a body larger than the buffer is passed on from there on", async (t) => {
  const { port, proxy, slow, seen } = await openCounting(t, { limits: { bufferedBodyBytes: 1_000 } });
  const { socket, heard } = connect(t, port);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3000\r\n\r\n${"x".repeat(999)}`);
  await until(() => slow.bodies.taken === 999);
  assert.equal(proxy.inFlight(), 0);
  socket.write("x");
  await until(() => seen[0]?.bytes === 1_000);
  socket.write("x".repeat(2_000));
  await until(() => heard().includes("got 3000"));
});

test("when the memory for bodies is used up they are passed on as they come, and nobody is refused", async (t) => {
  const { port, slow, seen } = await openCounting(t, { limits: { bufferedBodiesBytes: 10 } });
  const { socket, heard } = connect(t, port);
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n0123456789");
  await until(() => seen[0]?.bytes === 10);
  socket.write("x");
  await until(() => heard().includes("got 11"));
  assert.equal(slow.bodies.taken, 0);
});

test("a buffered body goes to the next address when the first takes no connection", async (t) => {
  const { origin } = await openCounting(t);
  const { port } = await openProxyStage(t, ["http://127.0.0.1:1", origin.address]);
  for (const body of ["small", "x".repeat(300_000)])
    assert.equal((await askProxy(port, { method: "POST", body })).body.toString(), `got ${body.length}`);
});

test("a visitor who leaves while the body is gathered leaves nothing behind", async (t) => {
  const { port, slow, origin, world } = await openCounting(t);
  const { socket } = connect(t, port);
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n01234");
  await until(() => slow.bodies.taken === 5);
  socket.destroy();
  await until(() => slow.bodies.taken === 0);
  assert.equal(origin.connections, 0);
  assert.deepEqual(
    world.entries.filter(({ level }) => level === "error"),
    [],
  );
});

test("an upload slower than the pace is ended with 408, whether it was passed on yet or not", async (t) => {
  const { port, proxy, slow, seen, time } = await openCounting(t);
  const gathering = connect(t, port);
  gathering.socket.write("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\nabc");
  await until(() => slow.bodies.taken === 3);
  const passing = connect(t, port);
  const part = "x".repeat(LIMITS.bufferedBodyBytes);
  passing.socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n${part}`);
  await until(() => seen[0]?.bytes === part.length);
  time.pass(WINDOW_MS - 1_000);
  for (const { socket } of [gathering, passing]) socket.write("a drop");
  await until(() => slow.bodies.taken === 9 && seen[0]?.bytes === part.length + 6);
  assert.equal(gathering.heard() + passing.heard(), "", "too early");
  time.pass(WINDOW_MS / 4);
  for (const { heard } of [gathering, passing]) {
    await until(() => heard().includes("</html>"));
    assert.match(heard(), /^HTTP\/1\.1 408 [\s\S]*Connection: close/);
  }
  await until(() => proxy.inFlight() === 0 && slow.bodies.taken === 0);
});

test("an upload that keeps the pace is not ended, however long it takes", async (t) => {
  const { port, time, seen } = await openCounting(t);
  const { socket, heard } = connect(t, port);
  // A little more than the pace: a window may last a look longer.
  const perWindow = "x".repeat(1.25 * LIMITS.bodyPace * (WINDOW_MS / 1_000));
  const bytes = 100_000 + 10 * perWindow.length;
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${bytes}\r\n\r\n${"x".repeat(100_000)}`);
  for (let n = 0; n < 10; n++) {
    await until(() => seen[0]?.bytes === 100_000 + n * perWindow.length);
    time.pass(WINDOW_MS - 1_000);
    socket.write(perWindow);
  }
  await until(() => heard().includes(`got ${bytes}`));
});

test("an upload that the origin holds up is not blamed on the visitor", async (t) => {
  let upload: IncomingMessage | null = null;
  const origin = await openProxiedOrigin(t, (request, response) => {
    let bytes = 0;
    request.on("end", () => response.end(`got ${bytes}`));
    request.on("data", (chunk: Buffer) => (bytes += chunk.length)).pause();
    upload = request;
  });
  let incoming: AnyRequest | null = null;
  const { port, time } = await openByHand(t, origin.address, {
    forward: (request) => {
      incoming = request;
      return {};
    },
  });
  const { socket, heard } = connect(t, port);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${LARGE}\r\n\r\n`);
  socket.write(Buffer.alloc(LARGE));
  await until(() => upload !== null);
  await settled(() => incoming!.socket.bytesRead);
  await until(() => incoming!.isPaused(), "the proxy to read no more");
  time.pass(LONG_MS);
  upload!.resume();
  await until(() => heard().includes(`got ${LARGE}`));
});

test("a visitor who takes nothing is cut off after the window, and not before", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end(Buffer.alloc(LARGE));
  });
  const { port, proxy, slow, world, time } = await openByHand(t, origin.address);
  const socket = connectDeaf(t, port);
  const isClosed = new Promise((resolve) => socket.on("close", resolve));
  socket.write(GET);
  await settled(() => slow.answers.taken);
  time.pass(WINDOW_MS - 1_000);
  assert.equal(proxy.inFlight(), 1);
  time.pass(LONG_MS);
  await until(() => proxy.inFlight() === 0);
  socket.resume();
  await isClosed;
  assert.equal(slow.answers.taken, 0);
  assert.ok(world.entries.some(({ fields }) => fields.code === "READER_TOO_SLOW"));
});

test("a visitor who keeps reading is not cut off, however slow, above the pace", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end(Buffer.alloc(LARGE));
  });
  const { port, slow, time } = await openByHand(t, origin.address);
  const socket = connectDeaf(t, port);
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length));
  socket.write(`${GET.slice(0, -2)}Connection: close\r\n\r\n`);
  while (bytes < LARGE) {
    await settled(() => slow.answers.taken + bytes);
    const before = bytes;
    time.pass(WINDOW_MS - 1_000);
    socket.resume();
    await until(() => bytes - before > 4 * MB || bytes >= LARGE);
    socket.pause();
  }
});

test("an answer that fits is kept for a slow reader: the origin is done with it at once, the reader gets all", async (t) => {
  const answer = Buffer.alloc(16 * MB, "x");
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end(answer);
  });
  const { port, proxy, slow, outcomes } = await openByHand(t, origin.address, {
    limits: { spooledAnswerBytes: 16 * MB, spooledAnswersBytes: 1_024 * MB },
  });
  const socket = connectDeaf(t, port);
  socket.write(`${GET.slice(0, -2)}Connection: close\r\n\r\n`);
  await until(() => outcomes.length === 1);
  assert.equal(proxy.inFlight(), 0);
  assert.ok(slow.answers.taken > 0, "nothing had to be kept");
  let bytes = 0;
  socket.on("data", (chunk: Buffer) => (bytes += chunk.length)).resume();
  await new Promise((resolve) => socket.on("close", resolve));
  assert.ok(bytes > answer.length);
  await until(() => slow.answers.taken === 0);
});

test("kept answers never take all the memory: a client that reads many slowly gets less for each", async (t) => {
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.end(Buffer.alloc(LARGE / 4));
  });
  const { port, slow } = await openByHand(t, origin.address, { limits: { spooledAnswersBytes: 4 * MB } });
  for (let n = 0; n < 16; n++) connectDeaf(t, port).write(GET);
  await until(() => slow.answers.taken > 2 * MB, "two megabytes to be kept");
  await settled(() => slow.answers.taken);
  assert.ok(slow.answers.free > 0, "no memory is left for others");
});

test("a visitor who does not take the end of an answer is cut off, though the origin is long done with it", async (t) => {
  let asked = 0;
  const origin = await openProxiedOrigin(t, (_request, response) => {
    asked++;
    response.end(Buffer.alloc(MB));
  });
  const { port, proxy, time } = await openByHand(t, origin.address);
  const socket = connectDeaf(t, port);
  const isClosed = new Promise((resolve) => socket.on("close", resolve));
  // Answers that nobody reads fill the connection until one does not fit.
  socket.write(GET.repeat(PIPELINED_MAX));
  await until(() => asked === PIPELINED_MAX && proxy.inFlight() === 0, "the origin to be done");
  time.pass(LONG_MS);
  socket.resume();
  await isClosed;
});

test("an answer that waits behind an earlier one of its connection is not blamed on the visitor", async (t) => {
  const held: ServerResponse[] = [];
  const origin = await openProxiedOrigin(t, (request, response) => {
    if (request.url === "/first") held.push(response);
    else response.end(Buffer.alloc(LARGE));
  });
  const { port, slow, time } = await openByHand(t, origin.address);
  const { socket, heard } = connect(t, port);
  socket.write(GET.replace("/", "/first") + GET);
  await until(() => held.length === 1);
  await settled(() => slow.answers.taken);
  time.pass(LONG_MS);
  held[0]!.end("the first");
  await until(() => heard().length > LARGE);
  assert.match(heard(), /the first/);
});

test("a silent origin is not the visitor's fault: events that come seldom are not cut by the pace", async (t) => {
  const streams: ServerResponse[] = [];
  const origin = await openProxiedOrigin(t, (_request, response) => {
    streams.push(response.writeHead(200, { "Content-Type": "text/event-stream" }));
    response.write(`data: ${"x".repeat(500_000)}\n\n`);
  });
  const { port, time } = await openByHand(t, origin.address);
  const { socket, heard } = connect(t, port);
  socket.write(GET);
  // To the last byte, however it was cut into chunks: nothing of it waits to be read.
  const unchunked = () => heard().replaceAll(/\r\n[0-9a-f]+\r\n/g, "");
  await until(() => unchunked().endsWith("x\n\n\r\n"));
  time.pass(LONG_MS);
  streams[0]!.write("data: later\n\n");
  await until(() => heard().includes("later"));
});

test("a reader of an HTTP/2 stream who takes nothing is cut off; the other streams go on", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    response.end(request.url === "/large" ? Buffer.alloc(LARGE) : "small");
  });
  const { port, proxy, slow, time } = await openByHand(t, origin.address, { tls: TLS });
  const session = connectHttp2(t, port);
  const large = session.request({ ":path": "/large" });
  large.pause();
  const isCut = new Promise<number>((resolve) => {
    large.on("error", () => {}).on("close", () => resolve(large.rstCode));
  });
  await settled(() => slow.answers.taken);
  time.pass(LONG_MS);
  await until(() => proxy.inFlight() === 0);
  large.resume();
  assert.notEqual(await isCut, 0);
  const small = session.request({ ":path": "/small" }).setEncoding("utf8");
  assert.equal((await small.toArray()).join(""), "small");
});

test("an HTTP/2 upload that drips is ended with 408 while others of its connection go on", async (t) => {
  const { port, slow, time } = await openCounting(t, { tls: TLS });
  const session = connectHttp2(t, port);
  const drip = session.request({ ":path": "/", ":method": "POST" });
  const status = new Promise((resolve) => drip.on("response", (headers) => resolve(headers[":status"])));
  drip.on("error", () => {}).resume();
  drip.write("x");
  await until(() => slow.bodies.taken === 1);
  const whole = session.request({ ":path": "/", ":method": "POST" }).setEncoding("utf8");
  whole.end("x".repeat(1_000_000));
  assert.equal((await whole.toArray()).join(""), "got 1000000");
  time.pass(2 * WINDOW_MS);
  assert.equal(await status, 408);
});

test("an upgraded connection whose visitor takes nothing is cut off, one that is only silent is not", async (t) => {
  const origins: Socket[] = [];
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", () => {
      socket.write(AGREED);
      origins.push(socket);
    });
  });
  const { port, proxy, time } = await openByHand(t, origin.address);
  const quiet = connect(t, port);
  quiet.socket.write(UPGRADE);
  await until(() => quiet.heard().includes("101"));
  connectDeaf(t, port).write(UPGRADE);
  await until(() => origins.length === 2);
  origins[1]!.write(Buffer.alloc(LARGE));
  await settled(() => origins[1]!.bytesWritten - origins[1]!.writableLength);
  time.pass(LONG_MS);
  await until(() => {
    time.pass(WINDOW_MS);
    return proxy.inFlight() === 1;
  });
  origins[0]!.write("hello");
  await until(() => quiet.heard().endsWith("hello"));
});

test("an answer instead of an upgrade that nobody reads is cut off", async (t) => {
  let sent = () => 0;
  const origin = await openRawOrigin(t, (socket) => {
    sent = () => socket.bytesWritten - socket.writableLength;
    socket.once("data", () => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${LARGE}\r\n\r\n`);
      for (let n = 0; n < LARGE / MB; n++) socket.write(Buffer.alloc(MB));
    });
  });
  const { port, proxy, time } = await openByHand(t, origin.address);
  connectDeaf(t, port).write(UPGRADE);
  await settled(() => sent());
  assert.equal(proxy.inFlight(), 1);
  time.pass(LONG_MS);
  await until(() => {
    time.pass(WINDOW_MS);
    return proxy.inFlight() === 0;
  });
});

test("an origin that does not read is let go together with the visitor, whatever was on its way to it", async (t) => {
  let sent = () => 0;
  const origin = await openRawOrigin(t, (socket) => {
    sent = () => socket.bytesWritten - socket.writableLength;
    socket.once("data", () => {
      socket.pause().write(AGREED);
      for (let n = 0; n < LARGE / MB; n++) socket.write(Buffer.alloc(MB));
    });
  });
  const { port, proxy, time } = await openByHand(t, origin.address);
  const socket = connectDeaf(t, port);
  socket.write(UPGRADE);
  await settled(() => sent());
  for (let n = 0; n < LARGE / MB; n++) socket.write(Buffer.alloc(MB));
  await settled(() => socket.bytesWritten - socket.writableLength);
  time.pass(LONG_MS);
  await until(() => {
    time.pass(LINGER_MAX_MS);
    return proxy.inFlight() === 0;
  });
});

test("upgraded connections and requests together never exceed the connections of an address", async (t) => {
  const held: ServerResponse[] = [];
  const origin = await openProxiedOrigin(t, (_request, response) => {
    held.push(response);
  });
  origin.server.on("upgrade", (_request, socket) => {
    socket.on("error", () => {}).on("end", () => socket.end());
    socket.resume().write(AGREED);
  });
  const connectTimeout = 30_000;
  const { port, proxy, time } = await openByHand(t, origin.address, {
    origin: { connectionsMax: 2, connectTimeout },
  });
  const first = connect(t, port);
  first.socket.write(UPGRADE);
  await until(() => first.heard().includes("101"));
  const request = askProxy(port);
  await until(() => held.length === 1);
  const lateUpgrade = talk(port, UPGRADE);
  await until(() => proxy.inFlight() === 3);
  time.pass(connectTimeout);
  assert.match(await lateUpgrade, /^HTTP\/1\.1 503 /);
  const lateRequest = askProxy(port);
  await until(() => proxy.inFlight() === 3);
  time.pass(connectTimeout);
  assert.equal((await lateRequest).status, 503);
  assert.equal(origin.connections, 2);
  held[0]!.end("done");
  await request;
  const second = connect(t, port);
  second.socket.write(UPGRADE);
  await until(() => second.heard().includes("101"));
  assert.equal(proxy.inFlight(), 2);
  first.socket.destroy();
  second.socket.destroy();
  await until(() => proxy.inFlight() === 0);
});

test("an upgrade that waits for a connection gets the next that is free", async (t) => {
  const held: ServerResponse[] = [];
  const origin = await openProxiedOrigin(t, (_request, response) => {
    held.push(response);
  });
  origin.server.on("upgrade", (_request, socket) => {
    socket.on("error", () => {});
    socket.resume().write(AGREED);
  });
  const { port, proxy } = await openByHand(t, origin.address, { origin: { connectionsMax: 1 } });
  const request = askProxy(port);
  await until(() => held.length === 1);
  const waiting = connect(t, port);
  waiting.socket.write(UPGRADE);
  await until(() => proxy.inFlight() === 2);
  const gone = connect(t, port);
  gone.socket.write(UPGRADE);
  assert.match(await talk(port, UPGRADE), /^HTTP\/1\.1 503 /);
  held[0]!.end("done");
  await request;
  await until(() => waiting.heard().includes("101"));
});

test("when all connections are taken, the slowest upload gives its own to a request that is there whole", async (t) => {
  const { port, proxy, seen, time } = await openCounting(t, { origin: { connectionsMax: 2 } });
  // Gathered whole, in however many chunks it comes: visitors are judged by what they send after it.
  const part = "x".repeat(LIMITS.bufferedBodyBytes);
  const uploads = [0, 1].map(() => connect(t, port));
  for (const { socket } of uploads)
    socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n${part}`);
  await until(() => seen.length === 2 && seen.every(({ bytes }) => bytes === part.length));
  const third = connect(t, port);
  third.socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5000000\r\n\r\n${part}`);
  await until(() => proxy.inFlight() === 3);
  time.pass(1_000);
  assert.equal(proxy.inFlight(), 3, "an upload takes no connection away");
  // Above the pace that is asked for when nobody waits, and the first is faster than the second.
  uploads[0]!.socket.write("x".repeat(20_000));
  uploads[1]!.socket.write("x".repeat(10_000));
  await until(() => seen.reduce((sum, { bytes }) => sum + bytes, 0) === 2 * part.length + 30_000);
  assert.equal((await askProxy(port)).body.toString(), "got 0");
  await until(() => uploads[1]!.heard().includes("</html>"));
  assert.match(uploads[1]!.heard(), /^HTTP\/1\.1 408 /);
  assert.equal(uploads[0]!.heard(), "");
  await until(() => seen.length === 4, "the upload that waited");
});

test("a fast visitor keeps the connection, however many wait", async (t) => {
  const { port, proxy, seen, time } = await openCounting(t, { origin: { connectionsMax: 1 } });
  const { socket, heard } = connect(t, port);
  const part = "x".repeat(100_000);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${9 * part.length}\r\n\r\n${part}`);
  await until(() => seen[0]?.bytes === part.length);
  const waiting = askProxy(port);
  await until(() => proxy.inFlight() === 2);
  for (let n = 2; n < 9; n++) {
    socket.write(part);
    await until(() => seen[0]?.bytes === n * part.length);
    time.pass(500);
  }
  socket.write(part);
  await until(() => heard().includes(`got ${9 * part.length}`));
  assert.equal((await waiting).status, 200);
});

test("a reader who holds up a connection gives it to a request that waits", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    response.end(request.url === "/" ? Buffer.alloc(LARGE) : "small");
  });
  const { port, proxy, slow, time } = await openByHand(t, origin.address, { origin: { connectionsMax: 1 } });
  const socket = connectDeaf(t, port);
  const isClosed = new Promise((resolve) => socket.on("close", resolve));
  socket.write(GET);
  await settled(() => slow.answers.taken);
  assert.equal(proxy.inFlight(), 1);
  const waiting = askProxy(port, { path: "/small" });
  await until(() => proxy.inFlight() === 2);
  // What went into the connection at first says nothing about its reader.
  await until(() => {
    time.pass(3_000);
    return proxy.inFlight() === 1;
  }, "the connection to be given up");
  assert.equal((await waiting).body.toString(), "small");
  socket.resume();
  await isClosed;
});
