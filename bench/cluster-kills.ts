/**
 * A cluster of processes under load, again and again: two of five nodes are killed with -9 a second apart, one is added, and the
 * root is cut off for a while. The nodes, the crowd and the books are those of test/cluster. All runs use the one seed that once
 * found a bug (the pass of a visitor who had left was accepted); timing makes each run different.
 */
import { inspect } from "node:util";
import { assertKept, type ClusterOutcome } from "../test/cluster/cluster-play.ts";
import { killAndCut } from "../test/cluster/kill-and-cut.ts";
import { type Bench, median, row } from "./bench.ts";

const SEED = 104_546_185;
const PLAYS = 100;
const PLAYS_QUICK = 1;
/** A run mostly waits: for dead nodes and cuts to be detected. */
const SIDE_BY_SIDE = 3;
const NONE = { of: "value", atMost: 0 } as const;
const ALL = { of: "ratio", atLeast: 1 } as const;
const WITHIN = { of: "ratio", atMost: 1 } as const;

export const clusterKillsBench: Bench = {
  name: "cluster-kills",
  about:
    "five nodes under load: two are killed with -9, one is added, the root is cut off; counted from outside",
  async run({ isQuick, progress }) {
    const plays = isQuick ? PLAYS_QUICK : PLAYS;
    const outcomes: ClusterOutcome[] = [];
    const failed: string[] = [];
    let begun = 0;
    const playOn = async () => {
      while (begun < plays) {
        const play = ++begun;
        progress(`${play} of ${plays} plays, ${failed.length} failed`);
        try {
          const outcome = await killAndCut(SEED);
          outcomes.push(outcome);
          assertKept(outcome);
        } catch (cause) {
          failed.push(String(cause));
          console.error(`  play ${play}: ${inspect(cause)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, playOn));
    const sum = (of: (outcome: ClusterOutcome) => number) => outcomes.reduce((all, one) => all + of(one), 0);
    const most = (of: (outcome: ClusterOutcome) => number) => Math.max(0, ...outcomes.map(of));
    const count = (name: string, value: number) => row({ name, unit: "", value });
    const violations = (wrong: string) =>
      sum((one) => one.violations.filter((v) => v.wrong === wrong).length);
    return [
      count("plays", plays),
      row({ name: "runs that failed", unit: "", value: failed.length, goal: NONE }),
      count(
        "visitors",
        sum(({ visitors }) => visitors),
      ),
      row({
        name: "places held at a kill or cut and kept, of all held",
        unit: "places",
        value: sum(({ placesKept }) => placesKept),
        baseline: sum(({ placesAtStake }) => placesAtStake),
        goal: ALL,
      }),
      count(
        "old passes and tickets shown again",
        sum(({ shownAgain }) => shownAgain),
      ),
      row({
        ...{ name: "of these taken", unit: "", goal: NONE },
        value: violations("ended pass taken") + violations("spent ticket taken"),
      }),
      row({
        name: "most on site in any run, beside totalActiveUsers",
        unit: "visitors",
        value: most(({ highestOnSite }) => highestOnSite),
        baseline: most(({ capacity }) => capacity),
        goal: WITHIN,
      }),
      row({ name: "unfairness (Kendall tau), highest", unit: "", value: most(({ tau }) => tau) }),
      row({
        name: "the same for visitors no fault touched",
        unit: "",
        value: most(({ quietTau }) => quietTau),
      }),
      row({
        name: "largest difference in joining time of two admitted out of order",
        unit: "ms",
        value: most(({ overtakingMs }) => overtakingMs),
      }),
      row({
        name: "one run, median",
        unit: "s",
        value: median(outcomes.map(({ seconds }) => seconds.at(-1)!)),
      }),
    ];
  },
};
