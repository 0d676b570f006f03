/** What carries a visitor's token must not be kept by a cache that serves others. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStage } from "./stage.ts";
import type { Answer } from "./visitor.ts";

/** True when a shared cache may not store the answer (RFC 9111, section 3). */
function isPersonal({ headers }: Answer): boolean {
  const control = headers["cache-control"] ?? "";
  const isTargeted = "cdn-cache-control" in headers || "surrogate-control" in headers;
  return /\b(?:no-store|private)\b/.test(control) && !/\bpublic\b|\bs-maxage\b/.test(control) && !isTargeted;
}

for (const [what, sent, kept] of [
  ["for everyone", { "cache-control": "public, max-age=600" }, /max-age=600/],
  ["for shared caches", { "cache-control": "s-maxage=600, max-age=5, immutable" }, /max-age=5, immutable/],
  ["nobody spoke of", { "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT" }, /private/],
  ["already kept apart", { "cache-control": "private, max-age=60" }, /max-age=60/],
  ["in part kept apart", { "cache-control": 'private="x-a, x-b", max-age=60' }, /max-age=60/],
  ["not to be stored", { "cache-control": "no-store" }, /no-store/],
  [
    "with words for the network between",
    { "cache-control": "max-age=1", "cdn-cache-control": "max-age=600", "surrogate-control": "max-age=600" },
    /max-age=1/,
  ],
] as const) {
  test(`a page ${what} is not for shared caches when it carries a new pass, and is as the origin said without`, async (t) => {
    const stage = await openStage(t, {
      room: { totalActiveUsers: 10, sessionDuration: "100s" },
      answer: (_request, response) => response.setHeaders(new Map(Object.entries(sent))).end("the site"),
    });
    const visitor = stage.visitor();
    const first = await visitor.open();
    assert.equal(first.headers["set-cookie"]?.length, 1);
    assert.ok(isPersonal(first), `${first.headers["cache-control"]}`);
    assert.match(first.headers["cache-control"]!, kept);
    const second = await visitor.open();
    assert.equal(second.headers["set-cookie"], undefined);
    for (const [name, value] of Object.entries(sent)) assert.equal(second.headers[name], value);
    stage.world.pass(20_000);
    const renewed = await visitor.open();
    assert.equal(renewed.headers["set-cookie"]?.length, 1);
    assert.ok(isPersonal(renewed));
  });
}

test("a program's token is not for shared caches either", async (t) => {
  const stage = await openStage(t, {
    room: { totalActiveUsers: 10 },
    answer: (_request, response) => response.setHeader("cache-control", "public, max-age=600").end(),
  });
  const answer = await stage.visitor().ask("/", { headers: { "fairgate-token": "new" } });
  assert.ok(answer.headers["fairgate-token"]);
  assert.ok(isPersonal(answer));
});
