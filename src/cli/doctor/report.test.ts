import assert from "node:assert/strict";
import { test } from "node:test";
import { hasProblem, summary, table, verdictsForPrograms } from "./report.ts";
import { about } from "./verdict.ts";

const PLAIN = { columns: 80, isColour: false };
const VERDICTS = [
  about("clock").ok("All agree."),
  about("version", "10.0.0.1:6379").ok("Redis 7.2.4."),
  about("version", "10.0.0.2:6379").ok("Redis 7.2.4."),
  about("version", "10.0.0.3:6379").ok("Redis 7.2.4."),
  about("eviction", "10.0.0.1:6379").problem(
    "maxmemory-policy is allkeys-lru: when memory is short, places are thrown away.",
    "Set maxmemory-policy to noeviction.",
  ),
  about("memory", "10.0.0.1:6379").caution("Nearly full.", "Raise maxmemory."),
  about("memory", "10.0.0.2:6379").caution("Nearly full.", "Raise maxmemory."),
];

test("a table has one row for each thing, in the order of asking, with what to do below what is", () => {
  assert.equal(
    table(VERDICTS, PLAIN),
    [
      "ok       version   10.0.0.1:6379 and 2 more      Redis 7.2.4.",
      "problem  eviction  10.0.0.1:6379                 maxmemory-policy is allkeys-lru: when memory is short,",
      "                                                 places are thrown away.",
      "                                                 Set maxmemory-policy to noeviction.",
      "caution  memory    10.0.0.1:6379, 10.0.0.2:6379  Nearly full.",
      "                                                 Raise maxmemory.",
      "ok       clock                                   All agree.",
      "",
    ].join("\n"),
  );
});

test("there is colour only where it is asked for, and only on what is not well", () => {
  assert.doesNotMatch(table(VERDICTS, PLAIN), /\x1b/);
  const coloured = table(VERDICTS, { ...PLAIN, isColour: true });
  assert.match(coloured, /^\x1b\[31mproblem\x1b\[0m {2}eviction/m);
  assert.match(coloured, /^ok {7}version/m);
});

test("no escape of a file's name or a server's answer gets through", () => {
  const wild = "\x1b]0;owned\x07\x9b2J\u202e";
  const text = table([about("data", wild).problem(`${wild} belongs to another user.`, wild)], PLAIN);
  assert.doesNotMatch(text, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/);
});

test("the last line counts what is not well", () => {
  assert.equal(summary(VERDICTS), "1 problem, 1 caution.\n");
  assert.equal(summary(VERDICTS.filter(({ level }) => level === "ok")), "All is well.\n");
  assert.equal(summary([about("a").problem("x"), about("b").problem("x")]), "2 problems.\n");
});

test("programs get every verdict by itself", () => {
  const { ok, checks } = verdictsForPrograms(VERDICTS) as { ok: boolean; checks: readonly object[] };
  assert.equal(ok, false);
  assert.equal(checks.length, VERDICTS.length);
  assert.deepEqual(checks.at(-1), { level: "ok", check: "clock", is: "All agree.", where: null, todo: null });
  assert.equal(hasProblem(VERDICTS), true);
  assert.equal(hasProblem(VERDICTS.filter(({ level }) => level !== "problem")), false);
});
