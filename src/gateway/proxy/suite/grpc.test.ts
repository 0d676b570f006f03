/**
 * gRPC through the gateway: calls are HTTP/2 requests whose outcome is in the trailers, so they pass where both sides
 * speak HTTP/2, and only there.
 */
import assert from "node:assert/strict";
import { once } from "node:events";
import http2, { type ClientHttp2Stream, type ServerHttp2Stream } from "node:http2";
import { type TestContext, test } from "node:test";
import { ca, ORIGIN_TLS, openServer, pair } from "../../../testing/proxy/http2-stage.ts";
import { openProxyStage, type ProxyStageOptions } from "../../../testing/proxy/stage.ts";

const CALL = {
  ":method": "POST",
  ":path": "/shop.Stock/Watch",
  "content-type": "application/grpc",
  te: "trailers",
} as const;

/** A message as gRPC frames it: not compressed, its length, its bytes. */
function message(text: string): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(text.length, 1);
  return Buffer.concat([head, Buffer.from(text)]);
}

/** Answers each message of a call with one of its own. It wants what gRPC servers want, and speaks HTTP/2 alone. */
async function openService(t: TestContext, options: ProxyStageOptions = {}, isPlain = false) {
  const server = isPlain ? http2.createServer() : http2.createSecureServer(pair);
  server.on("stream", (stream: ServerHttp2Stream, headers) => {
    const isCall = headers.te === "trailers" && headers["content-type"] === "application/grpc";
    stream.on("error", () => {});
    if (headers[":path"] === "/shop.Stock/Missing") {
      // "Trailers only": the outcome in the head, and nothing behind it.
      stream.respond({ "content-type": "application/grpc", "grpc-status": "12" }, { endStream: true });
      return;
    }
    stream.respond({ "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () =>
      stream.sendTrailers({ "grpc-status": isCall ? "0" : "13", "grpc-message": "done" }),
    );
    stream.on("data", (chunk: Buffer) => stream.write(message(`re: ${chunk.subarray(5)}`)));
    stream.on("end", () => stream.end());
  });
  const origin = await openServer(t, server);
  const { port } = await openProxyStage(t, [origin.address], { tls: ORIGIN_TLS, ...options });
  const session = http2.connect(`https://localhost:${port}`, { ca });
  session.on("error", () => {});
  t.after(() => session.destroy());
  return session;
}

async function readCall(stream: ClientHttp2Stream) {
  let trailers: http2.IncomingHttpHeaders = {};
  stream.on("trailers", (got) => (trailers = got));
  const [headers] = (await once(stream, "response")) as [http2.IncomingHttpHeaders];
  const chunks = (await stream.toArray()) as Buffer[];
  return { headers, trailers, body: Buffer.concat(chunks) };
}

for (const isPlain of [false, true])
  test(`a call passes over HTTP/2 ${isPlain ? "in the clear" : "with ORIGIN_TLS"}: messages, and the outcome in the trailers`, async (t) => {
    const session = await openService(t, { origin: { http2: isPlain ? "always" : "tls" } }, isPlain);
    const stream = session.request(CALL);
    stream.end(message("tickets"));
    const { headers, trailers, body } = await readCall(stream);
    assert.equal(headers[":status"], 200);
    assert.equal(headers["content-type"], "application/grpc");
    assert.deepEqual(body, message("re: tickets"));
    assert.deepEqual([trailers["grpc-status"], trailers["grpc-message"]], ["0", "done"]);
    const missing = session.request({ ...CALL, ":path": "/shop.Stock/Missing" });
    missing.end(message("x"));
    assert.equal((await readCall(missing)).headers["grpc-status"], "12");
  });

test("with nothing buffered a call talks both ways while it is open", async (t) => {
  const session = await openService(t, { origin: { http2: "tls" }, limits: { bufferedBodyBytes: 0 } });
  const stream = session.request(CALL);
  for (const text of ["one", "two"]) {
    stream.write(message(text));
    const [chunk] = (await once(stream, "data")) as [Buffer];
    assert.deepEqual(chunk, message(`re: ${text}`));
  }
  stream.end();
  const [trailers] = (await once(stream.resume(), "trailers")) as [http2.IncomingHttpHeaders];
  assert.equal(trailers["grpc-status"], "0");
});

test("without http2 a gRPC server cannot be reached, and its caller is told so by status", async (t) => {
  const session = await openService(t);
  const stream = session.request(CALL);
  stream.end(message("tickets"));
  const { headers } = await readCall(stream);
  assert.equal(headers[":status"], 502);
  assert.equal(headers["grpc-status"], undefined);
});
