import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compareOrder } from "./order.ts";

const small = fc.integer({ min: 0, max: 3 });
const id = fc.constantFrom("a", "b", "c");
const key = fc.record({ lane: small, joinedAt: small, sequence: small, id }, { noNullPrototype: true });

test("the order is total: one way round, through others, and equal only for the same place", () => {
  fc.assert(
    fc.property(key, key, key, (a, b, c) => {
      assert.equal(Math.sign(compareOrder(a, b)), -Math.sign(compareOrder(b, a)) || 0);
      if (compareOrder(a, b) <= 0 && compareOrder(b, c) <= 0) assert.ok(compareOrder(a, c) <= 0);
      if (compareOrder(a, b) === 0) assert.deepEqual(a, b);
    }),
    { numRuns: 1_000 },
  );
});

test("lane first, then arrival, then sequence, then id", () => {
  const base = { lane: 1, joinedAt: 5, sequence: 5, id: "m" };
  assert.ok(compareOrder({ ...base, lane: 0, joinedAt: 9 }, base) < 0);
  assert.ok(compareOrder({ ...base, joinedAt: 4, sequence: 9 }, base) < 0);
  assert.ok(compareOrder({ ...base, sequence: 4, id: "z" }, base) < 0);
  assert.ok(compareOrder({ ...base, id: "a" }, base) < 0);
});
