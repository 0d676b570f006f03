/**
 * A problem with the settings, and where it comes from. Checks produce findings: a path into the settings, and words.
 * A `SettingSources` finds where the user wrote the setting: a line of their file, a flag, an environment
 * variable. Checks know nothing of files, so the same ones serve the file, the command line and the control address.
 *
 * No message, hint or quoted line ever holds the value of a secret.
 */
import type { SETTING_PROBLEMS } from "../core/errors.ts";

export type Path = readonly (string | number)[];

export type ProblemCode = keyof typeof SETTING_PROBLEMS;

export interface Finding {
  readonly code: ProblemCode;
  readonly path: Path;
  /** What to point at: the setting's name or its value. */
  readonly at: "key" | "value";
  /** What is wrong. */
  readonly message: string;
  /** What it should be, or what to do. */
  readonly hint: string;
  /** Set when it did not come from where the settings at `path` are written. */
  readonly source?: Source;
}

export interface Source {
  readonly kind: "file" | "flag" | "env" | "request" | "object";
  /** The file's name, `--flag` or the variable's name. */
  readonly name: string;
  readonly spot: Spot | null;
}

/** Lines and columns count from 1. `text` is the user's own line, made safe to print. */
export interface Spot {
  readonly line: number;
  readonly column: number;
  readonly length: number;
  readonly text: string;
}

export interface Problem {
  readonly code: ProblemCode;
  /** The setting as people write it: `rooms.main.host`. Empty: the whole file. */
  readonly path: string;
  readonly message: string;
  readonly hint: string;
  readonly source: Source;
}

/** Knows where each setting was written. */
export interface SettingSources {
  find(path: Path, at: "key" | "value"): Source;
}

/** The finding with its source. */
export function toProblem(finding: Finding, sources: SettingSources): Problem {
  const { code, path, at, message, hint } = finding;
  return { code, path: formatPath(path), message, hint, source: finding.source ?? sources.find(path, at) };
}

/** File problems by line; then what has no line; flags and variables after them. Otherwise as they were found. */
export function sortProblems(problems: readonly Problem[]): Problem[] {
  return problems.toSorted((a, b) => lineOf(a) - lineOf(b) || column(a) - column(b));
}

function lineOf(problem: Problem): number {
  if (problem.source.spot) return problem.source.spot.line;
  return problem.source.kind === "file" ? Number.MAX_SAFE_INTEGER - 1 : Number.MAX_SAFE_INTEGER;
}

function column(problem: Problem): number {
  return problem.source.spot?.column ?? 0;
}

/** `rooms.main.additionalRoutes[2].host` */
export function formatPath(path: Path): string {
  return path
    .map((part, index) =>
      typeof part === "number" ? `[${part}]` : `${index > 0 ? "." : ""}${safeText(part, 80)}`,
    )
    .join("");
}

/** The finding for a file that cannot be read. */
export function unreadable(path: Path, fileName: string, wrong: string): Finding {
  const message = `${formatPath(path)}: ${fileName} cannot be read: ${wrong}`;
  const hint = "Names start from the settings file's folder.";
  return { code: "unreadable", path, at: "value", message, hint };
}

/** As much of a text is searched for secrets: a word may begin where it is shown and end, with its `@`, far behind. */
const SEARCHED_CHARACTERS_MAX = 8_192;

/** Text from outside, fit for a terminal: no secrets, no control or direction-changing characters, not too long. */
export function safeText(text: string, charactersMax: number): string {
  const safe = controlToSpace(hideSecrets(text.slice(0, charactersMax + SEARCHED_CHARACTERS_MAX)));
  return safe.length > charactersMax ? `${safe.slice(0, charactersMax)}…` : safe;
}

/** The same text with a space for every character that would move the cursor or the direction of writing. */
export function controlToSpace(text: string): string {
  return text.replace(/[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g, " ");
}

/** The same for text of several lines, which stay. */
export function controlToSpaceInLines(text: string): string {
  return text.split("\n").map(controlToSpace).join("\n");
}

/** Hides the user name and password in an address, and what looks like a generated key. The length stays the same. */
export function hideSecrets(text: string): string {
  return text.replace(/\S+/g, hideCredentials).replace(/\w{16,}/g, hideKeys);
}

/** Letters of both cases and digits in one long word, or many hexadecimal digits: somebody's key, wherever it stands. */
function hideKeys(word: string): string {
  const isKey = /[a-z]/.test(word) && /[A-Z]/.test(word) && /\d/.test(word);
  return isKey ? stars(word) : word.replace(/[0-9A-Fa-f]{32,}/g, stars);
}

function stars(text: string): string {
  return "*".repeat(text.length);
}

/**
 * What stands before the last @ of the word, since a password may have slashes and more of them in it; not only in a
 * whole address, since it may be broken.
 */
function hideCredentials(word: string): string {
  const end = word.lastIndexOf("@");
  const slashes = word.indexOf("//");
  const isAddress = slashes !== -1 && slashes < end;
  const start = isAddress ? slashes + "//".length : /^["'[{(]*/.exec(word)![0].length;
  return end <= start ? word : word.slice(0, start) + "*".repeat(end - start) + word.slice(end);
}
