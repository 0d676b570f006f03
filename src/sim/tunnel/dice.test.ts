import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { between, diceOf, oneOf, visitorIdOf, wholeBetween } from "./dice.ts";

const throwsOf = (...name: Parameters<typeof diceOf>) => {
  const dice = diceOf(...name);
  return Array.from({ length: 8 }, dice);
};

test("the same name under the same seed throws the same, on any machine", () => {
  assert.deepEqual(throwsOf(7, "visitor", 3), throwsOf(7, "visitor", 3));
  assert.deepEqual(
    throwsOf(1, "plan").map((fraction) => Math.floor(fraction * 1_000)),
    PLAN_OF_SEED_1,
  );
});

test("every other name, and every other seed, throws something else", () => {
  const names = [
    [7, "visitor", 3],
    [7, "visitor", 4],
    [7, "visitor3"],
    [8, "visitor", 3],
    [7 + 2 ** 40, "visitor", 3],
    [7, "link", 1, 2],
    [7, "link", 2, 1],
  ] as const;
  const streams = names.map((name) => throwsOf(...(name as unknown as [number, string])).join());
  assert.equal(new Set(streams).size, names.length);
});

test("whatever is drawn is within its range", () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(50), fc.nat(50), (seed, from, span) => {
      const dice = diceOf(seed);
      const range = { from, to: from + span };
      const [some, whole] = [between(dice, range), wholeBetween(dice, range)];
      assert.ok(some >= range.from && some <= range.to);
      assert.ok(Number.isInteger(whole) && whole >= range.from && whole <= range.to);
      assert.ok(["a", "b"].includes(oneOf(dice, ["a", "b"])));
    }),
  );
  const dice = diceOf(1);
  const wholes = new Set(Array.from({ length: 200 }, () => wholeBetween(dice, { from: 1, to: 3 })));
  assert.deepEqual([...wholes].sort(), [1, 2, 3]);
});

test("ids of different visitors differ even when their dice do not", () => {
  const same = () => 0.5;
  assert.match(visitorIdOf(same, 1), /^[0-9a-f]{32}$/);
  assert.notEqual(visitorIdOf(same, 1), visitorIdOf(same, 2));
});

const PLAN_OF_SEED_1 = [206, 491, 188, 771, 291, 139, 301, 63];
