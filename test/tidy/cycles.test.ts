/**
 * No file of `src` imports itself through others. Type imports count too: two files that need each other's types can only be read
 * together.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { importsOf, sources } from "./sources.ts";

type Graph = ReadonlyMap<string, readonly string[]>;

/** Groups of files that all lead to each other, in time linear in the imports (Tarjan 1972). */
function cyclesOf(graph: Graph): string[][] {
  const cycles: string[][] = [];
  const numbers = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();

  /** Returns the lowest number of an open file that this one leads to. */
  const visit = (file: string): number => {
    const number = numbers.size;
    numbers.set(file, number);
    open.push(file);
    isOpen.add(file);
    const imported = graph.get(file) ?? [];
    let lowest = number;
    for (const next of imported) {
      if (!numbers.has(next)) lowest = Math.min(lowest, visit(next));
      else if (isOpen.has(next)) lowest = Math.min(lowest, numbers.get(next)!);
    }
    if (lowest < number) return lowest;
    const group = open.splice(open.lastIndexOf(file));
    for (const one of group) isOpen.delete(one);
    if (group.length > 1 || imported.includes(file)) cycles.push(group.sort());
    return number;
  };

  for (const file of graph.keys()) if (!numbers.has(file)) visit(file);
  return cycles;
}

test("no files import each other in a circle", () => {
  const graph = new Map(
    sources.map((file) => [file, importsOf(file).flatMap(({ to }) => (to?.startsWith("src/") ? [to] : []))]),
  );
  assert.deepEqual(cyclesOf(graph), []);
});

test("the check can see: circles of one, two and three files are found, and a file that is reached twice is not one", () => {
  const graph = (edges: Record<string, string[]>) => cyclesOf(new Map(Object.entries(edges)));
  assert.deepEqual(graph({ a: ["b", "c"], b: ["d"], c: ["d"], d: [] }), []);
  assert.deepEqual(graph({ a: ["a"] }), [["a"]]);
  assert.deepEqual(graph({ a: ["b"], b: ["a"], c: ["a"] }), [["a", "b"]]);
  assert.deepEqual(graph({ z: ["a"], a: ["b", "d"], b: ["c"], c: ["a"], d: [] }), [["a", "b", "c"]]);
  assert.ok(importsOf("src/gateway/gateway.ts").some(({ to }) => to === "src/core/engine.ts"));
});
