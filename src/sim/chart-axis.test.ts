import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Axis, niceDuration, niceStep, plainNumber, scaleFor } from "./chart-axis.ts";

const MINUTE = 60_000;
const texts = (axis: Partial<Axis>, values: number[], isRounded = false) =>
  scaleFor({ label: "x", ...axis }, values, isRounded).ticks.map(({ text }) => text);

test("a linear axis begins at zero and has ticks that people count in", () => {
  assert.deepEqual(texts({}, [3, 97]), ["0", "20", "40", "60", "80"]);
  assert.deepEqual(texts({}, [3, 97], true), ["0", "20", "40", "60", "80", "100"]);
  assert.deepEqual(texts({}, [0, 0.4]), ["0", "0.1", "0.2", "0.3", "0.4"]);
  assert.deepEqual(texts({}, [-10, 10]), ["-10", "-5", "0", "5", "10"]);
});

test("a logarithmic axis has decades, and finer ticks where those are few", () => {
  assert.deepEqual(texts({ scale: "log" }, [2, 40]), ["2", "5", "10", "20"]);
  assert.deepEqual(texts({ scale: "log" }, [1, 100_000]), ["1", "10", "100", "1,000", "10,000", "100,000"]);
  assert.deepEqual(texts({ scale: "log" }, [3, 70], true), ["1", "2", "5", "10", "20", "50", "100"]);
});

test("all decades have the same length", () => {
  const { share } = scaleFor({ label: "x", scale: "log" }, [1, 1_000], false);
  assert.ok(Math.abs(share(10) - 1 / 3) < 1e-9 && Math.abs(share(100) - 2 / 3) < 1e-9);
  assert.equal(share(0), 0);
});

test("a time axis uses a suitable unit, and names it", () => {
  const hour = scaleFor({ label: "{unit} waited", scale: "time" }, [60 * MINUTE], false);
  assert.equal(hour.label, "minutes waited");
  assert.deepEqual(
    hour.ticks.map(({ text }) => text),
    ["0", "15", "30", "45", "60"],
  );
  assert.deepEqual(texts({ scale: "time" }, [10_000]), ["0", "2", "4", "6", "8", "10"]);
  assert.equal(scaleFor({ label: "{unit}", scale: "time" }, [8 * 60 * MINUTE], false).label, "hours");
});

test("whatever the values, ticks are few, in order and on the axis, and every value lies on it", () => {
  const value = fc.double({ min: -1e9, max: 1e9, noNaN: true });
  const scale = fc.constantFrom("linear", "log", "time") as fc.Arbitrary<"linear" | "log" | "time">;
  fc.assert(
    fc.property(fc.array(value, { maxLength: 20 }), scale, fc.boolean(), (values, kind, isRounded) => {
      const { ticks, share } = scaleFor({ label: "x", scale: kind }, values, isRounded);
      assert.ok(ticks.length <= 40);
      for (const one of [...values, ...ticks.map((tick) => tick.value)])
        assert.ok(share(one) >= 0 && share(one) <= 1, `${one} at ${share(one)}`);
      for (let i = 1; i < ticks.length; i++) assert.ok(ticks[i]!.value > ticks[i - 1]!.value);
    }),
  );
});

test("steps are no less than asked, and round", () => {
  assert.deepEqual([0.03, 1, 1.1, 2.2, 6, 700].map(niceStep), [0.05, 1, 2, 5, 10, 1_000]);
  assert.deepEqual([1, 11_000, 61_000, 5 * 3_600_000].map(niceDuration), [
    1_000,
    15_000,
    120_000,
    6 * 3_600_000,
  ]);
  assert.equal(niceDuration(40 * 3_600_000), 2 * 86_400_000);
});

test("large and small numbers are written short", () => {
  assert.deepEqual([45_000, 1_250_000, 0.25, 0.00001, 0].map(plainNumber), [
    "45,000",
    "1.25M",
    "0.25",
    "1e−5",
    "0",
  ]);
});
