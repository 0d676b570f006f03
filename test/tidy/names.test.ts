/**
 * One exported name has one meaning across `src`: no two files export the same name, unless it is named here with the reason.
 * What only tests share (`src/testing`, the suites of the engines) counts too, since people read it together with the rest; test
 * files export nothing. Re-exporting (`export … from`) is the same thing under its own name.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { codeOf, sources } from "./sources.ts";

interface Exception {
  readonly why: string;
  readonly names: readonly string[];
  /** Only in these folders or files. */
  readonly within: readonly string[];
}

const EXCEPTIONS: readonly Exception[] = [
  {
    why: "what one part of a room is called in each engine: none imports another, and all answer `core/engine.ts`",
    names: [
      ...["DoorDuty", "Draws", "RoomBooks", "RoomEvents", "RoomParts", "SetBacks"],
      ...["WAITING", "LAPSED", "ADMITTED", "ON_SITE"],
    ],
    within: ["src/engines/memory/", "src/engines/redis/", "src/engines/cluster/"],
  },
];

/** The names that a text exports, each once: what it declares, and what it re-exports under another name. */
function exportsOf(text: string): Set<string> {
  const declared = text.matchAll(
    /^export\s+(?:declare\s+)?(?:async\s+)?(?:abstract\s+)?(?:function\*?|class|const|let|interface|type|enum)\s+([\w$]+)/gm,
  );
  const lists = text.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm);
  const renamed = [...lists].flatMap(([, list]) => [...list!.matchAll(/\bas\s+([\w$]+)/g)]);
  return new Set([...declared, ...renamed].map(([, name]) => name!));
}

function isException(name: string, files: readonly string[]): boolean {
  return EXCEPTIONS.some(
    ({ names, within }) =>
      names.includes(name) && files.every((file) => within.some((folder) => file.startsWith(folder))),
  );
}

/** The names that more than one file exports, with these files. */
function sharedNames(exports: ReadonlyMap<string, ReadonlySet<string>>): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const [file, names] of exports)
    for (const name of names) files.set(name, [...(files.get(name) ?? []), file]);
  return new Map([...files].filter(([, exporting]) => exporting.length > 1));
}

const shared = sharedNames(
  new Map(
    sources.filter((file) => !file.endsWith(".test.ts")).map((file) => [file, exportsOf(codeOf(file))]),
  ),
);

test("no name is exported with two meanings", () => {
  const wrong = [...shared].filter(([name, files]) => !isException(name, files));
  assert.deepEqual(Object.fromEntries(wrong), {});
});

test("every exception is still needed", () => {
  const unused = EXCEPTIONS.flatMap(({ names }) => names.filter((name) => !shared.has(name)));
  assert.deepEqual(unused, []);
});

test("the check can see: declarations of every kind, and names that are passed on as others", () => {
  const text = [
    "export const A = 1;",
    "export async function b() {}",
    "export abstract class C {}",
    "export interface D {}",
    "export type E = A;",
    "export function* f() {}",
    "export { type X as G, h } from './x.ts';",
    "const hidden = 1;",
    "export function b(): void;",
  ].join("\n");
  assert.deepEqual([...exportsOf(text)], ["A", "b", "C", "D", "E", "f", "G"]);
  const exports = new Map([
    ["one.ts", new Set(["A", "B"])],
    ["two.ts", new Set(["B"])],
  ]);
  assert.deepEqual([...sharedNames(exports)], [["B", ["one.ts", "two.ts"]]]);
});
