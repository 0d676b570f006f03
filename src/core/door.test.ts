import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { door, isDoorOpen } from "./door.ts";
import { Flow } from "./flow.ts";

const OPEN = { totalActiveUsers: null, newUsersPerMinute: null, paused: false };
const counts = (waiting: number, admitted = 0, onSite = 0) => ({ waiting, admitted, onSite });

test("turns not yet used fill slots like visitors on the site", () => {
  const rules = { ...OPEN, totalActiveUsers: 10 };
  assert.deepEqual(door(rules, counts(50, 3, 5), new Flow(), 0), { admit: 2, reason: "site full" });
  assert.deepEqual(door(rules, counts(50, 5, 5), new Flow(), 0), { admit: 0, reason: "site full" });
  assert.deepEqual(door(rules, counts(50, 5, 9), new Flow(), 0), { admit: 0, reason: "site full" });
  assert.deepEqual(door(rules, counts(1, 3, 5), new Flow(), 0), { admit: 1, reason: "line empty" });
});

test("a paused door admits nobody and lets no newcomer through", () => {
  assert.deepEqual(door({ ...OPEN, paused: true }, counts(5), new Flow(), 0), { admit: 0, reason: "paused" });
  assert.equal(isDoorOpen({ ...OPEN, paused: true }, counts(0), new Flow(), 0), false);
});

test("a newcomer goes straight through only when nobody waits", () => {
  assert.equal(isDoorOpen(OPEN, counts(0), new Flow(), 0), true);
  assert.equal(isDoorOpen(OPEN, counts(1), new Flow(), 0), false);
  assert.equal(isDoorOpen({ ...OPEN, totalActiveUsers: 1 }, counts(0, 0, 1), new Flow(), 0), false);
});

test("both limits hold together and the tighter one is named", () => {
  const flow = new Flow();
  const rules = { totalActiveUsers: 100, newUsersPerMinute: 60, paused: false };
  assert.deepEqual(door(rules, counts(50), flow, 1_000_000), { admit: 2, reason: "rate" });
  assert.deepEqual(door(rules, counts(50, 0, 99), flow, 1_000_000), { admit: 1, reason: "site full" });
});

test("no minute, wherever it starts, holds more than the rate, however the line is turned", () => {
  const step = fc.tuple(fc.integer({ min: 0, max: 4_000 }), fc.integer({ min: 0, max: 40 }));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 900 }),
      fc.array(step, { maxLength: 300, size: "max" }),
      (perMinute, steps) => {
        const flow = new Flow();
        const taken: [at: number, count: number][] = [];
        let now = 1_000_000;
        for (const [gap, wanted] of steps) {
          now += gap;
          const count = Math.min(wanted, flow.allowance(perMinute, now));
          flow.take(perMinute, count, now);
          taken.push([now, count]);
        }
        for (const [end] of taken) {
          const inMinute = taken.filter(([at]) => at > end - 60_000 && at <= end);
          const total = inMinute.reduce((sum, [, count]) => sum + count, 0);
          assert.ok(total <= perMinute, `${total} in a minute at ${perMinute}`);
        }
      },
    ),
  );
});

test("a steady line flows evenly: each tick admits within one of its share, and the whole rate is used", () => {
  const flow = new Flow();
  const perMinute = 1_000;
  let total = 0;
  for (let tick = 0; tick < 600; tick++) {
    const now = 1_000_000 + tick * 200;
    const count = flow.allowance(perMinute, now);
    flow.take(perMinute, count, now);
    if (tick > 300) {
      assert.ok(Math.abs(count - perMinute / 300) < 1.0001, `${count} in tick ${tick}`);
      total += count;
    }
  }
  assert.ok(Math.abs(total - (299 * perMinute) / 300) <= 2, String(total));
});

test("changing the rate while people wait takes effect at once and forgets nothing", () => {
  const flow = new Flow();
  flow.take(600, flow.allowance(600, 0), 0);
  assert.equal(flow.allowance(600, 0), 0);
  assert.ok(flow.allowance(6_000, 2_000) > 100);
  assert.equal(flow.allowance(20, 2_000), 0);
});
