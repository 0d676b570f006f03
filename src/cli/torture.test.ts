import assert from "node:assert/strict";
import { test } from "node:test";
import { problemWith } from "./torture.ts";

test("a seed, a canary or a table is enough, each with flags of its own", () => {
  const good = [
    { seed: "7" },
    { canary: "give-twice" },
    { table: "A1", seeds: "2" },
    { seed: "7", runs: "20", nodes: "5", trace: true, checkLetters: true, without: "crash" },
  ];
  for (const flags of good) assert.equal(problemWith(flags), null, JSON.stringify(flags));
});

test("flags that would do nothing are refused by name", () => {
  const bad: readonly (readonly [object, RegExp])[] = [
    [{}, /--seed 1.*fairgate simulate/],
    [{ seed: "1", users: "5" }, /^--users is for a table/],
    [{ table: "A1", checkLetters: true }, /^--check-letters is for a run by --seed/],
    [{ seed: "x\u001b[2J" }, /^--seed is "x \[2J"; it should be a whole number/],
    [{ seed: "1", runs: "-1" }, /^--runs is "-1"/],
  ];
  for (const [flags, words] of bad) assert.match(problemWith({ ...flags }) ?? "", words);
});
