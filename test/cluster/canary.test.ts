/** The canary: two nodes that do not know each other. The books must report violations, or they see nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import type { Wrong } from "../crash/books.ts";
import { assertKept, clusterPlay } from "./cluster-play.ts";

const GONE_MIN = 20;
const TAKEN: readonly Wrong[] = ["ended pass taken", "spent ticket taken"];

test("nodes that are no cluster cause violations in the same books: the books can see", async () => {
  const plan = { seed: 1, nodes: 2, isApart: true, drainMs: 0 };
  const outcome = await clusterPlay(plan, async ({ crowd, atStake, calm, violations }) => {
    atStake();
    calm();
    await eventually("many have left", () => crowd.gone >= GONE_MIN);
    await eventually("what is over is taken again", async () => {
      await crowd.showAgain();
      return violations().some(({ wrong }) => TAKEN.includes(wrong));
    });
  });
  assert.throws(() => assertKept(outcome));
});
