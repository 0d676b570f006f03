/** Figures 2 to 7 of Lin and Liang 2020, redrawn from our own simulation into `docs/relaxed/`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { type Axis, type Chart, chart, type Series } from "./relaxed-plot.ts";
import type { Peis, Strategy } from "./relaxed-scene.ts";

/** Scenes that differ in one number, by that number. */
export type Sweep = ReadonlyMap<number, Peis>;

/** The results of all scenes. */
export interface Played {
  /** 20 shards, 2 peeks. */
  readonly basic: Peis;
  /** The same by the number of items. */
  readonly byLag: Readonly<Record<DrawnStrategy, Sweep>>;
  /** The same with a peek before the add, as the paper literally says. */
  readonly byTheWord: Peis;
  readonly byShards: Sweep;
  /** 100 shards. */
  readonly byPeeks: Sweep;
  /** Numbers of shards that are used in practice, each with a few peeks. */
  readonly inPractice: ReadonlyMap<number, Sweep>;
  /** 100 shards, 10 peeks. */
  readonly byClients: Readonly<Record<"plain" | "secondBest", Sweep>>;
}

type DrawnStrategy = Exclude<Strategy, "peekBeforeAddByTheWord">;
type Measure = readonly [name: string, of: (peis: Peis) => number, color: string, dash?: string];

const MEASURES: readonly Measure[] = [
  ["99th percentile", (peis) => peis.percentile(99), "#b91c1c", "2 4"],
  ["90th percentile", (peis) => peis.percentile(90), "#b45309", "8 4"],
  ["mean", (peis) => peis.mean, "#1d4ed8"],
  ["median", (peis) => peis.percentile(50), "#15803d", "5 3"],
];
const BARS = 41;
const STRATEGIES: readonly (readonly [DrawnStrategy, string, string])[] = [
  ["noPeek", "no peek", "#b91c1c"],
  ["peekBeforeAdd", "peek before add", "#b45309"],
  ["peekBeforePop", "peek before pop", "#1d4ed8"],
];

/** Draws all figures. */
export function draw(played: Played, folder: URL): void {
  mkdirSync(folder, { recursive: true });
  const figures = [distribution, lags, shardCounts, peeks, plainClients, guardedClients];
  for (const [i, figure] of figures.entries())
    writeFileSync(new URL(`figure-${i + 2}.svg`, folder), chart(figure(played)));
}

function distribution({ basic }: Played): Chart {
  const points = Array.from({ length: BARS }, (_, index) => [index, basic.share(index)] as const);
  const percent = (value: number) => `${Math.round(value * 100)} %`;
  return {
    title: "Figure 2. How far down the popped item stood: 20 shards, 2 peeks",
    about: `10,000 items. The best of all was popped ${(100 * basic.share(0)).toFixed(1)} % of the time; mean ${basic.mean.toFixed(1)}.`,
    paper: "“the 0th index element popped first over 10% of the time”.",
    x: {
      label: "popped element index (0: the best of all)",
      min: -0.6,
      max: BARS - 0.4,
      ticks: [0, 5, 10, 15, 20, 25, 30, 35, 40],
    },
    y: {
      label: "share of pops",
      min: 0,
      max: 0.12,
      ticks: [0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.12],
      format: percent,
    },
    series: [{ name: "share", color: "#1d4ed8", points }],
    isBars: true,
  };
}

function lags({ byLag }: Played): Chart {
  const series = STRATEGIES.flatMap(([strategy, name, color]): Series[] => [
    { name, color, points: curve(byLag[strategy], (peis) => peis.mean) },
    { name: "", color, dash: "5 3", points: curve(byLag[strategy], (peis) => peis.percentile(50)) },
  ]);
  return {
    title: "Figure 3. With a peek before the pop, more items do no harm",
    about: "20 shards, 2 peeks. Solid: mean; dashed: median. Before add: to where the first item is worst.",
    paper: "“the PEI levelling out as the consumer lag increases”; peek before pop “much better”.",
    x: {
      label: "items in the queue",
      min: 100,
      max: 50_000,
      ticks: [100, 1_000, 10_000, 50_000],
      isLog: true,
    },
    y: indexAxis(5, 1_000, [5, 10, 20, 50, 100, 200, 500, 1_000]),
    series,
  };
}

function shardCounts({ byShards }: Played): Chart {
  return {
    title: "Figure 4. The index grows in proportion to the number of shards",
    about: "2 peeks, 10,000 items.",
    paper: "“remarkably linear scaling”.",
    x: { label: "shards", min: 0, max: 100, ticks: [0, 20, 40, 60, 80, 100] },
    y: { label: "popped element index", min: 0, max: 500, ticks: [0, 100, 200, 300, 400, 500] },
    series: all(byShards),
  };
}

function peeks({ byPeeks }: Played): Chart {
  return {
    title: "Figure 5. A few peeks are enough",
    about: "100 shards, 10,000 items.",
    paper: "“a very small number of nodes makes it possible to achieve a reasonably low PEI”.",
    x: { label: "peeks", min: 1, max: 20, ticks: [1, 2, 5, 10, 15, 20] },
    y: indexAxis(1, 10_000, [1, 10, 100, 1_000, 10_000]),
    series: all(byPeeks),
  };
}

const CLIENTS = {
  x: { label: "clients at once", min: 1, max: 128, ticks: [1, 2, 4, 8, 16, 32, 64, 128], isLog: true },
  y: indexAxis(5, 10_000, [5, 10, 100, 1_000, 10_000]),
} as const;

function plainClients({ byClients }: Played): Chart {
  return {
    title: "Figure 6. Clients at once, each taking whatever has moved up (plain)",
    about: "100 shards, 10 peeks, 10,000 items.",
    paper: "“way more significant on the 99th and 90th percentile”, less on median and average.",
    ...CLIENTS,
    series: all(byClients.plain),
  };
}

function guardedClients({ byClients }: Played): Chart {
  const before = all(byClients.plain).map((one) => ({ ...one, isFaint: true }));
  const chartLines = charted(all(byClients.secondBest), before);
  return {
    title: "Figure 7. The same, falling back to the second best (secondBest)",
    about: "100 shards, 10 peeks, 10,000 items. Faint: figure 6.",
    paper: "“the PEI is cut in half for all percentile levels, at the potential cost of just one extra pop”.",
    ...CLIENTS,
    series: chartLines,
  };
}

/** Series to compare with are not in the legend. */
function charted(front: readonly Series[], behind: readonly Series[]): Series[] {
  return [...front, ...behind.map((one) => ({ ...one, name: "" }))];
}

function all(sweep: Sweep): Series[] {
  return MEASURES.map(([name, of, color, dash]) => ({
    name,
    color,
    points: curve(sweep, of),
    ...(dash ? { dash } : {}),
  }));
}

function curve(sweep: Sweep, of: (peis: Peis) => number): (readonly [number, number])[] {
  return [...sweep].map(([at, peis]) => [at, of(peis)] as const);
}

function indexAxis(min: number, max: number, ticks: readonly number[]): Axis {
  return { label: "popped element index, log scale", min, max, ticks, isLog: true };
}
