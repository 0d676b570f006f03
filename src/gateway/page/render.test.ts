import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import type { DrawNotice } from "../../core/board.ts";
import { AHEAD_UNKNOWN } from "../../core/ticket.ts";
import { languages } from "./languages.ts";
import { checkTemplate, createPage, type PageLook, type PageView } from "./render.ts";
import { TEMPLATE_VARIABLES } from "./variables.ts";

const PAGE_BYTES_MAX = 20 * 1_024;
/** With the countdown, and the draw and how it works in words. */
const EVENT_PAGE_BYTES_MAX = 26 * 1_024;

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

const DRAW: DrawNotice = { event: "spring", seedHash: "ab".repeat(32), seed: null };
const REVEALED: DrawNotice = { ...DRAW, seed: "cd".repeat(32) };
const SOLD_OUT = { isSoldOut: true, reach: 0 };
const OPENS_AT = Date.UTC(2030, 1, 1, 18, 30);
const GATHERING: Partial<PageView> = {
  state: "prequeue",
  opensAt: OPENS_AT,
  draw: DRAW,
  ahead: null,
  waitMs: null,
};

const HOSTILE = `</script></style><script>alert(1)</script><img src=x onerror="alert(1)">'{{nonce}}{{{script}}}`;

const html = (view: Partial<PageView> = {}, look: Partial<PageLook> = {}) =>
  createPage({ ...LOOK, ...look })
    .render({ ...VIEW, ...view })
    .toString();

for (const language of languages().keys()) {
  test(`the whole page is under ${PAGE_BYTES_MAX} bytes in ${language}, an event's under ${EVENT_PAGE_BYTES_MAX}`, () => {
    const message = "Doors open at 19:00. Tickets are held for ten minutes once you are in.";
    const bytes = (view: Partial<PageView>) =>
      createPage(LOOK).render({ ...VIEW, language, message, ...view }).length;
    assert.ok(bytes({}) < PAGE_BYTES_MAX, `${bytes({})}`);
    for (const view of [GATHERING, { ...GATHERING, draw: null }, { draw: REVEALED }])
      assert.ok(bytes(view) < EVENT_PAGE_BYTES_MAX, `${bytes(view)}`);
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
  assert.match(page, /<noscript>.*reloads automatically/);
  assert.match(html({ language: "ar" }), /<html lang="ar" dir="rtl">/);
});

test("each state has its own words", () => {
  assert.match(html({ state: "paused" }), /<h1[^>]*>The line is paused</);
  assert.match(html({ state: "prequeue" }), /<h1[^>]*>Not open yet</);
  assert.match(html({ state: "closed" }), /<h1[^>]*>Closed for now</);
  assert.match(html({ state: "open" }), /<h1[^>]*>You are in line</);
  assert.match(html({ waitMs: null }), />not known yet</);
  assert.match(html({ aheadAtJoin: null }), /data-live="progress" hidden/);
});

test("for those who are next the heading says so, beside a full bar and no wait", () => {
  const page = html({ ahead: 0 });
  assert.match(page, /<h1[^>]*>You are next</);
  assert.match(page, /<p class="ahead" data-live="count" hidden>/);
  assert.match(page, /<progress max="100" value="100" [^>]*class="moves" data-live="progress">/);
  assert.match(page, /data-live="waitRow" hidden/);
  const paused = html({ ahead: 0, state: "paused" });
  assert.match(paused, /<h1[^>]*>The line is paused</);
  assert.match(paused, /data-live="count"><b data-live="ahead" hidden>0<\/b> <span[^>]*>You are next</);
  assert.doesNotMatch(paused, /class="moves"/);
});

test("before the opening the page says when that is, in UTC for those without the script", () => {
  const page = html({ state: "prequeue", opensAt: OPENS_AT });
  assert.match(
    page,
    /<time datetime="2030-02-01T18:30:00.000Z" [^>]*>Opens: February 1, 2030 at 6:30\sPM UTC</,
  );
  assert.match(page, /role="timer" aria-label="Time until the opening" data-live="countdown" hidden/);
  assert.doesNotMatch(html({ opensAt: OPENS_AT }), /<time [^>]*data-live="opens"/);
  assert.match(html({ state: "closed", opensAt: OPENS_AT }), /Opens: February 1/);
  assert.doesNotMatch(html({ state: "closed", opensAt: null }), /data-live="opening"/);
  assert.match(html({ state: "prequeue" }), /data-live="opening" hidden/);
});

test("visitors who gather for a draw see no number, but the draw and its hash", () => {
  const page = html({ ...GATHERING, ahead: 1_234 });
  const said = page.split("<script")[0]!;
  assert.match(said, /Everyone who is here by then has the same chance/);
  assert.match(said, /People here so far<\/dt><dd data-live="waiting">5,000</);
  assert.match(said, new RegExp(`<code data-live="seedHash">${DRAW.seedHash}</code>`));
  assert.match(said, /data-live="seedRow" hidden/);
  assert.match(said, /data-live="receipt" hidden/);
  assert.match(said, /data-live="waitRow" hidden/);
  assert.match(said, /data-live="behindRow" hidden/);
  assert.doesNotMatch(page, /1,234|"ahead":1234/);
  assert.match(page, /<title>Not open yet – Harbour Tickets</);
});

test("after the draw the page has the seed, and a receipt for visitors who were drawn", () => {
  const drawn = html({ draw: REVEALED });
  assert.match(drawn, new RegExp(`data-live="seedRow">[^<]*<code data-live="seed">${REVEALED.seed}<`));
  assert.match(drawn, /data-live="receipt"><a href="\/.fairgate\/shop\/receipt" download>/);
  assert.match(drawn, />1,234</);
  assert.match(html({ draw: REVEALED, isDrawn: false }), /data-live="receipt" hidden/);
  assert.match(html({ draw: REVEALED, sequence: -1 }), /data-live="receipt" hidden/);
});

test("a later draw is not shown to visitors who wait now", () => {
  assert.doesNotMatch(html({ draw: DRAW }), /How the draw works|seedHash/);
});

test("pages carry the scripts for countdown and draw only where they need them", () => {
  const has = (view: Partial<PageView>) => {
    const page = html(view);
    return [/"until":/.test(page), /crypto\.subtle/.test(page), /\.countdown\b/.test(page)];
  };
  assert.deepEqual(has({}), [false, false, false]);
  assert.deepEqual(has({ state: "prequeue" }), [true, false, true]);
  assert.deepEqual(has(GATHERING), [true, true, true]);
  assert.deepEqual(has({ draw: REVEALED }), [false, true, true]);
});

test("what is hidden from a visitor is nowhere on the page, in words or in data", () => {
  const numbers = { ahead: 71_234, waiting: 85_678, aheadAtJoin: 79_999 };
  const waitMs = { low: 7_777_001, middle: 8_888_002, high: 9_999_003 };
  const states = fc.constantFrom<PageView["state"]>("queueing", "paused", "prequeue", "closed");
  const draws = fc.constantFrom(null, DRAW, REVEALED);
  const show = fc.record({ ahead: fc.boolean(), behind: fc.boolean(), wait: fc.boolean() });
  fc.assert(
    fc.property(states, draws, show, (state, draw, may) => {
      const page = html({ ...numbers, waitMs, state, draw, show: may, opensAt: OPENS_AT });
      const isGathering = state === "prequeue" && draw !== null;
      const has = (number: number) => page.includes(String(number));
      assert.equal(has(71_234), may.ahead && !isGathering, "ahead as data");
      assert.equal(page.includes("71,234"), may.ahead && !isGathering, "ahead in words");
      assert.equal(has(79_999), may.ahead, "ahead at join");
      assert.equal(has(85_678), may.behind, "waiting as data");
      assert.equal(page.includes("85,678"), may.behind, "waiting in words");
      assert.equal(page.includes("14,443"), may.ahead && may.behind && !isGathering, "behind");
      assert.equal(has(7_777_001) || has(8_888_002) || has(9_999_003), may.wait, "wait as data");
      assert.equal(page.includes("about 2 to 3 hours"), may.wait, "wait in words");
    }),
  );
});

test("where the wait is hidden there is no row for it", () => {
  const page = html({ waitMs: null, show: { ahead: true, behind: true, wait: false } });
  assert.match(page, /data-live="waitRow" hidden/);
  assert.doesNotMatch(page.split("<script")[0]!, /not known yet/);
  assert.match(
    html({ waitMs: null }),
    /data-live="waitRow"><dt>Estimated wait<\/dt><dd [^>]*>not known yet</,
  );
});

test("an unknown number leaves the rest of the place as it is", () => {
  for (const ahead of [null, AHEAD_UNKNOWN]) {
    const page = html({ ahead, aheadAtJoin: AHEAD_UNKNOWN });
    assert.match(page, /<div data-live="place">/);
    assert.match(page, /<b data-live="ahead" hidden><\/b> <span data-live="aheadLabel"><\/span>/);
    assert.match(page, /data-live="progress" hidden/);
    assert.match(page, /data-live="waitingRow"><dt[^>]*>People in line/);
  }
});

test("notices fit the visitor", () => {
  const shown = (page: string) => /data-live="notice"[^>]*>([^<]*)</.exec(page)?.[1];
  assert.equal(shown(html()), "");
  assert.match(html(), /data-live="notice" hidden/);
  assert.match(shown(html({ notice: "formNotSent" }))!, /^Your form was not sent/);
  assert.match(shown(html({ notice: "placeLost" }))!, /so your former place is gone. This is a new one/);
  assert.match(
    shown(html({ notice: "engineAway", ahead: AHEAD_UNKNOWN }))!,
    /will try again automatically. Your place is kept.$/,
  );
  const outside = html({ notice: "engineAway", sequence: -1, ahead: AHEAD_UNKNOWN });
  assert.match(outside, /<h1[^>]*>We cannot reach the line</);
  assert.match(outside, /data-live="place" hidden/);
  assert.doesNotMatch(outside.split("<script")[0]!, /place is kept|You are in line/);
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
    [{ backgroundImage: "javascript:alert(1)" }, /the background image "javascript:alert\(1\)" is not/],
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
  assert.match(
    policy,
    /^default-src 'none'; script-src 'nonce-bm9uY2U='; style-src 'nonce-bm9uY2U=' 'self'; /,
  );
  assert.match(policy, /img-src 'self' data:;/);
  assert.match(policy, /connect-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|https:|\*/);
});

test("a logo from another origin allows that origin only", () => {
  const policyFor = (logo: string) =>
    pairs(createPage({ ...LOOK, logo }).headers("n")).get("Content-Security-Policy")!;
  assert.match(policyFor("https://cdn.example/logo.svg"), /img-src 'self' data: https:\/\/cdn\.example;/);
  assert.match(policyFor("data:image/png;base64,AAAA"), /img-src 'self' data:;/);
  assert.match(policyFor("/logo.svg"), /img-src 'self' data:;/);
});

test("a background image fills the window, from its own origin only, and cannot leave its url()", () => {
  const look = { backgroundImage: "https://cdn.example/hall.jpg?a=1", logo: "https://cdn.example/logo.svg" };
  assert.match(html({}, look), /url\("https:\/\/cdn\.example\/hall\.jpg\?a=1"\) center\/cover/);
  const policy = pairs(createPage({ ...LOOK, ...look }).headers("n")).get("Content-Security-Policy")!;
  assert.match(policy, /img-src 'self' data: https:\/\/cdn\.example;/);
  const backgroundImage = 'data:image/svg+xml,")}</style><script>alert(1)</script>\\';
  assert.equal(html({}, { backgroundImage }).match(/<script\b/g)?.length, 2);
  assert.match(html({}, { backgroundImage }), /url\("data:image\/svg\+xml,%22\)\}%3C\/style%3E[^"]*%5C"\)/);
  assert.doesNotMatch(html(), /body::before/);
});

test("scripts and styles carry the nonce", () => {
  const page = html();
  assert.match(page, /<style nonce="bm9uY2U=">/);
  assert.match(page, /<script type="module" nonce="bm9uY2U=">/);
  assert.doesNotMatch(page.split("<script")[0]!, /\son\w+=|\sstyle=/);
});

test("a custom page gets the same variables, script and style", () => {
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
    {
      message: "m",
      notice: "formNotSent",
      state: "closed",
      opensAt: OPENS_AT,
      draw: REVEALED,
      stock: SOLD_OUT,
    },
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

test("in front of a shop the page says what is left, and elsewhere it has no word of that", () => {
  assert.doesNotMatch(html(), /data-live="stock"|soldOut/);
  assert.match(html({ stock: SOLD_OUT }), /data-live="stock">Everything is sold out\./);
  const within = html({ stock: { isSoldOut: false, reach: 1_234 } });
  assert.match(within, /data-live="stock" hidden><\/p>/);
  const beyond = html({ stock: { isSoldOut: false, reach: 1_233 } });
  assert.match(beyond, /data-live="stock">There may be nothing left when it(?:'|&#39;)s your turn\./);
  assert.match(html({ ahead: null, stock: { isSoldOut: false, reach: 0 } }), /data-live="stock" hidden/);
});

test("an unknown language becomes English", () => {
  assert.match(html({ language: "tlh" }), /<html lang="en"/);
});

function pairs(flat: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (let i = 0; i < flat.length; i += 2) map.set(flat[i]!, flat[i + 1]!);
  return map;
}
