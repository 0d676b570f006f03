import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { JoinBudget, KEYS_MAX } from "./join-budget.ts";

const NOW = Date.UTC(2026, 5, 1);
const MINUTE_MS = 60_000;

/** Joins if it is allowed; true if it was. */
function join(budget: JoinBudget, key: string, now: number): boolean {
  if (budget.waitMs(key, now) > 0) return false;
  budget.take(key, now);
  return true;
}

/** Steps of up to ten seconds, many of them none at all, so that bursts and pauses both come. */
const gaps = fc.array(fc.oneof(fc.constant(0), fc.nat({ max: 300 }), fc.nat({ max: 10_000 })), {
  maxLength: 300,
  size: "max",
});

test("in no minute, wherever it starts, does a key get more than its budget and what it had saved", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 40 }), gaps, (perMinute, steps) => {
      const budget = new JoinBudget({ perMinute, now: NOW });
      const joined: number[] = [];
      let now = NOW;
      for (const step of steps) {
        now += step;
        if (join(budget, "a", now)) joined.push(now);
      }
      return joined.every((start, i) => {
        const inMinute = joined.slice(i).filter((at) => at < start + MINUTE_MS).length;
        return inMinute <= 2 * perMinute;
      });
    }),
  );
});

test("over any time a key gets at most its budget for that time, and what it had saved", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000 }), gaps, (perMinute, steps) => {
      const budget = new JoinBudget({ perMinute, now: NOW });
      let now = NOW;
      let joined = 0;
      for (const step of steps) {
        now += step;
        for (let tries = 0; tries < 5; tries++) joined += Number(join(budget, "a", now));
      }
      return joined <= perMinute + ((now - NOW) / MINUTE_MS) * perMinute;
    }),
  );
});

test("a budget that is asked all the time gives out exactly what it says", () => {
  for (const perMinute of [1, 7, 60, 999, 100_000]) {
    const budget = new JoinBudget({ perMinute, now: NOW });
    let joined = 0;
    for (let now = NOW; now <= NOW + 10 * MINUTE_MS; now += 10) while (join(budget, "a", now)) joined++;
    assert.equal(joined, perMinute + 10 * perMinute);
  }
});

test("a visitor who is told to wait may join after that time, and not before", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 500 }), gaps, (perMinute, steps) => {
      const budget = new JoinBudget({ perMinute, now: NOW });
      let now = NOW;
      for (const step of steps) {
        now += step;
        while (join(budget, "a", now));
        const waitMs = budget.waitMs("a", now);
        assert.ok(waitMs >= 1 && waitMs <= MINUTE_MS);
        assert.ok(budget.waitMs("a", now + waitMs - 1) > 0);
        assert.equal(budget.waitMs("a", now + waitMs), 0);
      }
    }),
  );
});

test("keys do not affect each other", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 10 }),
      fc.array(fc.record({ step: fc.nat({ max: 3_000 }), key: fc.constantFrom("a", "b", "c", "d") }), {
        maxLength: 200,
        size: "max",
      }),
      (perMinute, asked) => {
        const together = new JoinBudget({ perMinute, now: NOW });
        const alone = new JoinBudget({ perMinute, now: NOW });
        let now = NOW;
        for (const { step, key } of asked) {
          now += step;
          const answer = join(together, key, now);
          if (key === "a") assert.equal(answer, join(alone, key, now));
        }
      },
    ),
  );
});

test("a refused try costs nothing", () => {
  const budget = new JoinBudget({ perMinute: 2, now: NOW });
  assert.ok(join(budget, "a", NOW) && join(budget, "a", NOW));
  for (let i = 0; i < 100; i++) assert.equal(join(budget, "a", NOW + i), false);
  assert.ok(join(budget, "a", NOW + MINUTE_MS / 2));
});

test("what is given back can be taken again, and no more than that", () => {
  const budget = new JoinBudget({ perMinute: 2, now: NOW });
  for (let i = 0; i < 50; i++) {
    assert.equal(budget.waitMs("a", NOW), 0);
    budget.giveBack(budget.take("a", NOW), NOW);
  }
  assert.ok(join(budget, "a", NOW) && join(budget, "a", NOW));
  assert.equal(join(budget, "a", NOW), false);
});

test("whatever is given back and however late, the joins that are kept would have been allowed without it", () => {
  const step = fc.record({
    passMs: fc.oneof(fc.constant(0), fc.nat({ max: 500 }), fc.nat({ max: 40_000 })),
    giveBack: fc.option(fc.nat(), { nil: null, freq: 2 }),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(step, { maxLength: 150, size: "max" }),
      (perMinute, steps) => {
        const budget = new JoinBudget({ perMinute, now: NOW });
        const taken: { at: number; join: ReturnType<JoinBudget["take"]> }[] = [];
        let now = NOW;
        for (const { passMs, giveBack } of steps) {
          now += passMs;
          if (giveBack !== null && taken.length > 0) {
            const [one] = taken.splice(giveBack % taken.length, 1);
            budget.giveBack(one!.join, now);
          } else if (budget.waitMs("a", now) === 0) taken.push({ at: now, join: budget.take("a", now) });
        }
        const clean = new JoinBudget({ perMinute, now: NOW });
        for (const { at } of taken) assert.ok(join(clean, "a", at), `the join at ${at - NOW} ms was a gain`);
      },
    ),
  );
});

test("a join given back after an earlier one has less left to give", () => {
  const budget = new JoinBudget({ perMinute: 2, now: NOW });
  const [first, second] = [budget.take("a", NOW), budget.take("a", NOW)];
  budget.giveBack(first, NOW);
  assert.ok(join(budget, "a", NOW + 14_352));
  budget.giveBack(second, NOW + 28_932);
  assert.ok(join(budget, "a", NOW + 29_377), "the bucket holds two, and one was kept");
  // By now the one of 14.4 s is back, and the one of 29.4 s is not.
  assert.equal(join(budget, "a", NOW + 30_000), false);
});

test("a flood of keys is never remembered beyond the limit", () => {
  const budget = new JoinBudget({ perMinute: 1, now: NOW });
  let most = 0;
  for (let i = 0; i < 3 * KEYS_MAX; i++) {
    join(budget, `key ${i}`, NOW + i / 10_000);
    most = Math.max(most, budget.size);
  }
  assert.ok(most <= KEYS_MAX, `${most} keys`);
  assert.ok(most > KEYS_MAX / 2, `only ${most} keys, so the limit was not tried`);
});

test("in a flood of keys, one that keeps asking stays remembered", () => {
  const budget = new JoinBudget({ perMinute: 1, now: NOW, keysMax: 100 });
  assert.ok(join(budget, "knocking", NOW));
  for (let i = 0; i < 10_000; i++) {
    join(budget, `key ${i}`, NOW + 1);
    if (i % 40 === 0) assert.equal(join(budget, "knocking", NOW + 1), false, `forgotten after ${i}`);
  }
});

test("in a flood of keys, those seen longest ago are forgotten first", () => {
  const budget = new JoinBudget({ perMinute: 1, now: NOW, keysMax: 100 });
  for (let i = 0; i < 1_000; i++) join(budget, `key ${i}`, NOW);
  for (let i = 950; i < 1_000; i++) assert.ok(budget.waitMs(`key ${i}`, NOW) > 0, `key ${i}`);
  assert.equal(budget.waitMs("key 0", NOW), 0);
});

test("a quiet budget forgets keys, and no key gains by it", () => {
  const budget = new JoinBudget({ perMinute: 3, now: NOW });
  for (let i = 0; i < 1_000; i++) join(budget, `key ${i}`, NOW);
  join(budget, "later", NOW + MINUTE_MS);
  join(budget, "later still", NOW + 2 * MINUTE_MS);
  assert.ok(budget.size <= 2, `${budget.size} keys`);
});
