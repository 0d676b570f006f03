import assert from "node:assert/strict";
import { test } from "node:test";
import { incidentsOf } from "./incidents.ts";
import { type Plan, planOf } from "./plan.ts";
import { shrink } from "./shrink.ts";

const SEED = 3;
const start = { seed: SEED, kind: "everything", nodes: 8, visitors: 400, seconds: 60 } as const;

test("everything that does not matter is left out, and what matters stays", () => {
  const isFailing = ({ nodes, visitors, faults }: Plan) =>
    nodes >= 3 && visitors >= 7 && faults.partition !== null ? "capacity" : null;
  const { options } = shrink(start, isFailing);
  const plan = planOf(options);
  assert.deepEqual([plan.nodes, plan.visitors, plan.spanMs], [3, 7, 2_000]);
  const left = Object.entries(plan.faults).flatMap(([kind, fault]) => (fault ? [kind] : []));
  assert.deepEqual(left, ["partition"]);
  assert.equal(plan.crowd.impatient + plan.crowd.forging + plan.crowd.vanishing, 0);
});

test("of several incidents the one that matters is left", () => {
  const names = incidentsOf(planOf(start)).map(({ name }) => name);
  const guilty = names.find((name) => names.includes(name.replace(/\d+$/, "2")) && name.endsWith(".1"))!;
  assert.ok(guilty, names.join());
  const { options } = shrink(start, (plan) =>
    incidentsOf(plan).some(({ name }) => name === guilty) ? "once" : null,
  );
  assert.deepEqual(
    incidentsOf(planOf(options)).map(({ name }) => name),
    [guilty],
  );
});

test("another check that complains does not count", () => {
  const { options } = shrink(start, ({ nodes }) => (nodes === 8 ? "capacity" : "order"));
  assert.equal(planOf(options).nodes, 8);
});

test("it ends after a number of runs, with the smallest found so far", () => {
  let runs = 0;
  const alwaysFailing = () => {
    runs++;
    return "once";
  };
  const shrunk = shrink(start, alwaysFailing, 5);
  assert.equal(runs, 5);
  assert.equal(shrunk.runs, 5);
});

test("a plan that does not fail cannot be made smaller", () => {
  assert.throws(() => shrink(start, () => null), /seed 3 does not fail/);
});
