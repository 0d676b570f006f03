/**
 * What `npm run test:real` needs and `npm test` does not: programs from Debian's packages, and the npm packages of the sites in
 * `test/real`, which have a lock file of their own so that the project's stays small. Each is announced before it is installed.
 * The Next.js site is built here, once for each state of its files. A program that cannot be installed ends the run.
 */
import { join } from "node:path";
import { CHROMIUM, WHOLE_CHROMIUM } from "./chromium.ts";
import { ensurePrograms, type Program } from "./debian.ts";
import { hashOf, installOnce, once, run } from "./once.ts";
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

/** Next.js sends no telemetry, and only npm fetches anything. */
export const NEXT_ENVIRONMENT = { NEXT_TELEMETRY_DISABLED: "1", NEXT_IGNORE_INCORRECT_LOCKFILE: "1" };

/** Makes sure that everything is there, or prints what is missing and stops. */
export function ensureRealSites(): void {
  ensurePrograms(PROGRAMS);
  installOnce(REAL, [
    "Installing with npm what the sites in test/real are made of (only the first time, about a minute):",
    "  next, react, react-dom: a shop in Next.js",
    "  socket.io: a chat",
  ]);
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
