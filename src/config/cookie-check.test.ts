import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCookieDomain, cookieCautions } from "./cookie-check.ts";
import { readDomain, readOrigin } from "./route.ts";
import { type RoomInput, roomSchema } from "./schema.ts";

const room = (input: RoomInput) => roomSchema.parse({ totalActiveUsers: 5, ...input });
const problemsOf = (input: RoomInput) =>
  checkCookieDomain(room(input), ["rooms", "shop"]).map(({ message }) => message);
const hintsOf = (input: RoomInput) => cookieCautions(room(input), ["rooms", "shop"]).map(({ hint }) => hint);

const WWW = { host: "www.example.com", additionalRoutes: [{ host: "shop.example.com" }] };

test("a room over several hosts of one site is told of the domain its cookie should be for", () => {
  assert.deepEqual(hintsOf(WWW), ["Set cookieDomain: example.com."]);
  assert.deepEqual(hintsOf({ ...WWW, cookieDomain: "example.com" }), []);
  assert.deepEqual(
    hintsOf({ host: "a.example.com", additionalRoutes: [{ host: "a.example.com", path: "/x" }] }),
    [],
  );
  assert.deepEqual(hintsOf({ host: "a.example", additionalRoutes: [{ host: "b.test" }] }), [
    "No cookie reaches both. Give each a room of its own.",
  ]);
  assert.deepEqual(hintsOf({ host: "*.example.com", additionalRoutes: [{ host: "example.com" }] }), [
    "Set cookieDomain: example.com.",
  ]);
});

test("a cookie that browsers would throw away at one of the hosts is refused", () => {
  assert.deepEqual(problemsOf({ ...WWW, cookieDomain: "example.com" }), []);
  assert.deepEqual(problemsOf({ host: "example.com", cookieDomain: "example.com" }), []);
  assert.deepEqual(problemsOf({ cookieDomain: "example.com" }), [], "a room for every host");
  assert.match(problemsOf({ ...WWW, cookieDomain: "shop.example.com" })[0]!, /also for www\.example\.com/);
  assert.match(problemsOf({ host: "notexample.com", cookieDomain: "example.com" })[0]!, /notexample\.com/);
});

test("domains and origins are read in the one form that is compared", () => {
  assert.deepEqual(readDomain(".Example.COM"), { value: "example.com" });
  for (const bad of [
    "com",
    "localhost",
    "*.example.com",
    "10.0.0.1",
    "[::1]",
    "example.com:8080",
    "http://a.b",
    "",
  ])
    assert.ok("wrong" in readDomain(bad), bad);
  assert.deepEqual(readOrigin("HTTPS://App.Example.com:443"), { value: "https://app.example.com" });
  assert.deepEqual(readOrigin("capacitor://localhost"), { value: "capacitor://localhost" });
  for (const bad of [
    "*",
    "null",
    "https://*.example.com",
    "https://a.example/x",
    "app.example.com",
    "a b://c",
    "",
  ])
    assert.ok("wrong" in readOrigin(bad), bad);
});
