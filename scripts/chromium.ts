/**
 * The browser that the tests drive: Debian's Chromium, installed on the way when that is possible. Its headless shell
 * comes first: the same engine and network without the windows around them, for a third of the processor time.
 */
import { findProgram, type Program } from "./debian.ts";

export const CHROMIUM: Program = {
  name: "Chromium",
  why: "the browser tests drive a real browser",
  debianPackage: "chromium-headless-shell",
  places: [
    "/usr/bin/chromium-headless-shell",
    "/usr/bin/chromium",
    "/usr/bin/chromium-browser",
    "/usr/bin/google-chrome",
    "/usr/bin/google-chrome-stable",
  ],
  variable: "FAIRGATE_CHROMIUM",
};

/** The whole browser, whose own settings can be changed, as people change them: the headless shell has none. */
export const WHOLE_CHROMIUM: Program = {
  name: "Chromium with settings",
  why: "cookies are blocked by the browser's own setting, which its headless shell does not have",
  debianPackage: "chromium",
  places: CHROMIUM.places.filter((place) => !place.endsWith("headless-shell")),
  variable: "FAIRGATE_WHOLE_CHROMIUM",
};

/** Where Chromium is, or undefined. `FAIRGATE_CHROMIUM` names another place. */
export const findChromium = (): string | undefined => findProgram(CHROMIUM);
