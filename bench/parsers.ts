/**
 * What it costs to read untrusted text at its worst: nanoseconds a byte at four sizes, for every parser. A linear parser costs as
 * much a byte at 64 KB as at 4; a quadratic one sixteen times as much.
 */
import { costOf, worstFor } from "../src/testing/parsers/cost.ts";
import { PARSERS } from "../src/testing/parsers/parsers.ts";
import { aligned, type Bench, type Row, row } from "./bench.ts";

const KILOBYTES = [1, 4, 16, 64] as const;
const KILOBYTE = 1_024;
const GROWTH = { of: "ratio", atMost: 4 } as const;

export const parsersBench: Bench = {
  name: "parsers",
  about: "every parser of untrusted text with its worst input: ns a byte, and the growth from 4 KB to 64 KB",
  async run({ isQuick, progress }) {
    const tries = isQuick ? 3 : 10;
    const rows: Row[] = [];
    for (const parser of PARSERS) {
      progress(parser.name);
      const [letters] = await worstFor(parser, KILOBYTES[2], 1);
      const costs: number[] = [];
      for (const kilobytes of KILOBYTES)
        costs.push((await costOf(parser, letters!, { kilobytes, tries })) / (kilobytes * KILOBYTE));
      for (const [i, kilobytes] of KILOBYTES.entries()) {
        const name = `${parser.name} (${letters!.name}), ${kilobytes} KB`;
        const isLast = kilobytes === KILOBYTES.at(-1);
        const beside = isLast ? { baseline: costs[1]!, goal: GROWTH } : {};
        rows.push(row({ name, unit: "ns/byte", value: costs[i]!, ...beside }));
      }
    }
    return rows;
  },
  table: parserTable,
};

/** One line a parser. */
function parserTable(rows: readonly Row[]): string {
  const parsers = Map.groupBy(rows, ({ name }) => name.slice(0, name.lastIndexOf(",")));
  const header = ["ns a byte", ...KILOBYTES.map((kilobytes) => `${kilobytes} KB`), "growth", ""];
  const body = [...parsers].map(([name, measured]) => {
    const { ratio, ok } = measured.at(-1)!;
    const costs = measured.map(({ value }) => value.toFixed(2));
    return [name, ...costs, ratio!.toFixed(2), ok ? "ok" : "MISSED"];
  });
  return aligned([header, ...body], (column) => column > 0 && column < header.length - 1);
}
