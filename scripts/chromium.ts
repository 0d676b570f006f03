/** The browser that the tests drive: Debian's Chromium, installed on the way when that is possible. */
import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync } from "node:fs";

const PLACES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/usr/bin/google-chrome-stable",
];

/** Where Chromium is, or undefined. `FAIRGATE_CHROMIUM` names another place. */
export function findChromium(): string | undefined {
  const named = process.env.FAIRGATE_CHROMIUM;
  return named ?? PLACES.find((place) => existsSync(place));
}

/** Makes sure there is a Chromium, or says in one sentence what to install and stops. */
export function ensureChromium(): void {
  if (findChromium()) return;
  if (mayInstall()) {
    console.log("Installing Chromium from Debian's packages for the browser tests (only the first time) …");
    const quiet = { stdio: ["ignore", "ignore", "inherit"] as ["ignore", "ignore", "inherit"] };
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    spawnSync("apt-get", ["update", "-qq"], { ...quiet, env });
    spawnSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", "chromium"], { ...quiet, env });
  }
  if (findChromium()) return;
  console.error(
    "The browser tests need Chromium: install it (Debian, Ubuntu: sudo apt-get install chromium) or set FAIRGATE_CHROMIUM to its path.",
  );
  process.exit(1);
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
