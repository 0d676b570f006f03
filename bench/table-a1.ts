/**
 * Koopmans' simulation with our cluster in it: its 27 configurations beside the numbers of its Table A.1, which are the
 * baselines here (averages of 1,000 runs; its program is not run again). Then what it left out: more users, lost letters,
 * partitions and skewed clocks, and thousands of seeds in which everything goes wrong. Simulated time and fixed seeds:
 * but for how fast it goes, the same numbers on every machine. Draws its figures 6.1 to 6.3 into
 * `bench/results/table-a1/`.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { chartFile } from "../src/sim/chart.ts";
import { type Comparison, compareAll, configurationsFor, type Step } from "../src/sim/table-a1/comparison.ts";
import { type Experiment, type Outcome, runExperiment } from "../src/sim/table-a1/experiment.ts";
import { figuresOf } from "../src/sim/table-a1/figures.ts";
import { type Configuration, KOOPMANS_TAU_MAX, TARGETS } from "../src/sim/table-a1/koopmans-table.ts";
import { targetText } from "../src/sim/table-a1/table.ts";
import { type Bench, median, type Row, row } from "./bench.ts";
import { unpin } from "./child.ts";
import { runSwarm, type SwarmRun } from "./table-a1-swarm.ts";

/** Taus are small: of a million pairs, so many are the wrong way round. */
const UNIT = "wrong of 1M";
const MILLION = 1e6;
const USUAL = { target: 100, users: 2_500, changed: 0 };
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
  about: "Koopmans' simulation with our cluster, beside its Table A.1; more users, trouble, and many seeds",
  async run({ isQuick, progress }) {
    const { seeds, troubleSeeds, manyUsers, speedRuns, swarm } = isQuick ? QUICK : WHOLE;
    const configurations = configurationsFor(null);
    const tell = ({ run: number, runs }: Step) => progress(`configurations: run ${number} of ${runs}`);
    const comparisons = compareAll({ configurations, seeds, progress: tell });
    draw(comparisons);
    const run = (experiment: Experiment) => runExperiment({ ...experiment, isByCounting: true });
    const long = configurations.filter(isLong).slice(0, isQuick ? 1 : undefined);
    const counted = compareAll({ configurations: long, seeds, run, progress: tell });
    // Benches of servers keep this process on one core; the threads of the swarm may have all.
    unpin(process.pid);
    const swarmed = await runSwarm(swarm, (done) => progress(`${done} of ${swarm.seeds} seeds`));
    progress("how fast it goes");
    return [
      ...worstRows(comparisons),
      ...comparisons.map(tauRow),
      ...counted.map(countedRow),
      ...speedRows(speedRuns),
      ...manyRows(manyUsers),
      ...TARGETS.map((target) => troubleRow(target, troubleSeeds, progress)),
      swarmRow(swarmed),
    ];
  },
};

function worstRows(comparisons: readonly Comparison[]): Row[] {
  const worst = (of: (one: Comparison) => number) => Math.max(...comparisons.map(of));
  const goal = { of: "value", atMost: 1 } as const;
  const ratio = "times Koopmans'";
  return [
    row({
      name: "tau in the worst of the 27 configurations, by when a node gave word",
      unit: ratio,
      value: worst(({ tau, koopmans }) => tau / koopmans!.tau),
      goal,
    }),
    row({
      name: "the same by the instant in the pass, one for all of a round",
      unit: ratio,
      value: worst(({ tauDecided, koopmans }) => tauDecided / koopmans!.tau),
      goal,
    }),
    row({
      name: "time in the slowest of them",
      unit: ratio,
      value: worst(({ timeMs, koopmans }) => timeMs / koopmans!.timeMs),
    }),
    row({
      name: "runs that broke a promise",
      unit: "runs",
      value: comparisons.reduce((sum, { failures }) => sum + failures.length, 0),
      goal: { of: "value", atMost: 0 },
    }),
  ];
}

function tauRow({ target, users, changed, tau, koopmans }: Comparison): Row {
  return row({
    name: `tau: target ${targetText(target)}, ${users} users, ${changed} nodes changed`,
    unit: UNIT,
    value: tau * MILLION,
    baseline: koopmans!.tau * MILLION,
    goal: { of: "ratio", atMost: 1 },
  });
}

/** Where most have to wait. */
function isLong({ target, users }: Configuration): boolean {
  return target === 20 && users === 2_500;
}

/** As a cluster lets many in: in one message a node, which reaches one sooner than another. */
function countedRow({ target, users, changed, tau }: Comparison): Row {
  return row({
    name: `the same, let in by counting: target ${targetText(target)}, ${users} users, ${changed} nodes changed`,
    unit: UNIT,
    value: tau * MILLION,
    goal: tauGoal(),
  });
}

interface Timed {
  readonly outcome: Outcome;
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
  const { outcome, speed } = timed({ ...configuration!, seed: 1 });
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
    name: `target ${targetText(target)}, 2,500 users, 5 % loss, 2 partitions, 50 ms skew: tau of the worst of ${seeds}${failedText(outcomes)}`,
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

function tauGoal() {
  return { of: "value", atMost: KOOPMANS_TAU_MAX * MILLION } as const;
}

/** A run that failed is never good: not everybody was counted. */
function millionths({ tau, failure }: Outcome): number {
  return failure === null ? tau * MILLION : MILLION;
}

function failedText(outcomes: readonly Outcome[]): string {
  return listText(
    outcomes.flatMap(({ seed, failure }) => (failure ? [`seed ${seed} ${failure.check}`] : [])),
  );
}

function listText(items: readonly string[]): string {
  return items.length === 0 ? "" : ` (${items.join(", ")})`;
}

function draw(comparisons: readonly Comparison[]): void {
  const folder = new URL("./results/table-a1/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  for (const { name, chart } of figuresOf(comparisons))
    writeFileSync(new URL(`${name}.svg`, folder), chartFile(chart));
}
