import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createTrust } from "../gateway/proxy/trust.ts";
import { formatHostPort, parseListen } from "./kinds.ts";
import { isMappingSetting, type Setting, settingAt, settingsOutline } from "./outline.ts";
import { originSchema, roomSchema, settingsSchema } from "./schema.ts";

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

test("an access log's short form is where it goes, and no word that may mean something else", () => {
  const read = (accessLog: string) => settingsSchema.safeParse({ accessLog }).data?.accessLog;
  for (const to of ["stdout", "./path.log", "access.log", "/var/log/access", "../a"])
    assert.deepEqual(read(to), { to, format: "combined" });
  for (const word of ["", "file", "json", "on", "off", "stderr", `./${"x".repeat(5_000)}`])
    assert.equal(read(word), undefined, word);
  assert.deepEqual(settingsSchema.parse({ accessLog: { to: "file" } }).accessLog, {
    to: "file",
    format: "combined",
  });
});

test("every setting says what it means and what it should be", () => {
  const walk = (setting: Setting, path: string): void => {
    for (const child of setting.children) {
      const name = `${path}${child.key}`;
      assert.ok(child.description.length > 10, `${name} has no description`);
      assert.ok(isMappingSetting(child) || child.shape !== "", `${name} does not say what it should be`);
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
    assert.equal(formatHostPort(parseListen(text)!), text);
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

test("proxies are addresses and networks, and none is an IPv4 address written as IPv6", () => {
  const isProxy = (proxy: string) => settingsSchema.safeParse({ trustedProxies: [proxy] }).success;
  for (const proxy of ["10.0.0.1", "10.0.0.0/8", "::1", "fd00::/8", "::ffff:a00:1/8", "fe80::1"])
    assert.ok(isProxy(proxy), proxy);
  for (const proxy of ["::ffff:10.0.0.1/8", "::FFFF:10.0.0.1/104", "::ffff:10.0.0.1", "::10.0.0.1", "10.0.0"])
    assert.ok(!isProxy(proxy), proxy);
});

test("every proxy that is taken can be trusted", () => {
  const ip = fc.oneof(
    fc.ipV4(),
    fc.ipV6(),
    fc.ipV4().map((address) => `::ffff:${address}`),
  );
  const network = fc.tuple(ip, fc.option(fc.nat(140)));
  let taken = 0;
  fc.assert(
    fc.property(network, ([address, prefix]) => {
      const written = prefix === null ? address : `${address}/${prefix}`;
      const parsed = settingsSchema.safeParse({ trustedProxies: [written] });
      if (!parsed.success) return;
      taken++;
      createTrust(parsed.data.trustedProxies);
    }),
    { numRuns: 1_000 },
  );
  assert.ok(taken > 100, `only ${taken} were taken`);
});

test("percentages and factors stay within their bounds", () => {
  const standby = (settings: object) => roomSchema.safeParse({ standby: settings }).success;
  const adaptive = (settings: object) => roomSchema.safeParse({ adaptive: settings }).success;
  assert.ok(standby({ originErrors: "1%" }) && standby({ originErrors: "100%" }));
  assert.ok(!standby({ originErrors: "0.99%" }) && !standby({ originErrors: "100.01%" }));
  assert.ok(adaptive({ latencyFactor: 1.1, errors: "0.1%" }));
  assert.ok(!adaptive({ latencyFactor: 1 }) && !adaptive({ latencyFactor: Number.NaN }));
});

const EVENT = {
  name: "sale",
  eventStartTime: "2026-12-01T10:00:00Z",
  eventEndTime: "2026-12-01T12:00:00Z",
};

test("an event that says nothing of the room holds nothing of it", () => {
  const [event] = roomSchema.parse({ events: [EVENT] }).events;
  assert.deepEqual(event, {
    name: "sale",
    prequeueStartTime: null,
    eventStartTime: Date.UTC(2026, 11, 1, 10),
    eventEndTime: Date.UTC(2026, 11, 1, 12),
    shuffleAtEventStart: false,
    suspended: false,
  });
});

test("an event may say what its room may say, but for what finds the room, its visitors, what rooms share or sell, and the line", () => {
  const inEvent = settingAt(settingsOutline(), ["rooms", "main", "events", 0])!.children;
  const inRoom = settingAt(settingsOutline(), ["rooms", "main"])!.children;
  const names = new Set(inEvent.map(({ key }) => key));
  assert.deepEqual(
    inRoom.map(({ key }) => key).filter((key) => !names.has(key)),
    [
      ...["host", "path", "additionalRoutes", "origin", "budget", "guaranteed"],
      ...["line", "shards", "peek", "shop", "cookieDomain", "corsOrigins", "cookieAttributes", "events"],
    ],
  );
});

test("a setting has the same words in an event as in its room", () => {
  const sameWords = (inEvent: Setting, inRoom: Setting): void => {
    const { shape, kind, isNullable } = inRoom;
    assert.deepEqual(
      [inEvent.shape, inEvent.kind, inEvent.isNullable],
      [shape, kind, isNullable],
      inRoom.key,
    );
    assert.ok(inEvent.description.length > 10, inRoom.key);
    for (const child of inEvent.children)
      sameWords(child, inRoom.children.find(({ key }) => key === child.key)!);
  };
  const inEvent = settingAt(settingsOutline(), ["rooms", "main", "events", 0])!.children;
  const inRoom = settingAt(settingsOutline(), ["rooms", "main"])!.children;
  const shared = inEvent.filter(({ key, isRequired, default: preset }) => {
    return !isRequired && preset === undefined && inRoom.some((setting) => setting.key === key);
  });
  assert.ok(shared.length > 25, `only ${shared.length}`);
  for (const setting of shared) sameWords(setting, inRoom.find(({ key }) => key === setting.key)!);
});

test("a room has at most twenty events", () => {
  const events = (many: number) =>
    Array.from({ length: many }, (_, index) => ({ ...EVENT, name: `e${index}` }));
  assert.ok(roomSchema.safeParse({ events: events(20) }).success);
  assert.ok(!roomSchema.safeParse({ events: events(21) }).success);
});

test("lanes keep the order in which they are written", () => {
  const room = roomSchema.parse({ lanes: { vip: {}, press: {}, a1: {} } });
  assert.deepEqual(Object.keys(room.lanes), ["vip", "press", "a1"]);
});
