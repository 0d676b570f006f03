/**
 * What a long line costs: bytes a visitor, and whether join, ahead and admit stay as cheap at ten million as at
 * ten thousand. Run on the memory engine's own room, alone in a process, so that its memory can be measured.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Bench, type Row, row } from "./bench.ts";

const SMALL = 10_000;
const BYTES_MAX = 32;
const GROWTH_MAX = 2;
const AHEAD_NS_MAX = 1_000;

export interface LineCosts {
  readonly bytesEach: number;
  readonly joinNs: number;
  readonly aheadNs: number;
  readonly checkInNs: number;
  readonly admitNs: number;
}

export const lineBench: Bench = {
  name: "line",
  about: "the memory engine's line at ten million waiting, beside ten thousand",
  async run({ isQuick, progress }) {
    const large = isQuick ? 2_000_000 : 10_000_000;
    const rounds = isQuick ? 2 : 3;
    const small: LineCosts[] = [];
    const big: LineCosts[] = [];
    for (let round = 0; round < rounds; round++) {
      progress(`round ${round + 1} of ${rounds}`);
      small.push(measure(SMALL));
      big.push(measure(large));
    }
    return rows(large, best(small), best(big));
  },
};

/** One measurement in a process of its own. */
function measure(waiting: number): LineCosts {
  const script = fileURLToPath(new URL("./servers/line-costs.ts", import.meta.url));
  return JSON.parse(
    execFileSync(process.execPath, ["--expose-gc", script, String(waiting)], { encoding: "utf8" }),
  );
}

function best(all: readonly LineCosts[]): LineCosts {
  const least = (pick: (costs: LineCosts) => number) => Math.min(...all.map(pick));
  return {
    bytesEach: least((costs) => costs.bytesEach),
    joinNs: least((costs) => costs.joinNs),
    aheadNs: least((costs) => costs.aheadNs),
    checkInNs: least((costs) => costs.checkInNs),
    admitNs: least((costs) => costs.admitNs),
  };
}

function rows(large: number, small: LineCosts, big: LineCosts): Row[] {
  const growth = { of: "ratio", atMost: GROWTH_MAX } as const;
  const at = `${large.toLocaleString("en")} waiting`;
  return [
    row({
      name: `memory, ${at}`,
      unit: "bytes each",
      value: big.bytesEach,
      goal: { of: "value", atMost: BYTES_MAX },
    }),
    row({
      name: `join, ${at} beside ${SMALL.toLocaleString("en")}`,
      unit: "ns",
      value: big.joinNs,
      baseline: small.joinNs,
      goal: growth,
    }),
    row({ name: "ahead, the same", unit: "ns", value: big.aheadNs, baseline: small.aheadNs, goal: growth }),
    row({
      name: "check-in as the engine answers it, the same",
      unit: "ns",
      value: big.checkInNs,
      baseline: small.checkInNs,
    }),
    row({ name: "admit, the same", unit: "ns", value: big.admitNs, baseline: small.admitNs, goal: growth }),
    row({
      name: `ahead, ${at}`,
      unit: "ns",
      value: big.aheadNs,
      goal: { of: "value", atMost: AHEAD_NS_MAX },
    }),
  ];
}
