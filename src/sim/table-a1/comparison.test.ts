import assert from "node:assert/strict";
import { test } from "node:test";
import { chartFile } from "../chart.ts";
import { type Comparison, compare, compareAll, configurationsFor } from "./comparison.ts";
import type { Experiment, Outcome } from "./experiment.ts";
import { figuresOf } from "./figures.ts";
import { KOOPMANS_TABLE } from "./koopmans-table.ts";
import { tableOf, tauText } from "./table.ts";

const COLUMNS_MAX = 100;

function outcomeOf({ seed, users }: Experiment, parts: Partial<Outcome> = {}): Outcome {
  const times = { timeMs: 100_000 + seed, simulatedMs: 103_000 };
  return {
    seed,
    tau: 4e-5,
    tauDecided: 1e-5,
    waited: 7,
    letIn: users,
    added: 0,
    removed: 0,
    failure: null,
    ...times,
    ...parts,
  };
}

function all(seeds: number): Comparison[] {
  return compareAll({ configurations: configurationsFor(null), seeds, run: (one) => outcomeOf(one) });
}

test("a configuration is run by every seed, and the averages stand beside Koopmans'", () => {
  const asked: Experiment[] = [];
  const told: string[] = [];
  const [first, ...rest] = compareAll({
    configurations: configurationsFor(500).slice(0, 2),
    seeds: 3,
    run: (one, progress) => {
      asked.push(one);
      progress(1_000 * one.seed);
      return outcomeOf(one, { tau: one.seed * 1e-4 });
    },
    progress: ({ run, runs, simulatedMs }) => told.push(`${run}/${runs} ${simulatedMs}`),
  });
  assert.deepEqual(
    asked.map(({ seed, changed }) => [seed, changed]),
    [...[1, 2, 3].map((seed) => [seed, 0]), ...[1, 2, 3].map((seed) => [seed, 1])],
  );
  assert.deepEqual(told, ["1/6 1000", "2/6 2000", "3/6 3000", "4/6 1000", "5/6 2000", "6/6 3000"]);
  assert.equal(rest.length, 1);
  assert.ok(Math.abs(first!.tau - 2e-4) < 1e-12);
  assert.equal(first!.timeMs, 100_002);
  assert.equal(first!.simulatedMs, 309_000);
  assert.equal(first!.koopmans, KOOPMANS_TABLE[3]);
  assert.equal(first!.isNoWorse, false);
});

test("beyond Koopmans' configurations its goal counts", () => {
  const [configuration, ...rest] = configurationsFor(100_000);
  assert.deepEqual([configuration, rest], [{ target: 4_500, users: 100_000, changed: 1, stayMs: 5_000 }, []]);
  const run = (tau: number) => compare(configuration!, [outcomeOf({ ...configuration!, seed: 1 }, { tau })]);
  assert.equal(run(0.004).isNoWorse, true);
  assert.equal(run(0.006).isNoWorse, false);
  assert.equal(run(0.004).koopmans, null);
  assert.match(tableOf([run(0.004)], { realMs: 1 }), /by counting, as a cluster does it[\s\S]*\n1 run, /);
  assert.match(tableOf([run(0.004)], { realMs: 1 }), /no worse than its goal of 0\.005 in 1 of 1/);
});

test("the table has a line for each configuration and fits", () => {
  const lines = tableOf(all(2), { realMs: 5_562_000 }).split("\n");
  assert.ok(lines.every((line) => line.length <= COLUMNS_MAX));
  assert.deepEqual(lines[1]!.trim().split(/ +/), [
    ...["target", "users", "changed", "ours", "Koopmans'", "decided", "ours", "Koopmans'", "waited"],
  ]);
  const rows = lines.slice(2, 29).map((line) => line.trim().split(/ +/));
  assert.deepEqual(rows[0], [
    ...["20", "100", "0", "4.00e-05", "0.000751", "1.00e-05", "100002", "100276", "7", "ok"],
  ]);
  assert.deepEqual(rows.at(-1)!.slice(0, 5), ["INF", "2500", "5", "4.00e-05", "5.80e-05"]);
  assert.equal(rows.filter((row) => row.at(-1) === "worse").length, 7);
  assert.match(
    lines.join("\n"),
    /waited: so many found no room[\s\S]*one by one here \(deleteMin\), as in the paper/,
  );
  assert.match(lines.at(-2)!, /no worse than Koopmans' in 20 of 27\./);
  assert.match(lines.at(-1)!, /^54 runs, 5562\.0 s simulated in 5562\.0 s, 1 times faster\./);
});

test("a run that failed is named", () => {
  const failure = { check: "one root", at: 4_000, text: "node-1 and node-2 are both root" };
  const configuration = KOOPMANS_TABLE[0]!;
  const found = compare(configuration, [outcomeOf({ ...configuration, seed: 9 }, { failure })]);
  const text = tableOf([found], { realMs: 1 });
  assert.match(text, /FAILED$/m);
  assert.match(text, /^Target 20, 100 users, 0 changed, seed 9: "one root" after 4\.0 s: node-1/m);
});

test("tau is written as Koopmans writes it", () => {
  assert.deepEqual([0.000751, 3.25e-5, 1e-7, 0, 1].map(tauText), [
    ...["0.000751", "3.25e-05", "1.00e-07", "0", "1.000000"],
  ]);
});

test("there is a figure for each number of users, with ours and Koopmans' for each target", () => {
  const figures = figuresOf(all(1));
  assert.deepEqual(
    figures.map(({ name }) => name),
    ["figure-6-1", "figure-6-2", "figure-6-3"],
  );
  const { series } = figures[2]!.chart;
  assert.equal(series.length, 6);
  assert.deepEqual(series[3]!.points, [
    [0, 3.01e-5],
    [1, 3.2e-5],
    [5, 3.9e-5],
  ]);
  assert.match(chartFile(figures[0]!.chart), /^<svg [\s\S]*ours, target INF[\s\S]*<\/svg>\n$/);
  assert.deepEqual(
    figuresOf(all(1).filter(({ users }) => users === 500)).map(({ name }) => name),
    ["figure-6-2"],
  );
});
