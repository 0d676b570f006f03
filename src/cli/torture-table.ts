/**
 * `fairgate torture --table A1`: Koopmans' 27 configurations with our cluster, each over several seeds, with the settings
 * that nodes are shipped with and with Koopmans' own, and what came of both beside Koopmans' columns. With `--plot` its
 * figures 6.1 to 6.3. With `--users`, those with this number of users, or one configuration with more than Koopmans could
 * simulate, as shipped.
 *
 * Exit codes: 0 every run went through; 1 one did not, or a figure cannot be written; 2 the command is not right.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { safeText } from "../config/problem.ts";
import { chartFile } from "../sim/chart.ts";
import {
  type Comparison,
  compareAll,
  configurationsFor,
  type ExperimentStep,
  type Runner,
} from "../sim/table-a1/comparison.ts";
import { runExperiment } from "../sim/table-a1/experiment.ts";
import { tableFigures } from "../sim/table-a1/figures.ts";
import { USERS } from "../sim/table-a1/koopmans-table.ts";
import { tableOf } from "../sim/table-a1/table.ts";
import { jsonText } from "./json-text.ts";
import { type Progress, progressHere } from "./progress.ts";

const TABLE = "A1";
/** About a minute for all 27. */
const SEEDS = 2;
const SEEDS_MAX = 10_000;
const USERS_MAX = 1_000_000;
const SHOWN_CHARACTERS_MAX = 60;

export interface TableOptions {
  readonly table: string;
  /** Of each configuration. */
  readonly seeds?: number;
  readonly users?: number;
  /** Directory for the figures. */
  readonly plot?: string;
  readonly json?: boolean;
}

/** Where words and files go. */
export interface TableOutput {
  out(text: string): void;
  error(text: string): void;
  makeDirectory(directory: string): void;
  writeFile(directory: string, name: string, text: string): void;
  /** Milliseconds, for how long it took. */
  now(): number;
  readonly progress: Progress;
}

/** Runs, prints, and says with which exit code to end. */
export async function runTable(options: TableOptions): Promise<number> {
  return runTableWith(options, outputHere());
}

/** The same with words, files and runs of one's own making. */
export function runTableWith(
  options: TableOptions,
  output: TableOutput,
  run: Runner = runExperiment,
): number {
  const wrong = problemOf(options);
  if (wrong !== null) return refuse(options, output, { wrong, code: 2 });
  // Before the runs, since they take long.
  const unwritable = plot(options, (directory) => output.makeDirectory(directory));
  if (unwritable !== null) return refuse(options, output, { wrong: unwritable, code: 1 });
  const { users = null, seeds = users !== null && !USERS.includes(users) ? 1 : SEEDS } = options;
  const startedAt = output.now();
  const progress = (step: ExperimentStep) => output.progress.tell(stepText(step));
  const comparisons = compareAll({ configurations: configurationsFor(users), seeds, run, progress });
  output.progress.end();
  const unwritten = plot(options, (directory) => drawInto(directory, comparisons, output));
  if (unwritten !== null) return refuse(options, output, { wrong: unwritten, code: 1 });
  return tell(options, output, { comparisons, realMs: output.now() - startedAt });
}

function stepText({ run, runs, simulatedMs }: ExperimentStep): string {
  return `run ${run} of ${runs}, ${Math.round(simulatedMs / 1_000)} s simulated`;
}

function problemOf({ table, seeds, users, plot: directory }: TableOptions): string | null {
  if (table.toUpperCase() !== TABLE)
    return `There is no table "${safeText(table, SHOWN_CHARACTERS_MAX)}"; there is ${TABLE}.`;
  const numbers = [
    { name: "--seeds", value: seeds, least: 1, most: SEEDS_MAX },
    { name: "--users", value: users, least: 2, most: USERS_MAX },
  ];
  for (const { name, value, least, most } of numbers)
    if (value !== undefined && !(Number.isSafeInteger(value) && value >= least && value <= most))
      return `${name} is a whole number from ${least} to ${most.toLocaleString("en")}, not ${value}.`;
  if (directory !== undefined && users !== undefined && !USERS.includes(users))
    return `--plot draws Koopmans' figures, and it has none with ${users} users; it has them with ${USERS.join(", ")}.`;
  return null;
}

/** Does something with the directory for the figures, if there is one; what went wrong, or null. */
function plot({ plot: directory }: TableOptions, work: (directory: string) => void): string | null {
  if (directory === undefined) return null;
  try {
    work(directory);
    return null;
  } catch (error) {
    const shown = safeText(directory, SHOWN_CHARACTERS_MAX);
    return `The figures cannot be written to "${shown}": ${(error as Error).message}`;
  }
}

function drawInto(directory: string, comparisons: readonly Comparison[], output: TableOutput): void {
  for (const { name, chart } of tableFigures(comparisons))
    output.writeFile(directory, `${name}.svg`, chartFile(chart));
}

function tell(
  { json }: TableOptions,
  output: TableOutput,
  { comparisons, realMs }: { comparisons: readonly Comparison[]; realMs: number },
): number {
  const ok = comparisons.every(({ failures }) => failures.length === 0);
  const isNoWorse = comparisons.every((one) => one.isNoWorse);
  const isWithinGoal = comparisons.every((one) => one.isWithinGoal);
  const found = { ok, isNoWorse, isWithinGoal, realMs: Math.round(realMs), configurations: comparisons };
  output.out(`${json ? JSON.stringify(found, null, 2) : tableOf(comparisons, { realMs })}\n`);
  return ok ? 0 : 1;
}

function refuse(
  { json }: TableOptions,
  output: TableOutput,
  { wrong, code }: { wrong: string; code: 1 | 2 },
): number {
  if (json) output.out(jsonText({ ok: false, error: wrong }));
  else output.error(`${wrong}\n`);
  return code;
}

function outputHere(): TableOutput {
  return {
    out: (text) => void process.stdout.write(text),
    error: (text) => void process.stderr.write(text),
    makeDirectory: (directory) => void mkdirSync(directory, { recursive: true }),
    writeFile: (directory, name, text) => writeFileSync(join(directory, name), text),
    now: () => performance.now(),
    progress: progressHere(),
  };
}
