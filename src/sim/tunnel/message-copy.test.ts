import assert from "node:assert/strict";
import { test } from "node:test";
import { copyOfMessage } from "./message-copy.ts";

test("a copy is the same and shares nothing", () => {
  const message = {
    from: ["a", 1],
    bodies: [{ kind: "edge", weight: null, list: [[1, 2.5], []] }],
    isLast: false,
  };
  const copy = copyOfMessage(message);
  assert.deepEqual(copy, message);
  message.bodies[0]!.list[0]!.push(3);
  assert.equal(copy.bodies[0]!.list[0]!.length, 2);
});

test("bytes are copied", () => {
  const bytes = new Uint8Array([1, 2]);
  const copy = copyOfMessage({ bytes });
  bytes[0] = 9;
  assert.deepEqual(copy.bytes, new Uint8Array([1, 2]));
});

test("what no wire carries is a mistake, and its place is named", () => {
  assert.throws(
    () => copyOfMessage({ bodies: [{ seen: new Map() }] }),
    /message\.bodies\[0\]\.seen is a Map/,
  );
  assert.throws(() => copyOfMessage({ answer: () => {} }), /message\.answer is a function/);
  class Ticket {}
  assert.throws(() => copyOfMessage([new Ticket()]), /message\[0\] is a Ticket/);
});
