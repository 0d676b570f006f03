import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  ADOPT,
  DRAWN,
  type Entry,
  GONE,
  INVITE,
  isEntry,
  LAPSE,
  POOL,
  TOUCH,
  TURN,
  VISIT,
  WAIT,
  YIELD,
} from "./entries.ts";

const ENTRIES: readonly Entry[] = [
  [WAIT, 1, 0, 0, ""],
  [LAPSE, 1, 0, 0, 9],
  [TURN, 1, 0, 0, 9, 5],
  [VISIT, 1, 0, 0, "id", 1, 2, 3, 4],
  [GONE, 1, 0, 0, 9, "id"],
  [TOUCH, 1, 9],
  [INVITE, "code", 9],
  [YIELD, 1],
  [ADOPT, 3, 1, ["a#1", 7], [WAIT, 1, 0, 9, ""]],
  [POOL, 1, "sale", [1, "id"]],
  [DRAWN, 1, "sale", 1, 5, 9],
];

/** Values that nothing in an entry can be. */
const HOSTILE: readonly unknown[] = [null, undefined, Number.NaN, Number.POSITIVE_INFINITY, {}, true];

test("every kind of entry is known for what it is, also after the way over a wire", () => {
  for (const entry of ENTRIES) assert.ok(isEntry(structuredClone(entry)), JSON.stringify(entry));
});

test("an entry that is too short, too long or has something else in it is none", () => {
  for (const entry of ENTRIES) {
    assert.equal(isEntry(entry.slice(0, -1)), false);
    assert.equal(isEntry([...entry, 0]), false);
    for (const [at] of entry.entries())
      for (const value of HOSTILE)
        assert.equal(isEntry(entry.with(at, value as never)), false, `${entry} ${at}`);
  }
});

test("a key is a whole number", () => {
  assert.equal(isEntry([YIELD, 1.5]), false);
  assert.equal(isEntry([YIELD, "1"]), false);
  assert.equal(isEntry([YIELD, 2 ** 60]), false);
});

test("an entry takes over a place as it is, never one that takes over", () => {
  const inner = [ADOPT, 3, 1, ["a#1", 7], [WAIT, 1, 0, 9, ""]];
  assert.equal(isEntry([ADOPT, 3, 1, [], inner]), false);
  assert.equal(isEntry([ADOPT, 3, 1, [], [WAIT, 1]]), false);
});

test("whatever stands for the things in an entry can be looked at without harm", () => {
  const kind = fc.integer({ min: -1, max: 12 });
  fc.assert(
    fc.property(kind, fc.array(fc.anything(), { maxLength: 9 }), (op, rest) => {
      const value = [op, ...rest.map((one) => (Array.isArray(one) ? null : one))];
      assert.equal(typeof isEntry(value), "boolean");
    }),
  );
});
