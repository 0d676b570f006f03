/**
 * A settings file, or another one in its form: YAML in, plain values out, with the line and column of everything in it. The text
 * is input from outside: its size, its nesting and what its aliases may grow to are limited.
 */
import {
  type Document,
  isMap,
  isScalar,
  LineCounter,
  type Pair,
  parseDocument,
  Scalar,
  visit,
  type YAMLError,
} from "yaml";
import { FileSources, keyOf, rangeOf, type SettingsText, type TextRange } from "./file-sources.ts";
import type { Setting } from "./outline.ts";
import { type Problem, type SettingSources, type Source, safeText } from "./problem.ts";
import { syntaxWords } from "./syntax-words.ts";

export const FILE_BYTES_MAX = 1_048_576;
/** How many times values may be repeated through aliases, all told. */
const ALIASES_MAX = 100;
const SYNTAX_PROBLEMS_MAX = 20;

export interface ReadAnswer {
  /** The plain values; undefined when the text cannot be understood far enough to go on. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
  readonly problems: readonly Problem[];
  readonly sources: SettingSources;
}

/** What a file is for. */
export interface FileForm {
  readonly bytesMax: number;
  /** For one that is larger, and for one that is empty. */
  readonly hints: { readonly tooLarge: string; readonly empty: string };
}

const SETTINGS: FileForm = {
  bytesMax: FILE_BYTES_MAX,
  hints: {
    tooLarge: "Settings are small. Is this the right file?",
    empty: "It needs at least an origin and a room; fairgate.example.yaml shows every setting.",
  },
};

/** Reads a file's text as far as it can be read. */
export function readSettingsFile(source: SettingsText, root: Setting, form = SETTINGS): ReadAnswer {
  const { bytesMax, hints } = form;
  if (Buffer.byteLength(source.text) > bytesMax)
    return stop(
      source,
      "too-large",
      `the file is larger than ${bytesMax / FILE_BYTES_MAX} MB`,
      hints.tooLarge,
    );
  const lines = new LineCounter();
  const document = parse(source.text, lines);
  if (!document) {
    return stop(
      source,
      "syntax",
      "the file is nested too deeply to be read",
      "Settings need a few levels only.",
    );
  }
  const sources = new FileSources(source, lines, document, root);
  const syntax = [...document.errors, ...document.warnings].map((error) =>
    syntaxProblem(error, document, sources),
  );
  if (syntax.length > 0) return { value: undefined, problems: onePerLine(syntax), sources };
  return readDocument(source, document, sources, hints.empty);
}

function readDocument(
  source: SettingsText,
  document: Document.Parsed,
  sources: FileSources,
  emptyHint: string,
): ReadAnswer {
  const { contents } = document;
  if (contents === null || (isScalar(contents) && contents.value === null))
    return stop(source, "empty", "the file is empty", emptyHint);
  if (!isMap(contents)) {
    const hint = 'It should be lines of "setting: value", such as listen: ":8080".';
    return stop(source, "invalid", "the file is not a mapping", hint);
  }
  const aliases = unknownAliases(document, sources);
  if (aliases.length > 0) return { value: undefined, problems: aliases, sources };
  const value = toValue(document);
  if (value) return { value, problems: duplicates(document, sources), sources };
  return stop(
    source,
    "too-large",
    `the file repeats values more than ${ALIASES_MAX} times by aliases`,
    "Write them out.",
  );
}

function stop(source: SettingsText, code: Problem["code"], message: string, hint: string): ReadAnswer {
  const whole: Source = { kind: "file", name: source.file, spot: null };
  return {
    value: undefined,
    problems: [{ code, path: "", message, hint, source: whole }],
    sources: { find: () => whole },
  };
}

function parse(text: string, lineCounter: LineCounter): Document.Parsed | null {
  try {
    // The parser's own search for repeated keys takes the square of their number; `duplicates` does not.
    const options = {
      lineCounter,
      prettyErrors: false,
      stringKeys: true,
      uniqueKeys: false,
      logLevel: "error",
    } as const;
    return parseDocument(text, options);
  } catch (error) {
    // The parser goes down one call per level; only a file made to harm reaches the end of the stack.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** Null when aliases grow it past the limit. */
function toValue(document: Document.Parsed): Record<string, unknown> | null {
  try {
    return document.toJS({ maxAliasCount: ALIASES_MAX }) as Record<string, unknown>;
  } catch (error) {
    if (error instanceof ReferenceError || error instanceof RangeError) return null;
    throw error;
  }
}

function syntaxProblem(error: YAMLError, document: Document.Parsed, sources: FileSources): Problem {
  const range = (isOpenQuote(error) && openQuote(document, error.pos[0])) || error.pos;
  return { code: "syntax", path: "", ...syntaxWords(error), source: sources.sourceAt(range) };
}

/** What follows on the same line is mostly the first problem again. */
function onePerLine(problems: readonly Problem[]): Problem[] {
  const seen = new Set<number | undefined>();
  const first = problems.filter(({ source }) => {
    const isNew = !seen.has(source.spot?.line);
    seen.add(source.spot?.line);
    return isNew;
  });
  return first.slice(0, SYNTAX_PROBLEMS_MAX);
}

function isOpenQuote(error: YAMLError): boolean {
  return error.code === "MISSING_CHAR" && error.message.includes("quote");
}

/** Where the quote that runs up to `end` was opened: a better place to look than where the file ends. */
function openQuote(document: Document.Parsed, end: number): TextRange | null {
  let found: TextRange | null = null;
  visit(document, {
    Scalar(_, node) {
      const isQuoted = node.type === Scalar.QUOTE_DOUBLE || node.type === Scalar.QUOTE_SINGLE;
      const range = rangeOf(node);
      if (isQuoted && range && range[0] < end && range[1] >= end) found = [range[0], range[0] + 1];
    },
  });
  return found;
}

function unknownAliases(document: Document.Parsed, sources: FileSources): Problem[] {
  const anchors = new Set<string>();
  const problems: Problem[] = [];
  const words = {
    message: "this alias stands for nothing",
    hint: "Name the value with & first, or write it out.",
  };
  visit(document, {
    Node(_, node) {
      if ("anchor" in node && node.anchor) anchors.add(node.anchor);
    },
    Alias(_, node) {
      if (anchors.has(node.source)) return;
      problems.push({
        code: "syntax",
        path: "",
        ...words,
        source: sources.sourceAt(rangeOf(node) ?? [0, 0]),
      });
    },
  });
  return onePerLine(problems);
}

function duplicates(document: Document.Parsed, sources: FileSources): Problem[] {
  const problems: Problem[] = [];
  visit(document, {
    Map(_, map) {
      const first = new Map<string, Pair>();
      for (const pair of map.items) {
        const key = keyOf(pair) ?? "";
        const before = first.get(key);
        if (before) problems.push(duplicate(key, before, pair, sources));
        else first.set(key, pair);
      }
    },
  });
  return problems.slice(0, SYNTAX_PROBLEMS_MAX);
}

function duplicate(key: string, before: Pair, again: Pair, sources: FileSources): Problem {
  const sourceOf = (pair: Pair) => sources.sourceAt(rangeOf(pair.key) ?? [0, 0]);
  const message = `${safeText(key, 60)} is written twice, the first time in line ${sourceOf(before).spot?.line}`;
  return {
    code: "duplicate-key",
    path: safeText(key, 60),
    message,
    hint: "Keep one of them.",
    source: sourceOf(again),
  };
}
