import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeStatus } from "../engines/cluster/node-status.ts";
import { handWorld } from "../sim/hand-world.ts";
import { ClusterWatch, DIFFERENCE_TOLD_AFTER_MS, WAITING_TOLD_EVERY_MS } from "./cluster-watch.ts";

const named = (name: string) => ({ number: 0, name, life: 1, address: `${name}:7100`, is: "alive" as const });

function stage() {
  const { log, logged } = handWorld();
  const watch = new ClusterWatch(log, 0);
  const status = (members: readonly string[] | null, lost: readonly string[] = [], isMajority = true) =>
    ({
      view: members && { version: 1, members: members.map(named), lost: lost.map(named), isMajority },
      problem: null,
    }) as unknown as NodeStatus;
  const quiet = { differences: [], wire: [] };
  return {
    watch,
    status,
    quiet,
    /** What was told since the last time. */
    told: () =>
      logged.splice(0).map(({ level, message, fields }) => {
        const { node } = fields as { node?: string };
        return `${level}: ${message}${node ? ` (${node})` : ""}`;
      }),
  };
}

test("who joins, is lost, comes back and leaves is told once each", () => {
  const { watch, status, quiet, told } = stage();
  watch.look(status(["a"]), 0, quiet);
  assert.deepEqual(told(), ["info: this node is in the cluster"]);
  watch.look(status(["a", "b", "c"]), 1, quiet);
  watch.look(status(["a", "b", "c"]), 2, quiet);
  assert.deepEqual(told(), ["info: a node has joined (b)", "info: a node has joined (c)"]);
  watch.look(status(["a", "b"], ["c"]), 3, quiet);
  assert.deepEqual(told(), ["warn: a node cannot be reached, and counts as lost (c)"]);
  watch.look(status(["a", "c"]), 4, quiet);
  assert.deepEqual(told(), [
    "info: a lost node is back (c)",
    "info: a node no longer belongs to the cluster (b)",
  ]);
});

test("a majority that is lost and found again is told", () => {
  const { watch, status, quiet, told } = stage();
  watch.look(status(["a", "b", "c"]), 0, quiet);
  told();
  watch.look(status(["a"], ["b", "c"], false), 1, quiet);
  assert.equal(told().at(-1), "error: most nodes are lost; few are let in here");
  watch.look(status(["a", "b", "c"]), 2, quiet);
  assert.equal(told().at(-1), "info: most nodes are here again");
});

test("waiting to be taken in is told now and then", () => {
  const { watch, status, quiet, told } = stage();
  for (let now = 0; now <= 2 * WAITING_TOLD_EVERY_MS; now += 250) watch.look(status(null), now, quiet);
  assert.deepEqual(
    told(),
    Array(2).fill("warn: this node waits to be taken into the cluster, and takes no visitors"),
  );
});

test("settings that differ for a while are a change on its way; those that stay different are told once", () => {
  const { watch, status, told } = stage();
  const different = { differences: ["b has other rooms"], wire: [] };
  const same = { differences: [], wire: [] };
  watch.look(status(["a", "b"]), 0, different);
  watch.look(status(["a", "b"]), DIFFERENCE_TOLD_AFTER_MS - 1, different);
  watch.look(status(["a", "b"]), DIFFERENCE_TOLD_AFTER_MS, same);
  told();
  for (let look = 0; look < 4; look++)
    watch.look(status(["a", "b"]), (2 + look) * DIFFERENCE_TOLD_AFTER_MS, different);
  assert.deepEqual(told(), ["warn: b has other rooms: give all nodes the same"]);
});
