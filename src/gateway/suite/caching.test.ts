/** What lies behind a line must not be kept by a cache that serves others, with a visitor's token in it or without. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStage } from "../../testing/gateway/stage.ts";
import type { HttpAnswer as Answer } from "../../testing/gateway/visitor.ts";

/** True when a shared cache may not store the answer (RFC 9111, section 3). */
function isPersonal({ headers }: Answer): boolean {
  const control = headers["cache-control"] ?? "";
  const isTargeted = TARGETED.some((name) => name in headers);
  return /\b(?:no-store|private)\b/.test(control) && !/\bpublic\b|\bs-maxage\b/.test(control) && !isTargeted;
}

const TARGETED = ["cdn-cache-control", "surrogate-control", "edge-control", "x-accel-expires"];

for (const [what, sent, kept] of [
  ["for everyone", { "cache-control": "public, max-age=600" }, /max-age=600/],
  ["for shared caches", { "cache-control": "s-maxage=600, max-age=5, immutable" }, /max-age=5, immutable/],
  ["nobody spoke of", { "last-modified": "Thu, 01 Jan 2026 00:00:00 GMT" }, /private/],
  ["already kept apart", { "cache-control": "private, max-age=60" }, /max-age=60/],
  ["in part kept apart", { "cache-control": 'private="x-a, x-b", max-age=60' }, /max-age=60/],
  ["not to be stored", { "cache-control": "no-store" }, /no-store/],
  [
    "with words for the network between",
    {
      "cache-control": "max-age=1",
      ...Object.fromEntries(TARGETED.map((name) => [name, "max-age=600"])),
    },
    /max-age=1/,
  ],
] as const) {
  test(`a page ${what} is not for shared caches, with a new pass in it or without`, async (t) => {
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
    assert.ok(isPersonal(second), `${second.headers["cache-control"]}`);
    assert.match(second.headers["cache-control"]!, kept);
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

test("what needs no pass is as the origin said: outside every room, past the line, and in a suspended room", async (t) => {
  const sent = { "cache-control": "public, max-age=600", "cdn-cache-control": "max-age=900" };
  const stage = await openStage(t, {
    settings: {
      rooms: {
        main: { path: "/shop", totalActiveUsers: 10, bypass: [{ name: "assets", path: ["/shop/assets"] }] },
        off: { path: "/off", suspended: true, totalActiveUsers: 10 },
      },
    },
    answer: (_request, response) => response.setHeaders(new Map(Object.entries(sent))).end("the site"),
  });
  const visitor = stage.visitor();
  assert.ok(isPersonal(await visitor.open("/shop")));
  assert.ok(visitor.cookies.size > 0);
  for (const path of ["/shop/assets/logo.png", "/off", "/elsewhere"]) {
    const { headers } = await visitor.open(path);
    for (const [name, value] of Object.entries(sent)) assert.equal(headers[name], value, path);
  }
});

test("a page that is let through while the engine is away is not for shared caches", async (t) => {
  const stage = await openStage(t, {
    room: { totalActiveUsers: 10, engineFailure: "open" },
    answer: (_request, response) => response.setHeader("cache-control", "public").end("the site"),
  });
  stage.engine.broken = "throws";
  const answer = await stage.visitor().open();
  assert.equal(answer.text, "the site");
  assert.ok(isPersonal(answer), `${answer.headers["cache-control"]}`);
});
