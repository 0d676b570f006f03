/**
 * The very nodes that run in a cluster, in the tunnel: twenty-five seeds of each kind of plan, the order that is promised, and
 * the rules that are broken on purpose, which must be seen. Longer runs are `fairgate torture --seed N --runs K`.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CANARIES, CANARY_PLANS, CANARY_SEEDS_MAX } from "./canaries.ts";
import { PLAN_KINDS, type PlanKind, type PlanOptions, planOf, TAU_MAX } from "./plan.ts";
import { brokenNode, realNode } from "./real-node.ts";
import { type RunOptions, runPlan } from "./run.ts";
import type { Failure } from "./tunnel.ts";

const SEEDS = Array.from({ length: 25 }, (_, index) => index + 1);
const SMALL = { visitors: 50, seconds: 10 };
/** One of each kind has enough visitors to judge the order and the numbers ahead closely. */
const BIG_SEED = 25;
const BIG = { visitors: 300, seconds: 30, nodes: 4 };

function run(options: PlanOptions, more: Partial<RunOptions> = {}) {
  return runPlan(planOf(options), { makeNode: realNode, ...more });
}

for (const kind of Object.keys(PLAN_KINDS) as PlanKind[])
  test(`every promise is kept: ${kind}`, () => {
    for (const seed of SEEDS) {
      const { failure } = run({ ...(seed === BIG_SEED ? BIG : SMALL), seed, kind });
      assert.equal(failure, null, `seed ${seed}: ${failure?.check}: ${failure?.text}`);
    }
  });

test("the same seed does the same, and copying messages as by a wire changes nothing", () => {
  for (const kind of ["everything", "growth"] as const) {
    const options: PlanOptions = { ...SMALL, seed: 9, kind, nodes: 5 };
    assert.equal(run(options).hash, run(options).hash);
    assert.equal(run(options, { messages: "copied" }).hash, run(options).hash);
  }
});

test("with skewed clocks, lost messages and cuts the order of admission is nearly that of joining", () => {
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

test("in a line that hardly moves everyone is shown how many are ahead, and a first number that is too low does not stick", () => {
  for (const seed of [1, 2]) {
    const plan = planOf({ seed, kind: "calm", nodes: 6, visitors: 150, seconds: 2 });
    const slow = { ...plan, rules: { ...plan.rules, totalActiveUsers: 10 } };
    const { failure } = runPlan(slow, { makeNode: realNode });
    assert.equal(failure, null, `seed ${seed}: ${failure?.check}: ${failure?.text}`);
  }
});

for (const canary of CANARIES)
  test(`a rule that is broken on purpose is seen: ${canary}`, () => {
    const { plan, firstSeed, checks } = CANARY_PLANS[canary];
    let failure: Failure | null = null;
    for (let i = 0; i < CANARY_SEEDS_MAX && failure === null; i++)
      failure = run({ ...plan, seed: firstSeed + i }, { makeNode: brokenNode(canary) }).failure;
    assert.ok(failure, `not seen with ${CANARY_SEEDS_MAX} seeds`);
    assert.ok(checks.includes(failure.check), `${failure.check}: ${failure.text}`);
  });
