import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Strays } from "./strays.ts";

const NOW = 1_000_000;

test("an address has its budget, and another address its own", () => {
  const strays = new Strays(3, NOW);
  const passed = (address: string) => strays.take(address, NOW);
  assert.deepEqual(
    Array.from({ length: 5 }, () => passed("203.0.113.7")),
    [true, true, true, false, false],
  );
  assert.ok(passed("203.0.113.8"));
  assert.ok(strays.take("203.0.113.7", NOW + 20_000), "a third of a minute later there is one more");
});

test("with IPv6 a whole /64 is one address", () => {
  const strays = new Strays(1, NOW);
  assert.ok(strays.take("2001:db8::1", NOW));
  assert.ok(!strays.take("2001:db8::2", NOW));
  assert.ok(strays.take("2001:db8:0:1::1", NOW));
});

test("a budget of none lets nothing pass", () => {
  assert.ok(!new Strays(0, NOW).take("203.0.113.7", NOW));
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
          if (strays.take("203.0.113.7", now)) passed.push(now);
        }
        for (const from of passed)
          assert.ok(passed.filter((at) => at >= from && at < from + 60_000).length <= 2 * perMinute);
      },
    ),
    { numRuns: 50 },
  );
});
