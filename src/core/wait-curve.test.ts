import assert from "node:assert/strict";
import { test } from "node:test";
import { waitOn } from "./wait-curve.ts";

const curve = {
  points: [
    [0, 1, 2, 3],
    [1, 2, 4, 6],
    [11, 12, 24, 36],
  ],
} as const;

test("at a point it is the point's, between two on the line between them", () => {
  assert.deepEqual(waitOn(curve, 0), { low: 1, middle: 2, high: 3 });
  assert.deepEqual(waitOn(curve, 1), { low: 2, middle: 4, high: 6 });
  assert.deepEqual(waitOn(curve, 6), { low: 7, middle: 14, high: 21 });
});

test("behind the last point it goes on as before", () => {
  assert.deepEqual(waitOn(curve, 21), { low: 22, middle: 44, high: 66 });
});

test("one point is everybody's wait, and none is nobody's", () => {
  assert.deepEqual(waitOn({ points: [[0, 1, 2, 3]] }, 50), { low: 1, middle: 2, high: 3 });
  assert.equal(waitOn({ points: [] }, 5), null);
});
