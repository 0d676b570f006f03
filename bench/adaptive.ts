/**
 * What adaptive capacity gains: a site that degrades with load, behind limits that are set too high, with the loop
 * and without it. Virtual time and fixed seeds: the same numbers on every machine. Draws the first hour as
 * `bench/results/adaptive.svg`, and as `docs/adaptive.svg` when run whole.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { plot } from "./adaptive-plot.ts";
import {
  CROWD_AT_MS,
  ERRORS_MAX,
  type Hour,
  type Moment,
  percentile95,
  playHour,
  SCENE_MS,
  TARGET_MS,
} from "./adaptive-scene.ts";
import { type Bench, type Row, row } from "./bench.ts";

const WITHIN_MIN = 0.9;
const FIXED_WITHIN_MAX = 0.5;
const SEEDS = [1, 2, 3, 4, 5];
const CROWD_SECONDS = (SCENE_MS - CROWD_AT_MS) / 1_000;

export const adaptiveBench: Bench = {
  name: "adaptive",
  about: "a model site behind limits set too high: adaptive capacity, beside the same limits fixed",
  async run({ isQuick, progress }) {
    const seeds = isQuick ? SEEDS.slice(0, 1) : SEEDS;
    const [fixed, adaptive]: [Hour[], Hour[]] = [[], []];
    for (const seed of seeds) {
      progress(`hour ${seed} of ${seeds.length}`);
      fixed.push(playHour(seed, false));
      adaptive.push(playHour(seed, true));
    }
    draw(plot(fixed[0]!.moments, adaptive[0]!.moments), isQuick);
    return rows(fixed, adaptive);
  },
};

function rows(fixed: readonly Hour[], adaptive: readonly Hour[]): Row[] {
  const both = (of: (hour: Hour) => number) => ({
    value: mean(adaptive.map(of)),
    baseline: mean(fixed.map(of)),
  });
  const within = both(timeWithin);
  return [
    row({
      name: "time within the latency target, adaptive beside fixed",
      unit: "share",
      ...within,
      goal: { of: "value", atLeast: WITHIN_MIN },
    }),
    row({
      name: "the worst of these hours",
      unit: "share",
      value: Math.min(...adaptive.map(timeWithin)),
    }),
    row({
      name: "the same with the fixed setting alone",
      unit: "share",
      value: within.baseline,
      goal: { of: "value", atMost: FIXED_WITHIN_MAX },
    }),
    row({
      name: `95th percentile of all answers (target ${(TARGET_MS / 1_000).toFixed(1)})`,
      unit: "s",
      ...both(({ latencies }) => (percentile95(latencies) ?? 0) / 1_000),
    }),
    row({ name: "pages served", unit: "pages/s", ...both((hour) => perSecond(hour, (at) => at.answers)) }),
    row({
      name: "visitors who got all their pages",
      unit: "visitors/min",
      ...both((hour) => 60 * perSecond(hour, (at) => at.content)),
    }),
  ];
}

function timeWithin({ moments }: Hour): number {
  const crowd = moments.filter(({ atMs }) => atMs > CROWD_AT_MS);
  return crowd.filter(isWithin).length / crowd.length;
}

function isWithin({ latencyMs, errors }: Moment): boolean {
  return latencyMs !== null && latencyMs <= TARGET_MS && errors <= ERRORS_MAX;
}

function perSecond({ moments }: Hour, of: (moment: Moment) => number): number {
  const crowd = moments.filter(({ atMs }) => atMs > CROWD_AT_MS);
  return crowd.reduce((sum, moment) => sum + of(moment), 0) / CROWD_SECONDS;
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

function draw(svg: string, isQuick: boolean): void {
  const results = new URL("./results/", import.meta.url);
  mkdirSync(results, { recursive: true });
  writeFileSync(new URL("adaptive.svg", results), svg);
  if (!isQuick) writeFileSync(new URL("../docs/adaptive.svg", import.meta.url), svg);
}
