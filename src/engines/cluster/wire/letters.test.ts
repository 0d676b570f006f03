import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { packLetters, unpackLetters } from "./letters.ts";

const LETTER = {
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

function packed(letters: readonly unknown[]): Buffer {
  const body = packLetters(letters);
  assert.ok(body);
  return body;
}

test("plain values come back as they were", () => {
  assert.deepEqual(unpackLetters(packed([LETTER, "and", 7])), [LETTER, "and", 7]);
  fc.assert(
    fc.property(fc.array(value, { maxLength: 10 }), (letters) => {
      // Zero has one sign in MessagePack.
      const unsigned = JSON.parse(JSON.stringify(letters));
      assert.deepEqual(JSON.parse(JSON.stringify(unpackLetters(packed(letters)))), unsigned);
    }),
  );
});

test("maps come back as plain objects, and bytes as bytes of their own", () => {
  const [letter, bytes] = unpackLetters(packed([{ a: { b: 1 } }, Buffer.from("bytes")]))!;
  assert.equal(Object.getPrototypeOf((letter as { a: object }).a), Object.prototype);
  assert.deepEqual(bytes, Buffer.from("bytes"));
  assert.equal((bytes as Uint8Array).buffer.byteLength, 5);
});

test("a key __proto__ reaches no prototype", () => {
  const hostile = JSON.parse('{"__proto__": {"isAdmin": true}, "plain": 1}');
  const [letter] = unpackLetters(packed([hostile])) as [Record<string, unknown>];
  assert.equal(letter.isAdmin, undefined);
  assert.equal(Object.getPrototypeOf(letter), Object.prototype);
  assert.equal(({} as Record<string, unknown>).isAdmin, undefined);
});

test("bytes of any kind are letters or none, and never an exception", () => {
  const mutation = fc.tuple(fc.nat(), fc.nat(255));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      const letters = unpackLetters(Buffer.from(bytes));
      assert.ok(letters === null || Array.isArray(letters));
    }),
  );
  fc.assert(
    fc.property(fc.array(mutation, { minLength: 1, maxLength: 5 }), (mutations) => {
      const body = packed([LETTER]);
      for (const [at, byte] of mutations) body[at % body.length] = byte;
      const letters = unpackLetters(body);
      assert.ok(letters === null || Array.isArray(letters));
      assert.deepEqual(unpackLetters(packed([LETTER])), [LETTER]);
    }),
  );
});

test("what no letter holds is refused: dates, sets, patterns, references, more after the end, too deep", () => {
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
    assert.equal(unpackLetters(Buffer.from(bytes)), null, name);
  assert.equal(unpackLetters(Buffer.alloc(1_000_000, one)), null);
});

test("what cannot be packed is told, and harms nothing packed later", () => {
  const itself: unknown[] = [];
  itself.push(itself);
  for (const letter of [itself, 2n ** 70n]) assert.equal(packLetters(["fine", letter]), null);
  assert.deepEqual(unpackLetters(packed([LETTER])), [LETTER]);
});

test("a short frame cannot make a long array", () => {
  assert.equal(unpackLetters(Buffer.of(0xdd, 0xff, 0xff, 0xff, 0xff, 1)), null);
});
