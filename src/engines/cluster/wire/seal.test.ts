import assert from "node:assert/strict";
import { test } from "node:test";
import { openerWith, sealerWith } from "./seal.ts";

const KEY = Buffer.alloc(32, 7);

function sealed(...texts: string[]): Buffer[] {
  const sealer = sealerWith(KEY);
  return texts.map((text) => Buffer.concat([...sealer.seal(Buffer.from(text))]));
}

test("what was sealed opens in its order, and cannot be read meanwhile", () => {
  const frames = sealed("one message", "", "and another");
  const opener = openerWith(KEY);
  assert.deepEqual(
    frames.map((frame) => opener.open(frame)?.toString()),
    ["one message", "", "and another"],
  );
  assert.equal(frames[0]!.includes("message"), false);
});

test("a frame that is repeated, left out or changed in any bit does not open", () => {
  const [first, second] = sealed("first", "second");
  const repeated = openerWith(KEY);
  assert.ok(repeated.open(first!));
  assert.equal(repeated.open(first!), null);
  assert.equal(openerWith(KEY).open(second!), null);
  for (let bit = 0; bit < first!.length * 8; bit++) {
    const changed = Buffer.from(first!);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(openerWith(KEY).open(changed), null);
  }
  assert.equal(openerWith(KEY).open(first!.subarray(1)), null);
  assert.equal(openerWith(KEY).open(Buffer.alloc(3)), null);
});

test("another key opens nothing", () => {
  assert.equal(openerWith(Buffer.alloc(32, 8)).open(sealed("first")[0]!), null);
});
