import assert from "node:assert/strict";
import { PassThrough, Readable } from "node:stream";
import { test } from "node:test";
import { handWorld } from "../../sim/hand-world.ts";
import { KEPT_BYTES_MAX, OriginCall } from "./origin-call.ts";
import type { PoolHandler, PoolRequest } from "./pool.ts";

const settings = { headersTimeout: 1_000, idleTimeout: 1_000 };
const tick = () => new Promise((resolve) => setImmediate(resolve));

/** A call with a body, and what its handler hears. */
function begin(body: Readable | null, headers: string[] = [], own: Partial<PoolHandler> = {}) {
  const heard: string[] = [];
  const world = handWorld();
  const request: PoolRequest = {
    ...{ method: "POST", path: "/", headers, body, servername: "", te: undefined },
  };
  const handler: PoolHandler = {
    isInvalid: false,
    onRequestStart: () => void heard.push("start"),
    onResponseStart: (_call, status) => void heard.push(String(status)),
    onResponseData: (_call, chunk) => void heard.push(chunk.toString()),
    onResponseEnd: () => void heard.push("end"),
    onResponseError: (_call, error) =>
      void heard.push((error as NodeJS.ErrnoException).code ?? error.message),
    ...own,
  };
  const call = new OriginCall(request, handler, { settings, world });
  const open = () => {
    const outgoing = new PassThrough();
    const transport = {
      outgoing,
      isDropped: false,
      drop() {
        transport.isDropped = true;
      },
    };
    if (call.begin()) call.open(transport);
    return transport;
  };
  return { call, heard, world, open };
}

test("a body that is longer or shorter than its length ends the request", async () => {
  for (const text of ["longer", "no"]) {
    const { heard, open } = begin(Readable.from([Buffer.from(text)]), ["Content-Length", "4"]);
    const { outgoing } = open();
    await tick();
    assert.deepEqual(heard, ["start", "UND_ERR_INVALID_ARG"]);
    assert.equal(outgoing.writableEnded, false);
  }
});

test("what a handler throws ends its own request, once", async () => {
  const throws = () => assert.fail("thrown");
  for (const own of [{ onRequestStart: throws }, { onResponseStart: throws }, { onResponseData: throws }]) {
    const { call, heard, open } = begin(null, [], own);
    const transport = open();
    const incoming = new PassThrough();
    call.answer({ status: 200, raw: [], message: "" }, incoming);
    incoming.end("x");
    await tick();
    call.end([]);
    assert.equal(heard.filter((word) => word === "ERR_ASSERTION").length, 1);
    assert.ok(!heard.includes("end"));
    assert.equal(transport.isDropped, !("onRequestStart" in own));
  }
});

test("a call that is taken back is sent again whole, and not again and again", async () => {
  const body = new PassThrough();
  const { call, heard, open } = begin(body);
  body.write("one ");
  const first = open();
  await tick();
  assert.equal(call.takeBack(false), true);
  body.write("two ");
  await tick();
  const second = open();
  body.end("three");
  assert.equal((await second.outgoing.toArray()).join(""), "one two three");
  assert.equal(String(first.outgoing.read()), "one ");
  assert.equal(call.takeBack(false), false);
  // Not so where connections go away.
  for (let i = 0; i < 4; i++) assert.equal(call.takeBack(true), true);
  assert.equal(call.takeBack(true), false);
  assert.deepEqual(heard, ["start", "start"]);
});

test("a call is not taken back when it was answered, or too much of its body was sent", async () => {
  const answered = begin(null);
  answered.open();
  answered.call.answer({ status: 200, raw: [], message: "" }, new PassThrough());
  assert.equal(answered.call.takeBack(false), false);
  const long = begin(Readable.from([Buffer.alloc(KEPT_BYTES_MAX + 1)]));
  long.open();
  await tick();
  assert.equal(long.call.takeBack(false), false);
});

test("time counts while the origin is awaited, and not while the visitor is", async () => {
  const body = new PassThrough();
  const { call, heard, open, world } = begin(body);
  open();
  world.pass(5_000);
  body.end("late");
  await tick();
  world.pass(999);
  assert.deepEqual(heard, ["start"]);
  call.answer({ status: 200, raw: [], message: "" }, new PassThrough());
  call.pause();
  world.pass(5_000);
  call.resume();
  world.pass(999);
  assert.deepEqual(heard, ["start", "200"]);
  world.pass(1);
  assert.deepEqual(heard, ["start", "200", "UND_ERR_BODY_TIMEOUT"]);
});
