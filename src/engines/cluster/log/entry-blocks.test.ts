import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Entry, OP, type Written } from "./entries.ts";
import { blockOf, entriesIn } from "./entry-blocks.ts";

const ENTRIES: readonly Entry[] = [
  [OP.wait, 1, 0, 0, ""],
  [OP.lapse, 1, 0, 0, 9],
  [OP.turn, 2 ** 52, 0, 0, 9, 5.25, 9],
  [OP.visit, 1, 0, 0, "id", 1, 2, 3, 4],
  [OP.gone, 1, 0, 0, 9, "id"],
  [OP.touch, 1, 9],
  [OP.invite, "Größe 😀", 9],
  [OP.yield, -1],
  [OP.adopt, 3, 1, ["a#1", 7], [OP.wait, 1, 0, 9, ""]],
  [OP.pool, 1, "sale", [1, "id"]],
  [OP.drawn, 1, "sale", 1, 5, 9],
  [OP.loose, 1],
  [OP.back, 1, 2.5, 2, 1, 9],
];

const inRoom = (...entries: readonly unknown[]): Written[] =>
  entries.map((entry) => ({ room: "r", entry: entry as Entry }));
const text = fc.string({ unit: "grapheme", maxLength: 50 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const key = fc.maxSafeInteger();
const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.tuple(fc.constant(OP.wait), key, number, number, text),
  fc.tuple(fc.constant(OP.visit), key, number, number, text, number, number, number, number),
  fc.tuple(fc.constant(OP.pool), number, text, fc.array(fc.oneof(number, text))),
) as fc.Arbitrary<Entry>;

test("every kind of entry comes out as it went in, also after a way over a wire", () => {
  const written = inRoom(...ENTRIES);
  assert.deepEqual(entriesIn(structuredClone(blockOf(written))), written);
});

test("entries of several rooms keep their order, whatever is in them", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ room: text, entry }, { noNullPrototype: true })), (written) => {
      assert.deepEqual(entriesIn(blockOf(written)), written);
    }),
  );
});

test("a block may be larger than any before it", () => {
  const many = inRoom(...Array.from({ length: 4_000 }, (_, i) => [OP.invite, "c".repeat(100), i]));
  assert.deepEqual(entriesIn(blockOf(many)), many);
});

test("a block that is too short, too long or has a wrong count is rejected", () => {
  const [count, bytes] = blockOf(inRoom(...ENTRIES));
  for (let length = 0; length < bytes.length; length++)
    assert.equal(entriesIn([count, bytes.slice(0, length)]), null, `${length} bytes`);
  assert.equal(entriesIn([count, Uint8Array.of(...bytes, 0)]), null);
  for (const wrong of [0, count - 1, count + 1]) assert.equal(entriesIn([wrong, bytes]), null);
});

test("a block with an entry of an unknown kind, an invalid number or a fractional key is rejected", () => {
  const hostile = [
    ...[
      [OP.yield, 1.5],
      [OP.yield, 2 ** 60],
      [OP.yield, Number.NaN],
    ],
    ...[
      [OP.touch, 1, Number.POSITIVE_INFINITY],
      [OP.turn, 1, 0, 0, Number.NaN, 5, Number.NaN],
    ],
    [OP.adopt, 3, 1, [], [OP.adopt, 3, 1, [], [OP.wait, 1, 0, 9, ""]]],
    [OP.adopt, 3, 1, [], [OP.yield, 1]],
  ];
  for (const one of hostile) assert.equal(entriesIn(blockOf(inRoom(ENTRIES[0], one))), null, `${one}`);
  const [count, bytes] = blockOf(inRoom([OP.yield, 1]));
  const opAt = bytes.length - 9;
  for (const op of [0, 14, 255]) assert.equal(entriesIn([count, bytes.with(opAt, op)]), null, `${op}`);
});

test("any bytes can be checked without harm", () => {
  const [count, good] = blockOf(inRoom(...ENTRIES));
  const spoilt = fc
    .array(fc.tuple(fc.nat(good.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((changes) => changes.reduce((bytes, [at, value]) => bytes.with(at, value), good));
  fc.assert(
    fc.property(fc.nat(20), fc.oneof(fc.uint8Array({ maxLength: 200 }), spoilt), (n, bytes) => {
      for (const told of [n, count]) assert.ok((entriesIn([told, bytes])?.length ?? told) === told);
    }),
  );
});
