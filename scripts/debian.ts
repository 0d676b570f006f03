/**
 * Programs that the tests need and npm does not bring: found on the machine, or installed from Debian's packages.
 * It prints what is installed, how and why before the first package is fetched. apt-get's own output is shown only when
 * it fails.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";

export interface Program {
  /** As people call it. */
  readonly name: string;
  /** What it is needed for, as a sentence without its full stop: `the browser tests drive a real browser`. */
  readonly why: string;
  readonly debianPackage: string;
  /** Where it usually is, preferred first. */
  readonly places: readonly string[];
  /** The environment variable that names another place. */
  readonly variable: string;
}

/** Where the program is, or undefined. */
export function findProgram({ places, variable }: Program): string | undefined {
  return process.env[variable] ?? places.find((place) => existsSync(place));
}

/** Makes sure that all of these are there, with one run of apt-get for those that are not; or says what to do and stops. */
export function ensurePrograms(programs: readonly Program[]): void {
  const missing = missingOf(programs);
  if (missing.length === 0) return;
  const failure = whyNotInstalled() ?? install(missing);
  const stillMissing = missingOf(programs);
  if (stillMissing.length === 0) return;
  console.error(
    instructions(stillMissing, failure ?? "apt-get installed them, but not where they are looked for"),
  );
  process.exit(1);
}

const missingOf = (programs: readonly Program[]) => programs.filter((program) => !findProgram(program));

/** Why apt-get cannot be used here; undefined when it can. */
function whyNotInstalled(): string | undefined {
  if (spawnSync("apt-get", ["--version"], { stdio: "ignore" }).error) return "there is no apt-get here";
  return process.getuid?.() === 0 ? undefined : "only root may run apt-get";
}

/** Why it failed, or undefined. */
function install(programs: readonly Program[]): string | undefined {
  const packages = programs.map(({ debianPackage }) => debianPackage);
  console.log(announcement(programs));
  const startedAt = performance.now();
  // Old package lists may be enough, so a failure here is not fatal; its output may explain a later one.
  const update = aptGet("update");
  const { isGood, printed } = aptGet("install", "-y", "--no-install-recommends", ...packages);
  if (!isGood) return `apt-get failed:\n${`${update.printed}${printed}`.trimEnd().replaceAll(/^/gm, "    ")}`;
  console.log(`Installed after ${Math.round((performance.now() - startedAt) / 1_000)} s.\n`);
  return undefined;
}

function aptGet(...words: readonly string[]): { readonly isGood: boolean; readonly printed: string } {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" };
  const { status, stdout, stderr } = spawnSync("apt-get", ["-qq", ...words], { env, encoding: "utf8" });
  return { isGood: status === 0, printed: `${stdout}${stderr}` };
}

function announcement(programs: readonly Program[]): string {
  const lines = programs.map(
    ({ name, debianPackage, why }) => `  ${name} (package ${debianPackage}): ${why}`,
  );
  return [
    "Installing with apt-get what is missing here (only the first time, about a minute):",
    ...lines,
  ].join("\n");
}

function instructions(programs: readonly Program[], reason: string): string {
  const packages = programs.map(({ debianPackage }) => debianPackage).join(" ");
  return [
    "Nothing was started. These programs are missing:",
    ...programs.map(({ name, why, variable }) => `  ${name}: ${why} (or set ${variable} to its path)`),
    `Install them and try again. Debian, Ubuntu: sudo apt-get install ${packages}`,
    `They were not installed for you: ${reason}`,
  ].join("\n");
}
