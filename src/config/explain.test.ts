/**
 * Each file in `bad-files` is a settings file, a line of dashes, and the whole text that a user gets to see for it, where
 * `{languages}` stands for those of the page.
 */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { explain, toJson } from "./explain.ts";
import { LANGUAGE_TAGS } from "./language-tags.ts";
import { loadSettings } from "./load.ts";
import type { Problem } from "./problem.ts";

const FOLDER = join(import.meta.dirname, "bad-files");
const DIVIDER = "----------\n";
const SECRET = "example-secret-for-tests-0123456789";
const GOOD = "origin:\n  addresses: [http://127.0.0.1:3000]\nrooms:\n  main:\n    totalActiveUsers: 200\n";

function noFiles(): never {
  throw Object.assign(new Error("no such file"), { code: "ENOENT" });
}

function problemsOf(
  text: string,
  environment: Record<string, string> = { FAIRGATE_SECRET: SECRET },
): readonly Problem[] {
  const result = loadSettings({ text, file: "fairgate.yaml" }, {}, environment, noFiles);
  return result.ok ? [] : result.problems;
}

describe("every bad file is explained in full", () => {
  const names = readdirSync(FOLDER);
  assert.ok(names.length >= 45, `only ${names.length} bad files were found`);
  for (const name of names) {
    test(name.replace(".txt", "").replaceAll("-", " "), () => {
      const [text, expected] = readFileSync(join(FOLDER, name), "utf8").split(DIVIDER);
      const isAboutSecrets = name.startsWith("secret");
      const problems = problemsOf(text!, isAboutSecrets ? {} : { FAIRGATE_SECRET: SECRET });
      assert.equal(explain(problems), expected!.replace("{languages}", LANGUAGE_TAGS.join(", ")));
    });
  }
});

test("a good file has nothing to explain", () => {
  assert.deepEqual(problemsOf(GOOD), []);
  assert.equal(explain([]), "");
});

test("no escape of a file's name gets through, be it the settings or a file that they name", () => {
  const wild = "\\e]0;owned\\a\\x9b2J\\u202e";
  const text = `tls: { certificateFile: "c${wild}", keyFile: "k${wild}" }\nrooms: { main: {} }\n`;
  const file = "\x1b[2J\x9b2J.yaml";
  const result = loadSettings({ text, file }, {}, { FAIRGATE_SECRET: SECRET }, noFiles);
  const shown = explain(result.ok ? [] : result.problems);
  assert.match(shown, /certificateFile: c .* cannot be read/);
  assert.doesNotMatch(shown, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});

test("a missing secret says how to make one", () => {
  assert.equal(
    explain(problemsOf(GOOD, {})),
    [
      "fairgate.yaml: there is no secret to sign tickets and passes with",
      "        Make one with `fairgate keys new`, keep it safe, and `export FAIRGATE_SECRET=…` before starting.",
      "",
      "1 problem",
      "",
    ].join("\n"),
  );
});

test("problems are in the order of the file, whatever found them", () => {
  const problems = problemsOf(
    `zebra: 1\nlisten: 1.1.1.1\n${GOOD}    claimWindow: 2d\n    hots: a\nlimits: 5\n`,
  );
  const lines = problems.map((problem) => problem.source.spot?.line);
  assert.deepEqual(lines, [1, 2, 8, 9, 10]);
});

test("the JSON form has the same problems with places as numbers", () => {
  assert.deepEqual(toJson(problemsOf(`${GOOD}    sessionDuration: 300\n`)), [
    {
      code: "invalid",
      setting: "rooms.main.sessionDuration",
      message: "rooms.main.sessionDuration is 300, which has no unit",
      hint: "It should be a length of time such as 45s or 10m, from 1s to 30d. Write 300s for seconds.",
      source: "file",
      name: "fairgate.yaml",
      line: 6,
      column: 22,
    },
  ]);
});

test("there is colour only when it is asked for", () => {
  const problems = problemsOf("zebra: 1\n");
  assert.doesNotMatch(explain(problems), /\x1b/);
  assert.match(explain(problems, { colour: true }), /\x1b\[31m\^\^\^\^\^\x1b\[0m/);
});

test("a long line is cut around the caret, which still points at the value", () => {
  const long = `trustedProxies: [${"10.0.0.1, ".repeat(30)}nowhere, ${"10.0.0.1, ".repeat(30)}10.0.0.1]\n`;
  const [, line, caret] = explain(problemsOf(long + GOOD)).split("\n");
  const start = caret!.indexOf("^");
  assert.equal(line!.slice(start, start + "nowhere".length), "nowhere");
  assert.ok(line!.length < 140, `the line has ${line!.length} columns`);
});

test("control characters of a file do not reach the terminal", () => {
  const text = explain(
    problemsOf(`"\\e]0;title\\a": 1\nred\u001b[31m\u202e: 2\n${GOOD}    message: {"\u009b": 1}\n`),
  );
  assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});

test("lines that end in CR LF and a byte-order mark change no place", () => {
  const windows = `\ufeff${GOOD.replaceAll("\n", "\r\n")}    paused: no\r\n`;
  const [problem] = problemsOf(windows);
  assert.deepEqual(problem?.source.spot, { line: 6, column: 13, length: 2, text: "    paused: no" });
});

test("a value that came through an alias is shown where it is written", () => {
  const text = `${GOOD.replace("200", "&many 0")}    newUsersPerMinute: *many\n`;
  assert.deepEqual(
    problemsOf(text).map(({ path, source }) => [path, source.spot?.line]),
    [
      ["rooms.main.totalActiveUsers", 5],
      ["rooms.main.newUsersPerMinute", 6],
    ],
  );
});
