import assert from "node:assert/strict";
import { test } from "node:test";
import { chartFile } from "../chart.ts";
import { type Comparison, compare, compareAll, configurationsFor } from "./comparison.ts";
import type { Experiment, ExperimentResult } from "./experiment.ts";
import { tableFigures } from "./figures.ts";
import { KOOPMANS_TABLE } from "./koopmans-table.ts";
import { tableOf, tauText } from "./table.ts";

const COLUMNS_MAX = 100;

function outcomeOf({ seed, users }: Experiment, parts: Partial<ExperimentResult> = {}): ExperimentResult {
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
  const run = (one: Experiment) => outcomeOf(one, { tau: one.settings === "shipped" ? 4e-4 : 4e-5 });
  return compareAll({ configurations: configurationsFor(null), seeds, run });
}

test("a configuration is run by every seed, as shipped first, and the averages stand beside Koopmans'", () => {
  const asked: Experiment[] = [];
  const told: string[] = [];
  const [first, ...rest] = compareAll({
    configurations: configurationsFor(500).slice(0, 2),
    seeds: 3,
    run: (one, progress) => {
      asked.push(one);
      progress(1_000 * one.seed);
      const tau = one.seed * (one.settings === "shipped" ? 1e-4 : 1e-5);
      return outcomeOf(one, { tau, waited: one.changed });
    },
    progress: ({ run, runs, simulatedMs }) => told.push(`${run}/${runs} ${simulatedMs}`),
  });
  assert.deepEqual(
    asked.map(({ seed, changed, settings }) => [seed, changed, settings]),
    [0, 1].flatMap((changed) =>
      (["shipped", "koopmans"] as const).flatMap((settings) =>
        [1, 2, 3].map((seed) => [seed, changed, settings]),
      ),
    ),
  );
  assert.equal(told.length, 12);
  assert.deepEqual([told[0], told.at(-1)], ["1/12 1000", "12/12 3000"]);
  assert.equal(rest.length, 1);
  assert.ok(Math.abs(first!.shipped.tau - 2e-4) < 1e-12);
  assert.ok(Math.abs(first!.oneByOne!.tau - 2e-5) < 1e-12);
  assert.equal(first!.shipped.timeMs, 100_002);
  assert.equal(first!.simulatedMs, 618_000);
  assert.equal(first!.koopmans, KOOPMANS_TABLE[3]);
  assert.deepEqual([first!.isNoWorse, first!.isWithinGoal], [false, true]);
});

test("beyond Koopmans' configurations the goal counts", () => {
  const [configuration, ...rest] = configurationsFor(100_000);
  assert.deepEqual([configuration, rest], [{ target: 4_500, users: 100_000, changed: 1, stayMs: 5_000 }, []]);
  const run = (tau: number) =>
    compareAll({ configurations: [configuration!], seeds: 1, run: (one) => outcomeOf(one, { tau }) })[0]!;
  assert.equal(run(0.004).isNoWorse, true);
  assert.equal(run(0.006).isNoWorse, false);
  assert.deepEqual([run(0.004).koopmans, run(0.004).oneByOne], [null, null]);
  const text = tableOf([run(0.004)], { realMs: 1 });
  assert.match(text, /The paper has no such configuration[\s\S]*\n1 run, /);
  assert.match(text, /As shipped, tau is no worse than the goal of 0\.005 in 1 of 1 with a line\.\n/);
});

test("the table has a line for each configuration, as shipped first, and fits", () => {
  const lines = tableOf(all(2), { realMs: 11_124_000 }).split("\n");
  assert.ok(lines.every((line) => line.length <= COLUMNS_MAX));
  assert.deepEqual(lines[1]!.trim().split(/ +/), [
    ...["target", "users", "changed", "shipped", "1", "by", "1", "paper's", "decided"],
    ...["shipped", "paper's", "waited"],
  ]);
  const rows = lines.slice(2, 29).map((line) => line.trim().split(/ +/));
  assert.deepEqual(rows[0], [
    ...["20", "100", "0", "0.000400", "4.00e-05", "0.000751", "1.00e-05", "100002", "100276", "7", "ok"],
  ]);
  assert.deepEqual(rows.at(-1)!.slice(0, 6), ["INF", "2500", "5", "0.000400", "4.00e-05", "5.80e-05"]);
  assert.equal(rows.filter((row) => row.at(-1) === "goal").length, 18);
  assert.match(lines.join("\n"), /No setting of Fairgate does that/);
  assert.match(lines.at(-4)!, /no worse than the goal of 0\.005 in 27 of 27 with a line;$/);
  assert.match(
    lines.at(-3)!,
    /no worse than the paper's in 9 of them, and at most 13\.3 times the paper's\.$/,
  );
  assert.match(lines.at(-2)!, /^One by one, tau is no worse than the paper's in 20 of all 27\.$/);
  assert.match(lines.at(-1)!, /^108 runs, 11124\.0 s simulated in 11124\.0 s, 1 times faster\.$/);
});

test("without a line tau is marked, and does not count", () => {
  const run = (one: Experiment) => outcomeOf(one, { tau: 0, waited: one.target === null ? 0 : 3 });
  const text = tableOf(compareAll({ configurations: configurationsFor(null), seeds: 1, run }), { realMs: 1 });
  assert.equal(text.match(/^ +INF .* 0\* +0\* .* no line$/gm)?.length, 9);
  assert.equal(text.match(/ ok$/gm)?.length, 18);
  assert.match(text, /in 18 of 18 with a line;\nit is no worse than the paper's in 18 of them/);
  const none = compareAll({
    configurations: configurationsFor(100),
    seeds: 1,
    run: (one) => outcomeOf(one, { waited: 0 }),
  });
  assert.match(tableOf(none, { realMs: 1 }), /\nAs shipped, nobody waits in any of these\.\n/);
});

test("a tau beyond the goal is reported", () => {
  const run = (one: Experiment) => outcomeOf(one, { tau: 0.006 });
  const text = tableOf(compareAll({ configurations: configurationsFor(500), seeds: 1, run }), { realMs: 1 });
  assert.equal(text.match(/ worse$/gm)?.length, 9);
  assert.match(text, /goal of 0\.005 in 0 of 9 with a line;/);
});

test("a run that failed is named, with its settings", () => {
  const failure = { check: "one root", at: 4_000, text: "node-1 and node-2 are both root" };
  const configuration = KOOPMANS_TABLE[0]!;
  const outcomes = [outcomeOf({ ...configuration, settings: "koopmans", seed: 9 }, { failure })];
  const text = tableOf([compare(configuration, { shipped: outcomes, oneByOne: outcomes })], { realMs: 1 });
  assert.match(text, /FAILED$/m);
  assert.match(
    text,
    /^Target 20, 100 users, 0 changed, seed 9, as shipped: "one root" after 4\.0 s: node-1/m,
  );
  assert.match(
    text,
    /^Target 20, 100 users, 0 changed, seed 9, one by one: "one root" after 4\.0 s: node-1/m,
  );
});

test("tau is written as Koopmans writes it", () => {
  assert.deepEqual([0.000751, 3.25e-5, 1e-7, 0, 1].map(tauText), [
    ...["0.000751", "3.25e-05", "1.00e-07", "0", "1.000000"],
  ]);
});

test("there is a figure for each number of users, with both of ours and Koopmans' for each target", () => {
  const figures = tableFigures(all(1));
  assert.deepEqual(
    figures.map(({ name }) => name),
    ["figure-6-1", "figure-6-2", "figure-6-3"],
  );
  const { series } = figures[2]!.chart;
  assert.equal(series.length, 9);
  assert.deepEqual(series[0]!.points[0], [0, 4e-4]);
  assert.deepEqual(series[3]!.points[0], [0, 4e-5]);
  assert.deepEqual(series[6]!.points, [
    [0, 3.01e-5],
    [1, 3.2e-5],
    [5, 3.9e-5],
  ]);
  assert.match(chartFile(figures[0]!.chart), /^<svg [\s\S]*as shipped, target INF[\s\S]*<\/svg>\n$/);
  assert.deepEqual(
    tableFigures(all(1).filter(({ users }) => users === 500)).map(({ name }) => name),
    ["figure-6-2"],
  );
});
