import assert from "node:assert/strict";
import http from "node:http";
import net from "node:net";
import { type TestContext, test } from "node:test";
import { limitsSchema } from "../../config/schema.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { realWorld } from "../../testing/real-world.ts";
import { until } from "../../testing/until.ts";
import { HEADERS_MAX } from "../proxy/framing.ts";
import { type Listener, type ListenOptions, listen } from "./listen.ts";

const LIMITS: ListenOptions["settings"]["limits"] = {
  ...limitsSchema.parse({}),
  headerBytes: 4_096,
  headersTimeoutMs: 60_000,
  requestTimeoutMs: 60_000,
  keepAliveTimeoutMs: 60_000,
  shutdownTimeoutMs: 60_000,
};

async function open(
  t: TestContext,
  options: Partial<ListenOptions> & { limits?: Partial<typeof LIMITS> } = {},
): Promise<Listener> {
  const { limits, ...rest } = options;
  const settings = { listen: { host: "127.0.0.1", port: 0 }, tls: null, limits: { ...LIMITS, ...limits } };
  const handle: ListenOptions["handle"] = (request, response) => {
    request.resume();
    (response as http.ServerResponse).end(`served ${request.url}`);
  };
  const listener = await listen({
    settings,
    handle,
    handleContinue: handle,
    upgrade: (_request, socket) => void socket.end("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
    world: realWorld(),
    ...rest,
  });
  t.after(() => listener.close());
  return listener;
}

/** Writes the text and hears everything until the connection is closed. */
function talk(listener: Listener, ...texts: string[]): Promise<string> {
  return new Promise((resolve) => {
    const socket = net.connect(listener.address.port, "127.0.0.1");
    let heard = "";
    socket.on("data", (chunk) => (heard += chunk));
    socket.on("error", () => {}).on("close", () => resolve(heard));
    for (const text of texts) socket.write(text);
  });
}

test("a header over the limit is answered with 431, however long it goes on", async (t) => {
  const listener = await open(t);
  const heard = await talk(listener, "GET / HTTP/1.1\r\nHost: a\r\n", `X-Long: ${"x".repeat(100_000)}\r\n`);
  assert.match(heard, /^HTTP\/1\.1 431 [\s\S]*\r\nConnection: close\r\n/);
});

test("as many headers as the limit pass, one more is a 431", async (t) => {
  const listener = await open(t);
  const head = (count: number) =>
    `GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${"X: y\r\n".repeat(count - 2)}\r\n`;
  assert.match(await talk(listener, head(HEADERS_MAX)), /served \/x/);
  assert.match(await talk(listener, head(HEADERS_MAX + 1)), /^HTTP\/1\.1 431 /);
  assert.match(await talk(listener, head(HEADERS_MAX + 100)), /^HTTP\/1\.1 431 /);
});

test("a header that does not arrive in time is answered with 408", async (t) => {
  const listener = await open(t, { limits: { headersTimeoutMs: 20 } });
  assert.match(await talk(listener, "GET / HTTP/1.1\r\nHos"), /^HTTP\/1\.1 408 /);
});

test("a body that falls silent is answered with 408, one that keeps coming is not", async (t) => {
  const world = handWorld();
  const came: Record<string, number> = { "/silent": 0, "/slow": 0 };
  const listener = await open(t, {
    world,
    handle: (request, response) => {
      request.on("data", (chunk: Buffer) => (came[request.url!]! += chunk.length));
      request.on("end", () => (response as http.ServerResponse).end("whole"));
    },
  });
  const post = (path: string, bytes: number) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${bytes}\r\n\r\n`;
  const silent = talk(listener, `${post("/silent", 100)}abc`);
  const socket = net.connect(listener.address.port, "127.0.0.1");
  const heard = new Promise<string>((resolve) => socket.on("data", (chunk) => resolve(String(chunk))));
  socket.write(post("/slow", 10));
  await until(() => came["/silent"] === 3);
  for (let i = 1; i <= 10; i++) {
    socket.write("x");
    await until(() => came["/slow"] === i);
    world.pass(LIMITS.requestTimeoutMs * 0.9);
  }
  assert.match(await heard, /whole/);
  assert.match(await silent, /^HTTP\/1\.1 408 /);
});

test("what is no HTTP is answered with 400 and the connection closed", async (t) => {
  const listener = await open(t);
  assert.match(await talk(listener, "hello\r\n\r\n"), /^HTTP\/1\.1 400 [\s\S]*malformed request/);
});

test("a bad chunk behind a good head is a 400, and the handler's request fails", async (t) => {
  let failed: unknown = null;
  const listener = await open(t, {
    handle: (request) => void request.resume().on("error", (error: Error) => (failed = error)),
  });
  const heard = await talk(
    listener,
    "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  );
  assert.match(heard, /^HTTP\/1\.1 400 /);
  assert.ok(failed instanceof Error);
});

test("the handler sees a path even when the target was a whole address", async (t) => {
  const listener = await open(t);
  const heard = await talk(listener, "GET http://a:1/x?y HTTP/1.1\r\nHost: a:1\r\nConnection: close\r\n\r\n");
  assert.match(heard, /served \/x\?y$/);
});

test("an unused kept connection is closed after its time", async (t) => {
  const listener = await open(t, { limits: { keepAliveTimeoutMs: 20 } });
  assert.match(await talk(listener, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), /served/);
});

test("closing finishes what is under way, closes what is idle, and takes nothing new", async (t) => {
  let finish = () => {};
  let onStart = () => {};
  const started = new Promise<void>((resolve) => (onStart = resolve));
  const listener = await open(t, {
    handle: (_request, response) => {
      const plain = response as http.ServerResponse;
      plain.write("begun ");
      finish = () => plain.end("ended");
      onStart();
    },
  });
  const unused = talk(listener);
  const busy = talk(listener, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  await started;
  const closing = listener.close();
  assert.equal(await unused, "");
  await assert.rejects(
    new Promise((resolve, reject) =>
      http.get(`http://127.0.0.1:${listener.address.port}`, resolve).on("error", reject),
    ),
    { code: "ECONNREFUSED" },
  );
  finish();
  assert.match(await busy, /begun [\s\S]*ended/);
  await closing;
  await listener.close();
});

test("what has not finished at the deadline is cut, upgraded connections too", async (t) => {
  let count = 0;
  let onBoth = () => {};
  const both = new Promise<void>((resolve) => (onBoth = resolve));
  const begin = () => ++count === 2 && onBoth();
  const listener = await open(t, {
    limits: { shutdownTimeoutMs: 30 },
    handle: (_request, response) => {
      (response as http.ServerResponse).write("begun ");
      begin();
    },
    upgrade: (_request, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\n\r\n");
      begin();
    },
  });
  const endless = talk(listener, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  const upgraded = talk(
    listener,
    "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
  );
  await both;
  await listener.close();
  assert.match(await endless, /begun/);
  assert.match(await upgraded, /101/);
});

test("a request during closing is told that the connection ends with it", async (t) => {
  let finish = () => {};
  let onStart = () => {};
  const started = new Promise<void>((resolve) => (onStart = resolve));
  const listener = await open(t, {
    handle: (request, response) => {
      const plain = response as http.ServerResponse;
      if (request.url === "/2") {
        plain.end("second");
        finish();
      } else {
        finish = () => plain.end("first");
        onStart();
      }
    },
  });
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
  const socket = net.connect(listener.address.port, "127.0.0.1");
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk));
  const ended = new Promise((resolve) => socket.on("close", resolve));
  socket.write(get("/1"));
  await started;
  const closing = listener.close();
  socket.write(get("/2"));
  await closing;
  await ended;
  assert.match(heard, /first[\s\S]*Connection: close[\s\S]*second$/);
});

test("an address that is taken, or a certificate that cannot be read, is a failure to start", async (t) => {
  const { address } = await open(t);
  const settings = { listen: { host: "127.0.0.1", port: address.port }, tls: null, limits: LIMITS };
  await assert.rejects(open(t, { settings }), { code: "EADDRINUSE" });
  const tls = { certificateFile: "/nowhere/cert.pem", keyFile: "/nowhere/key.pem" };
  await assert.rejects(open(t, { settings: { ...settings, tls } }), { code: "ENOENT" });
});

test("new limits are taken over without a restart", async (t) => {
  const listener = await open(t);
  const limits = { ...LIMITS, keepAliveTimeoutMs: 20 };
  await listener.reload({ listen: { host: "127.0.0.1", port: 0 }, tls: null, limits });
  assert.match(await talk(listener, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"), /served/);
});
