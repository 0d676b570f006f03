import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { roomSchema } from "../config/schema.ts";
import { createRouter, type RouterSettings } from "./route.ts";

interface WrittenRoute {
  host?: string;
  path?: string;
}

type Rooms = Record<string, WrittenRoute & { additionalRoutes?: WrittenRoute[] }>;

function routerFor(routes: Rooms, settings: Partial<RouterSettings> = {}) {
  const rooms = Object.fromEntries(
    Object.entries(routes).map(([name, route]) => [name, roomSchema.parse(route)]),
  );
  return createRouter({ rooms, oddPaths: "normalize", otherHosts: "refuse", ...settings });
}

/** Room and target, "outside" and target, or the status. */
function asker(routes: Rooms, settings: Partial<RouterSettings> = {}) {
  const router = routerFor(routes, settings);
  return (host: string, target: string): string => {
    const routed = router.route(host, target);
    return "status" in routed ? String(routed.status) : `${routed.room ?? "outside"} ${routed.target}`;
  };
}

test("the longest path wins, by whole names", () => {
  const ask = asker({ all: {}, shop: { path: "/shop" }, tickets: { path: "/shop/tickets" } });
  const expected = {
    "/": "all",
    "/shop": "shop",
    "/shop/": "shop",
    "/shop?x=/shop/tickets": "shop",
    "/SHOP/Tickets/7": "tickets",
    "/shopping": "all",
  };
  for (const [url, room] of Object.entries(expected)) assert.equal(ask("a.example", url), `${room} ${url}`);
});

test("host matters before path, exact before wildcard before every host, without regard to case or port", () => {
  const ask = asker({
    any: { path: "/very/long/path" },
    wild: { host: "*.example.com" },
    deep: { host: "*.eu.example.com", path: "/deep" },
    exact: { host: "shop.example.com", additionalRoutes: [{ host: "www.example.org", path: "/sale" }] },
  });
  const cases = [
    ["SHOP.Example.COM:8443", "/", "exact /"],
    ["shop.example.com.", "/x", "exact /x"],
    ["www.example.com", "/very/long/path", "wild /very/long/path"],
    ["a.eu.example.com", "/deep/1", "deep /deep/1"],
    ["a.eu.example.com", "/", "wild /"],
    ["example.com", "/very/long/path/1", "any /very/long/path/1"],
    ["www.example.org", "/sale/1", "exact /sale/1"],
    ["www.example.org", "/other", "outside /other"],
    ["www.example.org", "/very/long/path", "any /very/long/path"],
  ] as const;
  for (const [host, url, expected] of cases) assert.equal(ask(host, url), expected, host + url);
});

test("a path is routed and sent in its plain form", () => {
  const ask = asker({ tickets: { path: "/tickets" }, buy: { path: "/buy" } });
  const expected = {
    "/tickets//../buy": "buy /buy",
    "/tickets/..": "outside /",
    "/tickets/%2e%2e": "outside /",
    "/tickets/x\\..\\..": "outside /",
    "/x/../tickets": "tickets /tickets",
    "//tickets?a=//b": "tickets /tickets?a=//b",
    "/%74ickets": "tickets /tickets",
    "/\\tickets": "tickets /tickets",
    "/caf\xc3\xa9": "outside /caf%C3%A9",
  };
  for (const [url, answer] of Object.entries(expected)) assert.equal(ask("h", url), answer, url);
});

test("what origins read differently is in the room in every reading", () => {
  const ask = asker({ tickets: { path: "/tickets" } });
  const inside = [
    ...["/tickets%2F1", "/tickets%5C1", "/tickets;v=1", "/tickets%3Bv", "/tickets%3Fx", "/tickets%23x"],
    ...["/;x/tickets", "/%2Ftickets", "/%5Ctickets", "/%20/tickets", "/tick%2565ts", "/%2574ickets"],
    ...[
      "/index.php/tickets",
      "/a.txt/tickets",
      "/tickets%252e2e",
      "/index.php%2Ftickets",
      "/index.php;x/tickets",
      "/tickets:x",
      "/tickets.",
    ],
    ...["/tickets%20", "/tickets+", "/t%C4%B1ckets", "/t%C3%AFckets", "/tickets/a%2Fb", "/tickets/a;b"],
    ...[
      "/tickets%EF%BC%8F1",
      "/tickets%EF%BC%9Bv",
      "/TICKETS%2f1",
      "/tickets~",
      "/tickets~%2Fx",
      "/tickets!x",
      "/tickets%20x",
    ],
  ];
  for (const url of inside) assert.match(ask("h", url), /^tickets /, url);
  const outside = [
    ...[
      "/",
      "/ticket",
      "/ticketsale",
      "/tickets-2",
      "/tickets_2",
      "/tickets.css",
      "/tickets%C3%A9",
      "/x/tickets",
      "/?/tickets",
      "/x%2Ftickets",
      "/x;y/tickets",
      "/a%25",
    ],
    ...[
      "/index.jsp;jsessionid=1",
      "/;jsessionid=1",
      "/users/jane.doe/tickets",
      "/x/logo.png/tickets",
      "/v1.0/tickets",
      "/proxy/https:%2F%2Fa%2Ftickets",
    ],
  ];
  for (const url of outside) assert.match(ask("h", url), /^outside /, url);
});

test("a script in a folder may route by what follows it, so that is in the room too", () => {
  const ask = asker({ tickets: { path: "/tickets" }, app: { path: "/app" } });
  for (const url of [
    "/x/index.php/tickets",
    "/x/y/a.cgi/tickets/1",
    "/x/index.php%2Ftickets",
    "/x/a.PHP/TICKETS",
  ])
    assert.match(ask("h", url), /^tickets /, url);
  assert.equal(ask("h", "/app/index.php/tickets"), "app /app/index.php/tickets");
  assert.equal(ask("h", "/x/index.php/other"), "outside /x/index.php/other");
  const both = asker({ all: {}, tickets: { path: "/tickets" } });
  assert.equal(both("h", "/x/index.php/tickets"), "400");
  assert.equal(both("h", "/x/index.php/other"), "all /x/index.php/other");
});

test("a path that could be in one of two rooms is refused, and only such a one", () => {
  const ask = asker({ all: {}, tickets: { path: "/tickets" }, vip: { path: "/tickets/vip" } });
  for (const url of [
    "/tickets;v=1",
    "/tickets%2F1",
    "/tickets/vip%2F",
    "/tickets/;/vip",
    "/index.php/tickets",
  ])
    assert.equal(ask("h", url), "400", url);
  const good = {
    "/tickets/1;v": "tickets",
    "/tickets/a%2Fb": "tickets",
    "/tickets/vip/a%2Fb": "vip",
    "/;jsessionid=1": "all",
    "/index.php/wiki": "all",
    "/x%2Ftickets": "all",
  };
  for (const [url, room] of Object.entries(good)) assert.equal(ask("h", url), `${room} ${url}`);
});

test("a room whose path names a file has that path as it is written", () => {
  const ask = asker({ all: {}, wiki: { path: "/index.php/wiki" } });
  assert.equal(ask("h", "/index.php/wiki/A"), "wiki /index.php/wiki/A");
  assert.equal(ask("h", "/index.php/other"), "all /index.php/other");
  assert.equal(ask("h", "/index.php%2Fwiki"), "400");
});

test("hidden dot segments and malformed paths are refused", () => {
  const ask = asker({ tickets: { path: "/tickets" } });
  for (const url of [
    "/tickets%2fx%5c..%5c",
    "/a/..;/tickets",
    "/%252e%252e/tickets",
    "/%00",
    "/%zz",
    "*",
    "",
    "/a#b",
  ])
    assert.equal(ask("h", url), "400", url);
});

test("`oddPaths: refuse` refuses every path that is not plain, and no other", () => {
  const ask = asker({ tickets: { path: "/tickets" } }, { oddPaths: "refuse" });
  const odd = ["/a/..", "//a", "/a\\b", "/a%2Fb", "/a%5Cb", "/%2e", "/%41", "/a;b", "/\xc3\xa9", "/a%2541"];
  for (const url of odd) assert.equal(ask("h", url), "400", url);
  for (const url of ["/a/b.c", "/a%20b", "/caf%C3%A9", "/a?b=//../;", "/.well-known/x", "/100%25"])
    assert.equal(ask("h", url), `outside ${url}`);
  const router = routerFor({ tickets: { path: "/tickets" } }, { oddPaths: "refuse" });
  assert.deepEqual(router.route("h", "/a/../b"), { status: 400, reason: "path with a dot segment" });
});

test("where no path of a host decides, the target is not touched", () => {
  const odd = ["/a/../b", "//a", "/a\\b", "/a%2f..", "/%", "/\xff", "/..;/", "*", ""];
  const rooms = { shop: { host: "shop.example" }, path: { host: "path.example", path: "/x" } };
  const ask = asker(rooms, { oddPaths: "refuse" });
  for (const url of odd) assert.equal(ask("shop.example", url), `shop ${url}`);
  assert.equal(ask("path.example", "/a/../b"), "400");
  // Several paths of one room decide nothing either.
  const same = asker({ all: { additionalRoutes: [{ path: "/x" }, { host: "a.example", path: "/y" }] } });
  for (const url of odd) assert.equal(same("a.example", url), `all ${url}`);
});

test("one room for everything needs no look", () => {
  assert.equal(routerFor({ main: {} }).only, "main");
  assert.equal(routerFor({ main: { path: "/a" } }).only, null);
  assert.equal(routerFor({ main: { host: "a.example" } }).only, null);
  assert.equal(routerFor({ main: {}, other: { path: "/a" } }).only, null);
});

test("a host that no room is for gets 421, in every spelling, or the origin where that is set", () => {
  const rooms = { shop: { host: "shop.example.com" }, wild: { host: "*.example.org" } };
  const ask = asker(rooms);
  const pass = asker(rooms, { otherHosts: "pass" });
  for (const host of [
    "",
    "10.0.0.1",
    "example.com",
    "shop.example.com.evil",
    "xshop.example.com",
    "[::1]:80",
  ]) {
    assert.equal(ask(host, "/"), "421", host);
    assert.equal(pass(host, "/a/../b"), "outside /a/../b", host);
  }
  for (const host of [
    "shop.example.com..",
    "shop..example.com",
    "%73hop.example.com",
    "a@shop.example.com",
    ".",
  ]) {
    assert.equal(ask(host, "/"), "400", host);
    assert.equal(pass(host, "/"), "400", host);
  }
  for (const host of ["shop.example.com", "Shop.Example.Com.", "shop.example.com:", "shop.example.com.:99"])
    assert.equal(ask(host, "/"), "shop /", host);
  assert.equal(ask("example.org", "/"), "421");
});

test("an IPv6 host is the same in every spelling", () => {
  const ask = asker({ local: { host: "[::1]" } }, { otherHosts: "pass" });
  for (const host of ["[::1]", "[0:0:0:0:0:0:0:1]:8080", "[::0001]", "[::0.0.0.1]"])
    assert.equal(ask(host, "/"), "local /", host);
});

test("a room for every host takes the others, by its path", () => {
  const ask = asker({ shop: { host: "shop.example" }, drop: { path: "/drop" } });
  assert.equal(ask("other", "/drop/1"), "drop /drop/1");
  assert.equal(ask("other", "/x"), "421");
  assert.equal(ask("shop.example", "/x/../drop"), "shop /x/../drop");
  const all = asker({ shop: { host: "shop.example" }, all: {} });
  assert.equal(all("other", "/x"), "all /x");
  assert.equal(all("", "/x"), "all /x");
  assert.equal(all("shop.example..", "/x"), "400");
});

test("without rooms that are bound to a host, no host is refused", () => {
  const ask = asker({ drop: { path: "/drop" } });
  for (const host of ["", "a..b", "%", "10.0.0.1:80"]) assert.equal(ask(host, "/x"), "outside /x", host);
});

test("what was routed once is routed the same again, as it is sent", () => {
  const router = routerFor({
    all: { path: "/shop" },
    tickets: { path: "/shop/tickets" },
    wiki: { path: "/index.php/wiki" },
  });
  const piece = fc.constantFrom(
    ...[
      "shop",
      "tickets",
      "index.php",
      "wiki",
      "/",
      "/",
      "/",
      "\\",
      ".",
      "..",
      "%2e",
      "%2f",
      "%5c",
      ";",
      "%25",
    ],
    ...["2f", "%3b", "%20", "\xc3\xa9", "%c3%a9", "?", "x"],
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10, size: "max" }), (pieces) => {
      const routed = router.route("h", `/${pieces.join("")}`);
      if (!("status" in routed)) assert.deepEqual(router.route("h", routed.target), routed);
    }),
    { numRuns: 5_000 },
  );
});

/** How origins of all kinds come from a path to the first of its names. None of this is shared with the router. */
const READERS: Readonly<Record<string, (path: string) => string>> = {
  literal: (path) => path.split("/")[1] ?? "",
  decodes: (path) => decoded(path).split("/")[1] ?? "",
  decodesTwice: (path) => decoded(decoded(path)).split("/")[1] ?? "",
  decodesThrice: (path) => decoded(decoded(decoded(path))).split("/")[1] ?? "",
  resolves: (path) => firstOf(path),
  decodesAndResolves: (path) => firstOf(decoded(path)),
  decodesTwiceAndResolves: (path) => firstOf(decoded(decoded(path))),
  resolvesAndDecodes: (path) => decoded(`/${firstOf(path)}`).split("/")[1]!,
  likesBackslashes: (path) => firstOf(decoded(path).replaceAll("\\", "/")),
  dropsParameters: (path) => firstOf(decoded(path.replace(/;[^/]*/g, ""))),
  dropsParametersLate: (path) => firstOf(decoded(path).replace(/;[^/]*/g, "")),
  dropsParametersWithBackslashes: (path) =>
    firstOf(
      decoded(path)
        .replace(/;[^/\\]*/g, "")
        .replaceAll("\\", "/"),
    ),
  cutsAtParameters: (path) => firstOf(decoded(path).split(";")[0]!),
  endsAtNull: (path) => firstOf(decoded(path).split("\0")[0]!),
  parsesAgain: (path) => firstOf(decoded(path).split(/[?#]/)[0]!),
  readsAnAddress: (path) => firstOf(new URL(path, "http://origin").pathname),
  readsADecodedAddress: (path) => {
    const address = decoded(path).replace(/^\/+/, "/");
    return URL.canParse(address, "http://o") ? firstOf(new URL(address, "http://o").pathname) : "";
  },
  ignoresSpaces: (path) =>
    firstOf(
      decoded(path)
        .replace(/ *\/ */g, "/")
        .trim(),
    ),
  hasWindowsNames: (path) =>
    firstOf(decoded(path).replaceAll("\\", "/"))
      .replace(/[. ]+$/, "")
      .split(":")[0]!,
  hasFormPlus: (path) => firstOf(decoded(path.replaceAll("+", " ")).trim()),
  routesBehindScripts: (path) => firstOf(decoded(path).replace(/\/[^/]*\.php(?=\/)/i, "")),
  runsScriptsAnywhere: (path) => firstOf(/\.php(\/.*)$/is.exec(decoded(path))?.[1] ?? path),
  comparesBeginnings: (path) => /^\/+([\w.-]*)/.exec(decoded(path))?.[1] ?? "",
  folds: (path) => firstOf(decoded(path).normalize("NFKC")),
};

function decoded(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (escapes) => {
    return Buffer.from(escapes.replaceAll("%", ""), "hex").toString("utf8");
  });
}

/** The first name once dots are resolved and slashes merged. */
function firstOf(path: string): string {
  const kept: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") kept.pop();
    else if (part !== "." && part !== "") kept.push(part);
  }
  return kept[0] ?? "";
}

test("no reader finds a room in a path that was routed past it", () => {
  const piece = fc.constantFrom(
    ...[
      "tickets",
      "tickets",
      "Tickets",
      "ticket%73",
      "%74ickets",
      "tick%2565ts",
      "x",
      "index.php",
      "a.txt",
      "t%C4%B1ckets",
    ],
    ...[
      "/",
      "/",
      "/",
      "/",
      "//",
      "\\",
      "%2f",
      "%5c",
      "%252f",
      "%255c",
      "%25252f",
      "%ef%bc%8f",
      "%2e",
      "%252e",
      "%25",
    ],
    ...[
      ".",
      "..",
      "..",
      "/../",
      ";",
      ";x",
      "%3b",
      "%253b",
      "%20",
      "+",
      "%00",
      "%3f",
      "%23",
      "%253f",
      "?",
      ":",
      "~",
      "!",
    ],
  );
  const path = fc.array(piece, { maxLength: 8, size: "max" }).map((pieces) => `/${pieces.join("")}`);
  const router = routerFor({ tickets: { path: "/tickets" } });
  let outside = 0;
  fc.assert(
    fc.property(path, (written) => {
      const routed = router.route("h", written);
      if ("status" in routed || routed.room !== null) return;
      outside++;
      const [sent] = routed.target.split("?", 1) as [string];
      for (const [reader, read] of Object.entries(READERS))
        assert.notEqual(
          read(sent).toLowerCase(),
          "tickets",
          `${reader} finds it in ${sent}, from ${written}`,
        );
    }),
    { numRuns: 20_000 },
  );
  assert.ok(outside > 1_000, `${outside} paths were outside`);
});
