/**
 * Work that is done once for each state of its input files, and announced before it starts: npm packages with a lock file of
 * their own, or something built.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";

interface Step {
  /** A file that holds the state for which the work was done. */
  readonly stamp: string;
  readonly state: string;
  readonly announcement: readonly string[];
  /** True when it went well. */
  work(): boolean;
  readonly failure: string;
}

/** Does the work unless it was done for this very state; ends the process when it fails. */
export function once({ stamp, state, announcement, work, failure }: Step): void {
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === state) return;
  rmSync(stamp, { force: true });
  console.log(announcement.join("\n"));
  const startedAt = performance.now();
  if (!work()) {
    console.error(failure);
    process.exit(1);
  }
  writeFileSync(stamp, state);
  console.log(`Done after ${Math.round((performance.now() - startedAt) / 1_000)} s.\n`);
}

/** Installs a folder's own npm packages. None of their scripts is run. */
export function installOnce(folder: string, announcement: readonly string[]): void {
  const name = relative(dirname(import.meta.dirname), folder);
  once({
    stamp: join(folder, "node_modules", ".fairgate-lock"),
    state: hashOf(folder, ["package-lock.json"]),
    announcement,
    work: () => run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"], folder),
    failure: `npm ci failed in ${name}; the lines above say why. Nothing was started.`,
  });
}

/** One hash of all files that these patterns name. */
export function hashOf(folder: string, patterns: string[]): string {
  const hash = createHash("sha256");
  for (const file of globSync(patterns, { cwd: folder }).sort())
    hash.update(`${file}\n`).update(readFileSync(join(folder, file)));
  return hash.digest("hex");
}

/** Runs a command; true when it went well. What it prints is shown. */
export function run(
  command: string,
  args: readonly string[],
  cwd: string,
  environment: Record<string, string> = {},
): boolean {
  const isWindows = process.platform === "win32";
  const env = { ...withoutNpm(), ...environment };
  const { status, error } = spawnSync(command, args, { cwd, env, stdio: "inherit", shell: isWindows });
  if (error) console.error(error.message);
  return status === 0;
}

/** This process's environment without what an npm around it says about the project. */
function withoutNpm(): NodeJS.ProcessEnv {
  const isOurs = /^npm_(package|lifecycle|command|execpath|config_local_prefix)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOurs.test(name)));
}
