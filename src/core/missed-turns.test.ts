import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Line } from "./line.ts";
import { Gaps, isForfeited, placesBack, sequenceToFollow } from "./missed-turns.ts";

/** A sequence as rooms of 2042 have it, the last year in which sixteenths are exact. */
const LATE = (Date.UTC(2042, 0, 1) - Date.UTC(2025, 0, 1)) * 1_000;

test("each missed turn puts a place further back than the one before, and at least by one", () => {
  assert.deepEqual(
    [1, 2, 3].map((missed) => placesBack(7, missed)),
    [7, 14, 28],
  );
  assert.deepEqual([placesBack(0, 1), placesBack(-3, 1), placesBack(0, 3)], [1, 1, 4]);
  assert.ok(Number.isSafeInteger(placesBack(50_000_000, 99)));
});

test("a place is forfeited by as many missed turns as the rules say, not before", () => {
  assert.deepEqual(
    [1, 2, 3, 4].map((missed) => isForfeited(missed, 3)),
    [false, false, true, true],
  );
  assert.equal(isForfeited(1, 1), true);
});

test("a place moves behind the given number of later ones, to the end of a shorter line, and never forwards", () => {
  const line = new Line();
  assert.equal(sequenceToFollow(line, 10, 5), 10);
  for (const sequence of [5, 20, 30, 40]) line.add(sequence);
  assert.equal(sequenceToFollow(line, 10, 1), 20);
  assert.equal(sequenceToFollow(line, 10, 3), 40);
  assert.equal(sequenceToFollow(line, 10, 99), 40);
  assert.equal(sequenceToFollow(line, 50, 2), 50);
});

test("numbers between whole ones are exact, new each time, and rise in the order they are given", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(4), { maxLength: 200, size: "max" }), (behind) => {
      const gaps = new Gaps();
      const given: number[] = [];
      const last = new Map<number, number>();
      for (const offset of behind) {
        const number = gaps.next(LATE + offset);
        assert.ok(number > LATE + offset && !given.includes(number));
        assert.ok(number > (last.get(offset) ?? 0), "behind those who went there before");
        assert.ok(!Number.isInteger(number) && Number.isInteger(number * 16));
        last.set(offset, number);
        given.push(number);
      }
    }),
  );
});

test("a thousand who go behind one place take little more than a step each", () => {
  const gaps = new Gaps();
  const numbers = Array.from({ length: 1_000 }, () => gaps.next(100));
  assert.equal(numbers.at(-1), 100 + 66 + 10 / 16);
  assert.equal(new Set(numbers).size, 1_000);
});

test("a number from an earlier life is not given again", () => {
  const gaps = new Gaps();
  gaps.note(100 + 3 / 16);
  gaps.note(100 + 2 / 16);
  assert.equal(gaps.next(100), 100 + 4 / 16);
});
