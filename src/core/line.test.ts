import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Line } from "./line.ts";

const BASE = 59_000_000_000_000;

test("an empty line has nobody ahead and nobody first", () => {
  const line = new Line();
  assert.equal(line.size, 0);
  assert.equal(line.first(), -1);
  assert.equal(line.ahead(BASE), 0);
  assert.equal(line.remove(BASE), false);
});

test("a full word, block and segment are counted to the last bit", () => {
  const line = new Line();
  for (let i = 0; i < 70_000; i++) line.add(BASE + i);
  for (const i of [0, 31, 32, 255, 256, 65_535, 65_536, 69_999]) {
    assert.equal(line.ahead(BASE + i), i);
    assert.equal(line.at(i), BASE + i);
  }
  assert.equal(line.ahead(BASE + 1_000_000), 70_000);
});

test("the line agrees with a sorted set, whatever is added, removed and asked", () => {
  const sequence = fc.oneof(
    fc.integer({ min: 0, max: 300 }),
    fc.integer({ min: 65_000, max: 66_000 }),
    fc.integer({ min: 0, max: 5_000_000 }),
    // Numbers between whole ones, as places get that missed a turn.
    fc.integer({ min: 0, max: 300 * 16 }).map((steps) => steps / 16),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), sequence), { maxLength: 300, size: "max" }), (steps) => {
      const line = new Line();
      const set = new Set<number>();
      for (const [isAdd, value] of steps) {
        if (isAdd) assert.equal(line.add(BASE + value), !set.has(value));
        else assert.equal(line.remove(BASE + value), set.has(value));
        if (isAdd) set.add(value);
        else set.delete(value);
      }
      const sorted = [...set].sort((a, b) => a - b);
      assert.equal(line.size, sorted.length);
      sorted.forEach((value, rank) => {
        assert.equal(line.ahead(BASE + value), rank);
        assert.equal(line.at(rank), BASE + value);
        assert.ok(line.has(BASE + value));
      });
      assert.equal(line.at(sorted.length), -1);
    }),
    { numRuns: 300 },
  );
});
