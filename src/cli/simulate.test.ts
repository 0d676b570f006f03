import assert from "node:assert/strict";
import { test } from "node:test";
import { problemWith } from "./simulate.ts";

const SETTINGS = [
  { flag: "--config", key: "config" },
  { flag: "--total-active-users", key: "totalActiveUsers" },
];

test("a crowd, or a seed, is enough, each with flags of its own", () => {
  const good = [
    { crowd: "500", show: true },
    { crowd: "500", seed: "7", show: "20", over: "1m", config: "a.yaml", totalActiveUsers: "5" },
    { seed: "7", show: true },
    { canary: "give-twice", show: true },
    { seed: "7", show: true, runs: "20", nodes: "5", trace: true, checkLetters: true, without: "crash" },
  ];
  for (const flags of good) assert.equal(problemWith(flags, SETTINGS), null, JSON.stringify(flags));
});

test("flags that would do nothing are refused by name", () => {
  const bad: readonly (readonly [object, RegExp])[] = [
    [{ show: true }, /--crowd 50000, or .* --seed 1/],
    [{ show: true, config: "a.yaml" }, /^--config is for a crowd/],
    [{ seed: "1", show: "20" }, /^--no-show is for a crowd/],
    [{ seed: "1", show: true, totalActiveUsers: "5" }, /^--total-active-users is for a crowd/],
    [{ crowd: "5", show: true, nodes: "3" }, /^--nodes is for a run without a crowd/],
    [{ crowd: "5", show: true, checkLetters: true }, /^--check-letters is for a run/],
    [{ seed: "x\u001b[2J", show: true }, /^--seed is "x \[2J"; it should be a whole number/],
    [{ seed: "1", show: true, runs: "-1" }, /^--runs is "-1"/],
  ];
  for (const [flags, words] of bad) assert.match(problemWith({ ...flags }, SETTINGS) ?? "", words);
});
