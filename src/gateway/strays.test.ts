import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Strays } from "./strays.ts";

const NOW = 1_000_000;

test("while nobody waits an address has its budget, and another address its own", () => {
  const strays = new Strays(3, NOW);
  const passed = (address: string) => strays.mayPass(address, true, NOW);
  assert.deepEqual(
    Array.from({ length: 5 }, () => passed("203.0.113.7")),
    [true, true, true, false, false],
  );
  assert.ok(passed("203.0.113.8"));
  assert.ok(strays.mayPass("203.0.113.7", true, NOW + 20_000), "a third of a minute later there is one more");
});

test("with IPv6 a whole /64 is one address", () => {
  const strays = new Strays(1, NOW);
  assert.ok(strays.mayPass("2001:db8::1", true, NOW));
  assert.ok(!strays.mayPass("2001:db8::2", true, NOW));
  assert.ok(strays.mayPass("2001:db8:0:1::1", true, NOW));
});

test("nothing passes while people wait, for a moment after a newcomer found no room, or with a budget of none", () => {
  const strays = new Strays(100, NOW);
  assert.ok(!strays.mayPass("203.0.113.7", false, NOW));
  strays.foundFull(NOW);
  assert.ok(!strays.mayPass("203.0.113.7", true, NOW + 999));
  assert.ok(strays.mayPass("203.0.113.7", true, NOW + 1_000));
  assert.ok(!new Strays(0, NOW).mayPass("203.0.113.7", true, NOW));
});

test("in no minute do more than two budgets of one address pass, whatever it does", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 300 }),
      (perMinute, gaps) => {
        const strays = new Strays(perMinute, NOW);
        const passed: number[] = [];
        let now = NOW;
        for (const gap of gaps) {
          now += gap;
          if (strays.mayPass("203.0.113.7", true, now)) passed.push(now);
        }
        for (const from of passed)
          assert.ok(passed.filter((at) => at >= from && at < from + 60_000).length <= 2 * perMinute);
      },
    ),
    { numRuns: 50 },
  );
});
