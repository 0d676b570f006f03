import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  compileTemplate,
  escapeHtml,
  fillTemplate,
  renderTemplate,
  type TemplateValues,
} from "./template.ts";

const NAMES = {
  escaped: new Set(["ahead", "waitText", "message", "isPaused"]),
  raw: new Set(["script"]),
};

const render = (source: string, values: TemplateValues) =>
  renderTemplate(compileTemplate(source, NAMES), values);

test("values are put in, escaped", () => {
  assert.equal(
    render("<p>{{ message }}</p>", { message: `<b a="1">'&` }),
    "<p>&lt;b a=&quot;1&quot;&gt;&#39;&amp;</p>",
  );
  assert.equal(render("{{ahead}}!", { ahead: 0 }), "0!");
  assert.equal(render("{{message}}", {}), "");
  assert.equal(render("{{{script}}}", { script: "<script>" }), "<script>");
});

test("sections appear or not, also one inside another", () => {
  const source =
    "{{#isPaused}}paused{{#message}}: {{message}}{{/message}}{{/isPaused}}{{^isPaused}}moving{{/isPaused}}";
  assert.equal(render(source, { isPaused: true, message: "back soon" }), "paused: back soon");
  assert.equal(render(source, { isPaused: true, message: "" }), "paused");
  assert.equal(render(source, { isPaused: false, message: "x" }), "moving");
});

test("comments and everything that is not a tag are left alone", () => {
  assert.equal(render("a{{! not shown }}b { c } }} {{", {}), "ab { c } }} {{");
  assert.equal(render("<style>a{b:c}@media x{a{b:c}}</style>", {}), "<style>a{b:c}@media x{a{b:c}}</style>");
});

test("what is wrong is said with its line and what to write", () => {
  const wrong: [string, RegExp][] = [
    ["\n\n{{#isPaused}}x", /^line 3: {{#isPaused}} is never closed; put {{\/isPaused}} after it$/],
    ["{{^isPaused}}x", /{{\^isPaused}} is never closed/],
    ["{{/isPaused}}", /^line 1: {{\/isPaused}} closes nothing$/],
    [
      "{{#isPaused}}\n{{#message}}{{/isPaused}}",
      /^line 2: .*where {{\/message}} should, for the section opened in line 2/,
    ],
    ["{{waittext}}", /^line 1: there is no variable {{waittext}}; did you mean {{waitText}}\?$/],
    ["{{#ispaused}}{{/ispaused}}", /did you mean {{isPaused}}\?/],
    ["{{scripts}}", /did you mean {{{script}}}\?/],
    ["{{zzzzzz}}", /^line 1: there is no variable {{zzzzzz}}$/],
    ["{{script}}", /{{script}} is HTML itself; write {{{script}}}/],
    ["{{{message}}}", /{{{message}}} would not be safe; write {{message}}/],
    ["a\n{{message", /^line 2: {{message has no closing braces$/],
    ["{{constructor}}", /there is no variable/],
    ["{{#message}}".repeat(60_000), /^line 1: {{#message}} is inside 50 other sections, which is too deep$/],
  ];
  for (const [source, message] of wrong) {
    assert.throws(() => compileTemplate(source, NAMES), { message }, source);
  }
});

test("filling in what is known first changes nothing in the end", () => {
  const source =
    "{{#isPaused}}{{ahead}}{{/isPaused}}{{^isPaused}}[{{message}}]{{/isPaused}}{{waitText}}{{{script}}}";
  const template = compileTemplate(source, NAMES);
  const value = fc.oneof(fc.string(), fc.boolean(), fc.integer());
  const values = fc.record({
    ahead: value,
    isPaused: value,
    message: value,
    waitText: value,
    script: fc.string(),
  });
  fc.assert(
    fc.property(values, fc.subarray(["ahead", "isPaused", "message", "waitText", "script"]), (all, early) => {
      const first = Object.fromEntries(Object.entries(all).filter(([name]) => early.includes(name)));
      assert.equal(renderTemplate(fillTemplate(template, first), all), renderTemplate(template, all));
    }),
  );
});

test("any escaped text stays text in an element and in an attribute", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => assert.doesNotMatch(escapeHtml(text), /[<>"']/)),
  );
});
