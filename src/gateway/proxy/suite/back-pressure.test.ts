/** A slow reader on either side holds the other back; the proxy keeps next to nothing in between. */
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import net from "node:net";
import type { Writable } from "node:stream";
import { test } from "node:test";
import { openProxiedOrigin, openProxyStage, until } from "../../../testing/proxy/stage.ts";

const CHUNK = Buffer.alloc(65_536, "x");
const TOTAL = 96 * 1_048_576;
/** What the kernel's buffers on two connections may hold at most, and then some; far less than the total. */
const HELD_MAX = 48 * 1_048_576;

/** Writes the total as fast as the stream takes it. Tells how much it has taken so far. */
function pour(stream: Writable): { bytes: number } {
  const poured = { bytes: 0 };
  const more = () => {
    while (poured.bytes < TOTAL) {
      poured.bytes += CHUNK.length;
      if (!stream.write(CHUNK)) return void stream.once("drain", more);
    }
    stream.end();
  };
  more();
  return poured;
}

/** Resolves when the number has not changed for a while. */
async function settled(read: () => number): Promise<void> {
  let last = -1;
  let still = 0;
  await until(() => {
    still = read() === last ? still + 1 : 0;
    last = read();
    return last > 0 && still > 40;
  });
}

test("a visitor who reads nothing stops the origin, and gets everything on reading on", async (t) => {
  let poured = { bytes: 0 };
  const origin = await openProxiedOrigin(t, (_request, response) => {
    response.setHeader("Content-Length", TOTAL);
    poured = pour(response);
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const memoryBefore = process.memoryUsage().arrayBuffers;
  const socket = net.connect(port, "127.0.0.1").pause();
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  await settled(() => poured.bytes);
  assert.ok(poured.bytes < HELD_MAX, `origin could send ${poured.bytes} bytes`);
  assert.ok(
    process.memoryUsage().arrayBuffers - memoryBefore < 16 * 1_048_576,
    "the proxy holds it in memory",
  );
  let bytes = 0;
  socket.on("data", (chunk) => (bytes += chunk.length)).resume();
  await new Promise((resolve) => socket.on("close", resolve));
  assert.ok(bytes > TOTAL, `visitor got ${bytes} bytes`);
});

test("an origin that reads nothing stops the visitor, and gets everything on reading on", async (t) => {
  let upload: IncomingMessage | null = null;
  const origin = await openProxiedOrigin(t, (request, response) => {
    upload = request;
    let bytes = 0;
    request.on("end", () => response.end(String(bytes)));
    request.on("data", (chunk: Buffer) => (bytes += chunk.length)).pause();
  });
  const { port } = await openProxyStage(t, [origin.address]);
  const socket = net.connect(port, "127.0.0.1");
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${TOTAL}\r\nConnection: close\r\n\r\n`);
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk));
  const poured = { bytes: 0 };
  const more = () => {
    while (poured.bytes < TOTAL) {
      poured.bytes += CHUNK.length;
      if (!socket.write(CHUNK)) return void socket.once("drain", more);
    }
  };
  more();
  await until(() => upload !== null);
  await settled(() => poured.bytes);
  assert.ok(poured.bytes < HELD_MAX, `visitor could send ${poured.bytes} bytes`);
  upload!.resume();
  await new Promise((resolve) => socket.on("close", resolve));
  assert.match(heard, new RegExp(`${TOTAL}`));
});

test("where bodies are not buffered, bytes are passed on as they come, in both directions at once", async (t) => {
  const origin = await openProxiedOrigin(t, (request, response) => {
    response.flushHeaders();
    request.pipe(response);
  });
  const { port } = await openProxyStage(t, [origin.address], { limits: { bufferedBodyBytes: 0 } });
  const socket = net.connect(port, "127.0.0.1");
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk));
  socket.write("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
  for (const word of ["first", "second", "third"]) {
    socket.write(`${word.length.toString(16)}\r\n${word}\r\n`);
    await until(() => heard.includes(word));
  }
  socket.write("0\r\n\r\n");
  await new Promise((resolve) => socket.on("close", resolve));
  assert.match(heard, /first[\s\S]*second[\s\S]*third/);
});
