/** Verdicts as a table for people, and as JSON for programs. */
import { controlToSpace } from "../../config/problem.ts";
import { wrapped } from "../../sim/what-if/words.ts";
import type { DoctorVerdict, Level } from "./verdict.ts";

/** The order of the checks in the report; any other comes last. */
const ORDER = [
  ...["connection", "password", "tls", "version", "kind", "loading", "sentinels", "cluster", "functions"],
  ...["replicas", "eviction", "memory", "persistence", "config", "clients", "latency", "timeout", "clock"],
  ...["data", "disk", "process", "access log", "port", "origin", "tls", "proxy", "session", "claim"],
];
const GAP = "  ";
const WIDTH_MIN = 60;
/** At most this many servers are named; the others are counted. */
const NAMED_MAX = 2;
const COLOURS: Readonly<Record<Level, string>> = { ok: "", caution: "\x1b[33m", problem: "\x1b[31m" };
const NO_COLOUR = "\x1b[0m";

export interface ReportTableOptions {
  readonly columns: number;
  readonly isColour: boolean;
}

/** A verdict with all the servers it is about. */
interface Row extends Omit<DoctorVerdict, "where"> {
  readonly wheres: readonly string[];
}

/** A row for each verdict, wrapped where it is long; what to change is below what was found. */
export function table(verdicts: readonly DoctorVerdict[], { columns, isColour }: ReportTableOptions): string {
  const rows = merged(inOrder(verdicts.map(fitForTerminal)));
  const cells = rows.map((row) => [row.level, row.check, whereText(row.wheres)] as const);
  const widths = [0, 1, 2].map((i) => Math.max(...cells.map((cell) => cell[i]!.length)));
  const indent = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const width = Math.max(WIDTH_MIN, columns - indent);
  return rows
    .map((row, i) => {
      const head = cells[i]!.map((cell, at) => cell.padEnd(widths[at]!) + GAP).join("");
      const lines = [row.is, row.todo].filter((text) => text !== "").flatMap((text) => wrapped(text, width));
      const text = lines.map((line, at) => (at === 0 ? line : " ".repeat(indent) + line)).join("\n");
      return `${isColour ? coloured(head, row.level) : head}${text}\n`;
    })
    .join("");
}

/** Names of files and what servers answer may be anybody's. */
function fitForTerminal({ where, is, todo, ...rest }: DoctorVerdict): DoctorVerdict {
  return { ...rest, where: controlToSpace(where), is: controlToSpace(is), todo: controlToSpace(todo) };
}

/** One line that says how it went. */
export function summary(verdicts: readonly DoctorVerdict[]): string {
  const rows = merged(verdicts);
  const number = (level: Level) => rows.filter((row) => row.level === level).length;
  const [problems, cautions] = [number("problem"), number("caution")];
  if (problems + cautions === 0) return "All is well.\n";
  const said = [some(problems, "problem"), some(cautions, "caution")].filter((words) => words !== "");
  return `${said.join(", ")}.\n`;
}

/** The same for programs. */
export function verdictsForPrograms(verdicts: readonly DoctorVerdict[]): object {
  return {
    ok: !hasProblem(verdicts),
    checks: inOrder(verdicts).map(({ where, todo, ...verdict }) => ({
      ...verdict,
      where: where || null,
      todo: todo || null,
    })),
  };
}

export function hasProblem(verdicts: readonly DoctorVerdict[]): boolean {
  return verdicts.some(({ level }) => level === "problem");
}

function some(number: number, noun: string): string {
  return number === 0 ? "" : `${number} ${noun}${number === 1 ? "" : "s"}`;
}

function inOrder(verdicts: readonly DoctorVerdict[]): DoctorVerdict[] {
  const place = ({ check }: DoctorVerdict) => (ORDER.includes(check) ? ORDER.indexOf(check) : ORDER.length);
  return verdicts.toSorted((a, b) => place(a) - place(b));
}

function merged(verdicts: readonly DoctorVerdict[]): Row[] {
  const rows = new Map<string, Row>();
  for (const { where, ...verdict } of verdicts) {
    const key = JSON.stringify([verdict.level, verdict.check, verdict.is, verdict.todo]);
    rows.set(key, { ...verdict, wheres: [...(rows.get(key)?.wheres ?? []), where] });
  }
  return [...rows.values()];
}

function whereText(wheres: readonly string[]): string {
  if (wheres.length <= NAMED_MAX) return wheres.join(", ");
  return `${wheres[0]} and ${wheres.length - 1} more`;
}

function coloured(head: string, level: Level): string {
  const colour = COLOURS[level];
  return colour === "" ? head : `${colour}${level}${NO_COLOUR}${head.slice(level.length)}`;
}
