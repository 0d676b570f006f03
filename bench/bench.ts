/**
 * What a bench is and how its rows are made. A value is measured beside its baseline in the same run, interleaved,
 * best of several, because machines are noisy; the ratio of the two is what counts. Goals stand in the bench's own
 * file. A row without a baseline or a goal is there to be read.
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
  run(options: { isQuick: boolean; progress: (text: string) => void }): Promise<Row[]>;
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
  goal?: Goal;
}): Row {
  const baseline = parts.baseline ?? null;
  const ratio = baseline === null ? null : parts.value / baseline;
  const { goal } = parts;
  const judged = goal?.of === "ratio" ? ratio! : parts.value;
  const ok = goal ? judged >= (goal.atLeast ?? -Infinity) && judged <= (goal.atMost ?? Infinity) : null;
  const text = goal
    ? `${goal.of} ${goal.atLeast !== undefined ? `>= ${goal.atLeast}` : `<= ${goal.atMost}`}`
    : null;
  return { name: parts.name, unit: parts.unit, value: parts.value, baseline, ratio, goal: text, ok };
}

/** Measures several things in turn, round after round, and keeps the best (highest) of each. */
export async function bestOf<Name extends string>(
  rounds: number,
  subjects: Readonly<Record<Name, () => Promise<number>>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(subjects) as Name[];
  const best = Object.fromEntries(names.map((name) => [name, 0])) as Record<Name, number>;
  for (let round = 0; round < rounds; round++) {
    // The order turns around each round, so that nobody always runs first.
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      best[name] = Math.max(best[name], await subjects[name]());
    }
  }
  return best;
}

/**
 * The same over several starts of the servers: one process may be luckier than another in how it came to lie in memory,
 * by more than what is to be measured. Each is run warm first, since a cold one is several times slower.
 */
export async function bestOfStarts<Name extends string>(
  starts: number,
  rounds: number,
  start: () => Promise<{
    subjects: Readonly<Record<Name, () => Promise<number>>>;
    stop: () => Promise<void>;
  }>,
): Promise<Record<Name, number>> {
  const bests: Record<Name, number>[] = [];
  for (let n = 0; n < starts; n++) {
    const { subjects, stop } = await start();
    await bestOf(WARM_UP_ROUNDS, subjects);
    bests.push(await bestOf(rounds, subjects));
    await stop();
  }
  const names = Object.keys(bests[0]!) as Name[];
  const best = (name: Name) => Math.max(...bests.map((found) => found[name]));
  return Object.fromEntries(names.map((name) => [name, best(name)])) as Record<Name, number>;
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
  const widths = header.map((_, i) => Math.max(...[header, ...body].map((cells) => cells[i]!.length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (i === 1 || i === 3 || i === 4 ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!)))
      .join("  ")
      .trimEnd();
  return [header, ...body].map(line).join("\n");
}

function figure(value: number): string {
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString("en");
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(3);
}
