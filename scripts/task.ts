/**
 * The npm scripts, run by the pinned Node: `npm start`, `npm test`, `npm run ok`, `npm run bench` and so on. Each task
 * is a list of commands; the first that fails ends it with its exit code.
 */
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, globSync, rmSync } from "node:fs";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath, pathToFileURL } from "node:url";
import { CHROMIUM } from "./chromium.ts";
import { ensurePrograms } from "./debian.ts";
import { ensureExecutable } from "./executable.ts";
import { FORWARD_AUTH_HOSTS } from "./forward-auth-hosts.ts";
import { ORIGINS } from "./origins.ts";
import { ensureRealSites } from "./real-sites.ts";
import { REDIS } from "./redis.ts";
import { release } from "./release.ts";
import { SYSTEMD } from "./systemd.ts";
import { type TempFolder, useOwnTempFolder } from "./temp-folder.ts";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [task = "", ...rest] = process.argv.slice(2);

/** Compiled code is kept between runs and between the processes of one; compiling is most of a short test's time. */
const COMPILED = join(root, "node_modules", ".cache", "fairgate-tests");

const running = new Set<ChildProcess>();

const tasks: Record<string, () => Promise<void>> = {
  start: async () => {
    // In this process, so that a signal to it reaches the demo and nothing is left running.
    process.argv.splice(1, process.argv.length, join(root, "src/cli/main.ts"), "demo", ...rest);
    void import(pathToFileURL(process.argv[1]!).href);
  },
  build: () => build(),
  test: async () => {
    const temp = useOwnTempFolder();
    process.env.NODE_COMPILE_CACHE = COMPILED;
    ensurePrograms([CHROMIUM, REDIS, ...ORIGINS, ...FORWARD_AUTH_HOSTS]);
    await tool("tsc", "-p", "tsconfig.json");
    // What was just checked need not be checked again.
    await build("--noCheck");
    const patterns = ["src/**/*.test.ts", "test/**/*.test.ts"];
    if (testFiles(patterns).some((file) => /^test\/(release|docs)\//.test(file))) {
      if (process.platform === "linux") ensurePrograms([SYSTEMD]);
      ensureExecutable();
    }
    await test(temp, patterns);
  },
  "test:real": async () => {
    const temp = useOwnTempFolder();
    process.env.NODE_COMPILE_CACHE = COMPILED;
    ensureRealSites();
    await tool("tsc", "-p", "tsconfig.json");
    await test(temp, ["test/real/*.test.ts", "test/real/*.real.ts"]);
  },
  ok: async () => {
    await tool("biome", "check", ".");
    await tasks.test!();
  },
  format: () => tool("biome", "check", "--write", "."),
  bench: () => node("bench/run.ts", ...rest),
  release: async () => {
    await build();
    release();
  },
  steady: () => node("scripts/steady.ts", ...rest),
  generate: () => node("scripts/generate.ts", ...rest),
};

async function build(...options: string[]): Promise<void> {
  rmSync(join(root, "dist"), { recursive: true, force: true });
  await tool("tsc", "-p", "tsconfig.build.json", ...options);
  for (const asset of globSync("src/**/*.{html,css,js,json,lua}", {
    cwd: root,
    exclude: ["src/testing/**"],
  })) {
    cpSync(join(root, asset), join(root, asset.replace(/^src/, "dist")));
  }
}

/** Tests that run in the same way. */
interface Group {
  readonly name: string;
  readonly has: RegExp;
  readonly options: readonly string[];
  /** Test files that compute most of the time, at low priority, so that tests with timeouts get the processor first. */
  readonly isPatient: boolean;
}

/** One process for all files: starting one for each would take longer than most of them run. */
const SHARED = ["--test-isolation=none"];
const THREE_FILES = ["--test-concurrency=3"];

/** A test belongs to the first group that matches. */
const GROUPS: readonly Group[] = [
  // One of the crash tests is itself the program that it kills.
  {
    name: "crashes",
    has: /^src\/durable\/crash|^test\/(crash|cluster)\//,
    options: THREE_FILES,
    isPatient: false,
  },
  // Not in a shared process: these have servers of their own.
  {
    name: "Redis",
    has: /^(src\/(engines|testing)|test)\/redis\//,
    options: THREE_FILES,
    isPatient: false,
  },
  { name: "engines", has: /^src\/(engines|sim)\//, options: SHARED, isPatient: true },
  {
    name: "sockets",
    has: /^src\/(gateway\/(proxy\/)?suite|office\/server)|^test\/tidy\//,
    options: SHARED,
    isPatient: true,
  },
  // Not browser tests, commands, or measurements.
  {
    name: "source",
    has: /^src\/(?!gateway\/page\/suite\/|cli\/doctor\/suite\/|testing\/(linear|parsers\/))/,
    options: SHARED,
    isPatient: true,
  },
  // Two browsers, a site and a gateway in each.
  { name: "real sites", has: /\.real\.ts$/, options: ["--test-concurrency=2"], isPatient: false },
  { name: "browsers, commands and costs", has: /./, options: THREE_FILES, isPatient: false },
];

/**
 * Groups of a kind run at the same time; the next one starts as soon as one ends. Patient groups run at low priority, and two of
 * them use both cores once the others are done.
 */
const AT_ONCE = { patient: 2, hurried: 2 };

/** Enough that others go first, but not so much that other busy programs starve them. */
const PATIENT_NICENESS = 4;

/** A group that takes longer is ended; it then prints which files hung. */
const GROUP_MAX_MS = 900_000;

/**
 * Runs the tests in files that the patterns name, and ends with code 1 when one fails or leaves something in the temporary
 * folder.
 */
async function test(temp: TempFolder, patterns: string[]): Promise<void> {
  const failed = await testGroups(testFiles(patterns));
  const leftovers = temp.leftovers();
  if (failed.length > 0) console.error(`Tests failed: ${failed.join(", ")}. What each group said is above.`);
  if (leftovers.length > 0)
    console.error(`Tests left these in the temporary folder, and should not: ${leftovers.join(", ")}.`);
  if (failed.length + leftovers.length > 0) process.exit(1);
}

/** Runs the groups, a few at a time; the names of those that failed. */
async function testGroups(files: readonly string[]): Promise<string[]> {
  const byGroup = Map.groupBy(files, (file) => GROUPS.find(({ has }) => has.test(file))!);
  const groups = GROUPS.filter((group) => byGroup.has(group));
  const patient = groups.filter(({ isPatient }) => isPatient);
  const hurried = groups.filter(({ isPatient }) => !isPatient);
  const shown = groups.at(-1);
  // What belongs to no other group takes longest, so it starts first.
  if (hurried.at(-1) === shown) hurried.unshift(hurried.pop()!);
  const failed: string[] = [];
  const testNext = async (waiting: Group[]) => {
    for (let group = waiting.shift(); group; group = waiting.shift())
      if (!(await testGroup(group, byGroup.get(group)!, group === shown))) failed.push(group.name);
  };
  await Promise.all([
    ...Array.from({ length: AT_ONCE.hurried }, () => testNext(hurried)),
    ...Array.from({ length: AT_ONCE.patient }, () => testNext(patient)),
  ]);
  return failed;
}

/** True when all is good. One group's output is shown as it goes; that of the others is printed whole when they are done. */
async function testGroup({ name, options, isPatient }: Group, files: string[], isShown: boolean) {
  const startedAt = performance.now();
  const child = start(process.execPath, ["--test", ...options, ...files], {
    stdio: ["ignore", isShown ? "inherit" : "pipe", "inherit"],
    timeout: GROUP_MAX_MS,
  });
  if (isPatient && child.pid) setPriority(child.pid, PATIENT_NICENESS);
  const printed = child.stdout ? text(child.stdout) : "";
  const [code] = (await once(child, "close")) as [number | null];
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const result = code === 0 ? "good" : "FAILED";
  console.log(`${await printed}${name}: ${files.length} files in ${seconds} s, ${result}\n`);
  return code === 0;
}

/**
 * Every test, or those whose path contains one of the words given; none from node_modules. Those in `test` start real programs,
 * take longest, and come first, so that no group ends with one of them alone.
 */
function testFiles(patterns: string[]): string[] {
  const all = globSync(patterns, { cwd: root, exclude: ["**/node_modules/**"] })
    .sort()
    .sort((a, b) => Number(b.startsWith("test/")) - Number(a.startsWith("test/")));
  return rest.length === 0 ? all : all.filter((file) => rest.some((word) => file.includes(word)));
}

function node(...args: string[]): Promise<void> {
  return run(process.execPath, args);
}

function tool(name: string, ...args: string[]): Promise<void> {
  return run(join(root, "node_modules", ".bin", name), args);
}

/** Starts a program, which ends with a signal that ends this process. */
function start(command: string, args: readonly string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, { cwd: root, ...options });
  running.add(child);
  child.once("close", () => running.delete(child));
  return child;
}

async function run(command: string, args: string[]): Promise<void> {
  // Ctrl-C goes to the command as well; it decides how to stop, and this process waits for it.
  const child = start(command, args, { stdio: "inherit" });
  const [code, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  if (code !== 0) process.exit(code ?? (signal === "SIGINT" ? 130 : 1));
}

const chosen = tasks[task];
if (!chosen || !existsSync(join(root, "package.json"))) {
  console.error(`There is no task "${task}". Known: ${Object.keys(tasks).join(", ")}.`);
  process.exit(2);
}
process.on("SIGINT", () => {});
for (const [signal, number] of [
  ["SIGTERM", 15],
  ["SIGHUP", 1],
] as const)
  process.on(signal, () => {
    for (const child of running) child.kill(signal);
    process.exit(128 + number);
  });
await chosen();
