import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { keyAt, nodeOfKey, OrderClock, timeOfKey } from "./order-clock.ts";

const NOW = Date.UTC(2026, 6, 1, 12);
const EPOCH_AT = Date.UTC(2025, 0, 1);

const isKey = (key: number) => Number.isSafeInteger(key) && key >= 0;

test("a key tells when it was given out, and by which node number", () => {
  const clock = new OrderClock({ node: 63, skewMaxMs: 1_000 });
  const key = clock.next(NOW + 0.7);
  assert.equal(key, (NOW - EPOCH_AT) * 8192 + 63);
  assert.equal(timeOfKey(key), NOW);
  assert.equal(nodeOfKey(key), 63);
  assert.equal(keyAt({ at: NOW, node: 63 }), key);
  assert.equal(clock.next(NOW), key + 64);
});

test("a counter that runs over borrows the next millisecond", () => {
  const clock = new OrderClock({ node: 5, skewMaxMs: 1_000 });
  const keys = Array.from({ length: 129 }, () => clock.next(NOW));
  assert.equal(timeOfKey(keys[127]!), NOW);
  assert.equal(keys[128], keyAt({ at: NOW + 1, node: 5 }));
});

test("a clock that jumps back gives out no smaller key, nor does a new node number", () => {
  const clock = new OrderClock({ node: 63, skewMaxMs: 1_000 });
  const before = clock.next(NOW);
  clock.node = 0;
  const after = clock.next(NOW - 3_600_000);
  assert.ok(after > before);
  assert.equal(nodeOfKey(after), 0);
  assert.equal(clock.node, 0);
});

test("a reading too far ahead is refused and leaves no trace", () => {
  const clock = new OrderClock({ node: 1, skewMaxMs: 1_000 });
  assert.equal(clock.hear(NOW + 1_000.5, NOW), false);
  for (const time of [Number.NaN, Number.POSITIVE_INFINITY, "1" as unknown as number])
    assert.equal(clock.hear(time, NOW), false);
  assert.equal(clock.time(NOW), NOW);
  assert.equal(clock.next(NOW), keyAt({ at: NOW, node: 1 }));
  assert.equal(clock.hear(NOW + 1_000, NOW), true);
  assert.equal(timeOfKey(clock.next(NOW)), NOW + 1_000);
});

test("among peers with skewed clocks, causes come before effects, and no key exists twice", () => {
  const SKEW_MAX_MS = 50;
  const step = fc.record({
    who: fc.nat({ max: 3 }),
    to: fc.nat({ max: 3 }),
    isTold: fc.boolean(),
    passedMs: fc.nat({ max: 2 }),
  });
  const skews = fc.array(fc.integer({ min: -20, max: 20 }), { minLength: 4, maxLength: 4 });
  fc.assert(
    fc.property(skews, fc.array(step, { maxLength: 400, size: "max" }), (skew, steps) => {
      const clocks = skew.map((_, node) => new OrderClock({ node, skewMaxMs: SKEW_MAX_MS }));
      const known = skew.map(() => 0);
      const all = new Set<number>();
      let now = NOW;
      for (const { who, to, isTold, passedMs } of steps) {
        now += passedMs;
        const key = clocks[who]!.next(now + skew[who]!);
        assert.ok(key > known[who]! && !all.has(key) && isKey(key));
        all.add(key);
        known[who] = key;
        if (!isTold) continue;
        assert.ok(clocks[to]!.hear(clocks[who]!.time(now + skew[who]!), now + skew[to]!));
        known[to] = Math.max(known[to]!, key);
      }
    }),
  );
});

test("peers that answer each other without end do not drive their clocks ahead of all wall clocks", () => {
  const a = new OrderClock({ node: 0, skewMaxMs: 50 });
  const b = new OrderClock({ node: 1, skewMaxMs: 50 });
  for (let i = 0; i < 120; i++) {
    const [from, to] = i % 2 === 0 ? [a, b] : [b, a];
    from.next(NOW);
    assert.ok(to.hear(from.time(NOW), NOW));
  }
  assert.ok(a.time(NOW) < NOW + 1);
});

test("node numbers and times without keys are refused", () => {
  for (const node of [-1, 64, 0.5]) {
    assert.throws(() => new OrderClock({ node, skewMaxMs: 0 }), RangeError);
    assert.throws(() => keyAt({ at: NOW, node }), RangeError);
  }
  assert.throws(() => keyAt({ at: EPOCH_AT - 1, node: 0 }), RangeError);
  assert.throws(() => keyAt({ at: Date.UTC(2060, 0, 1), node: 0 }), RangeError);
  assert.ok(isKey(keyAt({ at: Date.UTC(2059, 8, 30), node: 63 })));
});

test("a wall clock before 2025 still gives out rising keys", () => {
  const clock = new OrderClock({ node: 2, skewMaxMs: 0 });
  const first = clock.next(0);
  assert.ok(isKey(first) && clock.next(1) > first);
});
