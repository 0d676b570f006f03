/** docs/README.md leads to every page, and every link between pages works. */
import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const INDEX = "docs/README.md";
const PAGES = globSync(["*.md", "docs/*.md", "docs/decisions/*.md", "src/**/*.md"], { cwd: ROOT }).sort();

interface Link {
  readonly from: string;
  readonly file: string;
  readonly anchor: string | null;
}

/** A page's links to files of this repository; links in code blocks are examples. */
function linksOf(page: string): Link[] {
  const text = read(page).replace(/^```[\s\S]*?^```/gm, "");
  return [...text.matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([, path, anchor]) => ({
    from: page,
    file: path === "" ? page : normalize(join(dirname(page), path!)),
    anchor: anchor ?? null,
  }));
}

/** The anchors that GitHub gives to a page's headings. */
function anchorsOf(page: string): Set<string> {
  const headings = read(page).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, heading]) =>
      heading!
        .toLowerCase()
        .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function read(page: string): string {
  return readFileSync(join(ROOT, page), "utf8");
}

test("the index leads to every page of docs once", () => {
  const listed = [...read(INDEX).matchAll(/^\d+\. \[[^\]]+\]\(([^)]+)\)/gm)].map(([, path]) =>
    normalize(join("docs", path!)),
  );
  const pages = PAGES.filter((page) => /^docs\/[^/]+\.md$/.test(page) && page !== INDEX);
  assert.deepEqual(
    listed.filter((page) => page.startsWith("docs/") && !page.includes("decisions")).sort(),
    pages,
  );
  assert.equal(new Set(listed).size, listed.length);
});

test("every link between pages leads to a file, and to a heading in it", () => {
  const dead = PAGES.flatMap(linksOf).filter(({ file, anchor }) => {
    if (!existsSync(join(ROOT, file))) return true;
    return anchor !== null && file.endsWith(".md") && !anchorsOf(file).has(anchor);
  });
  assert.deepEqual(dead, []);
});
