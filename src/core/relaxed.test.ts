import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  compareKeys,
  keysToSee,
  type PlannedPop,
  planPops,
  type RelaxedKey,
  shardsToPeek,
} from "./relaxed.ts";

const id = fc.constantFrom("a", "b", "c");
const key = fc.record({ priority: fc.integer({ min: -2, max: 2 }), id }, { noNullPrototype: true });

/** Shards as sorted lists of keys, every key once. */
const shardLists = fc
  .array(fc.tuple(fc.nat({ max: 5 }), fc.integer({ min: -9, max: 9 })), { maxLength: 30, size: "max" })
  .map((placed) => {
    const shards: RelaxedKey[][] = Array.from({ length: 6 }, () => []);
    for (const [i, [shard, priority]] of placed.entries()) shards[shard]!.push({ priority, id: `${i}` });
    for (const shard of shards) shard.sort(compareKeys);
    return shards;
  });
const picks = fc.array(fc.uniqueArray(fc.nat({ max: 5 }), { minLength: 1, maxLength: 6, size: "max" }), {
  maxLength: 20,
  size: "max",
});

/** What a consumer with these picks sees: as many keys of each shard as the picks need. */
function sightFor(shards: readonly RelaxedKey[][], wanted: readonly (readonly number[])[]) {
  return new Map([...keysToSee(wanted)].map(([shard, count]) => [shard, shards[shard]!.slice(0, count)]));
}

/** Carries a planned pop out on the shards as they are now. */
function carryOut(shards: RelaxedKey[][], { shard, unlessWorseThan, otherwise }: PlannedPop) {
  const first = shards[shard]![0];
  if (first && !(unlessWorseThan && compareKeys(first, unlessWorseThan) > 0)) return shards[shard]!.shift();
  return otherwise === null ? undefined : shards[otherwise]!.shift();
}

test("the order of keys is total: priority first, then id, equal only for the same item", () => {
  fc.assert(
    fc.property(key, key, key, (a, b, c) => {
      assert.equal(Math.sign(compareKeys(a, b)), -Math.sign(compareKeys(b, a)) || 0);
      if (compareKeys(a, b) <= 0 && compareKeys(b, c) <= 0) assert.ok(compareKeys(a, c) <= 0);
      if (compareKeys(a, b) === 0) assert.deepEqual(a, b);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(compareKeys({ priority: 1, id: "z" }, { priority: 2, id: "a" }) < 0);
  assert.ok(compareKeys({ priority: 1, id: "a" }, { priority: 1, id: "b" }) < 0);
});

test("the requested number of different shards is peeked at, or all of them", () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.nat({ max: 300 }), { minLength: 1, maxLength: 40, size: "max" }),
      fc.integer({ min: 1, max: 45 }),
      fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })),
      (shards, count, dice) => {
        const chosen = shardsToPeek(shards, count, () => dice.next().value as number);
        assert.equal(chosen.length, Math.min(count, shards.length));
        assert.equal(new Set(chosen).size, chosen.length);
        assert.ok(chosen.every((shard) => shards.includes(shard)));
      },
    ),
  );
});

test("every choice of shards to peek at is as likely as any other", () => {
  const shards = [0, 1, 2, 3, 4];
  const found = new Map<string, number>();
  // Three throws with 3, 4 and 5 outcomes each: all 60 ways they can fall.
  for (let way = 0; way < 60; way++) {
    const outcomes = [(way % 3) / 3, (Math.floor(way / 3) % 4) / 4, Math.floor(way / 12) / 5];
    const chosen = shardsToPeek(shards, 3, () => outcomes.shift()! + 0.01).sort();
    found.set(chosen.join(), (found.get(chosen.join()) ?? 0) + 1);
  }
  assert.equal(found.size, 10);
  assert.deepEqual(new Set(found.values()), new Set([6]));
});

test("without concurrent pops, each takes the best item left in the shards it picked", () => {
  fc.assert(
    fc.property(shardLists, picks, fc.constantFrom("plain", "secondBest"), (shards, wanted, policy) => {
      const plans = planPops(sightFor(shards, wanted), wanted, policy);
      assert.equal(plans.length, wanted.length);
      const left = shards.map((shard) => [...shard]);
      for (const [i, plan] of plans.entries()) {
        const best = wanted[i]!.flatMap((shard) => left[shard]!.slice(0, 1)).sort(compareKeys)[0];
        assert.deepEqual(plan ? carryOut(left, plan) : undefined, best);
      }
    }),
    { numRuns: 1_000 },
  );
});

test("with concurrent pops, the item is no worse than the second best seen, or comes from its shard", () => {
  const others = fc.array(fc.nat({ max: 5 }), { maxLength: 20, size: "max" });
  let guarded = 0;
  fc.assert(
    fc.property(shardLists, picks, others, (shards, wanted, poppedByOthers) => {
      const [pick] = wanted;
      if (!pick) return;
      const [plan] = planPops(sightFor(shards, [pick]), [pick], "secondBest");
      const seen = pick.flatMap((shard) => shards[shard]!.slice(0, 1)).sort(compareKeys);
      assert.equal(plan === null, seen.length === 0);
      if (!plan) return;
      assert.deepEqual(plan.unlessWorseThan, seen[1] ?? null);
      for (const shard of poppedByOthers) shards[shard]!.shift();
      const atSecond = plan.otherwise === null ? undefined : shards[plan.otherwise]![0];
      const popped = carryOut(shards, plan);
      if (!popped) return;
      const isGood = !seen[1] || compareKeys(popped, seen[1]) <= 0;
      assert.ok(isGood || popped === atSecond);
      if (!isGood) guarded++;
    }),
    { numRuns: 1_000 },
  );
  assert.ok(guarded > 0, "no case in which the guard held");
});

test("a plain pop takes whatever has moved up", () => {
  const seen = new Map([
    [0, [{ priority: 1, id: "a" }]],
    [1, [{ priority: 2, id: "b" }]],
  ]);
  assert.deepEqual(planPops(seen, [[0, 1]], "plain"), [{ shard: 0, unlessWorseThan: null, otherwise: null }]);
  assert.deepEqual(planPops(seen, [[0, 1]], "secondBest"), [
    { shard: 0, unlessWorseThan: { priority: 2, id: "b" }, otherwise: 1 },
  ]);
});
