import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DEFAULT_RULES } from "../core/rules.ts";
import { formatListen, parseListen } from "./kinds.ts";
import { LANGUAGES } from "./languages.ts";
import { isMapping, type Setting, settingsOutline } from "./outline.ts";
import { toRules } from "./rules.ts";
import { originSchema, roomSchema, settingsSchema } from "./schema.ts";

test("a room that sets nothing has the rules that core has as defaults", () => {
  assert.deepEqual(toRules(roomSchema.parse({})), DEFAULT_RULES);
});

test("every rule comes from its setting", () => {
  const room = roomSchema.parse({
    totalActiveUsers: 1,
    newUsersPerMinute: 2,
    paused: true,
    sessionDuration: "3s",
    disableSessionRenewal: true,
    claimWindow: "4s",
    lapseAfter: "5s",
    ticketTtl: "6s",
    pollBudget: 7,
    message: "eight",
  });
  assert.deepEqual(toRules(room), {
    totalActiveUsers: 1,
    newUsersPerMinute: 2,
    paused: true,
    sessionDurationMs: 3_000,
    disableSessionRenewal: true,
    claimWindowMs: 4_000,
    lapseAfterMs: 5_000,
    ticketTtlMs: 6_000,
    pollBudgetPerSecond: 7,
    message: "eight",
  });
});

test("settings that set nothing have the documented defaults", () => {
  const settings = settingsSchema.parse({});
  assert.deepEqual(settings.listen, { host: "", port: 8_080 });
  assert.deepEqual(settings.control.listen, { host: "127.0.0.1", port: 8_081 });
  assert.equal(settings.limits.headerBytes, 16_384);
  assert.equal(settings.limits.headersTimeoutMs, 15_000);
  const origin = originSchema.parse({ addresses: ["http://a"] });
  assert.deepEqual(
    [
      origin.hostHeader,
      origin.connectTimeout,
      origin.headersTimeout,
      origin.idleTimeout,
      origin.connectionsMax,
    ],
    ["preserve", 5_000, 60_000, 300_000, 512],
  );
});

test("every setting says what it means and what it should be", () => {
  const walk = (setting: Setting, path: string): void => {
    for (const child of setting.children) {
      const name = `${path}${child.key}`;
      assert.ok(child.description.length > 10, `${name} has no description`);
      assert.ok(isMapping(child) || child.shape !== "", `${name} does not say what it should be`);
      walk(child, `${name}.`);
    }
    if (setting.entry) walk(setting.entry, `${path}<entry>.`);
  };
  walk(settingsOutline(), "");
});

test("addresses to listen on are read in each of their forms", () => {
  assert.deepEqual(parseListen("127.0.0.1:8080"), { host: "127.0.0.1", port: 8_080 });
  assert.deepEqual(parseListen(":8080"), { host: "", port: 8_080 });
  assert.deepEqual(parseListen("8080"), { host: "", port: 8_080 });
  assert.deepEqual(parseListen("[::1]:8080"), { host: "::1", port: 8_080 });
  assert.deepEqual(parseListen("LocalHost:0"), { host: "localhost", port: 0 });
  for (const wrong of [
    "",
    "localhost",
    "1.1.1.1",
    "a:b",
    ":65536",
    "::1:8080",
    "http://a:80",
    "a b:80",
    "-1",
  ]) {
    assert.equal(parseListen(wrong), null, wrong);
  }
  for (const text of ["127.0.0.1:8080", ":8080", "[::1]:8080"])
    assert.equal(formatListen(parseListen(text)!), text);
});

test("the languages in the list are those the page has texts for", () => {
  const files = readdirSync(join(import.meta.dirname, "..", "gateway", "page", "languages"));
  assert.deepEqual(files.map((file) => file.replace(".json", "")).toSorted(), [...LANGUAGES].toSorted());
});

test("a language tag is shortened until the page speaks it", () => {
  const language = (defaultLanguage: string) =>
    roomSchema.safeParse({ page: { defaultLanguage } }).data?.page.defaultLanguage;
  assert.deepEqual(["sv", "pt-BR", "ZH-hant-HK", "en-GB-oed"].map(language), ["sv", "pt", "zh-Hant", "en"]);
  assert.deepEqual(["xx", "", "-", "english"].map(language), [undefined, undefined, undefined, undefined]);
});

test("a logo is a picture in itself, an address or a path, and nothing else", () => {
  const isLogo = (logo: string) => roomSchema.safeParse({ page: { logo } }).success;
  for (const logo of ["data:image/png;base64,AAAA", "https://a.example/l.svg", "/logo.svg"])
    assert.ok(isLogo(logo), logo);
  for (const logo of [
    "javascript:alert(1)",
    "data:text/html,x",
    "//a.example/l",
    "https://",
    "/a b",
    '/a"b',
    "logo.svg",
    "",
  ]) {
    assert.ok(!isLogo(logo), logo);
  }
});

test("hosts and paths of a room are in their normal form", () => {
  const room = roomSchema.parse({
    host: "Shop.Example.com.",
    path: "/Tickets/",
    additionalRoutes: [{ host: "*.EXAMPLE.com" }, { path: "/%61" }],
  });
  assert.deepEqual([room.host, room.path], ["shop.example.com", "/Tickets"]);
  assert.deepEqual(room.additionalRoutes, [
    { host: "*.example.com", path: "/" },
    { host: null, path: "/a" },
  ]);
});
