import assert from "node:assert/strict";
import { test } from "node:test";
import type { Experiment, ExperimentResult } from "../sim/table-a1/experiment.ts";
import { Progress } from "./progress.ts";
import { runTableWith, type TableOptions } from "./torture-table.ts";

/** Without a cluster: what a run came to is made up. */
function simulate(options: Partial<TableOptions>, parts: Partial<ExperimentResult> = {}, isDiskFull = false) {
  let [out, error, runs] = ["", "", 0];
  const files = new Map<string, string>();
  const run = ({ seed, users }: Experiment): ExperimentResult => {
    runs++;
    const found = {
      seed,
      tau: 1e-5,
      tauDecided: 0,
      timeMs: 100_000,
      waited: 1,
      letIn: users,
      added: 0,
      removed: 0,
    };
    return { ...found, simulatedMs: 103_000, failure: null, ...parts };
  };
  const output = {
    out: (text: string) => {
      out += text;
    },
    error: (text: string) => {
      error += text;
    },
    makeDirectory: () => {
      if (isDiskFull) throw new Error("no space left");
    },
    writeFile: (directory: string, name: string, text: string) =>
      void files.set(`${directory}/${name}`, text),
    now: () => 0,
    progress: new Progress({ now: () => 0, write: () => {}, isTerminal: false }),
  };
  const code = runTableWith({ table: "A1", ...options }, output, run);
  return { code, out, error, runs, files };
}

test("the table of all 27 configurations is printed", () => {
  const { code, out, runs } = simulate({ seeds: 2 });
  assert.equal(code, 0);
  assert.equal(runs, 108);
  assert.equal(out.match(/ ok$/gm)?.length, 27);
  assert.match(out, /no worse than the paper's in 27 of them[\s\S]*in 27 of all 27\.\n108 runs/);
});

test("with --users it is those of the table, or one beyond it", () => {
  assert.equal(simulate({ users: 500, seeds: 1 }).runs, 18);
  const beyond = simulate({ users: 100_000 });
  assert.equal(beyond.runs, 1);
  assert.match(beyond.out, /^ +4500 +100000 +1 +1\.00e-05 /m);
});

test("with --plot the figures are written", () => {
  const { code, files } = simulate({ seeds: 1, plot: "charts" });
  assert.equal(code, 0);
  assert.deepEqual(
    [...files.keys()],
    [1, 2, 3].map((number) => `charts/figure-6-${number}.svg`),
  );
  assert.ok([...files.values()].every((text) => text.startsWith("<svg")));
});

test("a directory that cannot be written is found out before anything runs", () => {
  const { code, error, runs } = simulate({ plot: "charts" }, {}, true);
  assert.deepEqual([code, runs], [1, 0]);
  assert.match(error, /cannot be written to "charts": no space left/);
});

test("a run that failed ends with 1, and tau that is worse does not", () => {
  const failure = { check: "everyone in", at: 1, text: "2 users are not let in" };
  const failed = simulate({ seeds: 1, users: 100 }, { failure });
  assert.equal(failed.code, 1);
  assert.match(failed.out, /seed 1, as shipped: "everyone in"/);
  const worse = simulate({ seeds: 1, users: 100 }, { tau: 0.1 });
  assert.equal(worse.code, 0);
  assert.equal(worse.out.match(/ worse$/gm)?.length, 9);
});

test("programs get JSON", () => {
  const found = JSON.parse(simulate({ seeds: 1, json: true }).out);
  assert.deepEqual(
    [found.ok, found.isNoWorse, found.isWithinGoal, found.configurations.length],
    [true, true, true, 27],
  );
  assert.equal(found.configurations[26].target, null);
  assert.equal(found.configurations[26].koopmans.tau, 5.8e-5);
  assert.equal(JSON.parse(simulate({ json: true, seeds: 0 }).out).ok, false);
});

test("a command that is not right says what would be", () => {
  const wrong = (options: Partial<TableOptions>) => {
    const { code, error, runs } = simulate(options);
    assert.deepEqual([code, runs], [2, 0]);
    return error;
  };
  assert.match(wrong({ table: "B2" }), /There is no table "B2"; there is A1/);
  assert.match(wrong({ seeds: 0 }), /--seeds is a whole number from 1 to 10,000, not 0/);
  assert.match(wrong({ users: 1.5 }), /--users is a whole number from 2 to 1,000,000, not 1\.5/);
  assert.match(wrong({ users: 7, plot: "x" }), /none with 7 users; it has them with 100, 500, 2500/);
});
