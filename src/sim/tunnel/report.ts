/**
 * The results of one or more seeds, for people as a table and for programs as data. A failure comes with the smallest options
 * found that still show it, as a command.
 */
import { FAULT_KINDS } from "./fault-kinds.ts";
import { incidentsOf } from "./incidents.ts";
import type { Plan, PlanOptions } from "./plan.ts";
import type { Result } from "./run.ts";
import type { Shrunk } from "./shrink.ts";

const ROWS_MAX = 40;

export interface SeedRun {
  readonly options: PlanOptions;
  readonly plan: Plan;
  readonly result: Result;
  readonly realMs: number;
}

/** The command that repeats a run. */
function commandOf({ seed, kind, nodes, visitors, seconds, without = [], canary }: PlanOptions): string {
  return [
    `fairgate torture --seed ${seed}`,
    kind && `--kind ${kind}`,
    nodes && `--nodes ${nodes}`,
    visitors && `--visitors ${visitors}`,
    seconds && `--seconds ${seconds}`,
    without.length > 0 && `--without ${without.join(",")}`,
    canary && `--canary ${canary}`,
  ]
    .filter(Boolean)
    .join(" ");
}

/** `smallest` belongs to the last run, which failed. null: every check passed. */
export function forPeople(runs: readonly SeedRun[], smallest: Shrunk | null): string {
  const shown = runs.length <= ROWS_MAX ? runs : runs.filter(({ result }) => result.failure);
  const rows = shown.length > 0 ? `${table([HEADINGS, ...shown.map(rowOf)])}\n\n` : "";
  const last = runs.at(-1)!;
  if (smallest) return `${rows}${failureWords(last, smallest)}`;
  return `${rows}${[summary(runs), ...(runs.length === 1 ? details(last) : [])].join("\n")}`;
}

const HEADINGS = [
  "seed",
  "plan",
  "nodes",
  "visitors",
  "let in",
  "wait p50",
  "p95",
  "tau",
  "farthest",
  "messages",
  "simulated",
  "took",
  "hash",
  "",
];

function rowOf({ plan, result, realMs }: SeedRun): string[] {
  const { figures, failure, hash } = result;
  return [
    String(plan.seed),
    plan.kind,
    String(plan.nodes),
    String(figures.visitors),
    String(figures.entered),
    seconds(figures.waitMs.middle),
    seconds(figures.waitMs.p95),
    figures.tau.toFixed(5),
    String(figures.displacement),
    String(figures.messages.sent),
    seconds(figures.simulatedMs),
    seconds(realMs),
    hash,
    failure ? "NOT GOOD" : "good",
  ];
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  return rows
    .map((row) =>
      row
        .map((cell, i) => (i === 1 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function summary(runs: readonly SeedRun[]): string {
  const simulatedMs = runs.reduce((sum, { result }) => sum + result.figures.simulatedMs, 0);
  const realMs = runs.reduce((sum, run) => sum + run.realMs, 0);
  const faster = Math.round(simulatedMs / Math.max(1, realMs)).toLocaleString("en");
  const many = runs.length === 1 ? "One seed" : `${runs.length.toLocaleString("en")} seeds`;
  return `${many}, every promise held. ${seconds(simulatedMs)} were simulated in ${seconds(realMs)}, ${faster} times faster.`;
}

function details({ plan, result }: SeedRun): string[] {
  const { figures } = result;
  const faults = incidentsOf(plan).map(({ name, at }) => `${name} at ${seconds(at)}`);
  const weather = FAULT_KINDS.filter((kind) => plan.faults[kind] && plan.faults[kind].times === 0);
  const kinds = Object.entries(figures.messages.kinds).map(([kind, count]) => `${kind} ${count}`);
  const lost = Object.entries(figures.messages.lost).map(([fate, count]) => `${fate} ${count}`);
  return [
    `All the time: ${weather.join(", ") || "nothing"}.`,
    `Incidents: ${faults.join(", ") || "none"}.`,
    `Messages: ${kinds.join(", ") || "none"}. Lost: ${lost.join(", ") || "none"}.`,
    `Most on site at once: ${figures.onSiteMost} of ${plan.rules.totalActiveUsers}. Made-up tickets and passes refused: ${figures.forgeries}.`,
  ];
}

function failureWords({ plan, result }: SeedRun, { options, runs }: Shrunk): string {
  const { check, at, text } = result.failure!;
  return [
    `Seed ${plan.seed} breaks the promise "${check}" after ${seconds(at)}: ${text}.`,
    "",
    `The smallest way found to break it (${runs} runs):`,
    `  ${commandOf(options)}`,
  ].join("\n");
}

export function forPrograms(runs: readonly SeedRun[], smallest: Shrunk | null): object {
  return {
    ok: smallest === null,
    runs: runs.map(({ plan, result: { failure, figures, hash }, realMs }) => ({
      seed: plan.seed,
      kind: plan.kind,
      nodes: plan.nodes,
      totalActiveUsers: plan.rules.totalActiveUsers,
      hash,
      failure,
      ...figures,
      realMs: Math.round(realMs),
    })),
    smallest: smallest && { ...smallest, command: commandOf(smallest.options) },
  };
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(ms < 10_000 ? 2 : 1)} s`;
}
