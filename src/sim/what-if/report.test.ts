import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { whatIfReport } from "./report.ts";
import { whatIf } from "./what-if.ts";

const CROWD = {
  shape: "sigmoid",
  size: 200,
  overMs: 10_000,
  stayMs: 5_000,
  impatient: 0,
  noShow: 0,
  leave: 0,
  seed: 1,
} as const;

const RULES = { ...DEFAULT_RULES, totalActiveUsers: 40, sessionDurationMs: 5_000 };

function report(room: string, notes: string[] = []): string {
  return whatIfReport(whatIf({ room, rules: RULES, crowd: CROWD, notes }));
}

test("a room with a name like a script is shown, and nothing runs", () => {
  const evil = `<script>alert("1")</script><img src=x onerror='y'>`;
  const html = report(evil, [evil]);
  assert.doesNotMatch(html, /<script|<img/i);
  assert.ok(
    html.includes("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&lt;img src=x onerror=&#39;y&#39;&gt;"),
  );
});

test("the report loads nothing", () => {
  const html = report("main").replaceAll("http://www.w3.org/2000/svg", "");
  assert.doesNotMatch(html, /https?:|\bsrc=|\bhref=|url\(|@import|<link/i);
});

test("every chart has a title, a description and a table, and ids are unique", () => {
  const html = report("main");
  assert.equal(html.match(/<svg /g)?.length, 4);
  for (const tag of ["<title id=", "<desc id=", "<details>", "<figcaption>"])
    assert.equal(html.split(tag).length - 1, 4, tag);
  const ids = [...html.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id);
  assert.equal(new Set(ids).size, ids.length);
  for (const [, names] of html.matchAll(/aria-labelledby="([^"]+)"/g))
    for (const name of names!.split(" ")) assert.ok(ids.includes(name), name);
});

test("a run in which nobody gets in has a report too", () => {
  const html = whatIfReport(
    whatIf({ room: "main", rules: { ...DEFAULT_RULES, closed: true }, crowd: CROWD }),
  );
  assert.match(html, /the room is closed/);
  assert.doesNotMatch(html, /NaN|Infinity|undefined|null/);
});

test("no number in a report is broken", () => {
  assert.doesNotMatch(report("main"), /NaN|Infinity|undefined|>-0</);
});
