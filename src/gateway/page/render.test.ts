import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { AHEAD_UNKNOWN } from "../../core/ticket.ts";
import { languages } from "./languages.ts";
import { checkTemplate, createPage, type PageLook, type PageView, TEMPLATE_VARIABLES } from "./render.ts";

const PAGE_BYTES_MAX = 20_000;

const LOOK: PageLook = {
  title: "Harbour Tickets",
  logo: null,
  logoAlt: "",
  colour: "#1d4ed8",
  defaultLanguage: "en",
  customPageHtml: null,
};

const VIEW: PageView = {
  room: "shop",
  language: "en",
  state: "queueing",
  ahead: 1_234,
  waiting: 5_000,
  waitMs: { low: 240_000, middle: 360_000, high: 520_000 },
  aheadAtJoin: 2_468,
  sequence: 77,
  nextCheckInMs: 5_200,
  now: Date.UTC(2030, 0, 31, 13, 5),
  message: "",
  notice: "none",
  nonce: "bm9uY2U=",
};

const HOSTILE = `</script></style><script>alert(1)</script><img src=x onerror="alert(1)">'{{nonce}}{{{script}}}`;

const html = (view: Partial<PageView> = {}, look: Partial<PageLook> = {}) =>
  createPage({ ...LOOK, ...look })
    .render({ ...VIEW, ...view })
    .toString();

for (const language of languages().keys()) {
  test(`the whole page is under ${PAGE_BYTES_MAX} bytes in ${language}`, () => {
    const message = "Doors open at 19:00. Tickets are held for ten minutes once you are in.";
    const bytes = createPage(LOOK).render({ ...VIEW, language, message }).length;
    assert.ok(bytes < PAGE_BYTES_MAX, `${bytes}`);
  });
}

test("the page says everything without its script", () => {
  const page = html({ message: "Seats added." });
  for (const words of [
    "1,234",
    "people ahead of you",
    "about 4 to 9 minutes",
    "5,000",
    "1:05 PM UTC",
    "Seats added.",
  ]) {
    assert.ok(page.includes(words), words);
  }
  assert.match(page, /<progress max="100" value="50"/);
  assert.match(page, /<title>1,234 · You are in line – Harbour Tickets<\/title>/);
  assert.match(page, /<html lang="en" dir="ltr">/);
  assert.match(page, /<noscript>.*reloads by itself/);
  assert.match(html({ language: "ar" }), /<html lang="ar" dir="rtl">/);
});

test("each state has its own words", () => {
  assert.match(html({ state: "paused" }), /<h1[^>]*>The line is paused</);
  assert.match(html({ state: "prequeue" }), /<h1[^>]*>Not open yet</);
  assert.match(html({ state: "closed" }), /<h1[^>]*>Closed for now</);
  assert.match(html({ state: "open" }), /<h1[^>]*>You are in line</);
  assert.match(html({ ahead: 0 }), /<b data-live="ahead" hidden>0<\/b> <span[^>]*>You are next</);
  assert.match(html({ waitMs: null }), />not known yet</);
  assert.match(html({ aheadAtJoin: null }), /data-live="progress" hidden/);
});

test("notices say what is true for this visitor", () => {
  const shown = (page: string) => /data-live="notice"[^>]*>([^<]*)</.exec(page)?.[1];
  assert.equal(shown(html()), "");
  assert.match(html(), /data-live="notice" hidden/);
  assert.match(shown(html({ notice: "formNotSent" }))!, /^Your form was not sent/);
  assert.match(
    shown(html({ notice: "engineAway", ahead: AHEAD_UNKNOWN }))!,
    /tries again by itself. Your place is kept.$/,
  );
  const outside = html({ notice: "engineAway", sequence: -1, ahead: AHEAD_UNKNOWN });
  assert.match(outside, /<h1[^>]*>We cannot reach the line</);
  assert.match(outside, /data-live="place" hidden/);
  assert.doesNotMatch(outside.split("<script")[0]!, /place is kept|You are in line/);
  assert.match(html({ notice: "cookiesNeeded", sequence: -1 }), /<h1[^>]*>Cookies are needed</);
});

test("nothing an operator or a visitor writes becomes HTML", () => {
  const page = html(
    { message: HOSTILE, room: HOSTILE },
    { title: HOSTILE, logo: 'https://cdn.example/a.png?x="><script>', logoAlt: HOSTILE },
  );
  assert.equal(page.match(/<script\b/g)?.length, 2);
  assert.equal(page.match(/<\/script>/g)?.length, 2);
  assert.equal(page.match(/<\/style>/g)?.length, 1);
  assert.doesNotMatch(page, /<img src=x/);
  const data = /<script type="application\/json"[^>]*>(.*?)<\/script>/s.exec(page)![1]!;
  assert.equal(JSON.parse(data).view.title, HOSTILE);
});

test("a look that cannot be used is refused with the reason", () => {
  const wrong: [Partial<PageLook>, RegExp][] = [
    [{ colour: "red" }, /"red" is not a colour/],
    [{ background: "blue" }, /"blue" is not a colour/],
    [{ logo: "javascript:alert(1)" }, /the logo "javascript:alert\(1\)" is not/],
    [{ logo: "data:text/html,<script>" }, /the logo/],
    [{ logo: "//evil.example/x.png" }, /the logo/],
    [{ defaultLanguage: "tlh" }, /does not speak the default language "tlh"/],
    [
      { customPageHtml: "{{#isPaused}}" },
      /^the custom page cannot be used: line 1: {{#isPaused}} is never closed/,
    ],
  ];
  for (const [look, message] of wrong) assert.throws(() => createPage({ ...LOOK, ...look }), { message });
});

test("headers let in nothing but the page itself", () => {
  const headers = pairs(createPage(LOOK).headers("bm9uY2U="));
  const policy = headers.get("Content-Security-Policy")!;
  assert.equal(headers.get("Content-Type"), "text/html; charset=utf-8");
  assert.equal(headers.get("X-Content-Type-Options"), "nosniff");
  assert.match(policy, /^default-src 'none'; script-src 'nonce-bm9uY2U='; style-src 'nonce-bm9uY2U='; /);
  assert.match(policy, /img-src 'self' data:;/);
  assert.match(policy, /connect-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|https:|\*/);
});

test("a logo from elsewhere opens the door to that place only", () => {
  const policyFor = (logo: string) =>
    pairs(createPage({ ...LOOK, logo }).headers("n")).get("Content-Security-Policy")!;
  assert.match(policyFor("https://cdn.example/logo.svg"), /img-src 'self' data: https:\/\/cdn\.example;/);
  assert.match(policyFor("data:image/png;base64,AAAA"), /img-src 'self' data:;/);
  assert.match(policyFor("/logo.svg"), /img-src 'self' data:;/);
});

test("scripts and styles carry the nonce", () => {
  const page = html();
  assert.match(page, /<style nonce="bm9uY2U=">/);
  assert.match(page, /<script type="module" nonce="bm9uY2U=">/);
  assert.doesNotMatch(page.split("<script")[0]!, /\son\w+=|\sstyle=/);
});

test("a page of the operator's own gets the same variables, script and style", () => {
  const customPageHtml = `<!doctype html><html lang="{{language}}"><head>{{{style}}}</head><body>
{{#isQueueing}}{{ahead}} {{aheadLabel}}, {{waitLowMinutes}}-{{waitMiddleMinutes}}-{{waitHighMinutes}}{{/isQueueing}}
{{#isPaused}}paused{{/isPaused}}{{^message}}no message{{/message}} {{refreshSeconds}}
<style nonce="{{nonce}}">p{}</style>{{{script}}}</body></html>`;
  const page = html({ language: "sv" }, { customPageHtml });
  assert.match(page, /1\s234 personer före dig, 4-6-9/);
  assert.match(page, /no message 6/);
  assert.doesNotMatch(page.split("<script")[0]!, /paused/);
  assert.match(page, /<style nonce="bm9uY2U=">p{}<\/style><script type="application\/json"/);
  const policy = pairs(createPage({ ...LOOK, customPageHtml }).headers("n")).get("Content-Security-Policy")!;
  assert.match(policy, /script-src 'nonce-n';/);
  assert.match(policy, /img-src 'self' data: https:/);
});

test("a custom page can be checked before it is used", () => {
  assert.equal(checkTemplate("<p>{{ahead}}</p>"), null);
  assert.match(checkTemplate("<p>{{aheed}}</p>")!, /did you mean {{ahead}}/);
});

test("every documented variable has a value, and the documentation has every variable", () => {
  const source = TEMPLATE_VARIABLES.map(
    ({ name, isHtml }) => `${name}=${isHtml ? `{{{${name}}}}` : `{{${name}}}`}`,
  );
  const page = html(
    { message: "m", notice: "formNotSent" },
    { customPageHtml: source.join("\n"), logo: "/l.png", logoAlt: "l" },
  );
  for (const { name } of TEMPLATE_VARIABLES) assert.match(page, new RegExp(`^${name}=\\S`, "m"), name);
  const readme = readFileSync(new URL("../../../docs/waiting-page.md", import.meta.url), "utf8");
  for (const { name, meaning, isHtml } of TEMPLATE_VARIABLES) {
    assert.ok(
      readme.includes(
        `| \`${isHtml ? `{{{${name}}}}` : `{{${name}}}`}\` | ${meaning.replaceAll("<", "\\<")} |`,
      ),
      name,
    );
  }
});

test("a language without a file is spoken as English", () => {
  assert.match(html({ language: "tlh" }), /<html lang="en"/);
});

function pairs(flat: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (let i = 0; i < flat.length; i += 2) map.set(flat[i]!, flat[i + 1]!);
  return map;
}
