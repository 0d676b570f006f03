/**
 * `npm run bench [-- NAME…] [--quick] [--only WORDS]`: runs the benches, prints a table each, and writes the results.
 * `--only` runs just the parts of a bench whose name contains the words: `-- hostile --only "slow readers"`. The report
 * is written when a bench was run in full.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { adaptiveBench } from "./adaptive.ts";
import { type Bench, machine, type Row, table, writeResult } from "./bench.ts";
import { clusterBench } from "./cluster.ts";
import { clusterKillsBench } from "./cluster-kills.ts";
import { crashBench } from "./crash.ts";
import { drawBench } from "./draw.ts";
import { durableBench } from "./durable.ts";
import { estimateBench } from "./estimate.ts";
import { gatewayBench } from "./gateway.ts";
import { hostileBench } from "./hostile.ts";
import { journeyBench } from "./journey.ts";
import { keptBench } from "./kept.ts";
import { lineBench } from "./line.ts";
import { originsBench } from "./origins.ts";
import { parsersBench } from "./parsers.ts";
import { proxyBench } from "./proxy.ts";
import { redisBench } from "./redis.ts";
import { relaxedBench } from "./relaxed.ts";
import { shopBench } from "./shop.ts";
import { sseBench } from "./sse.ts";
import { startsBench } from "./start.ts";
import { tableA1Bench } from "./table-a1.ts";

const BENCHES: readonly Bench[] = [
  lineBench,
  gatewayBench,
  proxyBench,
  originsBench,
  journeyBench,
  sseBench,
  durableBench,
  keptBench,
  crashBench,
  shopBench,
  drawBench,
  adaptiveBench,
  estimateBench,
  redisBench,
  relaxedBench,
  clusterBench,
  clusterKillsBench,
  tableA1Bench,
  hostileBench,
  parsersBench,
  startsBench,
];

const REPORT = new URL("./REPORT.md", import.meta.url);
const USAGE = `npm run bench [-- NAME…] [--quick] [--only WORDS], of: ${BENCHES.map((bench) => bench.name).join(", ")}`;
const { names, isQuick, only } = readArguments(process.argv.slice(2));
const isChosen = (part: string) => only === null || part.includes(only);
const chosen = BENCHES.filter(
  ({ name, parts }) =>
    (names.length === 0 || names.includes(name)) && (only === null || parts?.some(isChosen)),
);
if (chosen.length === 0) refuse(`There is no part "${only}" in any of these benches.`);

const results: [Bench, Row[]][] = [];
for (const bench of chosen) {
  console.log(`\n${bench.name}: ${bench.about}`);
  const rows = await bench.run({ isQuick, progress, isChosen });
  if (process.stderr.isTTY) process.stderr.write("\r\x1b[2K");
  console.log(tableOf(bench, rows));
  if (only === null) writeResult(bench.name, rows);
  results.push([bench, rows]);
}
if (!isQuick && only === null) writeFileSync(REPORT, report(results));
const missed = results.flatMap(([bench, rows]) =>
  rows.filter((row) => row.ok === false).map((row) => `${bench.name}: ${row.name}`),
);
if (missed.length > 0) console.log(`\nMissed: ${missed.join("; ")}`);

interface Arguments {
  readonly names: readonly string[];
  readonly isQuick: boolean;
  readonly only: string | null;
}

function readArguments(args: readonly string[]): Arguments {
  try {
    const options = { quick: { type: "boolean" }, only: { type: "string" } } as const;
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    const unknown = positionals.find((name) => !BENCHES.some((bench) => bench.name === name));
    if (unknown !== undefined) refuse(`There is no bench "${unknown}".`);
    return { names: positionals, isQuick: values.quick ?? false, only: values.only ?? null };
  } catch (error) {
    return refuse(`${(error as Error).message}.`);
  }
}

function refuse(reason: string): never {
  console.error(`${reason} ${USAGE}.`);
  process.exit(2);
}

function tableOf(bench: Bench, rows: readonly Row[]): string {
  return bench.table?.(rows) ?? table(rows);
}

function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2K  ${text}`);
}

/** The report with this run's results; benches that did not run keep their old ones. */
function report(measured: readonly [Bench, Row[]][]): string {
  const before = existsSync(REPORT)
    ? readFileSync(REPORT, "utf8")
        .split(/^(?=## )/m)
        .slice(1)
    : [];
  const parts = BENCHES.flatMap(({ name }) => {
    const [bench, rows] = measured.find(([one]) => one.name === name) ?? [];
    if (bench && rows) return [`## ${name}\n\n${bench.about}\n\n\`\`\`\n${tableOf(bench, rows)}\n\`\`\`\n`];
    return before.filter((part) => part.startsWith(`## ${name}\n`)).map((part) => `${part.trimEnd()}\n`);
  });
  return `# Benches\n\nMade by \`npm run bench\` on ${machine()}.\nEvery baseline was measured in the same run, in turn with its value.\n\n${parts.join("\n")}`;
}
