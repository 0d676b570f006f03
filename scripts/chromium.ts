/** The browser that the tests drive: Debian's Chromium, installed on the way when that is possible. */
import { ensureProgram, findProgram, type Program } from "./debian.ts";

const CHROMIUM: Program = {
  name: "Chromium",
  neededBy: "browser tests",
  debianPackage: "chromium",
  places: [
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
  ],
  variable: "FAIRGATE_CHROMIUM",
};

/** Where Chromium is, or undefined. `FAIRGATE_CHROMIUM` names another place. */
export const findChromium = (): string | undefined => findProgram(CHROMIUM);

/** Makes sure there is a Chromium, or says in one sentence what to install and stops. */
export const ensureChromium = (): void => ensureProgram(CHROMIUM);
