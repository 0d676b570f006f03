import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { FAULT_KINDS, FAULTS, type FaultBounds } from "./fault-kinds.ts";
import { incidentsOf } from "./incidents.ts";
import { PLAN_KINDS, type PlanKind, planOf, SWITCHES } from "./plan.ts";
import { VISITOR_KINDS } from "./traits.ts";

const seeds = fc.nat({ max: Number.MAX_SAFE_INTEGER });

test("the same options always give the same plan", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      assert.deepEqual(planOf({ seed }), planOf({ seed }));
      assert.deepEqual(incidentsOf(planOf({ seed })), incidentsOf(planOf({ seed })));
    }),
  );
});

test("every kind of plan, fault and visitor occurs", () => {
  const plans = Array.from({ length: 300 }, (_, seed) => planOf({ seed }));
  assert.deepEqual([...new Set(plans.map(({ kind }) => kind))].sort(), Object.keys(PLAN_KINDS).sort());
  for (const kind of FAULT_KINDS)
    assert.ok(
      plans.some(({ faults }) => faults[kind]),
      kind,
    );
  for (const kind of VISITOR_KINDS)
    assert.ok(
      plans.some(({ crowd }) => crowd[kind] > 0),
      kind,
    );
  assert.deepEqual([...new Set(plans.map(({ nodes }) => nodes))].sort(), [1, 2, 3, 4, 5, 6, 7, 8]);
});

test("the strength of a fault stays within its bounds, and only faults of the plan's kind occur", () => {
  fc.assert(
    fc.property(seeds, (seed) => {
      const plan = planOf({ seed });
      for (const kind of FAULT_KINDS) {
        const fault = plan.faults[kind];
        if (!fault) continue;
        assert.ok((PLAN_KINDS[plan.kind].faults as readonly string[]).includes(kind));
        const { share, times, sizeMs }: FaultBounds = FAULTS[kind];
        if (share) assert.ok(fault.share >= share.from && fault.share <= share.to);
        if (times) assert.ok(fault.times >= times.from && fault.times <= times.to);
        if (sizeMs) assert.ok(fault.sizeMs >= sizeMs.from && fault.sizeMs <= sizeMs.to);
      }
    }),
  );
});

test("switching off a fault or a kind of visitor leaves everything else as it was", () => {
  fc.assert(
    fc.property(seeds, fc.constantFrom(...SWITCHES), (seed, name) => {
      const [plan, less] = [
        planOf({ seed, kind: "everything" }),
        planOf({ seed, kind: "everything", without: [name] }),
      ];
      const off = {
        ...plan.faults,
        ...plan.crowd,
        [name]: Object.hasOwn(plan.faults as object, name) ? null : 0,
      };
      assert.deepEqual({ ...less.faults, ...less.crowd }, off);
      assert.deepEqual(
        incidentsOf(less),
        incidentsOf(plan).filter(({ kind }) => kind !== name),
      );
      assert.equal(less.nodes, plan.nodes);
      assert.equal(less.spanMs, plan.spanMs);
    }),
  );
});

test("explicit options replace what was drawn", () => {
  const plan = planOf({ seed: 5, kind: "splits", nodes: 3, visitors: 77, seconds: 12 });
  assert.equal(plan.kind, "splits");
  assert.deepEqual([plan.nodes, plan.visitors, plan.spanMs], [3, 77, 12_000]);
  assert.deepEqual(planOf({ seed: 5, kind: "splits" }).faults, plan.faults);
});

test("a single incident can be left out", () => {
  const seed = Array.from({ length: 100 }, (_, i) => i).find(
    (one) => incidentsOf(planOf({ seed: one })).length > 3,
  )!;
  const all = incidentsOf(planOf({ seed }));
  const [first, ...rest] = all;
  assert.deepEqual(incidentsOf(planOf({ seed, without: [first!.name] })), rest);
});

test("incidents end within the time for them", () => {
  fc.assert(
    fc.property(seeds, fc.constantFrom(...(Object.keys(PLAN_KINDS) as PlanKind[])), (seed, kind) => {
      const plan = planOf({ seed, kind });
      const incidents = incidentsOf(plan);
      assert.ok(
        incidents.every(({ at, forMs }) => at >= 0 && forMs >= 0 && at + forMs <= plan.spanMs + 1e-6),
      );
      assert.deepEqual(
        incidents.map(({ at }) => at),
        incidents.map(({ at }) => at).sort((a, b) => a - b),
      );
    }),
  );
});
