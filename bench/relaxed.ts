/**
 * The relaxed queue: how sharp its order is, by simulation with the product's policy (fixed random seeds, the same
 * numbers on every machine), and how fast items are popped over real Redis processes. The paper is Lin and Liang 2020;
 * its claims are quoted in the names of the rows. Draws its figures 2 to 7 into `bench/results/relaxed/`, and into
 * `docs/relaxed/` when run whole.
 */
import { type Bench, median, type Row, row } from "./bench.ts";
import { draw, type Played, type Sweep } from "./relaxed-figures.ts";
import { type Peis, play, type Scene } from "./relaxed-scene.ts";
import { openStand, type Speed } from "./relaxed-speed.ts";

const LAG = 10_000;
const BASIC = { shards: 20, peek: 2, lag: LAG };
const LAGS = [100, 300, 1_000, 3_000, 10_000, 30_000, 50_000];
const SHARDS = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
const PEEKS = Array.from({ length: 20 }, (_, i) => i + 1);
/** Of the table in docs/relaxed.md, with that of 100 shards. */
const SHARDS_IN_PRACTICE = [4, 8, 16, 32];
const PEEKS_IN_PRACTICE = [2, 3, 5, 10];
const CLIENTS = [1, 2, 4, 8, 16, 32, 64, 128];
/** With fewer there is little to halve. */
const CLIENTS_JUDGED = [8, 16, 32, 64, 128];
const HALF = 0.5;
const R_SQUARED_MIN = 0.98;
/** As a share of the paper's result with several client machines. */
const PAPER_PER_SECOND = 600;
const PROCESSES = [1, 2, 4];
const CONSUMERS = 16;
const ROUND_MS = 400;
/** As many as the paper had on one machine when it measured latency. */
const PAPER_CONSUMERS = 4;
const KEPT = ["--appendonly", "yes", "--appendfsync", "always"];

export const relaxedBench: Bench = {
  name: "relaxed",
  about:
    "the relaxed priority queue: popped element indexes by simulation, and pops over real Redis processes",
  async run({ isQuick, progress }) {
    const pops = isQuick ? 25_000 : 200_000;
    const played = playAll(pops, progress);
    const folder = isQuick ? "./results/relaxed/" : "../docs/relaxed/";
    draw(played, new URL(folder, import.meta.url));
    return [...order(played, 8 * pops), ...(await speed(isQuick, progress))];
  },
};

function playAll(pops: number, progress: (text: string) => void): Played {
  const sweep = (name: string, values: readonly number[], scene: (value: number) => Scene): Sweep =>
    new Map(
      values.map((value) => {
        progress(`${name}: ${value}`);
        return [value, play(scene(value))] as const;
      }),
    );
  const byLag = (strategy: NonNullable<Scene["strategy"]>) =>
    sweep(strategy, LAGS, (lag) => ({ ...BASIC, lag, pops, strategy }));
  const byClients = (policy: "plain" | "secondBest") =>
    sweep(`clients, ${policy}`, CLIENTS, (clients) => ({
      shards: 100,
      peek: 10,
      lag: LAG,
      pops,
      clients,
      policy,
    }));
  return {
    basic: play({ ...BASIC, pops: 8 * pops }),
    byLag: {
      noPeek: byLag("noPeek"),
      peekBeforeAdd: byLag("peekBeforeAdd"),
      peekBeforePop: byLag("peekBeforePop"),
    },
    byTheWord: play({ ...BASIC, pops, strategy: "peekBeforeAddByTheWord" }),
    byShards: sweep("shards", SHARDS, (shards) => ({ ...BASIC, shards, pops })),
    byPeeks: sweep("peeks", PEEKS, (peek) => ({ shards: 100, peek, lag: LAG, pops })),
    inPractice: new Map(
      SHARDS_IN_PRACTICE.map((shards) => {
        const peeks = PEEKS_IN_PRACTICE.filter((peek) => peek < shards);
        return [
          shards,
          sweep(`${shards} shards`, peeks, (peek) => ({ shards, peek, lag: LAG, pops })),
        ] as const;
      }),
    ),
    byClients: { plain: byClients("plain"), secondBest: byClients("secondBest") },
  };
}

function order(played: Played, pops: number): Row[] {
  return [
    best(played.basic, pops),
    row({ name: "mean index, 20 shards, 2 peeks", unit: "index", value: played.basic.mean }),
    ...[...played.inPractice].flatMap(([shards, byPeeks]) => peekRows(shards, byPeeks)),
    ...peekRows(100, played.byPeeks),
    ...addRows(played),
    ...linearity(played.byShards),
    ...CLIENTS_JUDGED.map((clients) => halving(played, clients)),
    ...CLIENTS_JUDGED.flatMap((clients) => [50, 90, 99].map((percent) => halving(played, clients, percent))),
  ];
}

/**
 * The best item's shard is among those peeked at with a chance of exactly peeks / shards, whatever was popped
 * before; "over 10 %" can only be that chance and luck. So the goal is that chance less three standard errors.
 */
function best(basic: Peis, pops: number): Row {
  const chance = BASIC.peek / BASIC.shards;
  const atLeast = chance - 3 * Math.sqrt((chance * (1 - chance)) / pops);
  return row({
    name: "best of all popped, 20 shards, 2 peeks (paper: over 0.1)",
    unit: "share",
    value: basic.share(0),
    goal: { of: "value", atLeast: Number(atLeast.toFixed(4)) },
  });
}

function peekRows(shards: number, byPeeks: Sweep): Row[] {
  const shown = [...byPeeks].filter(([peek]) => [1, 2, 3, 5, 10, 20].includes(peek));
  return shown.flatMap(([peek, peis]) => {
    const name = `${shards} shards, ${peek} peek${peek === 1 ? "" : "s"}`;
    return [
      row({ name: `${name}: mean index`, unit: "index", value: peis.mean }),
      row({ name: `${name}: 99th percentile`, unit: "index", value: peis.percentile(99) }),
    ];
  });
}

function addRows({ byLag, byTheWord }: Played): Row[] {
  const baseline = byLag.noPeek.get(LAG)!.mean;
  const value = byLag.peekBeforeAdd.get(LAG)!.mean;
  const name = "mean index, 20 shards, peek 2 before add, beside no peek";
  return [
    row({ name, unit: "index", value, baseline }),
    row({ name: `${name}, as the paper literally says`, unit: "index", value: byTheWord.mean, baseline }),
  ];
}

function linearity(byShards: Sweep): Row[] {
  const fit = (name: string, of: (peis: Peis) => number) =>
    row({
      name: `R² of ${name} index over shards (paper: "remarkably linear")`,
      unit: "",
      value: rSquared([...byShards].map(([shards, peis]) => [shards, of(peis)])),
      goal: { of: "value", atLeast: R_SQUARED_MIN },
    });
  return [
    fit("mean", (peis) => peis.mean),
    fit("median", (peis) => peis.percentile(50)),
    fit("90th percentile", (peis) => peis.percentile(90)),
    fit("99th percentile", (peis) => peis.percentile(99)),
  ];
}

/** R²: the share of the variance that a straight line through the points explains. */
function rSquared(points: readonly (readonly [number, number])[]): number {
  const mean = (of: (point: readonly [number, number]) => number) =>
    points.reduce((sum, point) => sum + of(point), 0) / points.length;
  const [mx, my] = [mean(([x]) => x), mean(([, y]) => y)];
  const covariance = mean(([x, y]) => (x - mx) * (y - my));
  return covariance ** 2 / (mean(([x]) => (x - mx) ** 2) * mean(([, y]) => (y - my) ** 2));
}

/** The paper claims it for all percentiles; the goal here is for the mean, and the percentiles are for information. */
function halving({ byClients }: Played, clients: number, percent?: number): Row {
  const of = (peis: Peis) => (percent === undefined ? peis.mean : peis.percentile(percent));
  const name = percent === undefined ? "mean" : `${percent}th percentile`;
  return row({
    name: `${name} index, ${clients} clients: secondBest beside plain (paper: half)`,
    unit: "index",
    value: of(byClients.secondBest.get(clients)!),
    baseline: of(byClients.plain.get(clients)!),
    ...(percent === undefined ? { goal: { of: "ratio", atMost: HALF } as const } : {}),
  });
}

async function speed(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  await using stack = new AsyncDisposableStack();
  const open = async (processes: number, args?: readonly string[]) =>
    stack.use(await openStand(processes, args));
  const stands = await Promise.all([...PROCESSES.map((processes) => open(processes)), open(4, KEPT)]);
  const found: number[][] = stands.map(() => []);
  // In turn, since a machine's speed drifts; the first round is for warming up.
  const rounds = isQuick ? 4 : 10;
  for (let round = 0; round < rounds; round++)
    for (const [i, stand] of stands.entries()) {
      progress(`pops, round ${round + 1} of ${rounds}`);
      const { perSecond } = await stand.run({ consumers: CONSUMERS, runMs: ROUND_MS });
      if (round > 0) found[i]!.push(perSecond);
    }
  const few = await stands[2]!.run({ consumers: PAPER_CONSUMERS, runMs: 3 * ROUND_MS });
  return speedRows(found.map(median), few);
}

function speedRows(perSecond: readonly number[], few: Speed): Row[] {
  const goal = { of: "value", atLeast: PAPER_PER_SECOND } as const;
  const [alone = 0] = perSecond;
  return [
    ...PROCESSES.map((processes, i) =>
      row({
        name: `pop and commit, ${processes} shard${processes === 1 ? "" : "s"} on as many processes (paper: 600)`,
        unit: "items/s",
        value: perSecond[i]!,
        baseline: processes === 1 ? null : alone,
        goal,
      }),
    ),
    row({
      name: "the same, 4 shards, appendfsync always",
      unit: "items/s",
      value: perSecond[PROCESSES.length]!,
      goal,
    }),
    latency("median", 0.5, 12, few),
    latency("90th percentile", 0.9, 13, few),
    latency("99th percentile", 0.99, 17, few),
  ];
}

function latency(name: string, share: number, paperMs: number, { latenciesMs }: Speed): Row {
  return row({
    name: `pop and commit, 4 consumers, 4 shards: ${name} (paper, its own machines: ${paperMs})`,
    unit: "ms",
    value: latenciesMs[Math.floor(share * (latenciesMs.length - 1))]!,
  });
}
