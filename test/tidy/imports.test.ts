/** What may import what: the folders are the boundaries, and this test holds them. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../../", import.meta.url));
const sources = globSync("src/**/*.ts", { cwd: root }).filter((file) => !file.endsWith(".d.ts"));
/** Tests, the suites that tests are made of, and what only tests and benches use may reach further. */
const isTest = (file: string) => /\.test\.ts$|^src\/(engines\/[^/]+\.ts$|testing\/)/.test(file);
const production = sources.filter((file) => !isTest(file));

/** Folder under `src` → what it may import of the others. `cli` and the entry points may import anything. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  core: [],
  config: ["core"],
  "engines/memory": ["core", "durable"],
  "engines/cluster": ["core"],
  "engines/redis": ["core"],
  durable: ["core"],
  sockets: ["core", "config"],
  visitor: [],
  gateway: ["core", "config", "sockets"],
  office: ["core", "config", "sockets"],
  sim: ["core", "engines"],
  assembly: ["core", "config", "engines", "durable", "sockets", "gateway", "office", "sim"],
};

interface Import {
  readonly file: string;
  readonly from: string;
}

function importsOf(file: string): Import[] {
  const text = readFileSync(join(root, file), "utf8");
  const found = text.matchAll(
    /(?:^|\n)\s*(?:import|export)[^;'"]*?from\s*["']([^"']+)["']|import\(\s*["']([^"']+)["']\s*\)|(?:^|\n)import\s*["']([^"']+)["']/g,
  );
  return [...found].map((match) => ({ file, from: match[1] ?? match[2] ?? match[3]! }));
}

/** The folder a file belongs to, as named in the table. */
function roomOf(file: string): string {
  const [, first = "", second = ""] = file.split("/");
  return first === "engines" ? `engines/${second}` : file.split("/").length === 2 ? "entry" : first;
}

test("no folder imports what it may not", () => {
  const wrong: string[] = [];
  for (const { file, from } of production.flatMap(importsOf)) {
    const room = roomOf(file);
    const allowed = MAY_IMPORT[room];
    if (!allowed || !from.startsWith(".")) continue;
    const target = roomOf(relative(root, join(root, dirname(file), from)));
    if (target !== room && !allowed.some((name) => target === name || target.startsWith(`${name}/`)))
      wrong.push(`${file} imports ${from}`);
  }
  assert.deepEqual(wrong, []);
});

test("core imports nothing but itself", () => {
  const wrong = production
    .filter((file) => file.startsWith("src/core/"))
    .flatMap(importsOf)
    .filter(({ from }) => !from.startsWith("./"));
  assert.deepEqual(wrong, []);
});

test("nothing in src imports test, and nothing but tests and benches imports testing", () => {
  const reaches = (file: string, folder: string) => (from: string) =>
    from.startsWith(".") && relative(root, join(root, dirname(file), from)).startsWith(`${folder}/`);
  const wrong = [
    ...sources.filter((file) => importsOf(file).some(({ from }) => reaches(file, "test")(from))),
    ...production.filter((file) => importsOf(file).some(({ from }) => reaches(file, "src/testing")(from))),
  ];
  assert.deepEqual(wrong, []);
});

test("every folder with code is in the table", () => {
  const rooms = new Set(production.map(roomOf));
  const known = new Set([...Object.keys(MAY_IMPORT), "cli", "entry"]);
  assert.deepEqual(
    [...rooms].filter((room) => !known.has(room)),
    [],
  );
});

test("only entry points, drivers and the command line ask the clock, throw dice or set timers", () => {
  const mayTouch = [/^src\/cli\//, /^src\/node\.ts$/, /^src\/gateway\/page\/.*\.js$/];
  const touching =
    /\bDate\.now\(|\bnew Date\(\)|\bMath\.random\(|(?<!\.)\bsetTimeout\(|(?<!\.)\bsetInterval\(|\bperformance\.now\(/;
  const wrong = production
    .filter((file) => !mayTouch.some((allowed) => allowed.test(file)))
    .flatMap((file) =>
      readFileSync(join(root, file), "utf8")
        .split("\n")
        .flatMap((line, i) =>
          touching.test(line) && !/^\s*(\*|\/\/|\/\*)/.test(line) ? [`${file}:${i + 1}`] : [],
        ),
    );
  assert.deepEqual(wrong, []);
});

test("the checks can see: a wrong import is found by them", () => {
  assert.equal(roomOf("src/engines/memory/places.ts"), "engines/memory");
  assert.equal(roomOf("src/index.ts"), "entry");
  const seen = importsOf("src/gateway/gateway.ts").map(({ from }) => from);
  assert.ok(seen.includes("../core/engine.ts") && seen.includes("node:http"));
});
