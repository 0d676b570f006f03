/** Shrinking stops after a while; looking for a failure does not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { shrunkBriefly } from "./shrinking.ts";

/** A clock on which an hour passes each time it is asked. */
function hastyClock(): () => number {
  let now = 0;
  return () => {
    now += 3_600_000;
    return now;
  };
}

test("every run is done, however long each takes", async () => {
  let runs = 0;
  const check = shrunkBriefly(async () => void runs++, hastyClock());
  await fc.assert(fc.asyncProperty(fc.nat(), check), { numRuns: 50 });
  assert.equal(runs, 50);
});

test("a failure is told as it is when the time to make it smaller is over", async () => {
  const failed: number[] = [];
  const check = async (drawn: number) => {
    if (drawn < 1_000) return;
    failed.push(drawn);
    throw new Error(`${drawn} is too big`);
  };
  const assertIt = (one: typeof check) =>
    fc.assert(fc.asyncProperty(fc.nat(), one), { numRuns: 200, seed: 1 });
  await assert.rejects(assertIt(shrunkBriefly(check, hastyClock())), /Shrunk 0 time/);
  assert.equal(failed.length, 1);
  await assert.rejects(assertIt(shrunkBriefly(check)), /Counterexample: \[1000\]/);
});
