/**
 * What `npm run test:real` needs and `npm test` does not: programs from Debian's packages, and the npm packages of the sites
 * in `test/real`, which have a lock file of their own so that the project's stays small. Each is said before it is installed.
 * The Next.js site is built here, once for each state of its files. What cannot be had ends the run.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { CHROMIUM, WHOLE_CHROMIUM } from "./chromium.ts";
import { ensurePrograms, type Program } from "./debian.ts";
import { NGINX, PHP_FPM } from "./origins.ts";

export const CURL: Program = {
  name: "curl",
  why: "programs that know nothing of a line ask for files with it",
  debianPackage: "curl",
  places: ["/usr/bin/curl", "/usr/local/bin/curl", "/opt/homebrew/bin/curl"],
  variable: "FAIRGATE_CURL",
};

const PROGRAMS: readonly Program[] = [
  CHROMIUM,
  WHOLE_CHROMIUM,
  { ...NGINX, why: "one of the sites is an nginx, another stands behind one" },
  PHP_FPM,
  CURL,
];

export const REAL = join(import.meta.dirname, "..", "test", "real");
export const REAL_MODULES = join(REAL, "node_modules");
export const NEXT_SITE = join(REAL, "sites", "next");

/** Nothing is sent and nothing is fetched but by npm. */
export const NEXT_ENVIRONMENT = { NEXT_TELEMETRY_DISABLED: "1", NEXT_IGNORE_INCORRECT_LOCKFILE: "1" };

/** Makes sure that everything is there, or says what is missing and stops. */
export function ensureRealSites(): void {
  ensurePrograms(PROGRAMS);
  once({
    stamp: join(REAL_MODULES, ".fairgate-lock"),
    state: hashOf(REAL, ["package-lock.json"]),
    announcement: [
      "Installing with npm what the sites in test/real are made of (only the first time, about a minute):",
      "  next, react, react-dom: a shop in Next.js",
      "  socket.io: a chat",
    ],
    work: () => run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error", "--ignore-scripts"], REAL),
    failure: "npm ci failed in test/real; the lines above say why. Nothing was started.",
  });
  once({
    stamp: join(NEXT_SITE, ".next", ".fairgate-state"),
    state: hashOf(REAL, ["package-lock.json", "sites/next/*.*", "sites/next/{app,public}/**/*.*"]),
    announcement: ["Building the shop in Next.js (only when it has changed, about a minute) …"],
    work: () => run(process.execPath, [nextProgram(), "build"], NEXT_SITE, NEXT_ENVIRONMENT),
    failure: "The shop in Next.js was not built; the lines above say why. Nothing was started.",
  });
}

/** The program `next` of the sites' own packages. */
export const nextProgram = (): string => join(REAL_MODULES, "next", "dist", "bin", "next");

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
function once({ stamp, state, announcement, work, failure }: Step): void {
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

/** One hash of all files that these patterns name. */
function hashOf(folder: string, patterns: string[]): string {
  const hash = createHash("sha256");
  for (const file of globSync(patterns, { cwd: folder }).sort())
    hash.update(`${file}\n`).update(readFileSync(join(folder, file)));
  return hash.digest("hex");
}

function run(
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
