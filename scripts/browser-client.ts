/** `src/client.ts` as the JavaScript that the demo's shop serves, whether it runs from source, from the package or as one executable. */
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";

const HEADER = "/* Made from src/client.ts by `npm run generate`. */\n";

export function browserClient(): string {
  const source = readFileSync(join(import.meta.dirname, "../src/client.ts"), "utf8");
  const code = stripTypeScriptTypes(source)
    .replace(/^[ \t]*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)$/gm, "")
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{2,}/g, "\n")
    .trimStart();
  return HEADER + code;
}
