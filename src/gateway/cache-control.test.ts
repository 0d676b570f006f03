import assert from "node:assert/strict";
import { test } from "node:test";
import { isForSharedCaches, personalCacheControl } from "./cache-control.ts";

test("what was said for shared caches is taken back, and the rest stays", () => {
  for (const [given, sent] of [
    ["", "private"],
    ["public", "private"],
    ["public, max-age=600", "private, max-age=600"],
    ["Public,S-MaxAge=600 , immutable", "private, immutable"],
    ["private", "private"],
    ['private="x-a, public", no-cache="x-b, x-c"', 'private, no-cache="x-b, x-c"'],
    ["no-store", "private, no-store"],
    ["max-age=5, stale-while-revalidate=30", "private, max-age=5, stale-while-revalidate=30"],
    [",,", "private"],
  ] as const)
    assert.equal(personalCacheControl(given), sent, given);
});

test("headers for caches in the network are known, and Cache-Control itself is not one of them", () => {
  for (const name of ["CDN-Cache-Control", "cloudflare-cdn-cache-control", "Surrogate-Control"])
    assert.ok(isForSharedCaches(name), name);
  for (const name of ["Cache-Control", "Surrogate-Key", "Set-Cookie", "X-Cache"])
    assert.ok(!isForSharedCaches(name), name);
});
