/**
 * Configurations run over several seeds, and the averages beside what Koopmans 2024 measured: first with the settings
 * that nodes are shipped with, then with Koopmans' own. A configuration that it did not have is run as shipped alone, and
 * is held to the goal that Koopmans set itself, tau below 0.005.
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
 * Beyond Koopmans. Users who leave at once would hardly ever meet a line, and where they do it would outlast any
 * simulation; so they stay a while, and there is room for a little fewer than come in that while. Then a line is certain,
 * nearly all have to wait in it, and it goes on moving. Whenever a node dies nobody is let in until the others agree that it
 * is lost, and then as many at once as have left by then, of whom word comes in no order: one death shows that.
 */
const BEYOND = { changed: 1, stayMs: 5_000 };
const ROOM_SHARE = 0.9;

/** Averages over all seeds, as with Koopmans. */
export interface Averages {
  readonly tau: number;
  readonly tauDecided: number;
  readonly timeMs: number;
  /** Visitors who had to wait. 0: nobody, in any run. */
  readonly waited: number;
}

export interface Comparison extends Configuration {
  /** How many were run, with each of the settings. */
  readonly seeds: number;
  readonly shipped: Averages;
  /** With Koopmans' settings: one by one without limit. null: it has no such configuration. */
  readonly oneByOne: Averages | null;
  /** null: Koopmans has no such configuration. */
  readonly koopmans: KoopmansRow | null;
  /** As shipped, tau is no worse than Koopmans', or than its goal. */
  readonly isNoWorse: boolean;
  /** As shipped, tau is no worse than Koopmans' goal. */
  readonly isWithinGoal: boolean;
  readonly failures: readonly Failed[];
  /** In all runs together. */
  readonly simulatedMs: number;
}

export type Failed = Failure & Pick<Experiment, "seed" | "settings">;

/** The 27 of the table, those of them with so many users, or one with as many as Koopmans could not simulate. */
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
  /** So many seeds of each, from 1 on, with each of the settings. */
  readonly seeds: number;
  readonly run?: Runner;
  /** Told now and then. */
  readonly progress?: (step: ExperimentStep) => void;
}

export type Runner = (experiment: Experiment, progress: (simulatedMs: number) => void) => ExperimentResult;

/** How far it is: in the run of this number, from 1, so much was simulated. */
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
