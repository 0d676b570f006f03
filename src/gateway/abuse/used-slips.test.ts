import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SLIP_LIFE_MS } from "./slip.ts";
import { GENERATION_SLIPS_MAX, UsedSlips } from "./used-slips.ts";

const NOW = Date.UTC(2026, 5, 1);
const slipOf = (id: number, givenAt: number) => ({ id, givenAt, bits: 0, past: { visits: 0, since: 0 } });
/** Uses a slip if it may be; true if it was. */
function use(used: UsedSlips, slip: ReturnType<typeof slipOf>, now: number): boolean {
  if (!used.isKnown(slip) || used.usedAt(slip) !== null) return false;
  used.use(slip, now);
  return true;
}

test("a slip is used once", () => {
  const used = new UsedSlips(NOW);
  const slip = slipOf(1, NOW);
  assert.equal(used.usedAt(slip), null);
  assert.ok(use(used, slip, NOW + 10));
  assert.equal(used.usedAt(slip), NOW + 10);
  assert.equal(use(used, slip, NOW + 20), false);
  assert.ok(use(used, slipOf(2, NOW), NOW + 20));
});

test("however many are used and however long it goes on, none is used twice and the limit holds", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.array(
        fc.record({
          step: fc.oneof(fc.constant(0), fc.nat({ max: 2_000 }), fc.nat({ max: SLIP_LIFE_MS })),
          isNew: fc.boolean(),
          which: fc.nat(),
          ageMs: fc.nat({ max: 20_000 }),
        }),
        { maxLength: 200, size: "max" },
      ),
      (slipsMax, tries) => {
        const used = new UsedSlips(NOW, slipsMax);
        const given = [slipOf(0, NOW)];
        const spent = new Set<number>();
        let now = NOW;
        for (const { step, isNew, which, ageMs } of tries) {
          now += step;
          if (isNew) given.push(slipOf(given.length, Math.max(NOW, now - ageMs)));
          const slip = given[which % given.length]!;
          if (now - slip.givenAt >= SLIP_LIFE_MS || !use(used, slip, now)) continue;
          assert.ok(!spent.has(slip.id), `slip ${slip.id} was used twice`);
          spent.add(slip.id);
          assert.ok(used.size <= 2 * slipsMax);
        }
      },
    ),
  );
});

test("while there is memory for them, every slip is good for its whole life", () => {
  const used = new UsedSlips(NOW);
  const late = slipOf(-1, NOW);
  for (let id = 0; id < 2_000; id++) {
    const now = NOW + id * 299;
    assert.ok(use(used, slipOf(id, now - Math.min(500, now - NOW)), now), `slip ${id}`);
  }
  assert.ok(use(used, late, NOW + SLIP_LIFE_MS - 1));
});

test("in a flood, slips just given are good, and old ones are not taken for unused", () => {
  const used = new UsedSlips(NOW, 100);
  const first = slipOf(-1, NOW);
  use(used, first, NOW + 1);
  for (let id = 0; id < 1_000; id++) {
    const now = NOW + 2_000 + id * 10;
    assert.ok(use(used, slipOf(id, now - 500), now), `slip ${id}`);
  }
  assert.equal(use(used, first, NOW + 12_000), false);
  assert.equal(used.isKnown(slipOf(-2, NOW)), false);
});

test("a gateway that has just started takes no slip from before", () => {
  const used = new UsedSlips(NOW);
  assert.equal(used.isKnown(slipOf(1, NOW - 1)), false);
  assert.equal(used.isKnown(slipOf(1, NOW)), true);
});

test("slips that have run out are forgotten", () => {
  const used = new UsedSlips(NOW);
  for (let id = 0; id < 1_000; id++) use(used, slipOf(id, NOW), NOW);
  use(used, slipOf(2_000, NOW + SLIP_LIFE_MS), NOW + SLIP_LIFE_MS);
  use(used, slipOf(2_001, NOW + 2 * SLIP_LIFE_MS), NOW + 2 * SLIP_LIFE_MS);
  assert.equal(used.size, 2);
});

test("what is given back can be used again", () => {
  const used = new UsedSlips(NOW, 1);
  const slip = slipOf(1, NOW);
  assert.ok(use(used, slip, NOW));
  assert.ok(use(used, slipOf(2, NOW), NOW));
  used.giveBack(slip);
  assert.ok(use(used, slip, NOW));
});

test("the limit is one that a busy hour does not reach", () => {
  const joinsPerSecond = 400;
  assert.ok(GENERATION_SLIPS_MAX >= (joinsPerSecond * SLIP_LIFE_MS) / 1_000);
});
