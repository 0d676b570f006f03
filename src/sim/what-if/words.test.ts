import assert from "node:assert/strict";
import { test } from "node:test";
import { counted, shareWords, spanWords } from "./words.ts";

test("a duration is given in the two units that matter", () => {
  const cases: [number, string][] = [
    [0, "0 s"],
    [250, "0.3 s"],
    [45_400, "45 s"],
    [59_700, "1 min"],
    [90_000, "1 min 30 s"],
    [43 * 60_000, "43 min"],
    [65 * 60_000, "1 h 5 min"],
    [120 * 60_000, "2 h"],
    [51 * 3_600_000, "2 d 3 h"],
  ];
  for (const [ms, words] of cases) assert.equal(spanWords(ms), words);
});

test("a share is all or nothing only when it is", () => {
  assert.deepEqual([0, 0.0004, 0.5, 0.9999, 1].map(shareWords), [
    "0%",
    "under 0.1%",
    "50%",
    "over 99.9%",
    "100%",
  ]);
});

test("one is one", () => {
  assert.deepEqual([counted(1, "slot"), counted(1_200, "slot")], ["1 slot", "1,200 slots"]);
});
