import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { proves } from "../testing/requirements/proves.ts";
import { ANSWERS_MIN } from "./load.ts";
import type { StandbyRules } from "./rules.ts";
import { Standby, type StandbySeen } from "./standby.ts";

const START = 1_000_000_000;
const TICK_MS = 200;
const RULES: StandbyRules = {
  requestsPerSecond: 400,
  activeUsers: null,
  originLatencyMs: null,
  originErrors: null,
  stopBelow: 0.7,
  quietForMs: 120_000,
};
const ANY_RULES: StandbyRules = { ...RULES, activeUsers: 1_000, originLatencyMs: 2_000, originErrors: 0.05 };
const CALM: StandbySeen = {
  requestsPerSecond: 10,
  activeUsers: 5,
  answers: 100,
  latencyMs: 80,
  errors: 0,
  waiting: 0,
};
const BUSY: StandbySeen = { ...CALM, requestsPerSecond: 523 };

/** Turns every 200 ms for so long; how often the line started and stopped, and when. */
function run(standby: Standby, rules: StandbyRules, forMs: number, seenAt: (ms: number) => StandbySeen) {
  const changes: { at: number; isActive: boolean }[] = [];
  for (let ms = 0; ms <= forMs; ms += TICK_MS)
    if (standby.turn(rules, seenAt(ms), START + ms)) changes.push({ at: ms, isActive: standby.isActive });
  return changes;
}

/** Not well below every threshold of `ANY_RULES`, reckoned by hand. */
function isLoud({ requestsPerSecond, activeUsers, answers, latencyMs, errors }: StandbySeen): boolean {
  if (!(requestsPerSecond <= 280) || !(activeUsers <= 700)) return true;
  if (answers < 50) return false;
  return (latencyMs !== null && !(latencyMs <= 1_400)) || (errors > 0.035 && errors * answers >= 2.5);
}

test(
  proves(
    ["me1"],
    "the line starts at once when a threshold is crossed, whichever it is, and says by how much",
  ),
  () => {
    const starts = (seen: Partial<StandbySeen>) => {
      const standby = new Standby();
      const remark = standby.turn(ANY_RULES, { ...CALM, ...seen }, START);
      assert.equal(standby.isActive, remark !== null);
      return remark?.text ?? null;
    };
    assert.equal(starts({}), null);
    assert.equal(starts({ requestsPerSecond: 400 }), null);
    assert.equal(
      starts({ requestsPerSecond: 523 }),
      "The line starts: 523 requests a second, more than 400.",
    );
    assert.equal(
      starts({ activeUsers: 1_204 }),
      "The line starts: 1,204 visitors on the site, more than 1,000.",
    );
    assert.equal(starts({ latencyMs: 3_140 }), "The line starts: the site takes 3.1 s, more than 2 s.");
    assert.equal(
      starts({ errors: 0.0621 }),
      "The line starts: 6.2% of the site's answers are errors, more than 5%.",
    );
    assert.equal(
      starts({ requestsPerSecond: 523, latencyMs: 3_140 }),
      "The line starts: 523 requests a second, more than 400; the site takes 3.1 s, more than 2 s.",
    );
  },
);

test("a threshold that is not set does not matter", () => {
  const standby = new Standby();
  const terrible = { ...CALM, activeUsers: 1e6, latencyMs: 60_000, errors: 1 };
  assert.equal(standby.turn(RULES, terrible, START), null);
});

test("too few answers say nothing about latency or errors", () => {
  const few = { ...CALM, answers: ANSWERS_MIN - 1, latencyMs: 60_000, errors: 1 };
  const standby = new Standby();
  assert.equal(standby.turn(ANY_RULES, few, START), null);
  assert.notEqual(standby.turn(ANY_RULES, { ...few, answers: ANSWERS_MIN }, START), null);
});

test("the line stops after an unbroken quiet time, and says the current values", () => {
  const standby = new Standby();
  standby.turn(RULES, BUSY, START);
  const almost = { ...CALM, requestsPerSecond: 280 };
  const changes = run(standby, RULES, 300_000, (ms) => {
    // A tick above "well below", though far below the threshold, one minute into the quiet.
    return ms === 60_000 ? { ...CALM, requestsPerSecond: 281 } : almost;
  });
  assert.deepEqual(changes, [{ at: 60_000 + TICK_MS + RULES.quietForMs, isActive: false }]);
});

test("the remark on stopping has the numbers", () => {
  const standby = new Standby();
  standby.turn(ANY_RULES, BUSY, START);
  standby.turn(ANY_RULES, CALM, START);
  assert.equal(
    standby.turn(ANY_RULES, CALM, START + 120_000)?.text,
    "The line stops: quiet for 2 minutes, 10 requests a second (starts above 400), " +
      "5 visitors on the site (starts above 1,000), the site takes 80 ms (starts above 2 s), " +
      "0% of the site's answers are errors (starts above 5%).",
  );
});

test("the line never stops while somebody waits, and stops at once when the last of them is gone", () => {
  const standby = new Standby();
  standby.turn(RULES, BUSY, START);
  const changes = run(standby, RULES, 1_000_000, (ms) => ({ ...CALM, waiting: ms < 800_000 ? 1 : 0 }));
  assert.deepEqual(changes, [{ at: 800_000, isActive: false }]);
});

test("a load that swings around the threshold starts the line once and never stops it", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_000, max: 119_000 }),
      fc.double({ min: 0.01, max: 1, noNaN: true }),
      (periodMs, swing) => {
        const changes = run(new Standby(), RULES, 1_200_000, (ms) => ({
          ...CALM,
          requestsPerSecond: 400 * (1 + swing * Math.sin((ms / periodMs) * 2 * Math.PI)),
        }));
        assert.deepEqual(
          changes.map(({ isActive }) => isActive),
          [true],
        );
      },
    ),
    { numRuns: 30 },
  );
});

test("whatever the load does, it is quiet for the whole time before each stop, so the line never flaps", () => {
  const step = fc.record({
    lastsMs: fc.integer({ min: 100, max: 40_000 }),
    seen: fc.record({
      requestsPerSecond: fc.constantFrom(0, 20, 279, 281, 401, 10_000, Number.NaN, Infinity),
      activeUsers: fc.constantFrom(0, 699, 701, 1_001),
      answers: fc.constantFrom(0, 49, 50, 1_000),
      latencyMs: fc.constantFrom(null, 0, 1_399, 1_401, 2_001, Number.NaN),
      errors: fc.constantFrom(0, 0.03, 0.04, 0.06, 1),
      waiting: fc.constantFrom(0, 0, 0, 1),
    }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 60, size: "max" }), (steps) => {
      const rules = { ...ANY_RULES, quietForMs: 5_000 };
      const standby = new Standby();
      let now = START;
      let changedAt = Number.NEGATIVE_INFINITY;
      let loudAt = Number.NEGATIVE_INFINITY;
      for (const { lastsMs, seen } of steps) {
        for (const until = now + lastsMs; now < until; now += TICK_MS) {
          const was = standby.isActive;
          if (isLoud(seen)) loudAt = now;
          const remark = standby.turn(rules, seen, now);
          assert.equal(remark !== null, was !== standby.isActive);
          if (remark === null) continue;
          if (was) {
            assert.ok(now - changedAt >= rules.quietForMs && seen.waiting === 0);
            assert.ok(now - loudAt > rules.quietForMs, `${now - loudAt} ms after the last loud moment`);
          }
          changedAt = now;
        }
      }
    }),
  );
});

test("an active line stays active through a restart, and its quiet time begins anew", () => {
  const before = new Standby();
  before.turn(RULES, BUSY, START);
  before.turn(RULES, CALM, START);
  const after = new Standby();
  after.restore(JSON.parse(JSON.stringify(before.memo())));
  assert.equal(after.isActive, true);
  assert.equal(after.turn(RULES, CALM, START + 119_000), null);
  assert.equal(after.turn(RULES, CALM, START + 238_000), null);
  assert.notEqual(after.turn(RULES, CALM, START + 239_000), null);
});

test("a clock that is set back does not lengthen the quiet time", () => {
  const standby = new Standby();
  standby.turn(RULES, BUSY, START);
  standby.turn(RULES, CALM, START);
  standby.turn(RULES, CALM, START - 3_600_000);
  assert.equal(standby.turn(RULES, CALM, START - 3_600_000 + 119_000), null);
  assert.notEqual(standby.turn(RULES, CALM, START - 3_600_000 + 120_000), null);
});
