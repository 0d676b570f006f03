import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { languages, type ProblemKind } from "./languages.ts";
import { prefersJson, renderProblem } from "./problem.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const KINDS: ProblemKind[] = [
  "originAway",
  "originSlow",
  "tooLarge",
  "badRequest",
  "formNotSent",
  "engineAway",
  "notFound",
];

test("a browser gets a page in its language with the id", () => {
  const { headers, body } = renderProblem(BROWSER, "sv-SE", {
    status: 502,
    id: "k3f9",
    kind: "originAway",
  });
  assert.equal(headerIn(headers, "Content-Type"), "text/html; charset=utf-8");
  assert.match(body.toString(), /<html lang="sv" dir="ltr">/);
  assert.match(body.toString(), /<h1>Webbplatsen svarar inte<\/h1>/);
  assert.match(body.toString(), /Referens: k3f9 \(502\)/);
});

test("a program that asks for JSON gets a problem document", () => {
  const { headers, body } = renderProblem("application/json", undefined, {
    status: 504,
    id: "k3f9",
    kind: "originSlow",
  });
  assert.equal(headerIn(headers, "Content-Type"), "application/problem+json");
  assert.deepEqual(JSON.parse(body.toString()), {
    title: "The site is taking too long",
    status: 504,
    detail: "It did not answer in time. Please try again in a moment.",
    kind: "originSlow",
    id: "k3f9",
  });
});

test("JSON is for those who want it more than HTML", () => {
  for (const accept of [
    "application/json",
    "application/problem+json, */*",
    "text/html;q=0.5, application/json",
  ]) {
    assert.equal(prefersJson(accept), true, accept);
  }
  for (const accept of [
    undefined,
    "",
    "*/*",
    BROWSER,
    "application/json;q=0.1, text/html",
    "application/json;q=0",
    "image/json",
  ]) {
    assert.equal(prefersJson(accept), false, String(accept));
  }
});

test("every kind has a page in every language, and only what may pass offers to try again", () => {
  for (const language of languages().keys()) {
    for (const kind of KINDS) {
      const page = renderProblem(BROWSER, language, { status: 500, id: "k3f9", kind }).body.toString();
      assert.match(page, /<h1>[^<]+<\/h1>\s*<p class="lead">[^<]+<\/p>/);
      const isPassing = ["originAway", "originSlow", "engineAway", "formNotSent"].includes(kind);
      assert.equal(/<a class="button" href="">/.test(page), isPassing, kind);
    }
  }
});

test("an id is escaped and the headers allow exactly the page's style", () => {
  const page = renderProblem(BROWSER, "en", {
    status: 400,
    id: "<script>",
    kind: "badRequest",
  }).body.toString();
  assert.match(page, /Reference: &lt;script&gt;/);
  const style = /<style>(.*?)<\/style>/s.exec(page)![1]!;
  const hash = createHash("sha256").update(style).digest("base64");
  const { headers } = renderProblem(BROWSER, undefined, { status: 502, id: "id-1", kind: "originAway" });
  const policy = headerIn(headers, "Content-Security-Policy");
  assert.ok(policy.includes(`style-src 'sha256-${hash}'`));
  assert.doesNotMatch(policy, /unsafe|script-src/);
});

function headerIn(headers: readonly string[], name: string): string {
  return headers[headers.indexOf(name) + 1]!;
}
