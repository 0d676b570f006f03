import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Script } from "node:vm";
import { textsOf } from "./languages.ts";
import { squeezeScript, squeezeStyle } from "./squeeze.ts";
import { waitWords } from "./words.js";

const read = (name: string) => readFileSync(new URL(`./${name}`, import.meta.url), "utf8");

test("comments, space and constants' names go, strings stay", () => {
  const source = `/** Says. */
import { x } from "./x.js";
const WAIT_MS = 4_000;
export function say(a, b) {
  // why
  const text = "a  // b { } ;" + \`  \${a} : /* c */ \`;
  return later(WAIT_MS, { a: text, b: a + +b },);
}
`;
  const squeezed = `function say(a,b){const text="a  // b { } ;"+\`  \${a} : /* c */ \`;return later(4000,{a:text,b:a + +b})}`;
  assert.equal(squeezeScript([source]), squeezed);
});

test("what comes out is a script that does the same", () => {
  const squeezed = squeezeScript([read("words.js")]);
  const squeezedWords = new Script(`${squeezed};waitWords`).runInThisContext() as typeof waitWords;
  const texts = textsOf("pl").wait;
  for (let high = 20_000; high < 30_000_000; high *= 1.3) {
    const wait = { low: high / 3, middle: high / 2, high };
    assert.equal(squeezedWords(texts, "pl", wait), waitWords(texts, "pl", wait));
  }
});

test("the page's script has neither comments nor indentation left, and is one script", () => {
  const squeezed = squeezeScript([read("words.js"), read("page.js")]);
  assert.doesNotMatch(squeezed, /\/\*\*|\n\s| {2}|^import|^export/m);
  assert.doesNotMatch(squeezed, /<\/?script|<!--/i);
  new Script(squeezed);
});

test("a style keeps its meaning in fewer bytes", () => {
  const source = `/* A. */\na > b,\n.c::before {\n  margin: 0 auto;\n  content: "a  {b}";\n}\n@media (x: y) {\n  d e {\n    f: g;\n  }\n}\n`;
  assert.equal(squeezeStyle(source), 'a>b,.c::before{margin:0 auto;content:"a  {b}"}@media (x:y){d e{f:g}}');
});
