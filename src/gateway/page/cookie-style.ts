/**
 * The style sheet that tells a visitor that cookies are needed, with and without JavaScript. The browser requests it with its
 * cookie; a request without one gets a style that replaces the line on the page by this text.
 */
import { languageChooser, textsOf } from "./languages.ts";

const chooseLanguage = languageChooser("en");
const HIDDEN = "heading lead notice place alerts help".split(" ");

/** The style for a browser that does not keep cookies, in its language. */
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

/** A text as a CSS string. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
