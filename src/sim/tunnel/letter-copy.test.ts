import assert from "node:assert/strict";
import { test } from "node:test";
import { copyOfLetter } from "./letter-copy.ts";

test("a copy is the same and shares nothing", () => {
  const letter = {
    from: ["a", 1],
    bodies: [{ kind: "edge", weight: null, list: [[1, 2.5], []] }],
    isLast: false,
  };
  const copy = copyOfLetter(letter);
  assert.deepEqual(copy, letter);
  letter.bodies[0]!.list[0]!.push(3);
  assert.equal(copy.bodies[0]!.list[0]!.length, 2);
});

test("bytes are copied", () => {
  const bytes = new Uint8Array([1, 2]);
  const copy = copyOfLetter({ bytes });
  bytes[0] = 9;
  assert.deepEqual(copy.bytes, new Uint8Array([1, 2]));
});

test("what no wire carries is a mistake, and its place is named", () => {
  assert.throws(() => copyOfLetter({ bodies: [{ seen: new Map() }] }), /letter\.bodies\[0\]\.seen is a Map/);
  assert.throws(() => copyOfLetter({ answer: () => {} }), /letter\.answer is a function/);
  class Ticket {}
  assert.throws(() => copyOfLetter([new Ticket()]), /letter\[0\] is a Ticket/);
});
