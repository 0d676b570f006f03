import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Script } from "node:vm";
import { textsOf } from "./languages.ts";
import { squeezeScript, squeezeStyle } from "./squeeze.ts";
import { waitWords } from "./words.js";

const read = (name: string) => readFileSync(new URL(`./${name}`, import.meta.url), "utf8");

test("comments, space, constants and long names go, strings stay", () => {
  const source = `/** Says. */
import { x } from "./x.js";
const WAIT_MS = 4_000;
export function say(a, b) {
  // why
  const text = "a  // b { } ;" + \`  \${a} : /* c */ \`;
  return later(WAIT_MS, { a: text, b: a + +b },);
}
`;
  const squeezed = `function d(a,b){const c="a  // b { } ;"+\`  \${a} : /* c */ \`;return later(4000,{a:c,b:a + +b})}`;
  assert.equal(squeezeScript([source]), squeezed);
});

test("properties keep their names; functions and variables lose theirs, in templates as well", () => {
  const source = `const people = { ahead: 1 };
function double(count, extra) {
  const { ahead } = people;
  return [...people.list, count, { extra }, \`\${people.ahead} people \${count}\`, "people"];
}
`;
  assert.equal(
    squeezeScript([source]),
    `const a={ahead:1};function e(c,d){const{ahead:b}=a;return[...a.list,c,{extra:d},\`\${a.ahead} people \${c}\`,"people"]}`,
  );
});

test("short names are never keywords, nor names already in use", () => {
  const declared = Array.from({ length: 400 }, (_, index) => `const name${index} = ${index};`);
  const squeezed = squeezeScript([[...declared, "let a = do_it(in_it);"].join("\n")]);
  const names = [...squeezed.matchAll(/const (\w+)/g)].map(([, name]) => name!);
  assert.equal(new Set(names).size, 400);
  assert.deepEqual(
    names.filter((name) => ["a", "as", "do", "if", "in", "of"].includes(name) || name.length > 2),
    [],
  );
  new Script(squeezed);
});

test("what comes out is a script that does the same", () => {
  const squeezed = squeezeScript([read("words.js"), "globalThis.squeezedWords = waitWords;"]);
  new Script(squeezed).runInThisContext();
  const { squeezedWords } = globalThis as unknown as { squeezedWords: typeof waitWords };
  const texts = textsOf("pl").wait;
  for (let high = 20_000; high < 30_000_000; high *= 1.3) {
    const wait = { low: high / 3, middle: high / 2, high };
    assert.equal(squeezedWords(texts, "pl", wait), waitWords(texts, "pl", wait));
  }
});

for (const files of [
  ["words.js", "page.js"],
  ["words.js", "page.js", "clock.js", "opening.js"],
  ["words.js", "page.js", "draw.js"],
  ["words.js", "page.js", "clock.js", "opening.js", "draw.js"],
  ["words.js", "page.js", "stock-words.js", "stock.js"],
  ["clock.js", "instants.js"],
  ["pow.js", "work.js"],
]) {
  test(`${files.join(", ")} become one script without comments and indentation`, () => {
    const squeezed = squeezeScript(files.map(read));
    assert.doesNotMatch(squeezed, /\/\*\*|\n\s| {2}|^import|^export/m);
    assert.doesNotMatch(squeezed, /<\/?script|<!--/i);
    new Script(squeezed);
  });
}

test("a style keeps its meaning in fewer bytes", () => {
  const source = `/* A. */\na > b,\n.c::before {\n  margin: 0 auto;\n  content: "a  {b}";\n}\n@media (x: y) {\n  d e {\n    f: g;\n  }\n}\n`;
  assert.equal(squeezeStyle(source), 'a>b,.c::before{margin:0 auto;content:"a  {b}"}@media (x:y){d e{f:g}}');
});
