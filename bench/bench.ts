/**
 * What a bench is and how its rows are made. A value and its baseline are measured in the same run, in turn, because machines are
 * noisy; only the ratio of the two is judged. Goals are in the bench's own file. A row without a baseline or a goal is for
 * information.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus, totalmem } from "node:os";

const WARM_UP_ROUNDS = 4;

export interface Row {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  readonly baseline: number | null;
  readonly ratio: number | null;
  /** Such as `ratio >= 0.9`, `value <= 32`; null when there is none. */
  readonly goal: string | null;
  readonly ok: boolean | null;
}

export interface Bench {
  readonly name: string;
  readonly about: string;
  /** Names of the parts that can be run alone with `--only`. */
  readonly parts?: readonly string[];
  /** Plays random crowds, so that other seeds than its own can be tried with `--seeds`. */
  readonly hasCrowds?: true;
  run(options: RunOptions): Promise<Row[]>;
  /** The rows as a table for people, where one line a row would not be readable. */
  table?(rows: readonly Row[]): string;
}

export interface RunOptions {
  readonly isQuick: boolean;
  progress(text: string): void;
  /** True for the parts to run. */
  isChosen(part: string): boolean;
  /** Seeds of the crowds to play; null: the bench's own. */
  readonly seeds: readonly number[] | null;
}

export interface Goal {
  readonly of: "ratio" | "value";
  readonly atLeast?: number;
  readonly atMost?: number;
}

/** Makes a row and judges it by its goal. */
export function row(parts: {
  name: string;
  unit: string;
  value: number;
  baseline?: number | null;
  /** Set where the ratio is not simply value / baseline. */
  ratio?: number;
  goal?: Goal;
}): Row {
  const baseline = parts.baseline ?? null;
  const ratio = parts.ratio ?? (baseline === null ? null : parts.value / baseline);
  const { goal } = parts;
  const judged = goal?.of === "ratio" ? ratio! : parts.value;
  const ok = goal ? judged >= (goal.atLeast ?? -Infinity) && judged <= (goal.atMost ?? Infinity) : null;
  const text = goal
    ? `${goal.of} ${goal.atLeast !== undefined ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`}`
    : null;
  return { name: parts.name, unit: parts.unit, value: parts.value, baseline, ratio, goal: text, ok };
}

export interface Pair {
  value(): Promise<number>;
  baseline(): Promise<number>;
}

/** The result for a pair: both medians, and the median of the ratios of neighbouring measurements. */
export interface Found {
  readonly value: number;
  readonly baseline: number;
  readonly ratio: number;
}

/**
 * Measures a value beside its baseline, again and again in turn, over several starts of the servers: one process may be luckier
 * than another in its memory layout. A machine's speed drifts by more than the difference to be measured, so each ratio is of two
 * neighbouring measurements, and the median of all ratios counts. Servers are warmed up first, since a cold one is several times
 * slower.
 */
export async function measurePair(
  starts: number,
  rounds: number,
  start: () => Promise<Pair & { stop: () => Promise<void> }>,
): Promise<Found> {
  const found: Found[] = [];
  for (let n = 0; n < starts; n++) {
    const pair = await start();
    for (let round = 0; round < WARM_UP_ROUNDS; round++) await measureOnce(pair, round);
    for (let round = 0; round < rounds; round++) found.push(await measureOnce(pair, round));
    await pair.stop();
  }
  const middle = (of: (one: Found) => number) => median(found.map(of));
  return {
    value: middle((one) => one.value),
    baseline: middle((one) => one.baseline),
    ratio: middle((one) => one.ratio),
  };
}

/** The order is reversed each round, so that neither side always runs first. */
async function measureOnce(pair: Pair, round: number): Promise<Found> {
  const first = round % 2 === 0 ? await pair.value() : await pair.baseline();
  const second = round % 2 === 0 ? await pair.baseline() : await pair.value();
  const [value, baseline] = round % 2 === 0 ? [first, second] : [second, first];
  return { value, baseline, ratio: value / baseline };
}

export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const half = sorted.length / 2;
  return (sorted[Math.floor(half)]! + sorted[Math.ceil(half) - 1]!) / 2;
}

export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} x ${cpu?.model ?? "?"}, ${Math.round(totalmem() / 2 ** 30)} GiB, Node ${process.version}`;
}

export function writeResult(name: string, rows: readonly Row[]): void {
  const folder = new URL("./results/", import.meta.url);
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    new URL(`${name}.json`, folder),
    `${JSON.stringify({ name, machine: machine(), rows }, null, 2)}\n`,
  );
}

/** The rows as a table for people. */
export function table(rows: readonly Row[]): string {
  const header = ["", "value", "unit", "baseline", "ratio", "goal", ""];
  const body = rows.map((r) => [
    r.name,
    figure(r.value),
    r.unit,
    r.baseline === null ? "" : figure(r.baseline),
    r.ratio === null ? "" : r.ratio.toFixed(2),
    r.goal ?? "",
    r.ok === null ? "" : r.ok ? "ok" : "MISSED",
  ]);
  return aligned([header, ...body], (column) => column === 1 || column === 3 || column === 4);
}

/** Lines of cells as columns; numbers are right-aligned. */
export function aligned(
  lines: readonly (readonly string[])[],
  isNumber: (column: number) => boolean,
): string {
  const widths = lines[0]!.map((_, i) => Math.max(...lines.map((cells) => cells[i]!.length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (isNumber(i) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join("  ")
      .trimEnd();
  return lines.map(line).join("\n");
}

function figure(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString("en");
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(3);
}
