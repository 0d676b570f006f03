import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JoinRate } from "./join-rate.ts";

const NOW = Date.UTC(2026, 5, 1);

test("a steady rate is measured exactly", () => {
  for (const perSecond of [1, 50, 2_000]) {
    const rate = new JoinRate();
    const gapMs = 1_000 / perSecond;
    let now = NOW;
    for (; now < NOW + 120_000; now += gapMs) rate.add(now);
    const read = rate.perSecond(now);
    assert.ok(Math.abs(read / perSecond - 1) < 0.1, `${read} for ${perSecond}`);
  }
});

test("it falls when nobody joins, and a minute later hardly anything is left", () => {
  const rate = new JoinRate();
  for (let i = 0; i < 1_000; i++) rate.add(NOW);
  const before = rate.perSecond(NOW);
  assert.equal(before, 100);
  assert.ok(rate.perSecond(NOW + 10_000) < before / 2);
  assert.ok(rate.perSecond(NOW + 60_000) < 1);
});

test("with the same joins, one more never lowers it", () => {
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 5_000 }), { minLength: 1, maxLength: 100, size: "max" }), (steps) => {
      const fewer = new JoinRate();
      const more = new JoinRate();
      more.add(NOW);
      let now = NOW;
      for (const step of steps) {
        now += step;
        fewer.add(now);
        more.add(now);
        assert.ok(more.perSecond(now) >= fewer.perSecond(now));
      }
    }),
  );
});

test("joins that are given back leave the rate of the others, whenever that is", () => {
  const step = fc.record({
    passMs: fc.nat({ max: 5_000 }),
    giveBack: fc.option(fc.nat(), { nil: null, freq: 2 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100, size: "max" }), (steps) => {
      const rate = new JoinRate();
      const kept: number[] = [];
      let now = NOW;
      for (const { passMs, giveBack } of steps) {
        now += passMs;
        if (giveBack !== null && kept.length > 0) rate.giveBack(kept.splice(giveBack % kept.length, 1)[0]!);
        else {
          rate.add(now);
          kept.push(now);
        }
      }
      const alone = new JoinRate();
      for (const at of kept) alone.add(at);
      assert.ok(Math.abs(rate.perSecond(now) - alone.perSecond(now)) < 1e-9);
    }),
  );
});

test("without joins the rate is 0", () => {
  assert.equal(new JoinRate().perSecond(NOW), 0);
});
