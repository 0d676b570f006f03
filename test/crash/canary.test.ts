/** The canary: a gateway that keeps nothing, before the same books. They must complain, or they are blind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { play } from "./play.ts";
import { rush } from "./rush.ts";

test("without a data folder the same books are full of complaints: they can see", async () => {
  const outcome = await play({
    kills: 1,
    seed: 1,
    lifeMs: { low: 2_500, high: 2_500 },
    arrivalsPerSecond: 20,
    atOnceMax: 60,
    drainMs: 0,
    keepsData: false,
  });
  const seen = new Set(outcome.violations.map(({ wrong }) => wrong));
  // Which of them come to pass depends on the instant of the kill.
  assert.ok(seen.has("ended pass taken") && seen.size > 2, [...seen].join());
  const rushed = await rush({ atOnce: 64, killAfterMs: 300, keepsData: false });
  assert.ok(rushed.violations.length > 0);
});
