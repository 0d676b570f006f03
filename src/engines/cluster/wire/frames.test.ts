import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FRAME_BYTES_MAX, FrameReader, framesIn, lengthPrefix, receiptFor } from "./frames.ts";

const BYTES_MAX = 100;
const framed = (body: Buffer) => Buffer.concat([lengthPrefix(body.length), body]);

function readAll(reader: FrameReader): (Buffer | "tooBig")[] {
  const frames: (Buffer | "tooBig")[] = [];
  for (let frame = reader.next(); frame !== "incomplete"; frame = reader.next()) {
    frames.push(frame);
    if (frame === "tooBig") break;
  }
  return frames;
}

test("frames come out as they went in, in whatever pieces the stream arrives", () => {
  const bodies = fc.array(fc.uint8Array({ maxLength: BYTES_MAX }), { maxLength: 12 });
  const cuts = fc.array(fc.nat(400), { maxLength: 30 });
  fc.assert(
    fc.property(bodies, cuts, (written, cutsAt) => {
      const stream = Buffer.concat(written.map((body) => framed(Buffer.from(body))));
      const ends = [...cutsAt.map((at) => Math.min(at, stream.length)), stream.length].sort((a, b) => a - b);
      const reader = new FrameReader(BYTES_MAX);
      const read = ends.flatMap((end, i) => {
        reader.push(stream.subarray(ends[i - 1] ?? 0, end));
        return readAll(reader);
      });
      assert.deepEqual(
        read,
        written.map((body) => Buffer.from(body)),
      );
    }),
  );
});

test("a stream that comes byte by byte is read, also when it is long", () => {
  const reader = new FrameReader(10_000);
  const body = Buffer.alloc(5_000, "messages");
  let read: unknown[] = [];
  for (const byte of framed(body)) {
    reader.push(Buffer.of(byte));
    read = readAll(reader);
  }
  assert.deepEqual(read, [body]);
});

test("a frame that is too big is known by its length alone", () => {
  const reader = new FrameReader(BYTES_MAX);
  reader.push(lengthPrefix(BYTES_MAX + 1));
  assert.equal(reader.next(), "tooBig");
});

test("a changed limit holds from the next frame on", () => {
  const reader = new FrameReader(4);
  reader.push(Buffer.concat([framed(Buffer.from("hail")), framed(Buffer.from("longer"))]));
  assert.deepEqual(reader.next(), Buffer.from("hail"));
  reader.bytesMax = 6;
  assert.deepEqual(reader.next(), Buffer.from("longer"));
});

test("a receipt tells how many frames have arrived, and nothing else is a receipt", () => {
  for (const frames of [0, 1, 2 ** 40]) assert.equal(framesIn(receiptFor(frames)), frames);
  assert.equal(framesIn(Buffer.alloc(0)), null);
  assert.equal(framesIn(Buffer.alloc(7)), null);
});

test("a large frame that comes byte by byte comes out whole, and so does what follows it", () => {
  const bodies = [Buffer.alloc(1_100_000, "large"), Buffer.from("small")];
  const whole = Buffer.concat(bodies.flatMap((body) => [lengthPrefix(body.length), body]));
  const reader = new FrameReader(FRAME_BYTES_MAX);
  const found: Buffer[] = [];
  for (let at = 0; at < whole.length; at++) {
    reader.push(whole.subarray(at, at + 1));
    const frame = reader.next();
    if (typeof frame !== "string") found.push(frame);
  }
  assert.deepEqual(found, bodies);
});
