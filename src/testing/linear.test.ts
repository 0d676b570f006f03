/** The check of parsers works: quadratic work is found, linear work is not accused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertLinear } from "./linear.ts";

const LENGTHS = { small: 2_048, large: 32_768 };
let sum = 0;

test("work that looks at each character once is linear", () => {
  const once = (length: number) => {
    for (let i = 0; i < length * 20; i++) sum += i & 1;
  };
  assertLinear(LENGTHS, once, "once");
  assert.ok(sum > 0);
});

test("work that looks at every character for each character is not", () => {
  const squared = (length: number) => {
    for (let i = 0; i < (length * length) / 500; i++) sum += i & 1;
  };
  assert.throws(
    () => assertLinear(LENGTHS, squared, "squared"),
    /squared: what is 16 times as long takes \d+\.\d times/,
  );
});
