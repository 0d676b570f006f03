import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Strays } from "./strays.ts";

const NOW = 1_000_000;

test("an address has its budget, and another address its own", () => {
  const strays = new Strays(3, null, NOW);
  const passed = (address: string) => strays.take(address, false, NOW);
  assert.deepEqual(
    Array.from({ length: 5 }, () => passed("203.0.113.7")),
    [true, true, true, false, false],
  );
  assert.ok(passed("203.0.113.8"));
  assert.ok(strays.take("203.0.113.7", false, NOW + 20_000), "a third of a minute later there is one more");
});

test("with IPv6 a whole /64 is one address", () => {
  const strays = new Strays(1, null, NOW);
  assert.ok(strays.take("2001:db8::1", false, NOW));
  assert.ok(!strays.take("2001:db8::2", false, NOW));
  assert.ok(strays.take("2001:db8:0:1::1", false, NOW));
});

test("all addresses together have as many budgets as there are slots, and preflights do not count", () => {
  const strays = new Strays(3, 2, NOW);
  const passed = Array.from({ length: 20 }, (_, n) => strays.take(`203.0.113.${n}`, false, NOW));
  assert.equal(passed.filter(Boolean).length, 6);
  assert.ok(strays.take("203.0.113.30", true, NOW));
  assert.ok(!strays.take("203.0.113.31", false, NOW + 9_999));
  assert.ok(strays.take("203.0.113.31", false, NOW + 10_000));
});

test("a budget of none lets nothing pass", () => {
  assert.ok(!new Strays(0, 5, NOW).take("203.0.113.7", false, NOW));
});

test("in no minute do more than two budgets of one address pass, whatever it does", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 300 }),
      (perMinute, gaps) => {
        const strays = new Strays(perMinute, null, NOW);
        const passed: number[] = [];
        let now = NOW;
        for (const gap of gaps) {
          now += gap;
          if (strays.take("203.0.113.7", false, now)) passed.push(now);
        }
        for (const from of passed)
          assert.ok(passed.filter((at) => at >= from && at < from + 60_000).length <= 2 * perMinute);
      },
    ),
    { numRuns: 50 },
  );
});
