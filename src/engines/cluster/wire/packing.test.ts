import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { packMessages, unpackMessages } from "./packing.ts";

const MESSAGE = {
  from: ["10.0.0.7:7100", 1],
  clock: 1_763_000_000_123,
  view: [3, 0],
  bodies: [{ kind: "entries", room: "spring sale", list: [[1, 2, -3, 4.5, null], []] }],
};

/** Object keys that have broken packers before. */
const key = fc.oneof(
  fc.constantFrom("a", "room", "", "0", "-1", "constructor", "toString", "length", "__keys__", "ü"),
  fc.string({ maxLength: 40 }).filter((text) => text !== "__proto__"),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.double(), fc.string({ unit: "grapheme" }), fc.boolean()),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 20 }),
    fc.dictionary(key, tie("value"), { maxKeys: 20, noNullPrototype: true }),
  ),
}));

function packed(messages: readonly unknown[]): Buffer {
  const body = packMessages(messages);
  assert.ok(body);
  return body;
}

test("plain values come back as they were", () => {
  assert.deepEqual(unpackMessages(packed([MESSAGE, "and", 7])), [MESSAGE, "and", 7]);
  fc.assert(
    fc.property(fc.array(value, { maxLength: 10 }), (messages) => {
      // Zero has one sign in MessagePack.
      const unsigned = JSON.parse(JSON.stringify(messages));
      assert.deepEqual(JSON.parse(JSON.stringify(unpackMessages(packed(messages)))), unsigned);
    }),
  );
});

test("maps come back as plain objects, and bytes as bytes of their own", () => {
  const [message, bytes] = unpackMessages(packed([{ a: { b: 1 } }, Buffer.from("bytes")]))!;
  assert.equal(Object.getPrototypeOf((message as { a: object }).a), Object.prototype);
  assert.deepEqual(bytes, Buffer.from("bytes"));
  assert.equal((bytes as Uint8Array).buffer.byteLength, 5);
});

test("a key __proto__ reaches no prototype", () => {
  const hostile = JSON.parse('{"__proto__": {"isAdmin": true}, "plain": 1}');
  const [message] = unpackMessages(packed([hostile])) as [Record<string, unknown>];
  assert.equal(message.isAdmin, undefined);
  assert.equal(Object.getPrototypeOf(message), Object.prototype);
  assert.equal(({} as Record<string, unknown>).isAdmin, undefined);
});

test("bytes of any kind are messages or rejected, and never an exception", () => {
  const mutation = fc.tuple(fc.nat(), fc.nat(255));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const messages = unpackMessages(Buffer.from(bytes));
      assert.ok(messages === null || Array.isArray(messages));
    }),
  );
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 5 }), (mutations) => {
      const body = packed([MESSAGE]);
      for (const [at, byte] of mutations) body[at % body.length] = byte;
      const messages = unpackMessages(body);
      assert.ok(messages === null || Array.isArray(messages));
      assert.deepEqual(unpackMessages(packed([MESSAGE])), [MESSAGE]);
    }),
  );
});

test("values that no message has are refused: dates, sets, patterns, references, more after the end, too deep", () => {
  const one = 0x91;
  const hostile = {
    date: [one, 0xd6, 0xff, 1, 2, 3, 4],
    set: [one, 0xd4, 0x73, 0, 0x91, 1],
    pattern: [one, 0xd4, 0x78, 0, 0x92, 0xa1, 0x61, 0xa1, 0x67],
    reference: [0x92, 0xd6, 0x69, 0, 0, 0, 1, 0x91, 1, 0xd6, 0x70, 0, 0, 0, 1],
    error: [one, 0xd4, 0x65, 0, 0x93, 0xa1, 0x61, 0xa1, 0x61, 0xc0],
    rest: [one, 1, 1],
    short: [0x92, 1],
    map: [0x81, 0xa1, 0x61, 1],
  };
  for (const [name, bytes] of Object.entries(hostile))
    assert.equal(unpackMessages(Buffer.from(bytes)), null, name);
  assert.equal(unpackMessages(Buffer.alloc(1_000_000, one)), null);
});

test("what cannot be packed is reported, and harms nothing packed later", () => {
  const itself: unknown[] = [];
  itself.push(itself);
  for (const message of [itself, 2n ** 70n]) assert.equal(packMessages(["fine", message]), null);
  assert.deepEqual(unpackMessages(packed([MESSAGE])), [MESSAGE]);
});

test("a short frame cannot make a long array", () => {
  assert.equal(unpackMessages(Buffer.of(0xdd, 0xff, 0xff, 0xff, 0xff, 1)), null);
});
