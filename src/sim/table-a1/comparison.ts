/**
 * Configurations run over several seeds, and the averages beside what Koopmans 2024 measured. A configuration that it did not
 * have is held to the goal that it set itself, tau below 0.005.
 */
import type { Failure } from "../tunnel/tunnel.ts";
import { type Experiment, type Outcome, runExperiment, SPAN_MS } from "./experiment.ts";
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

export interface Comparison extends Configuration {
  /** How many were run. */
  readonly seeds: number;
  /** Averages, as with Koopmans. */
  readonly tau: number;
  readonly tauDecided: number;
  readonly timeMs: number;
  readonly waited: number;
  /** null: Koopmans has no such configuration. */
  readonly koopmans: KoopmansRow | null;
  /** Tau is no worse than Koopmans', or than its goal. */
  readonly isNoWorse: boolean;
  readonly failures: readonly (Failure & { readonly seed: number })[];
  /** In all runs together. */
  readonly simulatedMs: number;
}

/** The 27 of the table, those of them with so many users, or one with as many as Koopmans could not simulate. */
export function configurationsFor(users: number | null): readonly Configuration[] {
  if (users === null) return KOOPMANS_TABLE;
  return USERS.includes(users) ? KOOPMANS_TABLE.filter((row) => row.users === users) : [beyond(users)];
}

function beyond(users: number): Configuration {
  const target = Math.ceil((ROOM_SHARE * users * BEYOND.stayMs) / SPAN_MS);
  return { ...BEYOND, users, target };
}

export interface Series {
  readonly configurations: readonly Configuration[];
  /** So many seeds of each, from 1 on. */
  readonly seeds: number;
  readonly run?: Runner;
  /** Told now and then. */
  readonly progress?: (step: Step) => void;
}

export type Runner = (experiment: Experiment, progress: (simulatedMs: number) => void) => Outcome;

/** How far it is: in the run of this number, from 1, so much was simulated. */
export interface Step {
  readonly run: number;
  readonly runs: number;
  readonly simulatedMs: number;
}

export function compareAll({
  configurations,
  seeds,
  run = runExperiment,
  progress = () => {},
}: Series): Comparison[] {
  const runs = configurations.length * seeds;
  let number = 0;
  return configurations.map(({ target, users, changed, stayMs }) => {
    const configuration = { target, users, changed, ...(stayMs !== undefined && { stayMs }) };
    const outcomes = Array.from({ length: seeds }, (_, i) => {
      number++;
      const tell = (simulatedMs: number) => progress({ run: number, runs, simulatedMs });
      return run({ ...configuration, seed: i + 1 }, tell);
    });
    return compare(configuration, outcomes);
  });
}

export function compare(configuration: Configuration, outcomes: readonly Outcome[]): Comparison {
  const mean = (of: (outcome: Outcome) => number) => sum(outcomes.map(of)) / outcomes.length;
  const koopmans = koopmansRowOf(configuration);
  const tau = mean((outcome) => outcome.tau);
  return {
    ...configuration,
    seeds: outcomes.length,
    tau,
    tauDecided: mean(({ tauDecided }) => tauDecided),
    timeMs: mean(({ timeMs }) => timeMs),
    waited: mean(({ waited }) => waited),
    koopmans,
    isNoWorse: tau <= (koopmans?.tau ?? KOOPMANS_TAU_MAX),
    failures: outcomes.flatMap(({ failure, seed: of }) =>
      failure === null ? [] : [{ ...failure, seed: of }],
    ),
    simulatedMs: sum(outcomes.map(({ simulatedMs }) => simulatedMs)),
  };
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
