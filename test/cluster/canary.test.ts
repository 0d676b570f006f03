/** The canary: nodes that know nothing of each other, before the same books. They must complain, or they are blind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { assertKept, clusterPlay } from "./cluster-play.ts";

test("of nodes that are no cluster the same books are full of complaints: they can see", async () => {
  const plan = { seed: 1, nodes: 2, isApart: true, drainMs: 0 };
  const outcome = await clusterPlay(plan, async ({ atStake }) => atStake());
  assert.ok(outcome.violations.length > 0, JSON.stringify(outcome.failures));
  assert.throws(() => assertKept(outcome));
});
