import assert from "node:assert/strict";
import { test } from "node:test";
import { binned, percentile, sorted } from "./percentiles.ts";

test("percentiles are the nearest ranks", () => {
  const values = sorted([15, 50, 20, 40, 35]);
  assert.equal(percentile(values, 0.05), 15);
  assert.equal(percentile(values, 0.3), 20);
  assert.equal(percentile(values, 0.4), 20);
  assert.equal(percentile(values, 0.5), 35);
  assert.equal(percentile(values, 1), 50);
});

test("of a hundred values the 90th percentile is the 90th, whatever floats make of it", () => {
  const values = sorted(Array.from({ length: 100 }, (_, i) => i + 1));
  for (const share of [0.07, 0.29, 0.5, 0.57, 0.9, 0.95, 0.99])
    assert.equal(percentile(values, share), Math.round(share * 100));
});

test("of one value every percentile is that value, of none there is none", () => {
  assert.equal(percentile(sorted([7]), 0.01), 7);
  assert.equal(percentile(sorted([]), 0.5), null);
});

test("every value is in the bin it belongs to, empty bins included", () => {
  assert.deepEqual(binned(sorted([0, 9, 10, 35]), 10), [
    { fromMs: 0, count: 2 },
    { fromMs: 10, count: 1 },
    { fromMs: 20, count: 0 },
    { fromMs: 30, count: 1 },
  ]);
  assert.deepEqual(binned(sorted([]), 10), []);
});
