/**
 * The style that tells a waiting page whether its cookie comes back, with and without JavaScript: it is asked for with the
 * cookie, and whoever comes without one gets the words in it, in place of a line that they have no place in.
 */
import { languageChooser, textsOf } from "./languages.ts";

const chooseLanguage = languageChooser("en");
const HIDDEN = "heading lead notice place alerts help".split(" ");

/** For a browser that does not keep cookies, in its language. */
export function cookieStyle(acceptLanguage: string | undefined): string {
  const { cookiesHeading, cookiesNeeded } = textsOf(chooseLanguage(acceptLanguage)).notice;
  const hidden = HIDDEN.map((name) => `[data-live=${name}]`).join();
  return [
    `${hidden}{display:none!important}`,
    ".fairgate-cookies{display:block!important}",
    `.fairgate-cookies::before{content:${quoted(cookiesHeading)};display:block;font-weight:700}`,
    `.fairgate-cookies::after{content:${quoted(cookiesNeeded)}}`,
  ].join("\n");
}

/** A text as CSS has one. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
