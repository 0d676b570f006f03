/**
 * `npm run steady [-- --runs 10 --busy 5 [-- WORD…]]`: runs `npm test` again and again, the last `--busy` times while as many
 * busy loops as there are cores hold them. Prints a table of the runs as it goes and as Markdown at the end, writes
 * `bench/results/steady.json`, keeps what failed runs printed, and ends with code 1 when one failed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createWriteStream, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { machine } from "../bench/bench.ts";
import { failuresIn } from "./test-failures.ts";

const root = join(import.meta.dirname, "..");
const results = join(root, "bench", "results");
const RUNS = 10;

interface Run {
  readonly number: number;
  readonly isBusy: boolean;
  readonly minutes: number;
  /** The tests that failed, or other reasons; empty when it was green. */
  readonly failures: readonly string[];
  /** Where everything that a failed run printed is. */
  readonly log: string | null;
}

const { runs: wanted, busy, words } = optionsFrom(process.argv.slice(2));
mkdirSync(results, { recursive: true });
console.log(`${wanted} runs of npm test, ${busy} of them with ${availableParallelism()} busy loops.`);
const runs: Run[] = [];
for (let number = 1; number <= wanted; number++) {
  const run = await testOnce(number, number > wanted - busy);
  runs.push(run);
  console.log(line(run).join("  "));
}
const table = [["run", "busy", "minutes", "result"], ["---:", "---", "---:", "---"], ...runs.map(line)];
console.log(`\n${table.map((cells) => `| ${cells.join(" | ")} |`).join("\n")}`);
writeFileSync(
  join(results, "steady.json"),
  `${JSON.stringify({ name: "steady", machine: machine(), words, runs }, null, 2)}\n`,
);
process.exit(runs.some(({ failures }) => failures.length > 0) ? 1 : 0);

function optionsFrom(args: string[]): { runs: number; busy: number; words: string[] } {
  try {
    const options = { runs: { type: "string" }, busy: { type: "string" } } as const;
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const runs = wholeNumber("--runs", values.runs ?? `${RUNS}`);
    const busy = wholeNumber("--busy", values.busy ?? `${Math.floor(runs / 2)}`);
    if (busy > runs) throw new Error(`--busy is ${busy}, which is more than the ${runs} runs`);
    return { runs, busy, words: positionals };
  } catch (problem) {
    console.error(`${(problem as Error).message}\nnpm run steady [-- --runs 10 --busy 5 [-- WORD…]]`);
    process.exit(2);
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error(`${name} is "${text}", and should be a whole number`);
  return Number(text);
}

async function testOnce(number: number, isBusy: boolean): Promise<Run> {
  const log = join(results, `steady-run-${number}.log`);
  const startedAt = performance.now();
  const loops = isBusy ? Array.from({ length: availableParallelism() }, startLoop) : [];
  let code: number | null;
  try {
    code = await testInto(log);
  } finally {
    for (const loop of loops) loop.kill("SIGKILL");
  }
  const minutes = Math.round((performance.now() - startedAt) / 6_000) / 10;
  const isGreen = code === 0;
  const failures = isGreen ? [] : failuresIn(readFileSync(log, "utf8"));
  if (isGreen) rmSync(log);
  return { number, isBusy, minutes, failures, log: isGreen ? null : relative(root, log) };
}

/** Runs the tests, with all that they print in a file; the exit code. */
async function testInto(log: string): Promise<number | null> {
  const file = createWriteStream(log);
  await once(file, "open");
  const task = join(root, "scripts", "task.ts");
  const child = spawn(process.execPath, [task, "test", ...words], {
    cwd: root,
    stdio: ["ignore", file, file],
  });
  const passOn = () => child.kill("SIGTERM");
  process.once("exit", passOn);
  const [code] = (await once(child, "close")) as [number | null];
  process.off("exit", passOn);
  file.close();
  return code;
}

/** Holds a core until it is killed, or until this process is gone. */
function startLoop(): ChildProcess {
  const program = `const parent = process.ppid;
    while (process.ppid === parent) for (let i = 0; i < 1e7; i++);`;
  const loop = spawn(process.execPath, ["-e", program], { stdio: "ignore" });
  loop.unref();
  return loop;
}

function line({ number, isBusy, minutes, failures, log }: Run): string[] {
  const result = failures.length === 0 ? "green" : `${failures.join("; ")} (${log})`;
  return [`${number}`.padStart(3), isBusy ? "busy" : "alone", minutes.toFixed(1).padStart(5), result];
}
