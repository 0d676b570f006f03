/**
 * No regular expression goes over the same characters again and again. Every expression in `src` is analysed as an automaton
 * (recheck): one whose time can grow faster than its text is an error, reported with a text that shows it.
 *
 * Expressions without unlimited repetition are linear anyway. Counts (`{1,64}`) are made small before the check: they change the
 * maximum cost per character, not its growth, and would take minutes to analyse.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type Token as AnyToken, parse, tokTypes } from "acorn";

const root = fileURLToPath(new URL("../../", import.meta.url));

// The same program twice: as a native one where npm has it for this system, which takes a sixth of the time.
const isNative = globSync("node_modules/recheck-{linux,macos,windows}-*", { cwd: root }).length > 0;
process.env.RECHECK_BACKEND = isNative ? "native" : "pure";
const { check } = await import("recheck");

/** Files whose expressions only read text of our own. */
const OWN_TEXT: Readonly<Record<string, string>> = {
  "src/gateway/page/squeeze.ts": "reads the page's own scripts and style, once, when it is loaded",
};

const sources = globSync("src/**/*.{ts,js}", { cwd: root }).filter(
  (file) => !/\.test\.ts$|\.d\.ts$|^src\/testing\//.test(file) && !(file in OWN_TEXT),
);

/** The library's types do not say what a token stands for. */
type Token = AnyToken & { readonly value?: unknown };

interface Expression {
  readonly pattern: string;
  readonly flags: string;
  readonly at: string;
}

function tokensOf(file: string, source: string): Token[] {
  const text = file.endsWith(".ts") ? stripTypeScriptTypes(source) : source;
  const tokens: Token[] = [];
  parse(text, { ecmaVersion: "latest", sourceType: "module", locations: true, onToken: tokens });
  return tokens;
}

function placeOf(file: string, { loc }: Token): string {
  return `${file}:${loc?.start.line}`;
}

function expressionsIn(file: string, source: string): Expression[] {
  return tokensOf(file, source)
    .filter(({ type }) => type === tokTypes.regexp)
    .map((token) => {
      const { pattern, flags } = token.value as { pattern: string; flags: string };
      return { pattern, flags, at: placeOf(file, token) };
    });
}

function repeatsWithoutEnd({ pattern }: Expression): boolean {
  return /[*+]|\{\d+,\}/.test(pattern);
}

function withSmallCounts(pattern: string): string {
  return pattern.replace(/\{(\d+)(,?)(\d*)\}/g, (_, least: string, comma: string, most: string) => {
    return `{${Math.min(Number(least), 2)}${comma}${most === "" ? "" : Math.min(Number(most), 3)}}`;
  });
}

/** What is wrong with an expression; null for one whose time is proportional to its text. */
async function wrongWith({ pattern, flags, at }: Expression): Promise<string | null> {
  const found = await check(withSmallCounts(pattern), flags, { checker: "automaton", timeout: null });
  if (found.status === "safe") return null;
  const shown = found.status === "vulnerable" ? `slow on ${found.attack.pattern}` : "cannot be looked at";
  return `${at} /${pattern}/${flags}: ${shown}`;
}

const read = (file: string) => readFileSync(join(root, file), "utf8");

test("every expression takes time in proportion to its text", async () => {
  const all = sources.flatMap((file) => expressionsIn(file, read(file))).filter(repeatsWithoutEnd);
  const different = new Map(all.map((one) => [`/${one.pattern}/${one.flags}`, one]));
  const wrong: string[] = [];
  for (const expression of different.values()) {
    const found = await wrongWith(expression);
    if (found !== null) wrong.push(found);
  }
  assert.deepEqual(wrong, []);
});

test("expressions are written as literals, so that they can be checked", () => {
  const made = sources.flatMap((file) =>
    tokensOf(file, read(file))
      .filter(({ type, value }) => type === tokTypes.name && value === "RegExp")
      .map((token) => placeOf(file, token)),
  );
  assert.deepEqual(made, []);
});

test("the checks can see: expressions that go over the same characters again and again are found", async () => {
  const source =
    "const slow = [/\\/+$/, /\\$\\{[^}]*\\}/g, /^(a+)+$/, /^a*b?a*$/];\nconst fast: RegExp = /^a+$/;\n";
  const found = await Promise.all(expressionsIn("slow.ts", source).map(wrongWith));
  assert.deepEqual(
    found.map((wrong) => wrong !== null),
    [true, true, true, true, false],
  );
});
