import assert from "node:assert/strict";
import { test } from "node:test";
import { figure, percentText, span } from "./figures.ts";

test("numbers are written as people read them", () => {
  assert.deepEqual([523, 1_204, 7.46, 0].map(figure), ["523", "1,204", "7.5", "0"]);
  assert.deepEqual([0.7, 0.0421, 1].map(percentText), ["70%", "4.2%", "100%"]);
  assert.deepEqual([35, 400, 413, 1_930, 90_000, 120_000, 150_000].map(span), [
    "35 ms",
    "0.4 s",
    "0.41 s",
    "1.9 s",
    "90 s",
    "2 minutes",
    "2.5 minutes",
  ]);
});
