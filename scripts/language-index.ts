/** The index of the waiting page's languages: a program, made from the names of the files that hold their texts. */
import { readdirSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dirname, "..", "src", "gateway", "page", "languages");

/** Inserted below, since this file exports no such thing. */
const EXPORT = "export const LANGUAGE_TAGS";

/** `src/config/language-tags.ts`, whole. */
export function languageIndex(): string {
  const tags = readdirSync(FOLDER).map((file) => `  "${file.replace(".json", "")}",\n`);
  return `/** The languages that the waiting page has texts for. Made by \`npm run generate\`. */
${EXPORT} = [
${tags.sort().join("")}];
`;
}
