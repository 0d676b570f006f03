/** The comparison as text: a line for each configuration, as shipped beside Koopmans', in at most 100 columns. */
import type { Averages, Comparison } from "./comparison.ts";

const SECOND_MS = 1_000;
const GAP = "  ";
/** Smaller numbers are written with a power of ten, as in Koopmans' table. */
const PLAIN_FROM = 0.0001;
const FAILURES_SHOWN_MAX = 5;

const HEADINGS = [
  ["", "target"],
  ["", "users"],
  ["nodes", "changed"],
  ["tau", "shipped"],
  ["", "1 by 1"],
  ["", "paper's"],
  ["tau", "decided"],
  ["time", "shipped"],
  ["(ms)", "paper's"],
  ["", "waited"],
  ["", ""],
] as const;

const NOTES = [
  "shipped: with the settings that nodes are shipped with. Where more than one slot is free they admit",
  "by counting, and word of one decision reaches nodes some milliseconds apart. decided and waited are",
  "of these runs. tau: by when a node first gave word of a turn. decided: by the instant in the pass,",
  "the same for all of one round. waited: visitors who found no room; the others went straight through.",
  "*, no line: nobody waited in any run, so tau says nothing of how a line is admitted from.",
  "ok: as shipped, tau is no worse than the paper's. goal: worse, but no worse than its goal of 0.005.",
  "worse: beyond that. Averages; the paper's (Koopmans 2024, Table A.1) are of 1,000 runs each.",
];

const ONE_BY_ONE_NOTES = [
  "1 by 1: with the paper's own settings, which admit each visitor by a deleteMin of its own, without",
  "limit. No setting of Fairgate does that; it shows the algorithm beside the paper's program.",
];
const BEYOND_NOTES = [
  "The paper has no such configuration. Each visitor stays on the site for some seconds, and there is a",
  "little less room than that takes: a line is certain.",
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
    ...(comparisons.every(({ oneByOne }) => oneByOne === null) ? BEYOND_NOTES : ONE_BY_ONE_NOTES),
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

/** A target as in Koopmans' Table 6.1. */
export function targetText(target: number | null): string {
  return target === null ? "INF" : String(target);
}

function cellsOf(comparison: Comparison): string[] {
  const { target, users, changed, shipped, oneByOne, koopmans } = comparison;
  return [
    targetText(target),
    String(users),
    String(changed),
    markedTau(shipped),
    oneByOne === null ? "" : markedTau(oneByOne),
    koopmans === null ? "" : tauText(koopmans.tau),
    tauText(shipped.tauDecided),
    shipped.timeMs.toFixed(0),
    koopmans === null ? "" : String(koopmans.timeMs),
    shipped.waited.toFixed(0),
    verdictOf(comparison),
  ];
}

function markedTau({ tau, waited }: Averages): string {
  return `${tauText(tau)}${waited === 0 ? "*" : " "}`;
}

function verdictOf({ failures, shipped, isNoWorse, isWithinGoal }: Comparison): string {
  if (failures.length > 0) return "FAILED";
  if (shipped.waited === 0) return "no line";
  if (isNoWorse) return "ok";
  return isWithinGoal ? "goal" : "worse";
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
  const simulatedMs = comparisons.reduce((sum, one) => sum + one.simulatedMs, 0);
  const faster = Math.round(simulatedMs / Math.max(1, realMs)).toLocaleString("en");
  const runs = comparisons.reduce((sum, { seeds, oneByOne }) => sum + seeds * (oneByOne === null ? 1 : 2), 0);
  return [
    ...shippedSummary(comparisons),
    ...oneByOneSummary(comparisons),
    `${runs} ${runs === 1 ? "run" : "runs"}, ${seconds(simulatedMs)} simulated in ${seconds(realMs)}, ${faster} times faster.`,
  ];
}

/** Only configurations with a line count: without one, tau says nothing about the cluster. */
function shippedSummary(comparisons: readonly Comparison[]): string[] {
  const withLine = comparisons.filter(({ shipped }) => shipped.waited > 0);
  if (withLine.length === 0) return ["As shipped, nobody waits in any of these."];
  const within = withLine.filter(({ isWithinGoal }) => isWithinGoal).length;
  const goal = `As shipped, tau is no worse than the goal of 0.005 in ${within} of ${withLine.length} with a line`;
  const ratios = withLine.flatMap(({ shipped, koopmans }) => (koopmans ? [shipped.tau / koopmans.tau] : []));
  if (ratios.length === 0) return [`${goal}.`];
  const good = withLine.filter(({ isNoWorse }) => isNoWorse).length;
  return [
    `${goal};`,
    `it is no worse than the paper's in ${good} of them, and at most ${Math.max(...ratios).toFixed(1)} times the paper's.`,
  ];
}

function oneByOneSummary(comparisons: readonly Comparison[]): string[] {
  const compared = comparisons.filter(({ oneByOne }) => oneByOne !== null);
  if (compared.length === 0) return [];
  const good = compared.filter(({ oneByOne, koopmans }) => oneByOne!.tau <= koopmans!.tau).length;
  return [`One by one, tau is no worse than the paper's in ${good} of all ${compared.length}.`];
}

function failureLines({ target, users, changed, failures }: Comparison): string[] {
  return failures.map(
    ({ seed, settings, check, at, text }) =>
      `Target ${targetText(target)}, ${users} users, ${changed} changed, seed ${seed}, ${settings === "shipped" ? "as shipped" : "one by one"}: "${check}" after ${seconds(at)}: ${text}`,
  );
}

function seconds(ms: number): string {
  return `${(ms / SECOND_MS).toFixed(1)} s`;
}
