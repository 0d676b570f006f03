import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  ADOPT,
  BACK,
  DRAWN,
  type Entry,
  GONE,
  INVITE,
  LAPSE,
  LOOSE,
  POOL,
  TOUCH,
  TURN,
  VISIT,
  WAIT,
  type Written,
  YIELD,
} from "./entries.ts";
import { blockOf, entriesIn } from "./entry-blocks.ts";

const ENTRIES: readonly Entry[] = [
  [WAIT, 1, 0, 0, ""],
  [LAPSE, 1, 0, 0, 9],
  [TURN, 2 ** 52, 0, 0, 9, 5.25, 9],
  [VISIT, 1, 0, 0, "id", 1, 2, 3, 4],
  [GONE, 1, 0, 0, 9, "id"],
  [TOUCH, 1, 9],
  [INVITE, "Größe 😀", 9],
  [YIELD, -1],
  [ADOPT, 3, 1, ["a#1", 7], [WAIT, 1, 0, 9, ""]],
  [POOL, 1, "sale", [1, "id"]],
  [DRAWN, 1, "sale", 1, 5, 9],
  [LOOSE, 1],
  [BACK, 1, 2.5, 2, 1, 9],
];

const inRoom = (...entries: readonly unknown[]): Written[] =>
  entries.map((entry) => ({ room: "r", entry: entry as Entry }));
const text = fc.string({ unit: "grapheme", maxLength: 50 });
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const key = fc.maxSafeInteger();
const entry: fc.Arbitrary<Entry> = fc.oneof(
  fc.tuple(fc.constant(WAIT), key, number, number, text),
  fc.tuple(fc.constant(VISIT), key, number, number, text, number, number, number, number),
  fc.tuple(fc.constant(POOL), number, text, fc.array(fc.oneof(number, text))),
) as fc.Arbitrary<Entry>;

test("every kind of entry comes out as it went in, also after the way over a wire", () => {
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

test("a block larger than any before it is one", () => {
  const many = inRoom(...Array.from({ length: 4_000 }, (_, i) => [INVITE, "c".repeat(100), i]));
  assert.deepEqual(entriesIn(blockOf(many)), many);
});

test("a block that is too short, too long or counts wrong is none", () => {
  const [count, bytes] = blockOf(inRoom(...ENTRIES));
  for (let length = 0; length < bytes.length; length++)
    assert.equal(entriesIn([count, bytes.slice(0, length)]), null, `${length} bytes`);
  assert.equal(entriesIn([count, Uint8Array.of(...bytes, 0)]), null);
  for (const wrong of [0, count - 1, count + 1]) assert.equal(entriesIn([wrong, bytes]), null);
});

test("an entry of no kind, a number that is none, a key that is not whole: then nothing is read", () => {
  const hostile = [
    ...[
      [YIELD, 1.5],
      [YIELD, 2 ** 60],
      [YIELD, Number.NaN],
    ],
    ...[
      [TOUCH, 1, Number.POSITIVE_INFINITY],
      [TURN, 1, 0, 0, Number.NaN, 5, Number.NaN],
    ],
    [ADOPT, 3, 1, [], [ADOPT, 3, 1, [], [WAIT, 1, 0, 9, ""]]],
    [ADOPT, 3, 1, [], [YIELD, 1]],
  ];
  for (const one of hostile) assert.equal(entriesIn(blockOf(inRoom(ENTRIES[0], one))), null, `${one}`);
  const [count, bytes] = blockOf(inRoom([YIELD, 1]));
  const opAt = bytes.length - 9;
  for (const op of [0, 14, 255]) assert.equal(entriesIn([count, bytes.with(opAt, op)]), null, `${op}`);
});

test("whatever bytes come can be looked at without harm", () => {
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
