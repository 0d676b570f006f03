import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { proves } from "../testing/requirements/proves.ts";
import {
  type AtTheDoor,
  door,
  isDoorOpen,
  mayUseTurn,
  type OpenRules,
  TURN_MAX,
  whyNoPlace,
} from "./door.ts";
import { Flow } from "./flow.ts";
import { DEFAULT_RULES } from "./rules.ts";

const OPEN: OpenRules = DEFAULT_RULES;
const counts = (waiting: number, admitted = 0, onSite = 0): AtTheDoor => ({
  waiting,
  admitted,
  onSite,
  isPrequeue: false,
  isActive: true,
  budgetFree: Number.POSITIVE_INFINITY,
  noShows: 0,
  expected: admitted,
});

test(proves(["ce6"], "turns not yet used fill slots like visitors on the site"), () => {
  const rules = { ...OPEN, totalActiveUsers: 10 };
  assert.deepEqual(door(rules, counts(50, 3, 5), new Flow(), 0), { admit: 2, reason: "site full" });
  assert.deepEqual(door(rules, counts(50, 5, 5), new Flow(), 0), { admit: 0, reason: "site full" });
  assert.deepEqual(door(rules, counts(50, 5, 9), new Flow(), 0), { admit: 0, reason: "site full" });
  assert.deepEqual(door(rules, counts(1, 3, 5), new Flow(), 0), { admit: 1, reason: "line empty" });
});

test(proves(["ce2", "cp2"], "a paused door admits nobody and lets no newcomer through"), () => {
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
  const rules = { ...OPEN, totalActiveUsers: 100, newUsersPerMinute: 60 };
  assert.deepEqual(door(rules, counts(50), flow, 1_000_000), { admit: 2, reason: "rate" });
  assert.deepEqual(door(rules, counts(50, 0, 99), flow, 1_000_000), { admit: 1, reason: "site full" });
});

test("no minute, wherever it starts, has more than the rate, however often the door turns", () => {
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

test(
  proves(
    ["ce7"],
    "a steady line flows evenly: each tick admits within one of its share, and the whole rate is used",
  ),
  () => {
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
  },
);

test("changing the rate while people wait takes effect at once and forgets nothing", () => {
  const flow = new Flow();
  flow.take(600, flow.allowance(600, 0), 0);
  assert.equal(flow.allowance(600, 0), 0);
  assert.ok(flow.allowance(6_000, 2_000) > 100);
  assert.equal(flow.allowance(20, 2_000), 0);
});

test(proves(["ce2"], "a closed door admits nobody and gives no places"), () => {
  const rules = { ...OPEN, closed: true };
  assert.deepEqual(door(rules, counts(5), new Flow(), 0), { admit: 0, reason: "closed" });
  assert.equal(whyNoPlace(rules, counts(0)), "closed");
});

test(proves(["ce2"], "everyone queues while queueAll holds, whatever room there is"), () => {
  const rules = { ...OPEN, queueAll: true };
  assert.equal(isDoorOpen(rules, counts(0), new Flow(), 0), false);
  assert.deepEqual(door(rules, counts(5), new Flow(), 0), { admit: 0, reason: "paused" });
  assert.equal(whyNoPlace(rules, counts(0)), null);
});

test("a prequeue gathers: nobody goes in, everyone gets a place, also where newcomers are rejected later", () => {
  const gathering = { ...counts(0), isPrequeue: true };
  for (const queueingMethod of ["fifo", "random", "passthrough", "reject"] as const) {
    const rules = { ...OPEN, queueingMethod };
    assert.equal(isDoorOpen(rules, gathering, new Flow(), 0), false);
    assert.equal(whyNoPlace(rules, gathering), null);
  }
});

test("with reject, newcomers are turned away from a full site and go through while there is room", () => {
  const rules = { ...OPEN, queueingMethod: "reject" as const, totalActiveUsers: 1 };
  assert.equal(isDoorOpen(rules, counts(0), new Flow(), 0), true);
  assert.equal(isDoorOpen(rules, counts(0, 0, 1), new Flow(), 0), false);
  assert.equal(whyNoPlace(rules, counts(0, 0, 1)), "rejected");
});

test(
  proves(["ce1", "cp1"], "drained, passthrough and standing by let everyone in, in turns that stay short"),
  () => {
    const full = { ...OPEN, totalActiveUsers: 1, newUsersPerMinute: 1 };
    const wide: [OpenRules, AtTheDoor][] = [
      [{ ...full, drained: true }, counts(500, 3, 9)],
      [{ ...full, queueingMethod: "passthrough" }, counts(500, 3, 9)],
      [full, { ...counts(500, 3, 9), isActive: false }],
    ];
    for (const [rules, at] of wide) {
      assert.equal(door(rules, at, new Flow(), 0).admit, 500);
      assert.equal(door(rules, { ...at, waiting: TURN_MAX * 3 }, new Flow(), 0).admit, TURN_MAX);
    }
    assert.equal(door({ ...full, drained: true, paused: true }, counts(5), new Flow(), 0).admit, 0);
  },
);

test("slots that other rooms of the budget hold are not given out", () => {
  const at = { ...counts(50, 1, 2), budgetFree: 3 };
  assert.deepEqual(door({ ...OPEN, totalActiveUsers: 100 }, at, new Flow(), 0), {
    admit: 3,
    reason: "site full",
  });
});

test("turns on top: as many as fill the site; a visitor who finds it full waits and keeps the turn", () => {
  const rules = { ...OPEN, totalActiveUsers: 100, fillNoShows: true };
  assert.equal(door(rules, { ...counts(500, 0, 80), noShows: 0.2 }, new Flow(), 0).admit, 25);
  assert.equal(door(rules, { ...counts(500, 25, 80), noShows: 0.2, expected: 20 }, new Flow(), 0).admit, 0);
  assert.equal(mayUseTurn(rules, counts(500, 25, 99), new Flow(), 0), true);
  assert.equal(mayUseTurn(rules, counts(500, 25, 100), new Flow(), 0), false);
});

test("with turns on top, entries keep to the rate", () => {
  const rules = { ...OPEN, newUsersPerMinute: 60, fillNoShows: true };
  const entries = new Flow();
  let now = 1_000_000;
  let entered = 0;
  for (const end = now + 60_000; now < end; now += 100) {
    if (!mayUseTurn(rules, counts(500, 500), entries, now)) continue;
    entries.enter(1, now);
    entered++;
  }
  assert.ok(entered <= 60, `${entered} entered in a minute`);
});
