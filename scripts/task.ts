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

const CACHE = join(root, "node_modules", ".cache");
/** Compiled code is kept between runs and between the processes of one; compiling is most of a short test's time. */
const COMPILED = join(CACHE, "fairgate-tests");
/** What was found about types is kept between runs: then only files that changed, and those that use them, are checked. */
const CHECK_TYPES = [
  ...["-p", "tsconfig.json"],
  ...["--incremental", "--tsBuildInfoFile", join(CACHE, "types.tsbuildinfo")],
];

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
    await tool("tsc", ...CHECK_TYPES);
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
    await tool("tsc", ...CHECK_TYPES);
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

/** Tests that run in the same way. All groups run at the same time. */
interface Group {
  readonly name: string;
  readonly has: RegExp;
  /** How many files run at a time, each in a process of its own; null: one process for all, as they are short. */
  readonly atATime: number | null;
}

/**
 * A test belongs to the first group that matches. Those in one process compute most of the time. They run at low priority, so
 * that tests with timeouts get the processor first, and use what is left while those wait.
 */
const GROUPS: readonly Group[] = [
  { name: "engines", has: /^src\/engines\/(?!redis\/)/, atATime: null },
  { name: "simulations", has: /^src\/(sim\/|cli\/torture)/, atATime: null },
  {
    name: "sockets",
    has: /^src\/(gateway\/(proxy\/)?suite|office\/server)|^test\/tidy\//,
    atATime: null,
  },
  // Not browser tests, commands, measurements, or a test that is itself the program that it kills.
  {
    name: "source",
    has: /^src\/(?!gateway\/page\/suite\/|cli\/doctor\/suite\/|testing\/(linear|parsers\/|redis\/)|engines\/redis\/|assembly\/redis-shops|durable\/crash)/,
    atATime: null,
  },
  // Two browsers, a site and a gateway in each.
  { name: "real sites", has: /\.real\.ts$/, atATime: 2 },
  // They have programs and servers of their own, and mostly wait.
  { name: "programs, browsers and costs", has: /./, atATime: 6 },
];

/** Of the files with a process of their own those that take longest, in this order: they start first, so none of them is the last. */
const LONGEST = [
  "src/engines/redis/suite/troubles",
  "test/docs/docs",
  "test/redis/faults",
  "test/crash/shop",
  "test/crash/crash",
  "test/browser/shop",
  "test/hostile/missed-turns",
  "src/engines/redis/redis-engine",
  "test/cluster/",
  "test/browser/",
  "test/crash/",
  "src/gateway/page/suite/",
  "test/cli/package",
  "test/forward-auth/",
  "test/hostile/",
];

/** Enough that others go first, but not so much that other busy programs starve them. */
const PATIENT_NICENESS = 4;

/** A group that takes longer is ended, and prints which files hung. Five busy programs on two cores make it take twenty minutes. */
const GROUP_MAX_MS = 3_600_000;

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

/** Runs the groups; the names of those that failed. */
async function testGroups(files: readonly string[]): Promise<string[]> {
  const byGroup = Map.groupBy(files, (file) => GROUPS.find(({ has }) => has.test(file))!);
  const groups = GROUPS.filter((group) => byGroup.has(group));
  const outcomes = groups.map(async (group) => ({
    name: group.name,
    isGood: await testGroup(group, byGroup.get(group)!, group === groups.at(-1)),
  }));
  return (await Promise.all(outcomes)).filter(({ isGood }) => !isGood).map(({ name }) => name);
}

/** True when all is good. One group's output is shown as it goes; that of the others is printed whole when they are done. */
async function testGroup({ name, atATime }: Group, files: string[], isShown: boolean) {
  const startedAt = performance.now();
  const how =
    atATime === null
      ? ["--test", "--test-isolation=none", ...files]
      : [join(root, "scripts", "test-files.ts"), `${atATime}`, ...longestFirst(files)];
  const child = start(process.execPath, how, {
    stdio: ["ignore", isShown ? "inherit" : "pipe", "inherit"],
    timeout: GROUP_MAX_MS,
  });
  if (atATime === null && child.pid) setPriority(child.pid, PATIENT_NICENESS);
  const printed = child.stdout ? text(child.stdout) : "";
  const [code] = (await once(child, "close")) as [number | null];
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  const result = code === 0 ? "good" : "FAILED";
  console.log(`${await printed}${name}: ${files.length} files in ${seconds} s, ${result}\n`);
  return code === 0;
}

function longestFirst(files: readonly string[]): string[] {
  const rank = (file: string) => LONGEST.findIndex((beginning) => file.startsWith(beginning)) + 1 || 1_000;
  return files.toSorted((a, b) => rank(a) - rank(b));
}

/** Every test, or those whose path contains one of the words given; none from node_modules. */
function testFiles(patterns: string[]): string[] {
  const all = globSync(patterns, { cwd: root, exclude: ["**/node_modules/**"] }).sort();
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
