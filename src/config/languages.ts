/**
 * The languages the waiting page speaks, by name only: the texts are in `gateway/page/languages`, one file each. They
 * are listed here so that a language the page does not speak is found when the settings are checked. A test compares
 * this list with the files.
 */
import type { Read } from "./route.ts";

export const LANGUAGES = [
  ...["ar", "cs", "da", "de", "en", "es", "fi", "fr", "he", "it", "ja", "ko", "nb", "nl", "pl", "pt", "ru"],
  ...["sv", "tr", "uk", "zh", "zh-Hant"],
] as const;

/** The language for a tag, shortened from the right until the page speaks it: `pt-BR` is `pt`. */
export function readLanguage(tag: string): Read<string> {
  for (let rest = tag.toLowerCase(); rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf("-")))) {
    const language = LANGUAGES.find((candidate) => candidate.toLowerCase() === rest);
    if (language) return { value: language };
  }
  return { wrong: "the page does not speak" };
}
