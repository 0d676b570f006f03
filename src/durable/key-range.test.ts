import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareUtf8, isWithin, keyBytes, keyRangeOf } from "./key-range.ts";

const key = fc.string({ unit: "binary", maxLength: 6 });

test("keys are in the order of their UTF-8 bytes, which is not that of JavaScript's strings", () => {
  assert.ok("\u{1f600}" < "\uff5e" && compareUtf8("\u{1f600}", "\uff5e") > 0);
  fc.assert(
    fc.property(key, key, (a, b) => {
      assert.equal(Math.sign(compareUtf8(a, b)), Buffer.compare(keyBytes(a), keyBytes(b)));
    }),
  );
});

test("a range has the keys that its options name, and no others", () => {
  const options = fc.record(
    { start: key, end: key, prefix: fc.string({ unit: "binary", maxLength: 2 }) },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(options, key, (chosen, one) => {
      const { start, end, prefix } = chosen;
      const expected =
        (start === undefined || compareUtf8(one, start) >= 0) &&
        (end === undefined || compareUtf8(one, end) < 0) &&
        (prefix === undefined || one.startsWith(prefix));
      assert.equal(isWithin(keyRangeOf(chosen), one), expected);
    }),
  );
});

test("startAfter leaves out its key and nothing else", () => {
  const range = keyRangeOf({ startAfter: "b" });
  assert.deepEqual(
    ["a", "b", "b\0", "ba", "c"].map((one) => isWithin(range, one)),
    [false, false, true, true, true],
  );
  assert.throws(() => keyRangeOf({ start: "a", startAfter: "a" }), /give one of them/);
});
