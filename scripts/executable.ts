/** The single executable, made once for each state of the source and shared by all who need it. */
import { dirname, join } from "node:path";
import { hashOf, installOnce, once, run } from "./once.ts";

const ROOT = dirname(import.meta.dirname);
const TOOLS = join(ROOT, "scripts", "release");
const FOLDER = join(ROOT, "release");
/** What it is made from. */
const SOURCES = [
  "package.json",
  "package-lock.json",
  "scripts/release/*.*",
  "src/**/*.{ts,html,css,js,json,lua}",
];

export const EXECUTABLE = join(FOLDER, "fairgate");

/** Installs what makes the executable and checks the files in `deploy`. */
export function ensureReleaseTools(): void {
  installOnce(TOOLS, [
    "Installing with npm what makes and checks a release (only the first time): esbuild, linters",
  ]);
}

/** Makes sure that the executable is there and of this source. */
export function ensureExecutable(): void {
  ensureReleaseTools();
  once({
    stamp: join(FOLDER, ".executable-state"),
    state: `${process.version} ${hashOf(ROOT, SOURCES)}`,
    announcement: ["Making the single executable …"],
    work: () => run(process.execPath, [join(TOOLS, "make-executable.ts"), FOLDER], ROOT),
    failure: "The executable was not made; the lines above say why.",
  });
}
