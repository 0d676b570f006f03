/** kill -9 in the middle of a rush: every answer that a visitor got still holds. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rush } from "./rush.ts";

const RUSHES = 3;

test("what was on its way to the disk at the kill had been acknowledged to nobody", async (t) => {
  for (let kill = 0; kill < RUSHES; kill++) {
    const killAfterMs = 200 + Math.random() * 600;
    const { violations, ...numbers } = await rush({ atOnce: 64, killAfterMs, keepsData: true });
    t.diagnostic(JSON.stringify(numbers));
    assert.deepEqual(violations, []);
    assert.ok(numbers.passes > numbers.left && numbers.left > 0 && numbers.underWay > 0);
  }
});
