/** What may import what: folders are boundaries, and this test enforces them. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { importsOf, isTest, sources } from "./sources.ts";

const production = sources.filter((file) => !isTest(file));

/** Folder under `src` → the other folders that it may import. `cli` and the entry points may import anything. */
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
  "shop/rules": ["core"],
  "shop/api": ["core", "config", "shop"],
  shop: ["core", "durable", "shop/rules"],
  sim: ["core", "engines"],
  assembly: ["core", "config", "engines", "durable", "sockets", "gateway", "office", "shop", "sim"],
};

/** The same for types alone: whoever is handed a shop knows what it is handed. */
const MAY_IMPORT_TYPES: Readonly<Record<string, readonly string[]>> = {
  config: ["shop/rules"],
  gateway: ["shop/api"],
  office: ["shop/api"],
};

/** The folder that a file belongs to, by its name in the table. */
function roomOf(file: string): string {
  const [, first = "", second = ""] = file.split("/");
  const nested = `${first}/${second}`;
  if (first === "engines" || nested in MAY_IMPORT) return nested;
  return file.split("/").length === 2 ? "entry" : first;
}

test("no folder imports what it may not", () => {
  const isAmong = (target: string, names: readonly string[] = []) =>
    names.some((name) => target === name || target.startsWith(`${name}/`));
  const wrong = production.flatMap((file) => {
    const room = roomOf(file);
    const allowed = MAY_IMPORT[room];
    const isWrong = ({ to }: { to: string | null }, also?: readonly string[]) =>
      to !== null && roomOf(to) !== room && !isAmong(roomOf(to), allowed) && !isAmong(roomOf(to), also);
    if (!allowed) return [];
    return [
      ...importsOf(file).filter((one) => isWrong(one, MAY_IMPORT_TYPES[room])),
      ...importsOf(file, { withTypes: false }).filter((one) => isWrong(one)),
    ].map(({ from }) => `${file} imports ${from}`);
  });
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
  const reaching = (files: readonly string[], folder: string) =>
    files.filter((file) => importsOf(file).some(({ to }) => to?.startsWith(`${folder}/`)));
  const wrong = [...reaching(sources, "test"), ...reaching(production, "src/testing")];
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

/** Modules of Node that are plain functions, and exist in other runtimes too. */
const NO_RUNTIME = new Set(["node:crypto", "node:net", "node:url", "node:fs"]);

test("the code that decides about a request and the code that renders the answer know no runtime", () => {
  const seen = new Set<string>();
  const wrong: string[] = [];
  const visit = (file: string) => {
    if (seen.has(file)) return;
    seen.add(file);
    for (const { from, to } of importsOf(file, { withTypes: false })) {
      if (from.startsWith("node:") && !NO_RUNTIME.has(from)) wrong.push(`${file} imports ${from}`);
      if (to?.endsWith(".ts")) visit(to);
    }
  };
  for (const file of ["gateway", "render", "verdict", "facts"]) visit(`src/gateway/${file}.ts`);
  assert.ok(seen.size > 50, "it follows imports");
  assert.deepEqual(wrong, []);
});

test("the checks can see: a wrong import is found by them", () => {
  assert.equal(roomOf("src/engines/memory/places.ts"), "engines/memory");
  assert.equal(roomOf("src/shop/rules/needs.ts"), "shop/rules");
  assert.equal(roomOf("src/shop/ledger/verify.ts"), "shop");
  assert.equal(roomOf("src/index.ts"), "entry");
  const seen = importsOf("src/gateway/listener/listen.ts").map(({ from }) => from);
  assert.ok(seen.includes("../../core/world.ts") && seen.includes("node:http"));
});
