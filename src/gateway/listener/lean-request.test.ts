import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { test } from "node:test";
import { rawHeader } from "../proxy/raw-header.ts";
import { LeanRequest } from "./lean-request.ts";

interface Seen {
  readonly request: LeanRequest;
  readonly isWhole: boolean;
  body: string;
}

/** Sends raw requests to a server of lean requests; gives what it saw and what it answered. */
async function exchange(text: string): Promise<{ seen: Seen[]; answer: string }> {
  const seen: Seen[] = [];
  const server = createServer(
    { IncomingMessage: LeanRequest, optimizeEmptyRequests: true },
    (request: IncomingMessage, response) => {
      const lean = request as LeanRequest;
      const isWhole = Object.hasOwn(lean.headers, "accept");
      lean.handOver();
      const one: Seen = { request: lean, isWhole, body: "" };
      seen.push(one);
      request.on("data", (bytes) => {
        one.body += bytes;
      });
      if (!rawHeader(request, "Content-Length", "content-length")?.match(/[1-9]/)) response.end("ok");
      else request.on("end", () => response.end("ok"));
    },
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let answer = "";
  socket.on("data", (bytes) => {
    answer += bytes;
  });
  socket.write(text);
  await once(socket, "close");
  server.close();
  return { seen, answer };
}

const END = "Connection: close\r\n\r\n";

test("headers are made after the request is handed over, and are then whole", async () => {
  const { seen } = await exchange(`GET / HTTP/1.1\r\nHOST: a\r\nAccept: x\r\nX-Y: 1\r\nx-y: 2\r\n${END}`);
  assert.equal(seen[0]!.isWhole, false);
  assert.deepEqual(seen[0]!.request.headers, { host: "a", accept: "x", "x-y": "1, 2", connection: "close" });
});

test("a body is read, and one of no length is none", async () => {
  const first = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello";
  const { seen, answer } = await exchange(
    `${first}POST / HTTP/1.1\r\nHost: a\r\ncontent-length: 0\r\n${END}`,
  );
  assert.deepEqual(
    seen.map(({ body }) => body),
    ["hello", ""],
  );
  assert.equal(answer.match(/200 OK/g)!.length, 2);
});

test("who expects a word before the body gets it", async () => {
  const { answer } = await exchange(
    `POST / HTTP/1.1\r\nHost: a\r\nexpect: 100-continue\r\nContent-Length: 2\r\n${END}hi`,
  );
  assert.match(answer, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK/);
});

test("a request without a Host is refused by Node as ever", async () => {
  const { seen, answer } = await exchange(`GET / HTTP/1.1\r\nAccept: x\r\n${END}`);
  assert.match(answer, /^HTTP\/1\.1 400/);
  assert.equal(seen.length, 0);
});

test("one header from the raw list: any spelling, repeated ones joined as Node joins them", () => {
  const of = (...rawHeaders: string[]) =>
    rawHeader({ rawHeaders, headers: { cookie: "a=1; b=2" } }, "Cookie", "cookie");
  assert.equal(of("Accept", "x", "Cookie", "a=1"), "a=1");
  assert.equal(of("cookie", "a=1"), "a=1");
  assert.equal(of("cOOkie", "a=1"), "a=1");
  assert.equal(of("Cookie", "a=1", "COOKIE", "b=2"), "a=1; b=2");
  assert.equal(of("Accept", "x"), undefined);
});
