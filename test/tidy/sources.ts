/** The sources as the tidy tests read them: which files there are, what each imports, and what each exports. */
import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Every source file, including tests, as a path from the root of the repository. */
export const sources: readonly string[] = globSync("src/**/*.ts", { cwd: root })
  .filter((file) => !file.endsWith(".d.ts"))
  .sort();

/** Tests, the suites that tests are made of, and what only tests and benches use. */
export function isTest(file: string): boolean {
  return /\.test\.ts$|^src\/testing\//.test(file);
}

export interface Import {
  readonly file: string;
  /** As written in the import. */
  readonly from: string;
  /** The file it leads to, as a path from the root; null for a package. */
  readonly to: string | null;
}

export function textOf(file: string): string {
  return readFileSync(join(root, file), "utf8");
}

/** The text without comments at the beginning of a line. */
export function codeOf(file: string): string {
  return textOf(file).replace(/^[ \t]*(\/\*[\s\S]*?\*\/|\/\/.*)/gm, (comment) =>
    comment.replace(/[^\n]/g, " "),
  );
}

/**
 * Imports of every kind: of types and values, for their effects, at run time, and re-exports. Without types: only those that
 * remain when the file runs.
 */
export function importsOf(file: string, { withTypes = true } = {}): Import[] {
  const code = withTypes ? codeOf(file) : stripTypeScriptTypes(textOf(file));
  const found = code.matchAll(
    /(?:^|\n)\s*(?:import|export)[^;'"]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)import\s*["']([^"']+)["']/g,
  );
  return [...found].map((match) => {
    const from = match[1] ?? match[2] ?? match[3]!;
    return { file, from, to: from.startsWith(".") ? join(dirname(file), from) : null };
  });
}
