/**
 * kill -9 again and again under load: what visitors lose (nothing) and how soon the gateway answers again. The
 * crowd, the operator and the books are those of the crash test.
 */
import { spawnSync } from "node:child_process";
import { play } from "../test/crash/play.ts";
import { type RushOutcome, rush } from "../test/crash/rush.ts";
import { type Bench, median, row } from "./bench.ts";

const KILLS = 60;
const KILLS_QUICK = 6;
const LIFE_MS = { low: 50, high: 4_000 };
const LIFE_MS_QUICK = { low: 50, high: 1_500 };
const RUSHES = 25;
const RUSHES_QUICK = 2;
const RUSH_MS = { low: 100, high: 1_000 };
const RUSH_AT_ONCE = 64;
const CROWD = { arrivalsPerSecond: 30, atOnceMax: 250 };
const CROWD_QUICK = { arrivalsPerSecond: 20, atOnceMax: 80 };
const DRAIN_MS = 120_000;
const NONE = { of: "value", atMost: 0 } as const;

export const crashBench: Bench = {
  name: "crash",
  about: "the gateway with a data folder, killed with -9 at random instants under load; counted from outside",
  async run({ isQuick, progress }) {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const outcome = await play({
      kills: isQuick ? KILLS_QUICK : KILLS,
      seed,
      lifeMs: isQuick ? LIFE_MS_QUICK : LIFE_MS,
      ...(isQuick ? CROWD_QUICK : CROWD),
      drainMs: DRAIN_MS,
      keepsData: true,
      through: onAnyCore(),
      progress,
    });
    const rushes = await rushAgain(isQuick ? RUSHES_QUICK : RUSHES, progress);
    const violations = [...outcome.violations, ...rushes.flatMap((one) => one.violations)];
    for (const { wrong, words } of violations) console.error(`  seed ${seed}: ${wrong}: ${words}`);
    for (const failure of outcome.failures) console.error(`  seed ${seed}: ${failure}`);
    const count = (name: string, value: number) => row({ name, unit: "", value });
    return [
      count("kills", outcome.kills),
      count("visitors", outcome.visitors),
      count("passes", outcome.passes),
      row({
        name: "places held at a kill and kept, of all held",
        unit: "places",
        value: outcome.placesKept,
        baseline: outcome.placesAtStake,
        goal: { of: "ratio", atLeast: 1 },
      }),
      row({ name: "unfairness (Kendall tau)", unit: "", value: outcome.tau, goal: NONE }),
      row({
        name: "most on site, beside totalActiveUsers",
        unit: "visitors",
        value: outcome.highestOnSite,
        baseline: outcome.capacity,
        goal: { of: "ratio", atMost: 1 },
      }),
      row({
        name: "the same by the site's own records",
        unit: "visitors",
        value: outcome.highestAtOrigin,
        baseline: outcome.capacity,
        goal: { of: "ratio", atMost: 1 },
      }),
      count("kills into a rush", rushes.length),
      count("passes received in rushes, all good after", sum(rushes.map(({ passes }) => passes))),
      count("leaves acknowledged in rushes, all hold after", sum(rushes.map(({ left }) => left))),
      count("questions on their way at those kills", sum(rushes.map(({ underWay }) => underWay))),
      row({ name: "violations", unit: "", value: violations.length, goal: NONE }),
      row({ name: "visitors who could not go on", unit: "", value: outcome.failures.length, goal: NONE }),
      row({ name: "from start to first answer, median", unit: "ms", value: median(outcome.restartsMs) }),
    ];
  },
};

async function rushAgain(times: number, progress: (text: string) => void): Promise<RushOutcome[]> {
  const rushes: RushOutcome[] = [];
  while (rushes.length < times) {
    const killAfterMs = RUSH_MS.low + (RUSH_MS.high - RUSH_MS.low) * Math.random();
    const atOnce = RUSH_AT_ONCE;
    rushes.push(await rush({ atOnce, killAfterMs, keepsData: true, through: onAnyCore() }));
    progress(`${rushes.length} of ${times} rushes`);
  }
  return rushes;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

/** Other benches tie this process to one core; the gateway would be tied to the same. */
function onAnyCore(): string[] {
  const all = ["taskset", "0xffffffff"];
  return spawnSync("taskset", ["0xffffffff", "true"]).status === 0 ? all : [];
}
