/**
 * The tests that name the requirement they prove. They are found in the syntax tree, not in the text: a test counts when
 * `proves(ids, name)` is the first argument of a call that declares a test. One that was removed, renamed or commented
 * out is not found under its old name, and the table in docs/settings.md is then out of date.
 */
import { globSync, readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { join } from "node:path";
import {
  type CallExpression,
  type Expression,
  type Node,
  type Program,
  parse,
  type SpreadElement,
} from "acorn";

const ROOT = join(import.meta.dirname, "..", "..", "..");
/** What declares a test: Node's own function, and that of the engines' suite. */
const DECLARES = ["test", "play"];
const PROVES = "/requirements/proves.ts";

export interface CoveringTest {
  readonly ids: readonly string[];
  readonly name: string;
  readonly file: string;
}

/** All of them, by file and then in the order in which they stand there. */
export function coveringTests(): CoveringTest[] {
  const files = globSync(["src/**/*.ts", "test/**/*.ts"], { cwd: ROOT, exclude: ["**/node_modules/**"] });
  return files.sort().flatMap((file) => coveringTestsIn(file, readFileSync(join(ROOT, file), "utf8")));
}

export function coveringTestsIn(file: string, source: string): CoveringTest[] {
  if (!source.includes(PROVES)) return [];
  const program = parse(stripTypeScriptTypes(source), { ecmaVersion: "latest", sourceType: "module" });
  if (!program.body.some(importsProves)) return [];
  const found: CoveringTest[] = [];
  for (const call of callsIn(program)) {
    const [first] = call.arguments;
    if (!isCallOf(call, DECLARES) || first?.type !== "CallExpression" || !isCallOf(first, ["proves"]))
      continue;
    const [ids, name] = first.arguments;
    if (ids?.type !== "ArrayExpression") throw new Error(`${file}: proves() needs its ids written out`);
    found.push({ ids: ids.elements.map((id) => written(id, file)), name: written(name, file), file });
  }
  return found;
}

function importsProves(node: Program["body"][number]): boolean {
  return node.type === "ImportDeclaration" && String(node.source.value).endsWith(PROVES);
}

function isCallOf({ callee }: CallExpression, names: readonly string[]): boolean {
  return callee.type === "Identifier" && names.includes(callee.name);
}

function written(node: Expression | SpreadElement | null | undefined, file: string): string {
  if (node?.type === "Literal" && typeof node.value === "string") return node.value;
  throw new Error(`${file}: what proves() is given must be written out, so that it can be found`);
}

function* callsIn(node: Node): Generator<CallExpression> {
  if (node.type === "CallExpression") yield node as CallExpression;
  for (const child of Object.values(node).flat()) if (isNode(child)) yield* callsIn(child);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as Node).type === "string";
}
