/** Papers are cited by author and year, the year is the one in docs/papers.md, and each listed paper is cited. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const LIST = "docs/papers.md";
const page = readFileSync(join(ROOT, LIST), "utf8");
const headings = [...page.matchAll(/^## ([\w ö]+) (\d{4})$/gm)].map(([, authors, year]) => ({
  authors: authors!,
  year: year!,
}));
const texts = globSync(["{src,bench,docs}/**/*.{ts,md}", "*.md"], { cwd: ROOT })
  .filter((file) => file !== LIST)
  .map((file) => readFileSync(join(ROOT, file), "utf8"));

test("every paper that is cited with a year is listed with that year", () => {
  const wrong = headings.flatMap(({ authors, year }) =>
    texts.flatMap((text) =>
      [...text.matchAll(new RegExp(`${authors},? \\(?((?:19|20)\\d{2})`, "g"))]
        .filter(([, cited]) => cited !== year)
        .map(([citation]) => citation),
    ),
  );
  assert.deepEqual(wrong, []);
  assert.ok(headings.length >= 6, `only ${headings.length} papers`);
});

test("every paper in the list is cited by author and year", () => {
  const uncited = headings
    .map(({ authors, year }) => `${authors} ${year}`)
    .filter((citation) => !texts.some((text) => text.includes(citation)));
  assert.deepEqual(uncited, []);
});
