/** The answer for a terminal: verdict first, then the numbers, two sections side by side where they fit in 100 columns. */
import { factsOf, inputsOf, questionOf, type Section } from "./facts.ts";
import type { Findings } from "./findings.ts";
import { limitOf, verdictOf } from "./verdict.ts";
import { wrapped } from "./words.ts";

const COLUMNS_MAX = 98;
const INDENT = "  ";
const GAP = 4;
/** The least column at which the right section begins, so that right sections line up. */
const RIGHT_MIN = 36;

export function whatIfTable(findings: Findings): string {
  const limit = limitOf(findings);
  const paragraphs = [questionOf(findings), verdictOf(findings), ...(limit === null ? [] : [limit])];
  const sections = [...inputsOf(findings), ...factsOf(findings)];
  return [
    ...paragraphs.flatMap((paragraph) => [...wrapped(paragraph, COLUMNS_MAX), ""]),
    ...drawSections(sections),
    ...findings.notes.flatMap((note) => wrapped(note, COLUMNS_MAX, "- ")),
    ...(findings.notes.length > 0 ? [""] : []),
  ].join("\n");
}

/** Two sections side by side where both fit, otherwise one below the other. */
function drawSections([first, second, ...rest]: readonly Section[]): string[] {
  if (!first) return [];
  const left = drawSection(first);
  const right = second ? drawSection(second) : [];
  const at = Math.max(RIGHT_MIN, widest(left) + GAP);
  if (second && at + widest(right) <= COLUMNS_MAX)
    return [...beside(left, right, at), "", ...drawSections(rest)];
  return [...left, "", ...drawSections(second ? [second, ...rest] : [])];
}

function beside(left: readonly string[], right: readonly string[], at: number): string[] {
  const rows = Math.max(left.length, right.length);
  return Array.from({ length: rows }, (_, i) => `${(left[i] ?? "").padEnd(at)}${right[i] ?? ""}`.trimEnd());
}

function widest(lines: readonly string[]): number {
  return Math.max(0, ...lines.map((line) => line.length));
}

function drawSection({ title, rows }: Section): string[] {
  const width = widest(rows.map(([label]) => label)) + 2;
  return [
    title,
    ...rows.flatMap(([label, value]) => wrapped(value, COLUMNS_MAX, `${INDENT}${label.padEnd(width)}`)),
  ];
}
