import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ProbeRound } from "./probe-round.ts";

/** A dice that throws what fast-check drew, over and over. */
const throwing = (throws: readonly number[]) => {
  let at = 0;
  return () => throws[at++ % throws.length]!;
};
const lots = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 1 });

test("no peer waits more than 2n − 1 turns, whatever the dice", () => {
  fc.assert(
    fc.property(lots, fc.integer({ min: 1, max: 12 }), (throws, count) => {
      const round = new ProbeRound(throwing(throws));
      const lastAt = new Map(Array.from({ length: count }, (_, i) => [`peer-${i}`, -1]));
      for (const peer of lastAt.keys()) round.add(peer);
      for (let turn = 0; turn < 6 * count; turn++) {
        lastAt.set(round.next()!, turn);
        for (const at of lastAt.values()) assert.ok(turn - at < 2 * count);
      }
    }),
  );
});

test("in the middle of a pass peers come and go, and the others keep their turn", () => {
  fc.assert(
    fc.property(lots, fc.nat({ max: 4 }), fc.nat({ max: 5 }), (throws, before, gone) => {
      const round = new ProbeRound(throwing(throws));
      const peers = Array.from({ length: 6 }, (_, i) => `peer-${i}`);
      for (const peer of peers) round.add(peer);
      const seen = Array.from({ length: before }, () => round.next());
      round.remove(`peer-${gone}`);
      round.add("new");
      while (seen.length < peers.length + 1) seen.push(round.next());
      const pass = seen.slice(0, before + 1);
      assert.equal(new Set(pass).size, pass.length, "nobody has two turns in a pass");
      for (const peer of peers) assert.ok(peer === `peer-${gone}` || seen.includes(peer));
      const later = Array.from({ length: 12 }, () => round.next());
      assert.ok(!later.includes(`peer-${gone}`) && later.includes("new"));
    }),
  );
});

test("without peers there is no next, and a pick is never larger than the list", () => {
  const round = new ProbeRound(throwing([0.5]));
  assert.equal(round.next(), null);
  round.remove("stranger");
  assert.deepEqual(round.pick(["a"], 3), ["a"]);
  assert.equal(new Set(round.pick(["a", "b", "c", "d"], 3)).size, 3);
});
