/**
 * Finds the smallest plan that still fails. Starting from failing options, one thing after the other is left out (a kind of fault
 * or of visitors, half of the visitors, some nodes, half of the time, single incidents), and stays out if the same check still
 * complains. Each step is repeated while it helps, and all of them until none does, up to a number of runs.
 *
 * A smaller plan may fail for another reason, but the same check nearly always means the same fault.
 */
import { incidentsOf } from "./incidents.ts";
import { type Plan, type PlanOptions, planOf, SWITCHES } from "./plan.ts";

const RUNS_MAX = 200;
const SECONDS_MIN = 2;
/** With more visitors than this, none is left out one by one. */
const ONE_BY_ONE_MAX = 12;

export interface Shrunk {
  readonly options: PlanOptions;
  readonly runs: number;
}

/** Options with a little less, or null when there is nothing left to leave out. */
type Step = (options: PlanOptions, plan: Plan) => PlanOptions | null;

/** `checkOf` runs a plan and names the check that complained, or null. */
export function shrink(
  options: PlanOptions,
  checkOf: (plan: Plan) => string | null,
  runsMax = RUNS_MAX,
): Shrunk {
  const check = checkOf(planOf(options));
  if (check === null) throw new Error(`seed ${options.seed} does not fail`);
  const steps = stepsFor(planOf(options));
  let smallest = options;
  let runs = 1;
  for (let before: PlanOptions | null = null; before !== smallest; ) {
    before = smallest;
    for (const step of steps) {
      for (;;) {
        const smaller = step(smallest, planOf(smallest));
        if (smaller === null || runs >= runsMax) break;
        runs++;
        if (checkOf(planOf(smaller)) !== check) break;
        smallest = smaller;
      }
    }
  }
  return { options: smallest, runs };
}

function stepsFor(plan: Plan): Step[] {
  const kinds = kindsIn(plan);
  const singles = incidentsOf(plan).map(({ name }) => name);
  return [
    without(kinds),
    ...kinds.map((kind) => without([kind])),
    visitors((count) => Math.floor(count / 2)),
    nodes((count) => Math.floor(count / 2)),
    halfTheTime,
    ...singles.map((name) => without([name])),
    visitors((count) => Math.floor(0.8 * count)),
    nodes((count) => count - 1),
    visitors((count) => (count <= ONE_BY_ONE_MAX ? count - 1 : 0)),
  ];
}

function kindsIn({ faults, crowd }: Plan): string[] {
  const present: Readonly<Record<string, unknown>> = { ...faults, ...crowd };
  return SWITCHES.filter((name) => present[name]);
}

function without(names: readonly string[]): Step {
  return (options, plan) => {
    const there = new Set([...kindsIn(plan), ...incidentsOf(plan).map(({ name }) => name)]);
    const gone = names.filter((name) => there.has(name));
    return gone.length === 0 ? null : { ...options, without: [...(options.without ?? []), ...gone] };
  };
}

function visitors(less: (count: number) => number): Step {
  return (options, plan) => {
    const count = less(plan.visitors);
    return count < 1 ? null : { ...options, visitors: count };
  };
}

function nodes(less: (count: number) => number): Step {
  return (options, plan) => {
    const count = less(plan.nodes);
    return count < 1 ? null : { ...options, nodes: count };
  };
}

const halfTheTime: Step = (options, { spanMs }) => {
  const seconds = Math.ceil(spanMs / 2_000);
  return seconds < SECONDS_MIN || seconds * 1_000 >= spanMs ? null : { ...options, seconds };
};
