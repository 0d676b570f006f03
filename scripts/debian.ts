/** Programs that the tests need and npm does not bring: found on the machine, or installed from Debian's packages. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";

export interface Program {
  /** As people call it. */
  readonly name: string;
  /** Who needs it, for a sentence that starts with "The". */
  readonly neededBy: string;
  readonly debianPackage: string;
  /** Where it usually is, best first. */
  readonly places: readonly string[];
  /** The environment variable that names another place. */
  readonly variable: string;
}

/** Where the program is, or undefined. */
export function findProgram({ places, variable }: Program): string | undefined {
  return process.env[variable] ?? places.find((place) => existsSync(place));
}

/** Makes sure there is such a program, or says in one sentence what to install and stops. */
export function ensureProgram(program: Program): void {
  if (findProgram(program)) return;
  const { name, neededBy, debianPackage, variable } = program;
  if (mayInstall()) {
    console.log(`Installing ${name} from Debian's packages for the ${neededBy} (only the first time) …`);
    install(debianPackage);
  }
  if (findProgram(program)) return;
  console.error(
    `The ${neededBy} need ${name}: install it (Debian, Ubuntu: sudo apt-get install ${debianPackage}) ` +
      `or set ${variable} to its path.`,
  );
  process.exit(1);
}

function install(debianPackage: string): void {
  const quiet = { stdio: ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"] };
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  spawnSync("apt-get", ["update", "-qq"], { ...quiet, env });
  spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", debianPackage], { ...quiet, env });
}

function mayInstall(): boolean {
  if (process.getuid?.() !== 0) return false;
  try {
    accessSync("/usr/bin/apt-get", constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
