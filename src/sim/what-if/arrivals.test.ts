import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededFraction } from "../hand-world.ts";
import { ARRIVAL_SHAPES, type ArrivalShape, arrivalTimes } from "./arrivals.ts";

const CROWD = 10_000;
const OVER_MS = 232_000;

function timesOf(shape: ArrivalShape, seed = 1): Float64Array {
  return arrivalTimes({ shape, size: CROWD, overMs: OVER_MS }, seededFraction(seed));
}

/** Of the whole crowd, how much has come by a share of the time. */
function comeBy(times: Float64Array, share: number): number {
  return times.filter((ms) => ms < share * OVER_MS).length / times.length;
}

test("whatever the shape, all arrive in order and within the time", () => {
  const options = fc.record({
    shape: fc.constantFrom(...ARRIVAL_SHAPES),
    size: fc.integer({ min: 1, max: 300 }),
    overMs: fc.integer({ min: 0, max: 1_000_000 }),
    seed: fc.nat(),
  });
  fc.assert(
    fc.property(options, ({ seed, ...arrivals }) => {
      const times = arrivalTimes(arrivals, seededFraction(seed));
      assert.equal(times.length, arrivals.size);
      let before = 0;
      for (const ms of times) {
        assert.ok(Number.isInteger(ms) && ms >= before && ms <= arrivals.overMs, String(ms));
        before = ms;
      }
    }),
  );
});

test("a constant crowd arrives evenly", () => {
  const times = timesOf("constant");
  for (const share of [0.1, 0.25, 0.5, 0.9])
    assert.ok(Math.abs(comeBy(times, share) - share) < 0.001, String(share));
});

test("of a spike half are there after three tenths of its time, and three quarters by the middle", () => {
  const times = timesOf("spike");
  assert.ok(Math.abs(comeBy(times, 1 - Math.SQRT1_2) - 0.5) < 0.001);
  assert.ok(Math.abs(comeBy(times, 0.5) - 0.75) < 0.001);
});

test("a sigmoid crowd is Pluijmaekers' function, second by second", () => {
  const times = timesOf("sigmoid");
  const s = (t: number) => 520 * Math.tanh((t - 120) / 60) + 502;
  for (const t of [10, 60, 90, 120, 150, 200]) {
    const expected = (s(t) - s(0)) / (s(232) - s(0));
    assert.ok(Math.abs(comeBy(times, t / 232) - expected) < 0.001, `second ${t}`);
  }
});

test("the busiest second of a sigmoid crowd of a thousand has the paper's nine visitors, or one more or less", () => {
  const times = arrivalTimes({ shape: "sigmoid", size: 1_000, overMs: OVER_MS }, seededFraction(3));
  const bySecond = new Map<number, number>();
  for (const ms of times)
    bySecond.set(Math.floor(ms / 1_000), (bySecond.get(Math.floor(ms / 1_000)) ?? 0) + 1);
  assert.ok(Math.abs(Math.max(...bySecond.values()) - 9) <= 1);
});

test("another seed is another crowd, the same seed the same", () => {
  assert.deepEqual(timesOf("sigmoid", 7), timesOf("sigmoid", 7));
  assert.notDeepEqual(timesOf("sigmoid", 7), timesOf("sigmoid", 8));
});
