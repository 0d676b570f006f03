/**
 * The catalogue of errors, the source and docs/errors.md agree: every code in the source is in the catalogue, every code of the
 * catalogue is used in the source where it belongs, and the page has them all. Where a table types its codes, the compiler checks
 * the first half; here codes that are plain strings are found in the source's text.
 */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { errorsPage } from "../../scripts/errors-page.ts";
import * as errors from "../../src/core/errors.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CATALOGUE = "src/core/errors.ts";
const tables: Readonly<Record<string, Readonly<Record<string, errors.CatalogueEntry>>>> = { ...errors };
const files = globSync("src/**/*.ts", { cwd: ROOT })
  .filter((file) => !file.endsWith(".test.ts") && file !== CATALOGUE && !/^src\/(testing|sim)\//.test(file))
  // The page's kind was chosen elsewhere.
  .filter((file) => !/\/suite\/|^src\/gateway\/page\//.test(file));

/** The product's source in these folders, without comments. */
function sourceOf(...folders: readonly string[]): string {
  const own = files.filter((file) => folders.some((folder) => file.startsWith(`src/${folder}`)));
  assert.ok(own.length > 0, `no source in ${folders}`);
  return own
    .map((file) => readFileSync(join(ROOT, file), "utf8"))
    .join("\n")
    .replace(/^\s*(?:\/?\*|\/\/).*$/gm, "");
}

/** Each table, and where its codes are used. */
const MADE_IN: Readonly<Record<Exclude<keyof typeof errors, "EXIT_CODES">, readonly string[]>> = {
  SETTING_PROBLEMS: ["config", "cli"],
  PAGES: ["gateway"],
  PROXY_ERRORS: ["gateway/proxy"],
  LOG_CODES: ["gateway", "shop", "sockets", "cli"],
  STORE_PROBLEMS: ["durable"],
  REDIS_PROBLEMS: ["engines/redis/link"],
  RELAXED_ERRORS: ["engines/redis/relaxed"],
  CONTROL_REFUSALS: ["office"],
};

for (const [table, made] of Object.entries(MADE_IN))
  test(`every code of ${table} is used in ${made.join(", ")}`, () => {
    const source = sourceOf(...made);
    const codes = Object.keys(tables[table]!);
    assert.deepEqual(
      codes.filter((code) => !source.includes(`"${code}"`)),
      [],
    );
    assert.ok(codes.length > 1);
  });

test("every code in capitals that is logged or thrown is in the catalogue", () => {
  const known = { ...errors.PROXY_ERRORS, ...errors.LOG_CODES };
  /** Not of ours: undici's, which go to diagnosis.ts. `BODY_CUT_SHORT` becomes VISITOR_LEFT there. */
  const isInner = (code: string) => code.startsWith("UND_ERR_") || code === "BODY_CUT_SHORT";
  const found = codesIn(/\bcode(?:: | = )"([A-Z][A-Z0-9_]+)"/g, sourceOf(""));
  assert.deepEqual(
    found.filter((code) => !Object.hasOwn(known, code) && !isInner(code)),
    [],
  );
  for (const code of ["ORIGIN_DOWN", "ACCESS_LOG", "OUT_OF_FILES"]) assert.ok(found.includes(code), code);
});

test("every exit code of a command is in the catalogue", () => {
  const found = codesIn(/(?:exitCode = |process\.exit\(|exitCode: (?:\d \| )*)(\d+)/g, sourceOf("cli"));
  assert.deepEqual(found, Object.keys(errors.EXIT_CODES));
});

test("a status written beside a code or a kind is the one in the catalogue", () => {
  const entries: Readonly<Record<string, errors.CatalogueEntry>> = {
    ...errors.PAGES,
    ...errors.PROXY_ERRORS,
  };
  const source = sourceOf("gateway").replaceAll("TOO_MANY,", "429,");
  const pairs = [...source.matchAll(/\bstatus: (\d{3}),[^{}]*/g)].flatMap(([text, status]) =>
    [...text.matchAll(/\b(?:kind|code): "(\w+)"/g)].map(([, code]) => ({
      code: code!,
      status: Number(status),
    })),
  );
  const checked = pairs.filter(({ code }) => Object.hasOwn(entries, code));
  assert.deepEqual(
    checked.filter(({ code, status }) => ![entries[code]!.status].flat().includes(status)),
    [],
  );
  assert.ok(checked.length >= 10, `only ${checked.length} found`);
});

test("docs/errors.md agrees with the catalogue (npm run generate)", () => {
  const page = readFileSync(join(ROOT, "docs", "errors.md"), "utf8");
  assert.equal(page, errorsPage());
  for (const code of Object.values(tables).flatMap((table) => Object.keys(table)))
    assert.ok(page.includes(`\n| \`${code}\` |`), code);
});

test("no text of the catalogue breaks its table, and all are sentences", () => {
  const entries = Object.values(tables).flatMap((table) => Object.values(table));
  for (const { why, action } of entries)
    for (const text of [why, action]) assert.match(text, /^[A-Z`][^|\n]*\.$/, text);
});

function codesIn(pattern: RegExp, source: string): string[] {
  return [...new Set([...source.matchAll(pattern)].map((match) => match[1]!))].sort();
}
