/**
 * The shop's ledger: reservations a second, each answered once it is on disk, beside one SQL transaction a call; what many products, many open
 * baskets and deep bundles cost; a sale that is killed again and again; two gateways on one Redis (`shop-redis.ts`); and the paper's
 * functional tests (`shop-paper.ts`). Pluijmaekers 2020 (sec. 5.2.2) reached 100 mutations a second at best; the goal is a hundred
 * times that.
 */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { playKilledSale } from "../src/testing/shop/killed-sale.ts";
import { type Bench, median, type Row, row } from "./bench.ts";
import { admissionRows, stockRows } from "./shop-paper.ts";
import { redisRows } from "./shop-redis.ts";

const HOLDS_PER_SECOND_MIN = 10_000;
const DIRECT_RATIO_MIN = 20;
const COST_RATIO_MAX = 2;
const KILLS = 50;
const KILLS_QUICK = 5;
const LINES_MAX = 3_000;
const LINES_MAX_QUICK = 1_000;
const NONE = { of: "value", atMost: 0 } as const;

interface ShopSample {
  /** Holds a second. */
  readonly hot: number;
  readonly direct: number;
  readonly manyProducts: number;
  readonly oneProduct: number;
  readonly manyBaskets: number;
  readonly fewBaskets: number;
  /** Bundles of each depth in `depths`. */
  readonly chains: readonly number[];
  /** Processor time of one hold of the hot product, of all threads, in microseconds. */
  readonly hotCpuUs: number;
}

export interface ShopCosts {
  readonly samples: ShopSample[];
  readonly depths: readonly number[];
  readonly products: number;
  readonly baskets: number;
  /** What each ledger's recount came to. */
  readonly verified: string[];
}

export const shopBench: Bench = {
  name: "shop",
  about:
    "durable reservations through a ledger's stub, 256 callers at once; kill -9 in the middle of a sale; two gateways on Redis; and the paper's two functional tests",
  parts: ["speed", "kills", "redis", "admission", "stock"],
  async run({ isQuick, progress, isChosen }) {
    const rows: Row[] = [];
    if (isChosen("speed")) {
      progress("speed");
      rows.push(...speedRows(measure(isQuick ? 3 : 9)));
    }
    if (isChosen("kills")) rows.push(...(await killRows(isQuick, progress)));
    if (isChosen("redis")) {
      progress("on Redis");
      rows.push(...(await redisRows(isQuick)));
    }
    if (isChosen("admission")) {
      progress("admission");
      rows.push(...admissionRows(isQuick));
    }
    if (isChosen("stock")) rows.push(...(await stockRows(isQuick, progress)));
    return rows;
  },
};

function measure(rounds: number): ShopCosts {
  const script = fileURLToPath(new URL("./servers/shop-costs.ts", import.meta.url));
  return JSON.parse(execFileSync(process.execPath, [script, String(rounds)], { encoding: "utf8" }));
}

function speedRows({ samples, depths, products, baskets, verified }: ShopCosts): Row[] {
  const middle = (of: (sample: ShopSample) => number) => median(samples.map(of));
  const holds = (
    name: string,
    of: (sample: ShopSample) => number,
    beside: (sample: ShopSample) => number,
  ) => ({
    name,
    unit: "holds/s",
    value: middle(of),
    baseline: middle(beside),
  });
  /** How many times dearer a hold is. */
  const cost = (name: string, of: (sample: ShopSample) => number, beside: (sample: ShopSample) => number) =>
    row({
      ...holds(name, of, beside),
      ratio: middle((sample) => beside(sample) / of(sample)),
      goal: { of: "ratio", atMost: COST_RATIO_MAX },
    });
  const deep = depths.slice(1).map((depth, i) =>
    row({
      ...holds(
        `bundle ${depth} deep, beside depth ${depths[0]} (ratio: cost)`,
        ({ chains }) => chains[i + 1]!,
        ({ chains }) => chains[0]!,
      ),
      ratio: middle(({ chains }) => chains[0]! / chains[i + 1]!),
    }),
  );
  return [
    row({
      ...holds(
        "one hot product, beside one synced SQL transaction a call",
        ({ hot }) => hot,
        ({ direct }) => direct,
      ),
      ratio: middle(({ hot, direct }) => hot / direct),
      goal: { of: "ratio", atLeast: DIRECT_RATIO_MIN },
    }),
    row({
      name: "one hot product",
      unit: "holds/s",
      value: middle(({ hot }) => hot),
      goal: { of: "value", atLeast: HOLDS_PER_SECOND_MIN },
    }),
    row({ name: "processor time of one hold", unit: "us", value: middle(({ hotCpuUs }) => hotCpuUs) }),
    cost(
      `spread over ${products.toLocaleString("en")} products, beside 1 (ratio: cost)`,
      ({ manyProducts }) => manyProducts,
      ({ oneProduct }) => oneProduct,
    ),
    cost(
      `hold and undo beside ${baskets.toLocaleString("en")} open baskets, beside none (ratio: cost)`,
      ({ manyBaskets }) => manyBaskets,
      ({ fewBaskets }) => fewBaskets,
    ),
    ...deep,
    row({
      name: "ledgers whose recount differs afterwards",
      unit: "",
      value: verified.filter((kind) => kind !== "clean").length,
      goal: NONE,
    }),
  ];
}

async function killRows(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  const root = mkdtempSync(join(tmpdir(), "shop-kills-"));
  const seed = Math.floor(Math.random() * 2 ** 31);
  const outcome = await playKilledSale({
    directory: join(root, "store"),
    kills: isQuick ? KILLS_QUICK : KILLS,
    linesMax: isQuick ? LINES_MAX_QUICK : LINES_MAX,
    seed,
    progress,
  });
  rmSync(root, { recursive: true, force: true });
  for (const violation of outcome.violations) console.error(`  seed ${seed}: ${violation}`);
  return [
    row({ name: "kills in the middle of a sale", unit: "", value: outcome.kills }),
    row({ name: "answers that visitors had before them", unit: "", value: outcome.answers }),
    row({ name: "orders", unit: "", value: outcome.orders }),
    row({
      name: "answers lost, tickets sold twice, units leaked, recounts that differ",
      unit: "",
      value: outcome.violations.length,
      goal: NONE,
    }),
  ];
}
