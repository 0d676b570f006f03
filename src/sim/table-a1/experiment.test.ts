import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_NODE_SETTINGS } from "../../engines/cluster/node-settings.ts";
import { NODE_SETTINGS } from "../tunnel/sim-node.ts";
import { type Experiment, runExperiment } from "./experiment.ts";

const TINY: Experiment = {
  ...{ seed: 3, target: 2, users: 60, changed: 1, settings: "koopmans" },
  ...{ nodes: 3, spanMs: 2_000 },
};

test("the same experiment gives the same result, and another seed another", () => {
  const outcome = runExperiment(TINY);
  assert.equal(outcome.failure, null);
  assert.equal(outcome.letIn, TINY.users);
  assert.deepEqual([outcome.added, outcome.removed], [1, 1]);
  assert.ok(outcome.waited > 0 && outcome.timeMs > TINY.spanMs!);
  assert.ok(outcome.tau >= 0 && outcome.tau < 0.5 && outcome.tauDecided <= outcome.tau);
  assert.deepEqual(runExperiment(TINY), outcome);
  assert.notDeepEqual(runExperiment({ ...TINY, seed: 4 }), { ...outcome, seed: 4 });
});

test("with room for all nobody waits, and the order is decided as they came", () => {
  const outcome = runExperiment({ ...TINY, target: null, changed: 0 });
  assert.deepEqual(
    { ...outcome, tau: 0 },
    {
      ...{ seed: 3, tau: 0, tauDecided: 0, waited: 0, letIn: 60, added: 0, removed: 0, failure: null },
      ...{ timeMs: outcome.timeMs, simulatedMs: outcome.simulatedMs },
    },
  );
  assert.ok(outcome.timeMs - TINY.spanMs! < 100, `${outcome.timeMs} ms`);
});

test("lost messages, cuts and skewed clocks are tolerated, and change what happens", () => {
  const trouble = { loss: 0.05, skewMs: 50, partitions: 1, partitionMs: { from: 300, to: 600 } };
  const outcome = runExperiment({ ...TINY, trouble });
  assert.equal(outcome.failure, null);
  assert.equal(outcome.letIn, TINY.users);
  assert.notDeepEqual(outcome, runExperiment(TINY));
  for (const quiet of [{ loss: 0 }, { skewMs: 0 }, { partitions: 0 }])
    assert.notDeepEqual(outcome, runExperiment({ ...TINY, trouble: { ...trouble, ...quiet } }));
});

test("shipped nodes have the shipped settings, and do not admit one by one", () => {
  const outcome = runExperiment({ ...TINY, settings: "shipped" });
  assert.equal(outcome.failure, null);
  assert.equal(outcome.letIn, TINY.users);
  assert.notDeepEqual(outcome, runExperiment(TINY));
  const { join, ...shipped } = DEFAULT_NODE_SETTINGS;
  assert.deepEqual([NODE_SETTINGS, join], [shipped, []]);
});
