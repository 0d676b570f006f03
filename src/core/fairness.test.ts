import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Turn, unfairness } from "./fairness.ts";

const turns = (admitted: number[]): Turn[] => admitted.map((value, joined) => ({ joined, admitted: value }));

/** The definition, pair by pair. */
function unfairnessByPairs(list: readonly Turn[]): number {
  let comparable = 0;
  let discordant = 0;
  for (let i = 0; i < list.length; i++) {
    for (let j = i + 1; j < list.length; j++) {
      const sign =
        Math.sign(list[i]!.joined - list[j]!.joined) * Math.sign(list[i]!.admitted - list[j]!.admitted);
      if (sign !== 0) comparable++;
      if (sign < 0) discordant++;
    }
  }
  return comparable === 0 ? 0 : discordant / comparable;
}

test("the same order is perfectly fair, the reverse perfectly unfair", () => {
  assert.equal(unfairness(turns([1, 2, 3, 4])), 0);
  assert.equal(unfairness(turns([4, 3, 2, 1])), 1);
  assert.equal(unfairness(turns([2, 1, 3, 4])), 1 / 6);
});

test("no visitors, one visitor and all tied are fair", () => {
  assert.equal(unfairness([]), 0);
  assert.equal(unfairness(turns([7])), 0);
  assert.equal(unfairness(turns([7, 7, 7])), 0);
});

test("ties do not count, as in the definition pair by pair", () => {
  const turn = fc.record({
    joined: fc.integer({ min: 0, max: 12 }),
    admitted: fc.integer({ min: 0, max: 12 }),
  });
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 60, size: "max" }), (list) => {
      assert.equal(unfairness(list), unfairnessByPairs(list));
    }),
    { numRuns: 500 },
  );
});

test("a hundred thousand turns are counted without comparing every pair", () => {
  const n = 100_000;
  const swapped = turns(Array.from({ length: n }, (_, i) => i ^ 1));
  assert.equal(unfairness(swapped), n / 2 / ((n * (n - 1)) / 2));
});
