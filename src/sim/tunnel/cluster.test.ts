/**
 * The very nodes that run in a cluster, in the tunnel: twenty-five seeds of each kind of plan, the order that is promised, and
 * the rules that are broken on purpose, which must be seen. Longer runs are `fairgate simulate --seed N --runs K`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAN_KINDS, type PlanKind, type PlanOptions, planOf, TAU_MAX } from "./plan.ts";
import { CANARIES, realNode } from "./real-node.ts";
import { type RunOptions, runPlan } from "./run.ts";
import type { Failure } from "./tunnel.ts";

const SEEDS = Array.from({ length: 25 }, (_, index) => index + 1);
const SMALL = { visitors: 50, seconds: 10 };

function run(options: PlanOptions, more: Partial<RunOptions> = {}) {
  return runPlan(planOf(options), { makeNode: realNode, ...more });
}

for (const kind of Object.keys(PLAN_KINDS) as PlanKind[])
  test(`every promise is kept: ${kind}`, () => {
    for (const seed of SEEDS) {
      const { failure } = run({ ...SMALL, seed, kind });
      assert.equal(failure, null, `seed ${seed}: ${failure?.check}: ${failure?.text}`);
    }
  });

test("the same seed does the same, and letters that are copied as by a wire change nothing", () => {
  for (const kind of ["everything", "growth"] as const) {
    const options: PlanOptions = { ...SMALL, seed: 9, kind, nodes: 5 };
    assert.equal(run(options).hash, run(options).hash);
    assert.equal(run(options, { letters: "copied" }).hash, run(options).hash);
  }
});

test("with skewed clocks, lost letters and cuts the order of admission is nearly that of joining", () => {
  const without = ["duplication", "reorder", "visitorLoss", "spike", "slow", "oneWay", "clog"];
  const { failure, figures } = run({
    seed: 12,
    kind: "splits",
    nodes: 8,
    visitors: 1_000,
    seconds: 100,
    without,
  });
  assert.equal(failure, null);
  assert.ok(figures.counted > 300 && figures.tau < TAU_MAX, `${figures.tau}`);
});

/** What breaks each rule, and which checks may see it. */
const EXPECTED: Readonly<Record<string, { plan: Omit<PlanOptions, "seed">; checks: readonly string[] }>> = {
  "give-twice": {
    plan: { kind: "weather", nodes: 3, visitors: 150, seconds: 20 },
    checks: ["capacity", "slots", "counts"],
  },
  "adopt-in-minority": {
    plan: {
      kind: "splits",
      nodes: 5,
      visitors: 300,
      seconds: 60,
      without: ["oneWay", "clog", "spike", "slow", "loss", "skew", "duplication", "reorder"],
    },
    checks: ["own part"],
  },
  "forget-turns": {
    plan: { kind: "weather", nodes: 5, visitors: 150, seconds: 20 },
    checks: ["capacity", "slots"],
  },
};
const CANARY_SEEDS_MAX = 40;

for (const canary of CANARIES)
  test(`a rule that is broken on purpose is seen: ${canary}`, () => {
    const { plan, checks } = EXPECTED[canary]!;
    let failure: Failure | null = null;
    for (let seed = 0; seed < CANARY_SEEDS_MAX && failure === null; seed++)
      failure = run({ ...plan, seed, canary }).failure;
    assert.ok(failure, `not seen with ${CANARY_SEEDS_MAX} seeds`);
    assert.ok(checks.includes(failure.check), `${failure.check}: ${failure.text}`);
  });
