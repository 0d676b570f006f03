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
  const slots = { ...DEFAULT_RULES, totalActiveUsers: 3_000 };
  for (const rules of [RULES, slots]) assert.equal(new Pace().perMs(rules) * 1_000, 10);
  const [byRate, bySlots] = [new Pace().waitLow(RULES, 99)!, new Pace().waitLow(slots, 99)!];
  assert.ok(bySlots * 1.2 < byRate && byRate * 1.2 < 10_000, `${bySlots}, ${byRate}`);
});

test("what was measured wins over the promise, and the doubt shrinks", () => {
  const shareOf = (pace: Pace) => pace.waitLow(RULES, 999)! / (1_000 / pace.perMs(RULES));
  const late = steadyPace(() => 2, 110);
  assert.ok(Math.abs(1_000 / late.perMs(RULES) - 500_000) < 125_000, String(late.perMs(RULES)));
  assert.ok(shareOf(late) > shareOf(steadyPace(() => 2, 5)));
});

test("a longer line never means a shorter wait", () => {
  const pace = steadyPace((tick) => tick % 7, 60);
  let before = 0;
  for (const ahead of [0, 1, 5, 50, 500, 50_000]) {
    const low = pace.waitLow(RULES, ahead)!;
    assert.ok(low > before);
    before = low;
  }
});

test("the steps in which a wait is worked out are no larger than a hundredth", () => {
  const pace = new Pace();
  // So far back single visitors do not matter, and the doubt is the same everywhere.
  const perPlace = pace.waitLow(RULES, 19_999_999)! / 20_000_000;
  for (let ahead = 100_000; ahead < 20_000_000; ahead += ahead >> 7) {
    const low = pace.waitLow(RULES, ahead)!;
    assert.ok(Math.abs(low / (perPlace * (ahead + 1)) - 1) <= 0.02, `${ahead}: ${low}`);
  }
});

test("a change of the rules counts at once, and so does the next turn of the door", () => {
  const pace = new Pace();
  const before = pace.waitLow(RULES, 999)!;
  assert.ok(pace.waitLow({ ...RULES, newUsersPerMinute: 6_000 }, 999)! < before / 9);
  pace.observe({ admitted: 0, isLine: true, now: 0 });
  pace.observe({ admitted: 0, isLine: true, now: 30_000 });
  assert.ok(pace.waitLow(RULES, 999)! > before * 1.5);
});

test("nothing is reckoned with while paused, nor with no limit known and nothing measured", () => {
  assert.equal(new Pace().waitLow({ ...RULES, paused: true }, 5), null);
  assert.equal(new Pace().waitLow(DEFAULT_RULES, 5), null);
});

test("the shortest wait follows the set rate, and slots only beyond those that may come free at once", () => {
  const pace = steadyPace(() => 2, 60);
  assert.equal(pace.reach(RULES, 0), 0);
  assert.equal(pace.reach(RULES, 500), 50_000);
  const slots = { ...DEFAULT_RULES, totalActiveUsers: 100 };
  assert.deepEqual([pace.reach(slots, 0), pace.reach(slots, 100)], [0, 0]);
  assert.equal(pace.reach(slots, 600), pace.waitLow(slots, 499));
  const both = { ...slots, newUsersPerMinute: 600 };
  assert.equal(pace.reach(both, 50), 5_000);
  assert.equal(pace.reach(both, 600), pace.waitLow(both, 499), "slots are slower");
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
