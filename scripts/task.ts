/**
 * The npm scripts, run by the pinned Node: `npm start`, `npm test`, `npm run ok`, `npm run bench` and so on. Each task
 * is a list of commands; the first that fails ends it with its exit code.
 */
import { type StdioOptions, spawn, spawnSync } from "node:child_process";
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
    void runTests(testFiles());
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
  for (const asset of globSync("src/**/*.{html,css,js,json}", { cwd: root })) {
    cpSync(join(root, asset), join(root, asset.replace(/^src/, "dist")));
  }
}

/**
 * A process for each file costs more than most of them take, so those beside the source share one. The others mostly
 * wait for a clock or another process, so that one runs beside them; what it has to say is told at the end.
 */
async function runTests(files: readonly string[]): Promise<void> {
  const shared = files.filter(canShare);
  const own = files.filter((file) => !canShare(file));
  const runs: Promise<{ status: number; out: string }>[] = [];
  if (shared.length > 0) runs.push(runBeside(["--test", "--test-isolation=none", ...shared], own.length > 0));
  if (own.length > 0) runs.push(runBeside(["--test", "--test-concurrency=2", ...own], false));
  const ended = await Promise.all(runs);
  for (const { out } of ended) process.stdout.write(out);
  process.exitCode = ended.find(({ status }) => status !== 0)?.status ?? 0;
}

function runBeside(args: readonly string[], isHeld: boolean): Promise<{ status: number; out: string }> {
  return new Promise((resolve, reject) => {
    const stdio: StdioOptions = isHeld ? ["ignore", "pipe", "inherit"] : "inherit";
    const child = spawn(process.execPath, args, { cwd: root, stdio });
    const pieces: Buffer[] = [];
    child.stdout?.on("data", (piece: Buffer) => pieces.push(piece));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status: status ?? 1, out: Buffer.concat(pieces).toString() }));
  });
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
