/**
 * A settings file as something one can point at: for every setting the line and columns where it is written, and that
 * line as it may be shown. A line is only ever shown with its secrets and control characters taken out. What counts as
 * a secret is decided by the name it stands under, mistyped names included; where the text cannot be understood, by
 * its looks.
 */
import { type Document, isAlias, isMap, isScalar, isSeq, type LineCounter, type Node, type Pair } from "yaml";
import { nearest } from "./nearest.ts";
import { type Setting, settingAt } from "./outline.ts";
import { controlToSpace, hideSecrets, type Path, type SettingSources, type Source } from "./problem.ts";

export interface SettingsText {
  readonly text: string;
  readonly file: string;
}

export type TextRange = readonly [start: number, end: number];

const SPOT_LENGTH_MAX = 200;
/** Names under which people put secrets, wherever in the file. */
const SECRET_NAME = /secret|token|passw|credential|private|api_?key/i;
/** What follows such a name, where only the text is there to go by. `origin.token` has these three values. */
const NAMED = /(?:secrets?|tokens?|passwords?)["']?\s*:\s*/gi;
const PLAIN_VALUE = /^(?:none|hs256|eddsa)\b/i;
/** Longer than any setting's name, or letters and digits mixed as no name has them. `fairgate keys new` prints such. */
const LONG_WORD = /[A-Za-z0-9+/=_-]{10,}/g;
const NAME_LENGTH_MAX = 23;

export class FileSources implements SettingSources {
  readonly #source: SettingsText;
  readonly #lines: LineCounter;
  readonly #document: Document.Parsed;
  readonly #secrets: readonly TextRange[];

  constructor(source: SettingsText, lines: LineCounter, document: Document.Parsed, root: Setting) {
    this.#source = source;
    this.#lines = lines;
    this.#document = document;
    this.#secrets = secretRanges(document, root);
  }

  /** Where the setting is written, or the nearest written mapping around it. */
  find(path: Path, at: "key" | "value"): Source {
    let around: Source = { kind: "file", name: this.#source.file, spot: null };
    let node: unknown = this.#document.contents;
    for (const [depth, part] of path.entries()) {
      const step = stepInto(isAlias(node) ? node.resolve(this.#document) : node, part);
      if (!step) return around;
      node = step.value;
      const isValue = at === "value" && depth === path.length - 1;
      const range = (isValue ? scalarRange(node) : null) ?? rangeOf(step.key) ?? rangeOf(node);
      if (range) around = this.sourceAt(range);
    }
    return around;
  }

  /** A stretch of the file's text. */
  sourceAt([start, end]: TextRange): Source {
    const { line, col } = this.#lines.linePos(start);
    const text = this.#lineText(this.#lines.lineStarts[line - 1] ?? 0);
    const column = Math.min(Math.max(col, 1), text.length + 1);
    const length = Math.max(1, Math.min(end - start, text.length - column + 1, SPOT_LENGTH_MAX));
    return { kind: "file", name: this.#source.file, spot: { line: Math.max(line, 1), column, length, text } };
  }

  #lineText(lineStart: number): string {
    const { text } = this.#source;
    const newline = text.indexOf("\n", lineStart);
    const lineEnd = newline === -1 ? text.length : newline;
    let line = text.slice(lineStart, lineEnd).replace(/\r$/, "");
    for (const [start, end] of this.#secrets) {
      if (start < lineEnd && end > lineStart) line = hide(line, start - lineStart, end - lineStart);
    }
    if (this.#document.errors.length > 0) line = hideByLooks(line);
    return controlToSpace(hideSecrets(line));
  }
}

function hideByLooks(line: string): string {
  const hidden = hide(line, secretStart(line), line.length);
  return hidden.replace(LONG_WORD, (word) => (isKeyLike(word) ? "*".repeat(word.length) : word));
}

/** Where the value of a secret begins in this line; its end when there is none. */
function secretStart(line: string): number {
  for (const { 0: name, index } of line.matchAll(NAMED)) {
    const start = index + name.length;
    if (!PLAIN_VALUE.test(line.slice(start))) return start;
  }
  return line.length;
}

function isKeyLike(word: string): boolean {
  return word.length > NAME_LENGTH_MAX || (/\d/.test(word) && /[A-Za-z]/.test(word));
}

/** Same length, so that columns stay true. */
function hide(line: string, start: number, end: number): string {
  const from = Math.max(0, start);
  const to = Math.min(line.length, end);
  return to > from ? line.slice(0, from) + "*".repeat(to - from) + line.slice(to) : line;
}

function stepInto(node: unknown, part: string | number): { key: unknown; value: unknown } | null {
  if (isSeq(node) && typeof part === "number") return { key: null, value: node.items[part] };
  if (!isMap(node)) return null;
  const pair = node.items.find((pair) => keyOf(pair) === String(part));
  return pair ? { key: pair.key, value: pair.value } : null;
}

/** The name a pair of a mapping has; null when it is not a single value. */
export function keyOf(pair: Pair): string | null {
  return isScalar(pair.key) ? String(pair.key.value) : null;
}

/** Where a node is written. */
export function rangeOf(node: unknown): TextRange | null {
  const range = (node as Node | null)?.range;
  return range ? [range[0], range[1]] : null;
}

/** Where a single value is written; null for mappings, lists and nothing. */
function scalarRange(node: unknown): TextRange | null {
  const range = isScalar(node) || isAlias(node) ? rangeOf(node) : null;
  return range && range[1] > range[0] ? range : null;
}

/** Every stretch of text that is, or by its name or its looks might be, a secret. */
function secretRanges(document: Document.Parsed, root: Setting): TextRange[] {
  const ranges: TextRange[] = [];
  const walk = (node: unknown, path: Path): void => {
    const range = rangeOf(node);
    if (isSeq(node)) for (const [index, item] of node.items.entries()) walk(item, [...path, index]);
    else if (isMap(node)) for (const pair of node.items) walkPair(pair, path);
    else if (range && settingAt(root, path) === null && looksSecret(node)) ranges.push(range);
  };
  const walkPair = (pair: Pair, path: Path): void => {
    const key = keyOf(pair) ?? "";
    const range = rangeOf(pair.value);
    if (range && isSecretName(root, path, key)) ranges.push(range);
    else walk(pair.value, [...path, key]);
  };
  walk(document.contents, []);
  return ranges;
}

function looksSecret(node: unknown): boolean {
  return isScalar(node) && (String(node.value).match(LONG_WORD) ?? []).some(isKeyLike);
}

function isSecretName(root: Setting, path: Path, key: string): boolean {
  const siblings = settingAt(root, path)?.children ?? [];
  const known = siblings.find((child) => child.key === key);
  if (known) return known.isSecret;
  const names = siblings.map((child) => child.key);
  const near = nearest(key, names);
  return SECRET_NAME.test(key) || (siblings.find((child) => child.key === near)?.isSecret ?? false);
}
