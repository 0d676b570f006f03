import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { languages, type PageKind, textsOf } from "./languages.ts";
import { type ErrorPage, prefersJson, renderProblem } from "./problem.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const KINDS: PageKind[] = [
  "originAway",
  "originSlow",
  "tooLarge",
  "badRequest",
  "tooSlow",
  "tooManyRequests",
  "engineAway",
  "notFound",
  "ended",
  "opensLater",
  "rejected",
  "notPrivileged",
  "inviteUsed",
  "codeBad",
  "visitsUsed",
  "tooManyJoins",
  "checking",
  "proofOfWork",
  "wrongBrowser",
];
const NOW = Date.UTC(2030, 0, 31, 13, 5);
const WORK = { room: "shop", challenge: "slip-1", bits: 14 };

const html = (problem: Partial<ErrorPage> & Pick<ErrorPage, "kind">, language = "en") =>
  renderProblem(BROWSER, language, { status: 403, id: "k3f9", ...problem }).body.toString();
const headersOf = (problem: Partial<ErrorPage> & Pick<ErrorPage, "kind">) =>
  renderProblem(BROWSER, "en", { status: 403, id: "k3f9", ...problem }).headers;

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

test("JSON is for clients that prefer it to HTML", () => {
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

test("every kind has a page in every language, and only passing problems offer to try again", () => {
  for (const language of languages().keys()) {
    for (const kind of KINDS) {
      const page = renderProblem(BROWSER, language, { status: 500, id: "k3f9", kind }).body.toString();
      assert.match(page, /<h1>[^<]+<\/h1>\s*<p class="lead">[^<]+<\/p>/);
      const isPassing = /^(originAway|originSlow|tooManyRequests|engineAway|rejected|notPrivileged)$/.test(
        kind,
      );
      assert.equal(/<a class="button" href="">/.test(page), isPassing, kind);
    }
  }
});

test("the kinds of the tests are all there are", () => {
  const texts = Object.entries(textsOf("en").problem).filter(([, value]) => typeof value !== "string");
  assert.deepEqual(texts.map(([kind]) => kind).sort(), [...KINDS].sort());
});

test("an instant is written in UTC and for machines, in a sentence of the kind's own", () => {
  const at = NOW + 26 * 3_600_000;
  assert.match(
    html({ kind: "opensLater", at, now: NOW }),
    /<p>Opens: <time datetime="2030-02-01T15:05:00.000Z">February 1, 2030 at 3:05\sPM UTC<\/time><\/p>/,
  );
  assert.match(html({ kind: "visitsUsed", at }), /<p>You may come again: <time [^>]*>February 1, 2030/);
  assert.doesNotMatch(html({ kind: "visitsUsed" }), /<time|come again/);
  for (const language of languages().keys()) {
    assert.match(
      html({ kind: "visitsUsed", at }, language),
      /<p>[^<{}]*<time [^>]*>[^<{}]+<\/time>[^<{}]*<\/p>/,
    );
  }
});

test("a countdown is there for an opening, and only where the present is known", () => {
  const at = NOW + 60_000;
  assert.match(html({ kind: "opensLater", at, now: NOW }), new RegExp(`data-at="${at}" data-now="${NOW}"`));
  assert.doesNotMatch(html({ kind: "opensLater", at }), /data-at="/);
  assert.doesNotMatch(html({ kind: "visitsUsed", at, now: NOW }), /data-at="/);
});

test("a time to wait is written as the language writes it", () => {
  const again = (retryAfterSeconds: number, language: string) => {
    const page = html({ kind: "tooManyJoins", retryAfterSeconds }, language);
    return /<p>([^<]+)<\/p>/.exec(page)?.[1];
  };
  assert.equal(again(47, "en"), "This page will try again automatically in 47 seconds.");
  assert.equal(again(150, "en"), "This page will try again automatically in 3 minutes.");
  assert.equal(again(0.2, "en"), "This page will try again automatically in 1 second.");
  assert.equal(again(120, "de"), "Diese Seite versucht es in 2 Minuten automatisch erneut.");
  assert.equal(again(120, "ru"), "Страница автоматически попробует снова через 2 минуты.");
  assert.doesNotMatch(html({ kind: "tooManyJoins" }), /try again automatically/);
  for (const language of languages().keys()) assert.doesNotMatch(again(30, language)!, /[{}]|undefined/);
});

test("a page reloads automatically where that helps, and nowhere else", () => {
  const refresh = (problem: Partial<ErrorPage> & Pick<ErrorPage, "kind">) => {
    const headers = headersOf(problem);
    return headers.includes("Refresh") ? Number(headerIn(headers, "Refresh")) : null;
  };
  assert.equal(refresh({ kind: "checking" }), 2);
  assert.equal(refresh({ kind: "checking", retryAfterSeconds: 0.9 }), 1);
  assert.equal(refresh({ kind: "tooManyJoins", retryAfterSeconds: 47 }), 47);
  assert.equal(refresh({ kind: "tooManyJoins", retryAfterSeconds: 47, now: 999 }), 50);
  assert.equal(refresh({ kind: "opensLater", at: NOW + 12_000, now: NOW }), 12);
  assert.equal(refresh({ kind: "opensLater", at: NOW - 1, now: NOW }), 1);
  assert.equal(refresh({ kind: "opensLater", at: NOW + 86_400_000, now: NOW }), 300);
  assert.equal(refresh({ kind: "opensLater" }), 300);
  const others = KINDS.filter((kind) => !["checking", "tooManyJoins", "opensLater"].includes(kind));
  for (const kind of others)
    assert.equal(refresh({ kind, at: NOW + 1_000, now: NOW, retryAfterSeconds: 1 }), null, kind);
});

test("pages that await an opening do not all reload in the same second, nor before it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999 }), fc.integer({ min: 1, max: 299_000 }), (part, leftMs) => {
      const at = NOW + part + leftMs;
      const seconds = Number(headerIn(headersOf({ kind: "opensLater", at, now: NOW + part }), "Refresh"));
      assert.ok(seconds * 1_000 >= leftMs && seconds * 1_000 < leftMs + 4_000, `${seconds}`);
    }),
  );
  const spreads = [0, 250, 500, 750].map((part) =>
    headerIn(headersOf({ kind: "opensLater", at: NOW + 60_000 + part, now: NOW + part }), "Refresh"),
  );
  assert.deepEqual(spreads, ["60", "61", "62", "63"]);
});

test("a link has the kind's own text in the visitor's language, or the one given", () => {
  const link = { href: "/shop?a=1&b=2" };
  const everybody = /<a class="button" href="\/shop\?a=1&amp;b=2">Join the line like everyone else<\/a>/;
  assert.match(html({ kind: "inviteUsed", link }), everybody);
  assert.match(html({ kind: "codeBad", link }), everybody);
  assert.match(html({ kind: "codeBad", link }, "sv"), />Ställ dig i kön som alla andra</);
  assert.match(html({ kind: "wrongBrowser", link: { href: "" } }), /href="">Join the line again</);
  assert.match(html({ kind: "ended", link: { href: "/", text: "<Home>" } }), /href="\/">&lt;Home&gt;</);
  assert.doesNotMatch(html({ kind: "inviteUsed" }), /<a /);
});

test("a link never leads to another site", () => {
  const starts = fc.constantFrom(
    "//",
    "/\\",
    "\\\\",
    "https://",
    "javascript:",
    " //",
    "\t//",
    "///",
    "?",
    "",
    "/",
  );
  fc.assert(
    fc.property(starts, fc.string(), (start, rest) => {
      const page = html({ kind: "codeBad", link: { href: start + rest } });
      const href = /<a class="button" href="([^"]*)">/.exec(page)![1]!;
      const plain = href.replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => {
        return { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" }[name as "amp"]!;
      });
      assert.equal(new URL(plain, "https://shop.example/here").origin, "https://shop.example");
    }),
  );
  assert.match(html({ kind: "codeBad", link: { href: `/${"x".repeat(5_000)}` } }), /href="">/);
});

test("the task has its challenge as data, words for those without JavaScript, and a script that may join", () => {
  const problem = { kind: "proofOfWork", work: { ...WORK, challenge: '"><script>' } } as const;
  const page = html(problem);
  assert.match(page, /data-room="shop" data-challenge="&quot;&gt;&lt;script&gt;" data-bits="14" hidden>/);
  assert.match(page, /<noscript><p class="notice">JavaScript is off/);
  assert.equal(page.match(/<script\b/g)?.length, 1);
  assert.match(headerIn(headersOf(problem), "Content-Security-Policy"), /connect-src 'self'/);
});

test("a program is told the instant, the wait and the task as values", () => {
  const document = (problem: Partial<ErrorPage> & Pick<ErrorPage, "kind">) =>
    JSON.parse(
      renderProblem("application/json", "en", { status: 403, id: "", ...problem }).body.toString(),
    ) as Record<string, unknown>;
  assert.equal(document({ kind: "opensLater", at: NOW }).at, "2030-01-31T13:05:00.000Z");
  assert.equal(document({ kind: "tooManyJoins", retryAfterSeconds: 47 }).retryAfterSeconds, 47);
  assert.deepEqual(document({ kind: "proofOfWork", work: WORK }).work, { challenge: "slip-1", bits: 14 });
  assert.deepEqual(Object.keys(document({ kind: "ended" })), ["title", "status", "detail", "kind"]);
});

test("without an id there is no reference", () => {
  assert.doesNotMatch(html({ kind: "ended", id: "" }), /Reference/);
  assert.match(html({ kind: "ended" }), /Reference: k3f9 \(403\)/);
});

test("the headers allow exactly the scripts of the page, and none where there are none", () => {
  const policyOf = (problem: Partial<ErrorPage> & Pick<ErrorPage, "kind">) =>
    headerIn(headersOf(problem), "Content-Security-Policy");
  for (const problem of [
    { kind: "opensLater", at: NOW, now: NOW },
    { kind: "visitsUsed", at: NOW },
    { kind: "proofOfWork", work: WORK },
  ] as const) {
    const script = /<script type="module">(.*?)<\/script>/s.exec(html(problem))![1]!;
    const hash = createHash("sha256").update(script).digest("base64");
    assert.ok(policyOf(problem).includes(` script-src 'sha256-${hash}';`), problem.kind);
    assert.doesNotMatch(policyOf(problem), /unsafe|https:|\*/);
  }
  assert.doesNotMatch(policyOf({ kind: "opensLater", at: NOW, now: NOW }), /connect-src/);
  for (const kind of KINDS) {
    assert.doesNotMatch(policyOf({ kind }), /script-src/);
    assert.doesNotMatch(html({ kind }), /<script/);
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
