/** The canary: nodes that know nothing of each other, before the same books. They must complain, or they are blind. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../cli/eventually.ts";
import { pause } from "../crash/ask.ts";
import { assertKept, clusterPlay } from "./cluster-play.ts";

/** So many have left, and this much later every node of a cluster would know of them. */
const GONE_MIN = 20;
const UNTIL_OLD_NEWS_MS = 4_000;

test("of nodes that are no cluster the same books are full of complaints: they can see", async () => {
  const plan = { seed: 1, nodes: 2, isApart: true, drainMs: 0 };
  const outcome = await clusterPlay(plan, async ({ crowd, atStake, calm }) => {
    atStake();
    calm();
    await eventually("many have left", () => crowd.gone >= GONE_MIN);
    await pause(UNTIL_OLD_NEWS_MS);
    await crowd.showAgain();
  });
  const seen = new Set(outcome.violations.map(({ wrong }) => wrong));
  assert.ok(seen.has("ended pass taken") || seen.has("spent ticket taken"), [...seen].join());
  assert.throws(() => assertKept(outcome));
});
