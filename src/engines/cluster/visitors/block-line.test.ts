import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { BlockLine } from "./block-line.ts";

const FAR = 2 ** 53 - 5_000_000;

/** Everything that can be asked of the line, against a sorted array. */
function assertSame(line: BlockLine, set: ReadonlySet<number>): void {
  const sorted = [...set].sort((a, b) => a - b);
  assert.equal(line.size, sorted.length);
  sorted.forEach((key, rank) => {
    if (line.at(rank) !== key || line.ahead(key) !== rank) assert.fail(`${key} is not at ${rank}`);
    if (line.countUpTo(key) !== rank + 1) assert.fail(`${key} is not counted`);
  });
  for (const key of [-1, FAR - 1, 2 ** 53]) {
    assert.equal(line.ahead(key), sorted.filter((other) => other < key).length);
    assert.equal(line.countUpTo(key), sorted.filter((other) => other <= key).length);
  }
  assert.equal(line.at(sorted.length), -1);
}

/** A line and the set it must agree with at every answer. */
function pair() {
  const line = new BlockLine();
  const set = new Set<number>();
  const add = (key: number) => {
    assert.equal(line.add(key), !set.has(key));
    set.add(key);
  };
  const remove = (key: number) => assert.equal(line.remove(key), set.delete(key));
  return { line, set, add, remove };
}

test("an empty line has no first key, none below and none to remove", () => {
  const line = new BlockLine();
  assertSame(line, new Set());
  assert.equal(line.remove(7), false);
});

test("an invalid rank has no key, and a key must be a number", () => {
  const line = new BlockLine();
  line.add(5);
  for (const rank of [-1, 1, 0.5, Number.NaN]) assert.equal(line.at(rank), -1);
  assert.throws(() => line.add(Number.NaN), RangeError);
});

test("the line agrees with a sorted set, whatever is added, removed and asked", () => {
  const key = fc.oneof(
    fc.integer({ min: 0, max: 300 }),
    fc.integer({ min: FAR, max: FAR + 5_000_000 }),
    fc.double({ min: 0, max: 1_000, noNaN: true }).map((x) => x + 0),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), key), { maxLength: 300, size: "max" }), (steps) => {
      const { line, set, add, remove } = pair();
      for (const [isAdd, value] of steps) (isAdd ? add : remove)(value);
      assertSame(line, set);
    }),
    { numRuns: 60 },
  );
});

test("the line agrees with a sorted set through splits, merges, a moving front and a late start", () => {
  const phase = fc.record({
    way: fc.constantFrom("append", "late", "front", "anywhere", "range"),
    count: fc.integer({ min: 1, max: 2_500 }),
    salt: fc.nat(),
  });
  fc.assert(
    fc.property(fc.array(phase, { minLength: 2, maxLength: 8, size: "max" }), (phases) => {
      const { line, set, add, remove } = pair();
      let last = FAR;
      for (const { way, count, salt } of phases) {
        const middle = line.size > 0 ? line.at(salt % line.size) : 0;
        for (let i = 0; i < count; i++) {
          const lot = Math.imul(i + 1, 0x9e3779b1 ^ salt) >>> 0;
          if (way === "append") last += 1 + (lot % 7);
          if (way === "append") add(last);
          if (way === "late") add(last - (lot % 20_000));
          if (way === "front" && line.size > 0) remove(line.at(0));
          if (way === "anywhere" && line.size > 0) remove(line.at(lot % line.size));
          if (way === "range") remove(middle + i);
        }
      }
      assertSame(line, set);
    }),
    { numRuns: 25 },
  );
});

test("a line that is emptied from the front, or from the back, starts again like new", () => {
  for (const end of ["front", "back"]) {
    const { line, set, add, remove } = pair();
    for (let i = 0; i < 100_000; i++) add(i * 64);
    while (line.size > 0) remove(end === "front" ? line.at(0) : line.at(line.size - 1));
    assertSame(line, set);
    for (const key of [9, 3, 6]) add(key);
    assertSame(line, set);
  }
});
