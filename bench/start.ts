/** How long a command of the single executable takes, beside the same command of the npm package with the same Node. */
import { execFileSync } from "node:child_process";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { EXECUTABLE, ensureExecutable } from "../scripts/executable.ts";
import { type Bench, measurePair, type Row, row } from "./bench.ts";

const ROOT = join(import.meta.dirname, "..");
const PACKAGE = join(ROOT, "dist", "cli", "main.js");
const MEGABYTE = 1e6;
const ROUNDS = { full: 21, quick: 5 };
const COMMANDS = [
  ["--version"],
  ["keys", "new"],
  ["check", "--data", "unused", "--origin", "http://127.0.0.1:1", "--total-active-users", "1"],
];

async function startBench(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  ensureExecutable();
  execFileSync(process.execPath, [join(ROOT, "scripts", "task.ts"), "build"], { stdio: "ignore" });
  const rows: Row[] = [];
  for (const words of COMMANDS) {
    progress(words[0]!);
    const found = await measurePair(1, isQuick ? ROUNDS.quick : ROUNDS.full, async () => ({
      value: async () => msOf(EXECUTABLE, words),
      baseline: async () => msOf(process.execPath, [PACKAGE, ...words]),
      stop: async () => {},
    }));
    rows.push(
      row({ name: `fairgate ${words[0]}`, unit: "ms", ...found, goal: { of: "ratio", atMost: 1.1 } }),
    );
  }
  const size = (name: string, bytes: number, baseline: number | null = null) =>
    row({ name, unit: "MB", value: bytes / MEGABYTE, baseline: baseline && baseline / MEGABYTE });
  rows.push(
    size("executable, beside Node as it is", statSync(EXECUTABLE).size, statSync(process.execPath).size),
  );
  rows.push(size("executable, compressed", gzipSync(readFileSync(EXECUTABLE), { level: 9 }).length));
  return rows;
}

function msOf(command: string, args: readonly string[]): number {
  const startedAt = performance.now();
  execFileSync(command, args, { stdio: "ignore" });
  return performance.now() - startedAt;
}

export const startsBench: Bench = {
  name: "start",
  about: "A command from start to end: the single executable, beside the npm package with the same Node.",
  run: ({ isQuick, progress }) => startBench(isQuick, progress),
};
