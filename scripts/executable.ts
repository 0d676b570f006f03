/** The single executable, made once for each state of the source and shared by all who need it. */
import { dirname, join } from "node:path";
import { hashOf, installOnce, once, run } from "./once.ts";

const ROOT = dirname(import.meta.dirname);
const FOLDER = join(ROOT, "release");
/** What it is made from. */
const SOURCES = [
  "package.json",
  "package-lock.json",
  "scripts/release/*.*",
  "src/**/*.{ts,html,css,js,json,lua}",
];

/** The folder of what makes it, and of what checks the files in `deploy`, with npm packages of its own. */
export const RELEASE_TOOLS = join(ROOT, "scripts", "release");
export const EXECUTABLE = join(FOLDER, "fairgate");

/** Makes sure that the executable is there and of this source. */
export function ensureExecutable(): void {
  installOnce(RELEASE_TOOLS, [
    "Installing with npm what makes and checks a release (only the first time): esbuild, linters",
  ]);
  once({
    stamp: join(FOLDER, ".executable-state"),
    state: `${process.version} ${hashOf(ROOT, SOURCES)}`,
    announcement: ["Making the single executable …"],
    work: () => run(process.execPath, [join(RELEASE_TOOLS, "make-executable.ts"), FOLDER], ROOT),
    failure: "The executable was not made; the lines above say why.",
  });
}
