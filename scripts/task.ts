/**
 * The npm scripts, run by the pinned Node: `npm start`, `npm test`, `npm run ok`, `npm run bench` and so on. Each task
 * is a list of commands; the first that fails ends it with its exit code.
 */
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, globSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { ensureChromium } from "./chromium.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [task = "", ...rest] = process.argv.slice(2);

const tasks: Record<string, () => void> = {
  start: () => {
    build();
    // In this process, so that a signal to it reaches the demo and nothing is left running.
    process.argv.splice(1, process.argv.length, join(root, "dist/cli/main.js"), "demo", ...rest);
    void import(pathToFileURL(process.argv[1]!).href);
  },
  build,
  test: () => {
    ensureChromium();
    tool("tsc", "-p", "tsconfig.json");
    build();
    const files = testFiles();
    // A process for each file costs more than most of them take; those beside the source share one.
    const [shared, own] = [files.filter(canShare), files.filter((file) => !canShare(file))];
    if (shared.length > 0) node("--test", "--test-isolation=none", ...shared);
    // Most of these wait for a clock or another process.
    if (own.length > 0) node("--test", "--test-concurrency=3", ...own);
  },
  ok: () => {
    tool("biome", "check", ".");
    tasks.test!();
  },
  bench: () => node("bench/run.ts", ...rest),
  generate: () => node("scripts/generate.ts", ...rest),
};

function build(): void {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  tool("tsc", "-p", "tsconfig.build.json");
  for (const asset of globSync("src/**/*.{html,css,js,json,lua}", { cwd: root })) {
    cpSync(join(root, asset), join(root, asset.replace(/^src/, "dist")));
  }
}

/** True for a test that needs no process of its own. */
function canShare(file: string): boolean {
  // This one is the program that it kills.
  return file.startsWith("src/") && file !== "src/durable/crash.test.ts";
}

/** Every test, or those whose path contains one of the words given. */
function testFiles(): string[] {
  const all = globSync(["src/**/*.test.ts", "test/**/*.test.ts"], { cwd: root }).sort();
  return rest.length === 0 ? all : all.filter((file) => rest.some((word) => file.includes(word)));
}

function node(...args: string[]): void {
  run(process.execPath, args);
}

function tool(name: string, ...args: string[]): void {
  run(join(root, "node_modules", ".bin", name), args);
}

function run(command: string, args: string[]): void {
  // Ctrl-C goes to the command as well; it decides how to stop, and this process waits for it.
  const { status, signal, error } = spawnSync(command, args, { cwd: root, stdio: "inherit" });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? (signal === "SIGINT" ? 130 : 1));
}

const chosen = tasks[task];
if (!chosen || !existsSync(join(root, "package.json"))) {
  console.error(`There is no task "${task}". Known: ${Object.keys(tasks).join(", ")}.`);
  process.exit(2);
}
process.on("SIGINT", () => {});
chosen();
