/** What may import what: the folders are the boundaries, and this test holds them. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
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
  gateway: ["core", "config", "sockets"],
  office: ["core", "config", "sockets"],
  sim: ["core", "engines"],
  assembly: ["core", "config", "engines", "durable", "sockets", "gateway", "office", "sim"],
};

interface Import {
  readonly file: string;
  readonly from: string;
}

/** What a file imports; without types, what is left of that when it runs. */
function importsOf(file: string, { withTypes = true } = {}): Import[] {
  const whole = readFileSync(join(root, file), "utf8");
  const text = withTypes ? whole : stripTypeScriptTypes(whole);
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
  for (const { file, from } of production.flatMap((file) => importsOf(file))) {
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
    .flatMap((file) => importsOf(file))
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

/** Of Node's modules these are functions and no runtime, and other runtimes have them too. */
const NO_RUNTIME = new Set(["node:crypto", "node:net", "node:url", "node:fs"]);

test("what decides about a request and what renders the answer know no runtime", () => {
  const seen = new Set<string>();
  const wrong: string[] = [];
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { from } of importsOf(file, { withTypes: false })) {
      if (from.startsWith("node:") && !NO_RUNTIME.has(from)) wrong.push(`${file} imports ${from}`);
      if (from.startsWith(".") && from.endsWith(".ts"))
        visit(relative(root, join(root, dirname(file), from)));
    }
  };
  for (const file of ["gateway", "render", "verdict", "facts"]) visit(`src/gateway/${file}.ts`);
  assert.ok(seen.size > 50, "it follows imports");
  assert.deepEqual(wrong, []);
});

test("the checks can see: a wrong import is found by them", () => {
  assert.equal(roomOf("src/engines/memory/places.ts"), "engines/memory");
  assert.equal(roomOf("src/index.ts"), "entry");
  const seen = importsOf("src/gateway/listener/listen.ts").map(({ from }) => from);
  assert.ok(seen.includes("../../core/world.ts") && seen.includes("node:http"));
});
