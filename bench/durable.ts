/**
 * What gates, cache and group commit gain: the naive counter of a durable object, called by 64 at once, beside the
 * same store used directly with one synced transaction a call, and beside the same object with no disk at all.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Bench, median, type Row, row } from "./bench.ts";

const DIRECT_RATIO_MIN = 20;
const MEMORY_RATIO_MIN = 0.3;

interface Sample {
  readonly disk: number;
  readonly memory: number;
  readonly direct: number;
  /** All callers answered by each bare sync of the disk, and nothing else done. */
  readonly syncs: number;
  /** The same with 1,024 callers. */
  readonly diskMany: number;
  readonly memoryMany: number;
}

export interface DurableCosts {
  readonly samples: Sample[];
  readonly groupSize: number;
  readonly syncsPerSecond: number;
  readonly keys: number;
  readonly restartMs: number;
  readonly storeMb: number;
}

export const durableBench: Bench = {
  name: "durable",
  about: "getUniqueNumber of one durable object, 64 callers at once, each answer on disk before it leaves",
  async run({ isQuick, progress }) {
    const starts = isQuick ? 1 : 3;
    const all: DurableCosts[] = [];
    for (let start = 0; start < starts; start++) {
      progress(`start ${start + 1} of ${starts}`);
      // The large store is made once only.
      all.push(measure(isQuick ? 4 : 8, start > 0 ? 0 : isQuick ? 100_000 : 1_000_000));
    }
    return rows(all);
  },
};

/** One process: the three variants in turn, several times. */
function measure(rounds: number, keys: number): DurableCosts {
  const script = fileURLToPath(new URL("./servers/durable-costs.ts", import.meta.url));
  return JSON.parse(
    execFileSync(process.execPath, [script, String(rounds), String(keys)], { encoding: "utf8" }),
  );
}

function rows(all: readonly DurableCosts[]): Row[] {
  const samples = all.flatMap((costs) => costs.samples);
  const middle = (of: (sample: Sample) => number) => median(samples.map(of));
  const beside = (name: string, value: keyof Sample, baseline: keyof Sample, atLeast?: number) =>
    row({
      name,
      unit: "calls/s",
      value: middle((sample) => sample[value]),
      baseline: middle((sample) => sample[baseline]),
      ratio: middle((sample) => sample[value] / sample[baseline]),
      ...(atLeast === undefined ? {} : { goal: { of: "ratio", atLeast } as const }),
    });
  const large = all[0]!;
  return [
    beside("counter, beside one synced transaction a call", "disk", "direct", DIRECT_RATIO_MIN),
    beside("counter, beside the same with no disk", "disk", "memory", MEMORY_RATIO_MIN),
    row({
      name: "the same, beside what this disk allows (one bare sync, then the time without a disk)",
      unit: "calls/s",
      value: middle(({ disk }) => disk),
      baseline: middle(allowed),
      ratio: middle((sample) => sample.disk / allowed(sample)),
    }),
    beside("the same, 1,024 callers", "diskMany", "memoryMany"),
    row({ name: "answers a commit", unit: "answers", value: median(all.map(({ groupSize }) => groupSize)) }),
    row({ name: "syncs", unit: "syncs/s", value: median(all.map(({ syncsPerSecond }) => syncsPerSecond)) }),
    row({
      name: `start with ${large.keys.toLocaleString("en")} keys (${Math.round(large.storeMb)} MB)`,
      unit: "ms",
      value: large.restartMs,
    }),
  ];
}

/** The upper bound for callers who each wait for a sync: the time of a bare sync plus that of their own work. */
function allowed({ memory, syncs }: Sample): number {
  return 1 / (1 / memory + 1 / syncs);
}
