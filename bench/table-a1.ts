/**
 * Koopmans' simulation with our cluster in it: its 27 configurations beside the numbers of its Table A.1, which are the
 * baselines here (averages of 1,000 runs; its program is not run again). First with the settings that nodes are shipped
 * with, then with Koopmans' own, which admit one by one without limit and cannot be set. Then what it left out: more users,
 * lost messages, partitions and skewed clocks, and thousands of random seeds with every kind of fault. Simulated time and
 * fixed seeds: except for the speed, the same numbers on every machine. Draws its figures 6.1 to 6.3 into
 * `bench/results/table-a1/`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { chartFile } from "../src/sim/chart.ts";
import {
  type Averages,
  type Comparison,
  compareAll,
  configurationsFor,
  type ExperimentStep,
} from "../src/sim/table-a1/comparison.ts";
import { type Experiment, type ExperimentResult, runExperiment } from "../src/sim/table-a1/experiment.ts";
import { tableFigures } from "../src/sim/table-a1/figures.ts";
import { KOOPMANS_TAU_MAX, type KoopmansRow, TARGETS } from "../src/sim/table-a1/koopmans-table.ts";
import { targetText } from "../src/sim/table-a1/table.ts";
import { type Bench, type Goal, median, type Row, row } from "./bench.ts";
import { unpin } from "./child.ts";
import { runSwarm, type SwarmRun } from "./table-a1-swarm.ts";

/** Taus are small, so they are shown as pairs out of order in a million. */
const UNIT = "wrong of 1M";
const MILLION = 1e6;
const USUAL = { target: 100, users: 2_500, changed: 0, settings: "shipped" } as const;
const TROUBLE = { loss: 0.05, skewMs: 50, partitions: 2, partitionMs: { from: 1_000, to: 5_000 } };
const SEEDS_NAMED_MAX = 10;

const WHOLE = {
  seeds: 20,
  troubleSeeds: 10,
  manyUsers: 100_000,
  speedRuns: 7,
  swarm: { seeds: 10_000, sizes: {} },
};
const QUICK = {
  ...{ seeds: 1, troubleSeeds: 1, manyUsers: 10_000, speedRuns: 3 },
  swarm: { seeds: 200, sizes: { visitors: 60, seconds: 10 } },
};

export const tableA1Bench: Bench = {
  name: "table-a1",
  about:
    "Koopmans' simulation with our cluster, beside its Table A.1: with nodes as shipped, and one by one without limit as in the paper, which no setting of ours does; more users, faults, and many random seeds",
  async run({ isQuick, progress }) {
    const { seeds, troubleSeeds, manyUsers, speedRuns, swarm } = isQuick ? QUICK : WHOLE;
    // Quick: the extremes of nodes changed alone.
    const configurations = configurationsFor(null).filter(({ changed }) => !isQuick || changed !== 1);
    const tell = ({ run: number, runs }: ExperimentStep) =>
      progress(`configurations: run ${number} of ${runs}`);
    const comparisons = compareAll({ configurations, seeds, progress: tell });
    draw(comparisons);
    // Benches of servers keep this process on one core; the threads of the swarm may use all.
    unpin(process.pid);
    const swarmed = await runSwarm(swarm, (done) => progress(`${done} of ${swarm.seeds} seeds`));
    progress("how fast it goes");
    return [
      ...shippedRows(comparisons),
      ...oneByOneRows(comparisons),
      brokenRow(comparisons),
      ...comparisons.map((one) => shippedRow(one)),
      ...comparisons.map((one) => oneByOneRow(one)),
      ...speedRows(speedRuns),
      ...manyRows(manyUsers),
      ...TARGETS.map((target) => troubleRow(target, troubleSeeds, progress)),
      swarmRow(swarmed),
    ];
  },
};

const TIMES = "times Koopmans'";

interface Compared {
  readonly ours: Averages;
  readonly koopmans: KoopmansRow;
}

function shippedRows(comparisons: readonly Comparison[]): Row[] {
  const all = comparisons.map(({ shipped, koopmans }) => ({ ours: shipped, koopmans: koopmans! }));
  const withLine = all.filter(({ ours }) => ours.waited > 0);
  const of = `in the worst of the ${withLine.length} configurations in which anybody waits`;
  const count = (is: (one: Compared) => boolean) => withLine.filter(is).length;
  return [
    row({
      name: `tau as shipped, ${of}`,
      unit: UNIT,
      value: worst(withLine, ({ ours }) => ours.tau * MILLION),
      goal: tauGoal(),
    }),
    row({ name: "the same beside Koopmans'", unit: TIMES, value: worst(withLine, tauRatio) }),
    row({
      name: "the same by the instant in the pass, one for all of a round",
      unit: TIMES,
      value: worst(withLine, decidedRatio),
    }),
    row({
      name: `of these ${withLine.length}, no worse than Koopmans'`,
      unit: "configurations",
      value: count((one) => tauRatio(one) <= 1),
    }),
    row({ name: "time as shipped, in the slowest of all", unit: TIMES, value: worst(all, timeRatio) }),
  ];
}

function oneByOneRows(comparisons: readonly Comparison[]): Row[] {
  const all = comparisons.map(({ oneByOne, koopmans }) => ({ ours: oneByOne!, koopmans: koopmans! }));
  const goal = { of: "value", atMost: 1 } as const;
  return [
    row({
      name: `tau one by one (no setting), in the worst of all ${all.length} configurations`,
      unit: TIMES,
      value: worst(all, tauRatio),
      goal,
    }),
    row({
      name: "the same by the instant in the pass",
      unit: TIMES,
      value: worst(all, decidedRatio),
      goal,
    }),
    row({ name: "time one by one, in the slowest of all", unit: TIMES, value: worst(all, timeRatio) }),
  ];
}

function worst(compared: readonly Compared[], of: (one: Compared) => number): number {
  return compared.reduce((most, one) => Math.max(most, of(one)), 0);
}

function tauRatio({ ours, koopmans }: Compared): number {
  return ours.tau / koopmans.tau;
}

function decidedRatio({ ours, koopmans }: Compared): number {
  return ours.tauDecided / koopmans.tau;
}

function timeRatio({ ours, koopmans }: Compared): number {
  return ours.timeMs / koopmans.timeMs;
}

function brokenRow(comparisons: readonly Comparison[]): Row {
  return row({
    name: "runs that broke a promise",
    unit: "runs",
    value: comparisons.reduce((sum, { failures }) => sum + failures.length, 0),
    goal: { of: "value", atMost: 0 },
  });
}

/** Judged by the goal that Koopmans set; beside what Koopmans measured. */
function shippedRow(comparison: Comparison): Row {
  return tauRow(comparison, { way: "as shipped", ours: comparison.shipped, goal: tauGoal() });
}

function oneByOneRow(comparison: Comparison): Row {
  const goal = { of: "ratio", atMost: 1 } as const;
  return tauRow(comparison, { way: "one by one", ours: comparison.oneByOne!, goal });
}

function tauRow(
  { target, users, changed, koopmans }: Comparison,
  { way, ours, goal }: { way: string; ours: Averages; goal: Goal },
): Row {
  return row({
    name: `tau ${way}: target ${targetText(target)}, ${users} users, ${changed} nodes changed${lineText([ours])}`,
    unit: UNIT,
    value: ours.tau * MILLION,
    baseline: koopmans!.tau * MILLION,
    goal,
  });
}

interface Timed {
  readonly outcome: ExperimentResult;
  /** Simulated over real time. */
  readonly speed: number;
}

function timed(experiment: Experiment): Timed {
  const startedAt = performance.now();
  const outcome = runExperiment(experiment);
  return { outcome, speed: outcome.simulatedMs / (performance.now() - startedAt) };
}

function speedRows(runs: number): Row[] {
  const all = Array.from({ length: runs }, (_, i) => timed({ ...USUAL, seed: i + 1 }));
  return [
    row({
      name: "8 nodes, 2,500 users: simulated over real time",
      unit: "times",
      value: median(all.map(({ speed }) => speed)),
      goal: { of: "value", atLeast: 1 },
    }),
  ];
}

function manyRows(users: number): Row[] {
  const [configuration] = configurationsFor(users);
  const { outcome, speed } = timed({ ...configuration!, settings: "shipped", seed: 1 });
  const { target, changed, stayMs } = configuration!;
  const name = `${users.toLocaleString("en")} users, target ${targetText(target)}, ${changed} changed, each stays ${(stayMs ?? 0) / 1_000} s`;
  return [
    row({
      name: `${name}: tau${failedText([outcome])}`,
      unit: UNIT,
      value: millionths(outcome),
      goal: tauGoal(),
    }),
    row({ name: `${name}: had to wait`, unit: "users", value: outcome.waited }),
    row({ name: `${name}: simulated over real time`, unit: "times", value: speed }),
  ];
}

function troubleRow(target: number | null, seeds: number, progress: (text: string) => void): Row {
  const outcomes = Array.from({ length: seeds }, (_, i) => {
    progress(`trouble, target ${targetText(target)}: seed ${i + 1} of ${seeds}`);
    return runExperiment({ ...USUAL, target, seed: i + 1, trouble: TROUBLE });
  });
  return row({
    name: `as shipped, target ${targetText(target)}, 2,500 users, 5 % loss, 2 partitions, 50 ms skew: tau of the worst of ${seeds}${lineText(outcomes)}${failedText(outcomes)}`,
    unit: UNIT,
    value: Math.max(...outcomes.map(millionths)),
    goal: tauGoal(),
  });
}

function swarmRow(runs: readonly SwarmRun[]): Row {
  const broken = runs.filter((run) => run.broken !== null);
  const named = broken.slice(0, SEEDS_NAMED_MAX).map((run) => `${run.seed} ${run.broken}`);
  return row({
    name: `${runs.length.toLocaleString("en")} seeds of mixed faults: promises broken${listText(named)}`,
    unit: "seeds",
    value: broken.length,
    goal: { of: "value", atMost: 0 },
  });
}

function tauGoal(): Goal {
  return { of: "value", atMost: KOOPMANS_TAU_MAX * MILLION };
}

/** A failed run never meets its goal: not everybody was counted. */
function millionths({ tau, failure }: ExperimentResult): number {
  return failure === null ? tau * MILLION : MILLION;
}

function failedText(outcomes: readonly ExperimentResult[]): string {
  return listText(
    outcomes.flatMap(({ seed, failure }) => (failure ? [`seed ${seed} ${failure.check}`] : [])),
  );
}

/** Where nobody waits, tau is of visitors who went straight through, and says nothing about a line. */
function lineText(runs: readonly { readonly waited: number }[]): string {
  return runs.every(({ waited }) => waited === 0) ? " (nobody waits)" : "";
}

function listText(items: readonly string[]): string {
  return items.length === 0 ? "" : ` (${items.join(", ")})`;
}

function draw(comparisons: readonly Comparison[]): void {
  const folder = new URL("./results/table-a1/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const { name, chart } of tableFigures(comparisons))
    writeFileSync(new URL(`${name}.svg`, folder), chartFile(chart));
}
