/**
 * Configurations run over several seeds, with averages beside what Koopmans 2024 measured: with the settings that nodes are
 * shipped with, and with Koopmans' own. A configuration that Koopmans did not measure is run as shipped only, and compared with
 * Koopmans' goal, tau below 0.005.
 */
import type { Failure } from "../tunnel/tunnel.ts";
import { type Experiment, type ExperimentResult, runExperiment, SPAN_MS } from "./experiment.ts";
import {
  type Configuration,
  KOOPMANS_TABLE,
  KOOPMANS_TAU_MAX,
  type KoopmansRow,
  koopmansRowOf,
  USERS,
} from "./koopmans-table.ts";

/**
 * Beyond Koopmans. With users who leave at once there would hardly ever be a line, or one that outlasts any simulation. So users
 * stay a while, and there is room for slightly fewer than arrive in that time: a line is certain, nearly all wait in it, and it
 * keeps moving. After a node's death nobody is admitted until the others agree that it is lost, and then as many at once as have
 * left by then, whose turns are reported in no order. One death shows that.
 */
const BEYOND = { changed: 1, stayMs: 5_000 };
const ROOM_SHARE = 0.9;

/** Averages over all seeds, as in Koopmans' table. */
export interface Averages {
  readonly tau: number;
  readonly tauDecided: number;
  readonly timeMs: number;
  /** Visitors who had to wait. 0: none in any run. */
  readonly waited: number;
}

export interface Comparison extends Configuration {
  /** How many seeds were run with each of the settings. */
  readonly seeds: number;
  readonly shipped: Averages;
  /** With Koopmans' settings: one by one without limit. null: Koopmans has no such configuration. */
  readonly oneByOne: Averages | null;
  /** null: Koopmans has no such configuration. */
  readonly koopmans: KoopmansRow | null;
  /** As shipped, tau is no worse than Koopmans', or than the goal. */
  readonly isNoWorse: boolean;
  /** As shipped, tau is no worse than Koopmans' goal. */
  readonly isWithinGoal: boolean;
  readonly failures: readonly Failed[];
  readonly simulatedMs: number;
}

export type Failed = Failure & Pick<Experiment, "seed" | "settings">;

/** The 27 of the table, those with that number of users, or one beyond what Koopmans simulated. */
export function configurationsFor(users: number | null): readonly Configuration[] {
  if (users === null) return KOOPMANS_TABLE;
  return USERS.includes(users) ? KOOPMANS_TABLE.filter((row) => row.users === users) : [beyond(users)];
}

function beyond(users: number): Configuration {
  const target = Math.ceil((ROOM_SHARE * users * BEYOND.stayMs) / SPAN_MS);
  return { ...BEYOND, users, target };
}

export interface ExperimentSeries {
  readonly configurations: readonly Configuration[];
  /** The number of seeds for each configuration and settings, from 1 on. */
  readonly seeds: number;
  readonly run?: Runner;
  readonly progress?: (step: ExperimentStep) => void;
}

export type Runner = (experiment: Experiment, progress: (simulatedMs: number) => void) => ExperimentResult;

/** Progress: the number of the run, from 1, and how much of it was simulated. */
export interface ExperimentStep {
  readonly run: number;
  readonly runs: number;
  readonly simulatedMs: number;
}

export function compareAll({
  configurations,
  seeds,
  run = runExperiment,
  progress = () => {},
}: ExperimentSeries): Comparison[] {
  const runs = configurations.reduce((count, one) => count + seeds * settingsFor(one).length, 0);
  let number = 0;
  return configurations.map(({ target, users, changed, stayMs }) => {
    const configuration = { target, users, changed, ...(stayMs !== undefined && { stayMs }) };
    const [shipped = [], oneByOne = null] = settingsFor(configuration).map((settings) =>
      Array.from({ length: seeds }, (_, i) => {
        number++;
        const tell = (simulatedMs: number) => progress({ run: number, runs, simulatedMs });
        return run({ ...configuration, settings, seed: i + 1 }, tell);
      }),
    );
    return compare(configuration, { shipped, oneByOne });
  });
}

/** One by one, more users than Koopmans had would take too long. */
function settingsFor(configuration: Configuration): readonly Experiment["settings"][] {
  return koopmansRowOf(configuration) === null ? ["shipped"] : ["shipped", "koopmans"];
}

export interface Outcomes {
  readonly shipped: readonly ExperimentResult[];
  readonly oneByOne: readonly ExperimentResult[] | null;
}

export function compare(configuration: Configuration, { shipped, oneByOne }: Outcomes): Comparison {
  const koopmans = koopmansRowOf(configuration);
  const ours = averagesOf(shipped);
  return {
    ...configuration,
    seeds: shipped.length,
    shipped: ours,
    oneByOne: oneByOne && averagesOf(oneByOne),
    koopmans,
    isNoWorse: ours.tau <= (koopmans?.tau ?? KOOPMANS_TAU_MAX),
    isWithinGoal: ours.tau <= KOOPMANS_TAU_MAX,
    failures: [...failuresOf(shipped, "shipped"), ...failuresOf(oneByOne ?? [], "koopmans")],
    simulatedMs: sum([...shipped, ...(oneByOne ?? [])].map(({ simulatedMs }) => simulatedMs)),
  };
}

function averagesOf(outcomes: readonly ExperimentResult[]): Averages {
  const mean = (of: (outcome: ExperimentResult) => number) => sum(outcomes.map(of)) / outcomes.length;
  return {
    tau: mean(({ tau }) => tau),
    tauDecided: mean(({ tauDecided }) => tauDecided),
    timeMs: mean(({ timeMs }) => timeMs),
    waited: mean(({ waited }) => waited),
  };
}

function failuresOf(outcomes: readonly ExperimentResult[], settings: Experiment["settings"]): Failed[] {
  return outcomes.flatMap(({ failure, seed }) => (failure === null ? [] : [{ ...failure, seed, settings }]));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
