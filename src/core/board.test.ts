import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aheadOnBoard, MARKS_MAX, markRanks } from "./board.ts";

test("a board has at most a few dozen marks, rising, from the first to the last in the line", () => {
  assert.deepEqual(markRanks(0), []);
  assert.deepEqual(markRanks(1), [0]);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10_000_000 }), (waiting) => {
      const ranks = markRanks(waiting);
      assert.ok(ranks.length <= MARKS_MAX);
      assert.equal(ranks[0], 0);
      assert.equal(ranks.at(-1), waiting - 1);
      assert.ok(ranks.every((rank, i) => i === 0 || rank > ranks[i - 1]!));
    }),
  );
});

test("everyone near the front has their own mark", () => {
  assert.deepEqual(
    markRanks(1_000).slice(0, 16),
    Array.from({ length: 16 }, (_, rank) => rank),
  );
});

test("ahead is exact at a mark, in proportion between two, and unknown to a board older than the place", () => {
  const board = {
    marks: [
      [1_000, 0],
      [1_200, 100],
    ] as const,
  };
  assert.equal(aheadOnBoard(board, 1_000), 0);
  assert.equal(aheadOnBoard(board, 1_100), 50);
  assert.equal(aheadOnBoard(board, 1_200), 100);
  assert.equal(aheadOnBoard(board, 900), 0);
  assert.equal(aheadOnBoard(board, 9_000), null);
  assert.equal(aheadOnBoard({ marks: [] }, 900), null);
});
