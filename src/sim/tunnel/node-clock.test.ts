import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NodeClock, START_AT } from "./node-clock.ts";

test("a correct clock shows simulated time in whole milliseconds", () => {
  const clock = new NodeClock({ skewMs: 0, driftPpm: 0 });
  assert.equal(clock.read(0), START_AT);
  assert.equal(clock.read(1234.9), START_AT + 1234);
});

test("skew and drift show", () => {
  const clock = new NodeClock({ skewMs: -40, driftPpm: 100 });
  assert.equal(clock.read(0), START_AT - 40);
  assert.equal(clock.read(1_000_000), START_AT - 40 + 1_000_100);
});

test("a clock that is set back stands still until time has caught up", () => {
  const clock = new NodeClock({ skewMs: 0, driftPpm: 0 });
  assert.equal(clock.read(5_000), START_AT + 5_000);
  clock.jump(-1_000);
  assert.equal(clock.read(5_500), START_AT + 5_000);
  assert.equal(clock.read(6_001), START_AT + 5_001);
  clock.jump(1_000);
  assert.equal(clock.read(6_002), START_AT + 6_002 + 1_000 - 1_000);
});

test("`timeOf` is the instant at which the clock shows it, and hardly a moment later", () => {
  const clocks = fc.record({
    skewMs: fc.integer({ min: -500, max: 500 }),
    driftPpm: fc.integer({ min: -200, max: 200 }),
  });
  fc.assert(
    fc.property(
      clocks,
      fc.integer({ min: 0, max: 100_000 }),
      fc.double({ min: 0, max: 1_000, noNaN: true }),
      (skewed, aheadMs, time) => {
        const clock = new NodeClock(skewed);
        const at = clock.read(time) + aheadMs;
        const due = clock.timeOf(at, time);
        assert.ok(due >= time);
        assert.ok(new NodeClock(skewed).read(due) >= at);
        if (due - 1.1 > time) assert.ok(new NodeClock(skewed).read(due - 1.1) < at);
      },
    ),
  );
});

test("what the clock shows already is due now, also after it was set back", () => {
  const clock = new NodeClock({ skewMs: 0, driftPpm: 0 });
  const shown = clock.read(5_000);
  clock.jump(-3_000);
  assert.equal(clock.timeOf(shown, 5_001), 5_001);
  assert.equal(clock.timeOf(shown + 1, 5_001), 8_001);
});
