import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { passedMark, secondsLeft, timeParts, unitWords } from "./clock.js";
import { languages } from "./languages.ts";

const SIZES = { day: 86_400, hour: 3_600, minute: 60, second: 1 };
const seconds = fc.integer({ min: 0, max: 400 * SIZES.day });

test("the time left is never negative and never too short", () => {
  assert.equal(secondsLeft(-5_000), 0);
  assert.equal(secondsLeft(0), 0);
  assert.equal(secondsLeft(1), 1);
  assert.equal(secondsLeft(60_000), 60);
  assert.equal(secondsLeft(60_001), 61);
});

test("the parts add up to the whole, each less than one of the next larger unit, minutes and seconds always present", () => {
  fc.assert(
    fc.property(seconds, (whole) => {
      const parts = timeParts(whole);
      const sum = parts.reduce((total, [count, unit]) => total + count * SIZES[unit], 0);
      assert.equal(sum, whole);
      assert.deepEqual(
        parts.map(([, unit]) => unit),
        Object.keys(SIZES).slice(-parts.length),
      );
      assert.ok(parts.length >= 2);
      assert.ok(parts.length === 2 || parts[0]![0] > 0, "no leading nothing");
      for (const [count, unit] of parts) if (unit !== "day") assert.ok(count < (unit === "hour" ? 24 : 60));
    }),
  );
});

test("each mark is announced once, whatever the steps, and only the last of several passed at once", () => {
  const steps = fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 200, size: "max" });
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 20_000 }), steps, (start, jumps) => {
      const told: string[] = [];
      let before = start;
      for (const jump of jumps) {
        const now = Math.max(0, before - jump);
        const mark = passedMark(before, now);
        const passed = [3_600, 600, 60, 10].filter((at) => before > at && now <= at);
        assert.equal(mark !== undefined, passed.length > 0, `${before} to ${now}`);
        if (mark) {
          told.push(mark.join(" "));
          assert.equal(mark[0] * SIZES[mark[1]], passed.at(-1));
        }
        before = now;
      }
      assert.equal(new Set(told).size, told.length);
      assert.ok(told.length <= 4);
    }),
  );
});

test("nothing is announced when the page opens", () => {
  assert.equal(passedMark(undefined, 30), undefined);
});

test("every language has words for the units", () => {
  assert.equal(unitWords("en", 10, "minute"), "10 minutes");
  assert.equal(unitWords("en", 1, "hour"), "1 hour");
  for (const language of languages().keys())
    for (const unit of ["day", "hour", "minute", "second"] as const)
      for (const count of [0, 1, 2, 5, 21]) assert.match(unitWords(language, count, unit), /\p{L}/u);
});
