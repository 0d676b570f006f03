import assert from "node:assert/strict";
import { test } from "node:test";
import { Pace } from "./eta.ts";
import { DEFAULT_RULES } from "./rules.ts";

const RULES = { ...DEFAULT_RULES, newUsersPerMinute: 600 };

function steadyPace(perTick: (tick: number) => number, ticks: number): Pace {
  const pace = new Pace();
  for (let tick = 0; tick <= ticks; tick++)
    pace.observe({ admitted: perTick(tick), isLine: true, now: tick * 1_000 });
  return pace;
}

test("before anything was measured the rules' promise is used, a set rate with less doubt than slots", () => {
  const byRate = new Pace().wait(RULES, 99)!;
  assert.equal(Math.round(byRate.middle), 10_000);
  const slots = { ...DEFAULT_RULES, totalActiveUsers: 3_000 };
  const bySlots = new Pace().wait(slots, 99)!;
  assert.equal(Math.round(bySlots.middle), 10_000);
  assert.ok(bySlots.high > byRate.high * 1.2 && byRate.high > byRate.middle * 1.2);
});

test("what was measured wins over the promise, and the range narrows", () => {
  const early = steadyPace(() => 2, 5).wait(RULES, 999)!;
  const late = steadyPace(() => 2, 110).wait(RULES, 999)!;
  assert.ok(Math.abs(late.middle - 500_000) < 125_000, String(late.middle));
  assert.ok(late.high / late.low < early.high / early.low);
});

test("low, middle and high are in order, and a longer line never means a shorter wait", () => {
  const pace = steadyPace((tick) => tick % 7, 60);
  let before = 0;
  for (const ahead of [0, 1, 5, 50, 500, 50_000]) {
    const wait = pace.wait(RULES, ahead)!;
    assert.ok(wait.low < wait.middle && wait.middle < wait.high);
    assert.ok(wait.middle > before);
    before = wait.middle;
  }
});

test("the steps in which a wait is worked out are no larger than a hundredth, and none for a short line", () => {
  const pace = new Pace();
  const perMs = pace.perMs(RULES);
  for (let ahead = 0; ahead < 20_000_000; ahead += 1 + (ahead >> 7)) {
    const exact = (ahead + 1) / perMs;
    const told = pace.wait(RULES, ahead)!.middle;
    assert.ok(Math.abs(told / exact - 1) <= (ahead < 127 ? 1e-9 : 0.01), `${ahead}: ${told} for ${exact}`);
  }
});

test("a change of the rules is told at once, and so is the next turn of the door", () => {
  const pace = new Pace();
  const before = pace.wait(RULES, 999)!.middle;
  assert.ok(pace.wait({ ...RULES, newUsersPerMinute: 6_000 }, 999)!.middle < before / 9);
  pace.observe({ admitted: 0, isLine: true, now: 0 });
  pace.observe({ admitted: 0, isLine: true, now: 30_000 });
  assert.ok(pace.wait(RULES, 999)!.middle > before * 1.5);
});

test("nothing is promised while paused, nor with no limit known and nothing measured", () => {
  assert.equal(new Pace().wait({ ...RULES, paused: true }, 5), null);
  assert.equal(new Pace().wait(DEFAULT_RULES, 5), null);
});

test("the shortest wait follows the set rate, and slots only beyond those that may come free at once", () => {
  const pace = steadyPace(() => 2, 60);
  assert.equal(pace.reach(RULES, 0), 0);
  assert.equal(pace.reach(RULES, 500), 50_000);
  const slots = { ...DEFAULT_RULES, totalActiveUsers: 100 };
  assert.deepEqual([pace.reach(slots, 0), pace.reach(slots, 100)], [0, 0]);
  assert.equal(pace.reach(slots, 600), pace.wait(slots, 499)!.low);
  const both = { ...slots, newUsersPerMinute: 600 };
  assert.equal(pace.reach(both, 50), 5_000);
  assert.equal(pace.reach(both, 600), pace.wait(both, 499)!.low, "slots are slower");
});

test("the shortest wait is told while the door is held, and without limits it follows the poll budget", () => {
  const pace = steadyPace(() => 10, 60);
  const slots = { ...DEFAULT_RULES, totalActiveUsers: 100 };
  for (const held of [{ paused: true }, { queueAll: true }, { closed: true }])
    assert.equal(pace.reach({ ...slots, ...held }, 500), pace.reach(slots, 500));
  assert.equal(new Pace().reach({ ...DEFAULT_RULES, pollBudgetPerSecond: 50 }, 500), 10_000);
});

test("time without a line does not slow the estimate", () => {
  const pace = steadyPace(() => 10, 60);
  const before = pace.perMs(RULES);
  for (let tick = 61; tick < 600; tick++) pace.observe({ admitted: 0, isLine: false, now: tick * 1_000 });
  assert.equal(pace.perMs(RULES), before);
});
