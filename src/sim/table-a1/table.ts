/** The comparison for people: a line for each configuration, ours beside Koopmans', in at most 100 columns. */
import type { Comparison } from "./comparison.ts";
import { isBeyond } from "./experiment.ts";

const SECOND_MS = 1_000;
const GAP = "  ";
/** Smaller numbers are written with a power of ten, as with Koopmans. */
const PLAIN_FROM = 0.0001;
const FAILURES_SHOWN_MAX = 5;

const HEADINGS = [
  ["", "target"],
  ["", "users"],
  ["nodes", "changed"],
  ["tau", "ours"],
  ["", "Koopmans'"],
  ["tau", "decided"],
  ["time (ms)", "ours"],
  ["", "Koopmans'"],
  ["", "waited"],
  ["", ""],
] as const;

const NOTES = [
  "tau: by when a node first gave word of a turn. decided: by the instant in the pass, which is one",
  "for all who got their turn in the same round. waited: so many found no room and stood in the line;",
  "the others went straight through. Averages; Koopmans' are of 1,000 runs each.",
];

/** How people are let in, which tau depends on. */
const ONE_BY_ONE = [
  "People are let in one by one here (deleteMin), as in the paper. A cluster lets larger numbers in by",
  "counting, where word of one decision reaches nodes some milliseconds apart.",
];
const BY_COUNTING = [
  "So many users are let in by counting, as a cluster does it, and not one by one (deleteMin) as in the",
  "paper: word of one decision reaches nodes some milliseconds apart. Each stays on the site for some",
  "seconds, and there is a little less room than it takes: a line is certain.",
];

/** `realMs`: how long it took. */
export function tableOf(comparisons: readonly Comparison[], { realMs }: { realMs: number }): string {
  const cells = comparisons.map(cellsOf);
  const rows = [HEADINGS.map(([top]) => top), HEADINGS.map(([, below]) => below), ...cells];
  const failures = comparisons.flatMap(failureLines);
  return [
    ...aligned(rows),
    "",
    ...NOTES,
    ...(comparisons.every(isBeyond) ? BY_COUNTING : ONE_BY_ONE),
    ...summaryOf(comparisons, realMs),
    ...failures.slice(0, FAILURES_SHOWN_MAX),
  ].join("\n");
}

/** Tau as Koopmans writes it: 0.000751, 3.25e-05. */
export function tauText(tau: number): string {
  if (tau === 0) return "0";
  if (tau >= PLAIN_FROM) return tau.toFixed(6);
  return tau.toExponential(2).replace(/e-(\d)$/, "e-0$1");
}

/** A target as Koopmans' Table 6.1 writes it. */
export function targetText(target: number | null): string {
  return target === null ? "INF" : String(target);
}

function cellsOf(comparison: Comparison): string[] {
  const { target, users, changed, tau, tauDecided, timeMs, waited, koopmans } = comparison;
  return [
    targetText(target),
    String(users),
    String(changed),
    tauText(tau),
    koopmans === null ? "" : tauText(koopmans.tau),
    tauText(tauDecided),
    timeMs.toFixed(0),
    koopmans === null ? "" : String(koopmans.timeMs),
    waited.toFixed(0),
    verdictOf(comparison),
  ];
}

function verdictOf({ failures, isNoWorse }: Comparison): string {
  if (failures.length > 0) return "FAILED";
  return isNoWorse ? "ok" : "worse";
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((row) => row[i]!.length)));
  const last = widths.length - 1;
  return rows.map((row) =>
    row
      .map((cell, i) => (i === last ? cell : cell.padStart(widths[i]!)))
      .join(GAP)
      .trimEnd(),
  );
}

function summaryOf(comparisons: readonly Comparison[], realMs: number): string[] {
  const good = comparisons.filter(({ isNoWorse }) => isNoWorse).length;
  const simulatedMs = comparisons.reduce((sum, one) => sum + one.simulatedMs, 0);
  const faster = Math.round(simulatedMs / Math.max(1, realMs)).toLocaleString("en");
  const runs = comparisons.reduce((sum, { seeds }) => sum + seeds, 0);
  const against = comparisons.every(({ koopmans }) => koopmans === null) ? "its goal of 0.005" : "Koopmans'";
  return [
    `Tau is no worse than ${against} in ${good} of ${comparisons.length}.`,
    `${runs} ${runs === 1 ? "run" : "runs"}, ${seconds(simulatedMs)} simulated in ${seconds(realMs)}, ${faster} times faster.`,
  ];
}

function failureLines({ target, users, changed, failures }: Comparison): string[] {
  return failures.map(
    ({ seed, check, at, text }) =>
      `Target ${targetText(target)}, ${users} users, ${changed} changed, seed ${seed}: "${check}" after ${seconds(at)}: ${text}`,
  );
}

function seconds(ms: number): string {
  return `${(ms / SECOND_MS).toFixed(1)} s`;
}
