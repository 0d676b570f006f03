/**
 * Which languages the waiting page speaks: a language that it does not speak is found when the settings are checked. The
 * tags are taken from the texts' files (`gateway/page/languages`) by `npm run generate`.
 */
import { LANGUAGE_TAGS } from "./language-tags.ts";
import type { Read } from "./route.ts";

/** The language for a tag, shortened from the right until the page speaks it: `pt-BR` is `pt`. */
export function readLanguage(tag: string): Read<string> {
  for (let rest = tag.toLowerCase(); rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf("-")))) {
    const language = LANGUAGE_TAGS.find((candidate) => candidate.toLowerCase() === rest);
    if (language) return { value: language };
  }
  return { wrong: "the page does not speak" };
}
