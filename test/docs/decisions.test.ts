/** The pages of docs/decisions: each says what was decided, is short, and is in the index once. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";

const FOLDER = new URL("../../docs/decisions/", import.meta.url);
const LINES_MAX = 40;

const pages = readdirSync(FOLDER).filter((name) => name !== "README.md");
const index = readFileSync(new URL("README.md", FOLDER), "utf8");

test("every decision is in the index under its title, and nothing else is", () => {
  const listed = [...index.matchAll(/^- \[(.+)\]\((.+)\)$/gm)].map(([, title, page]) => `${page}: ${title}`);
  const titled = pages.map((page) => `${page}: ${read(page).split("\n")[0]!.replace(/^# /, "")}`);
  assert.deepEqual(listed.sort(), titled.sort());
});

test("every decision is a short page that says what was decided", () => {
  for (const page of pages) {
    const text = read(page);
    assert.match(text, /^# .+\n\n\*\*Decision\.\*\* /, page);
    assert.ok(text.split("\n").length <= LINES_MAX, page);
  }
});

test("the decisions that ARCHITECTURE.md names are there", () => {
  const architecture = readFileSync(new URL("../../ARCHITECTURE.md", import.meta.url), "utf8");
  const named = [...architecture.matchAll(/\(docs\/decisions\/([^)]+)\)/g)].map(([, page]) => page!);
  assert.deepEqual(
    named.filter((page) => page !== "README.md" && !pages.includes(page)),
    [],
  );
});

function read(page: string): string {
  return readFileSync(new URL(page, FOLDER), "utf8");
}
