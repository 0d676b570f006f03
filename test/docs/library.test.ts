/** docs/library.md has every export of the package under its entry point, and nothing that is not exported. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { RelaxedQueue } from "../../src/engines/redis/relaxed/queue.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const page = readFileSync(`${ROOT}docs/library.md`, "utf8");

const ENTRIES = [
  ["`fairgate`", "src/index.ts"],
  ["`fairgate/fetch`", "src/fetch.ts"],
  ["`fairgate/relaxed`", "src/relaxed.ts"],
  ["`fairgate/client`", "src/client.ts"],
] as const;
const SHARED = "Shared types";
const DECLARED = /^export (?:async )?(?:function|class|interface|type|const) (\w+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}/gm;
const MEMBERS_OF = /^export interface (\w+)[^{]*\{\n([\s\S]*?)^\}/gm;

function exportsOf(file: string): string[] {
  const source = readFileSync(ROOT + file, "utf8");
  const listed = [...source.matchAll(LISTED)]
    .flatMap(([, names]) => names!.split(","))
    .map((name) => name.replace(/\btype\b/, "").trim())
    .filter((name) => name !== "");
  return [...[...source.matchAll(DECLARED)].map(([, name]) => name!), ...listed];
}

/** The text under a second-level heading. */
function sectionOf(heading: string): string {
  const [, section] = page.split(`\n## ${heading}\n`);
  assert.ok(section, heading);
  return section.split(/\n## /)[0]!;
}

/** The names in third-level headings that list names. */
function namesIn(section: string): string[] {
  const headings = [...section.matchAll(/^### (`.+)$/gm)].map(([, heading]) => heading!);
  return headings.flatMap((heading) => [...heading.matchAll(/`(\w+)`/g)].map(([, name]) => name!));
}

const shared = namesIn(sectionOf(SHARED));

for (const [entry, file] of ENTRIES) {
  test(`every export of ${entry} has a heading in docs/library.md`, () => {
    const described = [...namesIn(sectionOf(entry)), ...shared];
    // `fairgate/fetch` exports again what is described under `fairgate`.
    const also = entry === "`fairgate/fetch`" ? namesIn(sectionOf("`fairgate`")) : [];
    const missing = exportsOf(file).filter((name) => ![...described, ...also].includes(name));
    assert.deepEqual(missing, []);
  });

  test(`what docs/library.md describes under ${entry} is exported there`, () => {
    const known = exportsOf(file);
    assert.ok(known.length > 0);
    assert.deepEqual(
      namesIn(sectionOf(entry)).filter((name) => !known.includes(name)),
      [],
    );
  });

  test(`every member of an interface that ${entry} declares is in its section`, () => {
    const section = sectionOf(entry);
    const source = readFileSync(ROOT + file, "utf8");
    const members = [...source.matchAll(MEMBERS_OF)].flatMap(([, , body]) =>
      [...body!.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm)].map(([, name]) => name!),
    );
    assert.deepEqual(
      members.filter((name) => !new RegExp(`\\b${name}\\b`).test(section)),
      [],
    );
  });
}

test("what is described as shared is exported by at least two entry points", () => {
  const all = ENTRIES.map(([, file]) => exportsOf(file));
  assert.deepEqual(
    shared.filter((name) => all.filter((names) => names.includes(name)).length < 2),
    [],
  );
});

test("every call of a relaxed queue is described", () => {
  const section = sectionOf("`fairgate/relaxed`");
  const calls = Object.getOwnPropertyNames(RelaxedQueue.prototype).filter((name) => name !== "constructor");
  assert.deepEqual(
    calls.filter((call) => !section.includes(`\`${call}(`)),
    [],
  );
});
