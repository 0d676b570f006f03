/**
 * Problems as people read them: every one at once, in the order of the file, each with its place, the user's own line,
 * a caret under the part that is meant, and what it should be. And the same as plain data for programs.
 *
 *   fairgate.yaml:7:22: rooms.main.sessionDuration is 300, which has no unit
 *       7 |     sessionDuration: 300
 *         |                      ^^^
 *         It should be a length of time such as 45s or 10m, from 1s to 30d. Write 300s for seconds.
 */
import { controlToSpaceInLines, type Problem, type Spot, sortProblems } from "./problem.ts";

export interface ExplainOptions {
  readonly colour?: boolean;
  /** What to count them as. */
  readonly noun?: "problem" | "warning";
}

/** Columns of the user's line that are shown; a longer line is cut around the caret. */
const LINE_COLUMNS_MAX = 120;
const COLUMNS_BEFORE_CARET = 60;
const GUTTER_COLUMNS = 5;

type Paint = (text: string) => string;
interface Paints {
  readonly strong: Paint;
  readonly faint: Paint;
  readonly alarm: Paint;
}

/** Every problem as text for a terminal, ending with a line that counts them. Nothing for none. */
export function explain(problems: readonly Problem[], options: ExplainOptions = {}): string {
  if (problems.length === 0) return "";
  const paints = paintsFor(options.colour ?? false);
  const noun = options.noun ?? "problem";
  const blocks = sortProblems(problems).map((problem) => explainOne(problem, paints));
  return `${blocks.join("\n\n")}\n\n${problems.length === 1 ? `1 ${noun}` : `${problems.length} ${noun}s`}\n`;
}

function explainOne(problem: Problem, paints: Paints): string {
  const { name, spot } = problem.source;
  const place = spot ? `${name}:${spot.line}:${spot.column}` : name;
  const fit = controlToSpaceInLines;
  const lines = [`${paints.strong(`${fit(place)}:`)} ${fit(problem.message)}`];
  if (spot) lines.push(...snippet(spot, paints));
  if (problem.hint) lines.push(`${" ".repeat(GUTTER_COLUMNS + 3)}${fit(problem.hint)}`);
  return lines.join("\n");
}

function snippet(spot: Spot, paints: Paints): string[] {
  const { text, column } = cut(spot);
  const carets = "^".repeat(Math.max(1, Math.min(spot.length, text.length - column + 1)));
  const bar = paints.faint("|");
  return [
    `${paints.faint(String(spot.line).padStart(GUTTER_COLUMNS))} ${bar} ${text}`.trimEnd(),
    `${" ".repeat(GUTTER_COLUMNS)} ${bar} ${" ".repeat(column - 1)}${paints.alarm(carets)}`,
  ];
}

/** The stretch of a long line that has the caret in it. */
function cut(spot: Spot): { text: string; column: number } {
  if (spot.text.length <= LINE_COLUMNS_MAX) return { text: spot.text, column: spot.column };
  const start = Math.max(0, spot.column - COLUMNS_BEFORE_CARET);
  const end = start + LINE_COLUMNS_MAX;
  const text = (start > 0 ? "…" : "") + spot.text.slice(start, end) + (end < spot.text.length ? "…" : "");
  return { text, column: spot.column - start + (start > 0 ? 1 : 0) };
}

function paintsFor(colour: boolean): Paints {
  const paint = (code: number): Paint => (colour ? (text) => `\x1b[${code}m${text}\x1b[0m` : (text) => text);
  return { strong: paint(1), faint: paint(2), alarm: paint(31) };
}

export interface ProblemJson {
  readonly code: string;
  readonly setting: string;
  readonly message: string;
  readonly hint: string;
  readonly source: string;
  readonly name: string;
  readonly line: number | null;
  readonly column: number | null;
}

/** The same, in the same order, as data. */
export function toJson(problems: readonly Problem[]): ProblemJson[] {
  return sortProblems(problems).map(({ code, path, message, hint, source }) => ({
    code,
    setting: path,
    message,
    hint,
    source: source.kind,
    name: source.name,
    line: source.spot?.line ?? null,
    column: source.spot?.column ?? null,
  }));
}
