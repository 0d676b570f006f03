import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { difficulty } from "./difficulty.ts";

const rules = { easiest: 12, hardest: 20, joinsPerSecond: 50 };
const anyRules = fc
  .record({
    a: fc.integer({ min: 1, max: 24 }),
    b: fc.integer({ min: 1, max: 24 }),
    start: fc.integer({ min: 1, max: 1e6 }),
  })
  .map(({ a, b, start }) => ({ easiest: Math.min(a, b), hardest: Math.max(a, b), joinsPerSecond: start }));
const anyRate = fc.double({ min: 0, max: 1e9, noNaN: true });

test("each doubling of the join rate is one bit more, from the rate at which it starts", () => {
  const bits = [0, 1, 50, 99, 100, 199, 200, 400, 800, 1_600].map((rate) => difficulty(rules, rate));
  assert.deepEqual(bits, [12, 12, 12, 12, 13, 13, 14, 15, 16, 17]);
});

test("it is always a whole number between the easiest and the hardest", () => {
  fc.assert(
    fc.property(anyRules, anyRate, (some, rate) => {
      const bits = difficulty(some, rate);
      return Number.isInteger(bits) && bits >= some.easiest && bits <= some.hardest;
    }),
  );
});

test("more people joining never make it easier", () => {
  fc.assert(
    fc.property(anyRules, anyRate, anyRate, (some, a, b) => {
      return difficulty(some, Math.min(a, b)) <= difficulty(some, Math.max(a, b));
    }),
  );
});
