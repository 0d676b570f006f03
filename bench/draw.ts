/**
 * How long a draw of a million takes, and how much memory the gathered visitors take. A process draws once, so each sample is the
 * first draw of a fresh process. The baseline is the same hashes, made one by one with Node's own cryptography, without sorting.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { type Bench, median, type Row, row } from "./bench.ts";

const GATHERED = 1_000_000;
const DRAW_MS_MAX = 2_000;
const BYTES_MAX = 25;

export interface DrawCosts {
  /** Memory of the pool for each visitor who gathered. */
  readonly bytesEach: number;
  readonly drawMs: number;
  /** The same hashes by Node. */
  readonly hashMs: number;
  readonly findNs: number;
  /** Reading the record's text and checking all of it. */
  readonly auditMs: number;
}

export const drawBench: Bench = {
  name: "draw",
  about: `a draw of ${GATHERED.toLocaleString("en")} places by a seed that was fixed beforehand`,
  async run({ isQuick, progress }) {
    const starts = isQuick ? 3 : 7;
    const all: DrawCosts[] = [];
    for (let start = 0; start < starts; start++) {
      progress(`draw ${start + 1} of ${starts}`);
      all.push(measure());
    }
    return rows(all);
  },
};

/** One draw in a process of its own. */
function measure(): DrawCosts {
  const script = fileURLToPath(new URL("./servers/draw-costs.ts", import.meta.url));
  const args = ["--expose-gc", script, String(GATHERED)];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
}

function rows(all: readonly DrawCosts[]): Row[] {
  const middle = (of: (costs: DrawCosts) => number) => median(all.map(of));
  return [
    row({
      name: "draw, beside hashing the same one by one with node:crypto",
      unit: "ms",
      value: middle(({ drawMs }) => drawMs),
      baseline: middle(({ hashMs }) => hashMs),
      ratio: middle(({ drawMs, hashMs }) => drawMs / hashMs),
      goal: { of: "value", atMost: DRAW_MS_MAX },
    }),
    row({
      name: "memory of a visitor who gathers",
      unit: "bytes each",
      value: middle(({ bytesEach }) => bytesEach),
      goal: { of: "value", atMost: BYTES_MAX },
    }),
    row({ name: "finding the new place of a ticket", unit: "ns", value: middle(({ findNs }) => findNs) }),
    row({
      name: "reading and checking the record",
      unit: "ms",
      value: middle(({ auditMs }) => auditMs),
    }),
  ];
}
