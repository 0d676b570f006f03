import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { bypassSchema } from "../config/bypass-schema.ts";
import { createBypass } from "./bypass.ts";
import { createTrust } from "./proxy/trust.ts";

interface Asking {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string | string[]>>;
  readonly address?: string;
}

const NO_PROXIES = createTrust([]);

function arrival({ method = "GET", headers = {}, address = "203.0.113.7" }: Asking) {
  return { method, headers, socket: { remoteAddress: address } };
}

/** Asks rules about requests: the name of the rule that holds, or null. */
function rules(...written: unknown[]) {
  const bypass = createBypass(bypassSchema.parse(written));
  return (asking: Asking) => bypass.match(arrival(asking), asking.url ?? "/", NO_PROXIES);
}

const path = (...paths: string[]) => {
  const match = rules({ path: paths });
  return (url: string) => match({ url }) !== null;
};

function each<T>(inputs: readonly T[], isTrue: (input: T) => boolean): T[] {
  return inputs.filter((input) => !isTrue(input));
}

test("a room without rules lets nobody past, and looks at nothing", () => {
  const untouchable = new Proxy({} as never, { get: () => assert.fail("the request was looked at") });
  const bypass = createBypass([]);
  assert.equal(bypass.match(untouchable, "/", untouchable), null);
  assert.deepEqual(bypass.explain(untouchable, "/", untouchable), []);
});

test("only what rules ask for is looked at", () => {
  const bypass = createBypass(
    bypassSchema.parse([{ methods: ["POST"], header: { a: true }, addresses: ["::1"] }]),
  );
  const untouchable = new Proxy({} as never, {
    get: () => assert.fail("more than the method was looked at"),
  });
  assert.equal(
    bypass.match({ method: "GET", headers: untouchable, socket: untouchable }, "/", untouchable),
    null,
  );
});

test("the first rule that holds is named, by its name or its number", () => {
  const match = rules({ path: ["/a"] }, { name: "bees", path: ["/b", "/a/b"] }, { path: ["/c", "/b"] });
  const found = ["/a", "/a/b", "/b/1", "/c", "/d"].map((url) => match({ url }));
  assert.deepEqual(found, ["rule 1", "rule 1", "bees", "rule 3", null]);
});

test("a path covers everything below it by whole parts, with regard to case", () => {
  const matches = path("/hook", "/Straße/1");
  const yes = [
    "/hook",
    "/hook/",
    "/hook/1/2",
    "/hook?x",
    "/%68ook",
    "/Stra%c3%9fe/1/x",
    "/hook/a%20b",
    "/hook/.x",
  ];
  const no = ["/", "/hooks", "/Hook", "/a/hook", "/?/hook", "/stra%C3%9Fe/1", "/hoo%6B%20", "*", ""];
  assert.deepEqual(each(yes, matches), []);
  assert.deepEqual(
    each(no, (url) => !matches(url)),
    [],
  );
});

test("a star is any text without a slash, and a path with one in its last part ends there", () => {
  const matches = path("/shops/*/pictures", "/files/*.css", "/v*/a*z");
  const yes = [
    "/shops/1/pictures",
    "/shops/1/pictures/2/3",
    "/files/a.b.css",
    "/files/.css",
    "/v2/az",
    "/v/abcz?q",
  ];
  const no = [
    "/shops/pictures",
    "/shops//pictures",
    "/shops/1/2/pictures",
    "/shops/1%2f2/pictures",
    "/shops/1/picture",
    "/files/a/b.css",
    "/files/a.css/",
    "/files/a.css/b",
    "/files/a.css2",
    "/v2/az/b",
    "/v2/azb",
  ];
  assert.deepEqual(each(yes, matches), []);
  assert.deepEqual(
    each(no, (url) => !matches(url)),
    [],
  );
});

test("an ending is that of the path, whatever comes after the question mark", () => {
  const matches = path("*.css");
  assert.deepEqual(each(["/a.css", "/a/b.css?v=1", "/.css"], matches), []);
  const no = [
    "/a.css/",
    "/a.css/b",
    "/a.CSS",
    "/acss",
    "/a?x.css",
    "/a;x.css",
    "/a%00.css",
    "/a%3f.css",
    "/a%23x.css",
  ];
  assert.deepEqual(
    each(no, (url) => !matches(url)),
    [],
  );
});

test("no spelling of an address takes it past the line by a path rule for another", () => {
  const matches = path("/assets", "*.css");
  const tricks = [
    "/assets/../booking",
    "/assets/..%2fbooking",
    "/assets/..%2Fbooking/x.css",
    "/assets%2f..%2fbooking",
    "/assets;x/..;/booking",
    "/assets/..;/booking",
    "/assets/..;a=b/booking/x.css",
    "/assets/%2e%2e/booking",
    "/assets/.%2e/booking",
    "/assets/%252e%252e/booking",
    "/assets/%252e%252e%252fbooking",
    "/assets\\..\\booking",
    "/assets/..\\booking",
    "/assets/..%5cbooking",
    "/assets/%c0%ae%c0%ae/booking",
    "/assets/%u002e%u002e/booking",
    "//assets/booking",
    "/booking/x//../../assets/y",
    "/booking/../assets/x.css",
    "/assets//../booking",
    "/./assets/../booking",
    "/booking;/x.css;y",
    "/booking;x.css",
    "/booking%3bx.css",
    "/booking%00.css",
    "/booking%0a.css",
    "/booking%253fx.css",
    "/assets\0/../booking",
    "/assets%",
    "/ASSETS/x",
    "http://shop.example/assets",
  ];
  assert.deepEqual(
    each(tricks, (url) => !matches(url)),
    [],
  );
});

/** How origins of all kinds come from a path's text to its parts. None of this is shared with the rules. */
const ORIGINS: Readonly<Record<string, (path: string) => string[]>> = {
  literal: (path) => path.split("/"),
  decodes: (path) => decoded(path).split("/"),
  decodesTwice: (path) => decoded(decoded(path)).split("/"),
  resolves: (path) => resolved(path.split("/")),
  decodesAndResolves: (path) => resolved(decoded(path).split("/")),
  decodesTwiceAndResolves: (path) => resolved(decoded(decoded(path)).split("/")),
  resolvesAndDecodes: (path) => decoded(resolved(path.split("/")).join("/")).split("/"),
  mergesAndResolves: (path) => resolved(decoded(path).replace(/\/+/g, "/").split("/")),
  likesBackslashes: (path) => resolved(decoded(path).replaceAll("\\", "/").replace(/\/+/g, "/").split("/")),
  dropsParameters: (path) => resolved(decoded(path.replace(/;[^/]*/g, "")).split("/")),
  dropsParametersLate: (path) =>
    resolved(
      decoded(path)
        .replace(/;[^/]*/g, "")
        .split("/"),
    ),
  endsAtNull: (path) => resolved(decoded(path).replace(/\0.*/s, "").split("/")),
  readsAnAddress: (path) => new URL(path, "http://origin").pathname.split("/"),
  ignoresSpaces: (path) =>
    resolved(
      decoded(path)
        .split("/")
        .map((part) => part.replace(/ +$/, "")),
    ),
};

function decoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function resolved(parts: readonly string[]): string[] {
  const kept: string[] = [];
  for (const part of parts) {
    if (part === "..") kept.length > 1 && kept.pop();
    else if (part !== ".") kept.push(part);
  }
  return kept;
}

const hostilePieces = fc.array(
  fc.constantFrom(
    ...["assets", "assets", "booking", "x.css", ".css", "A", " ", "%20", "%41"],
    ...["/", "/", "/", "/", "//", "%2f", "%2F", "\\", "%5c", "%252f", "%255C"],
    ...["..", ".", "%2e", "%2e%2e", "%252e", ";", ";x", ";/", "%3b", "%00", "%3f", "%23", "%", "%25"],
  ),
  { maxLength: 10, size: "max" },
);

/** Often with a beginning or an end that rules look for, so that enough of them come close. */
const hostilePath = fc
  .tuple(fc.constantFrom("/", "/assets", "/assets/"), hostilePieces, fc.constantFrom("", ".css", "/x.css"))
  .map(([start, pieces, end]) => start + pieces.join("") + end);

/** How many of the paths the rules let past; a property about none of them would say nothing. */
function checkHostile(matches: (url: string) => boolean, isRight: (parts: string[]) => boolean): number {
  let past = 0;
  fc.assert(
    fc.property(hostilePath, (written) => {
      if (!matches(written)) return;
      past++;
      for (const [origin, read] of Object.entries(ORIGINS))
        assert.ok(isRight(read(written)), `${origin} reads ${written} as ${read(written).join("/")}`);
    }),
    { numRuns: 20_000 },
  );
  return past;
}

test("a path that goes past the line is below the rule's path for every kind of origin", () => {
  assert.ok(checkHostile(path("/assets"), (parts) => parts[0] === "" && parts[1] === "assets") > 100);
});

test("a path that goes past the line has the rule's ending for every kind of origin", () => {
  assert.ok(checkHostile(path("*.css"), (parts) => parts.at(-1)!.endsWith(".css")) > 100);
});

test("our own addresses never go past, whatever the rule", () => {
  const match = rules({ methods: ["GET"] });
  for (const url of ["/.fairgate/main/board", "/.fairgate/", "/.fairgate", "/.fairgate?x", "/.fairgate/x?y"])
    assert.equal(match({ url }), null, url);
  assert.equal(match({ url: "/.fairgates" }), "rule 1");
});

test("a method is one of the list, exactly", () => {
  const match = rules({ methods: ["POST", "put"] });
  assert.deepEqual(
    ["POST", "PUT", "GET", "post", "POSTS"].map((method) => match({ method })),
    ["rule 1", "rule 1", null, null, null],
  );
});

test("a header is there at all, is a value, or is like a pattern, whatever the case of its name", () => {
  const match = rules({ header: { "X-There": true, "X-Value": ["one", "two"], "x-like": "a*z" } });
  const good = { "x-there": "", "x-value": "two", "x-like": "a-z" };
  assert.equal(match({ headers: good }), "rule 1");
  const bad: Record<string, string>[] = [
    { "x-value": "one", "x-like": "az" },
    { ...good, "x-value": "three" },
    { ...good, "x-value": "One" },
    { ...good, "x-value": "one, two" },
    { ...good, "x-value": "one " },
    { ...good, "x-value": "" },
    { ...good, "x-like": "a" },
    { ...good, "x-like": "A-Z" },
  ];
  for (const headers of bad) assert.equal(match({ headers }), null, JSON.stringify(headers));
});

test("what an object has by itself is no header", () => {
  for (const name of ["constructor", "__proto__", "toString"]) {
    const match = rules({ header: JSON.parse(`{ "${name}": true }`) });
    assert.equal(match({ headers: {} }), null, name);
  }
});

test("a cookie that is sent several times must be right each time", () => {
  const match = rules({ cookie: { staff: "1" } });
  const cookies = {
    "staff=1": true,
    "a=b; staff=1; c=d": true,
    " staff = 1 ": true,
    "staff=1; staff=1": true,
    "staff=1; staff=2": false,
    "staff=2; staff=1": false,
    "Staff=1": false,
    "notstaff=1": false,
    "a=staff=1": false,
    staff: false,
    "": false,
  };
  for (const [cookie, isPast] of Object.entries(cookies))
    assert.equal(match({ headers: { cookie } }) !== null, isPast, cookie);
});

test("a query parameter is decoded, and must be right each time", () => {
  const match = rules({ query: { preview: ["a b", "ü*"], on: true } });
  const queries = {
    "?on&preview=a+b": true,
    "?preview=a%20b&on=": true,
    "?preview=%C3%BCber&on=1&x=y": true,
    "?preview=a+b": false,
    "?on&preview=a+b&preview=c": false,
    "?on;preview=a+b": false,
    "?on&Preview=a+b": false,
    "#?on&preview=a+b": true,
    "": false,
  };
  for (const [query, isPast] of Object.entries(queries))
    assert.equal(match({ url: `/x${query}` }) !== null, isPast, query);
});

test("a user agent is like a pattern as a whole, without regard to case", () => {
  const match = rules({ userAgent: ["*UptimeRobot/*", "curl"] });
  const agents = { "Mozilla (uptimerobot/2.0)": true, CURL: true, "curl/8": false, "": false };
  for (const [agent, isPast] of Object.entries(agents))
    assert.equal(match({ headers: { "user-agent": agent } }) !== null, isPast, agent);
  assert.equal(match({}), null);
  assert.equal(rules({ userAgent: true, methods: ["GET"] })({ headers: { "user-agent": "x" } }), "rule 1");
});

test("an address is one of the list or in a network of it, in either family", () => {
  const match = rules({ addresses: ["10.1.0.0/16", "192.0.2.7", "2001:db8::/32"] });
  const addresses = {
    "10.1.2.3": true,
    "::ffff:10.1.2.3": true,
    "192.0.2.7": true,
    "2001:db8:ffff::1": true,
    "10.2.0.1": false,
    "192.0.2.8": false,
    "2001:db9::1": false,
    "": false,
    nonsense: false,
  };
  for (const [address, isPast] of Object.entries(addresses))
    assert.equal(match({ address }) !== null, isPast, address);
});

test("an address in a header counts only from a proxy that is trusted", () => {
  const bypass = createBypass(bypassSchema.parse([{ addresses: ["192.0.2.0/24"] }]));
  const request = arrival({ address: "10.0.0.1", headers: { "x-forwarded-for": "192.0.2.9" } });
  assert.equal(bypass.match(request, "/", NO_PROXIES), null);
  assert.equal(bypass.match(request, "/", createTrust(["10.0.0.1"])), "rule 1");
  assert.equal(bypass.match(request, "/", createTrust(["192.0.2.9"])), null);
});

test("a rule holds when all its conditions hold, and a request goes past when one rule holds", () => {
  const conditions = {
    methods: { written: ["POST"], good: { method: "POST" } },
    path: { written: ["/a", "/b"], good: { url: "/b/1?q=1" } },
    header: { written: { x: "1", y: true }, good: { headers: { x: "1", y: "2" } } },
    query: { written: { q: "1" }, good: { url: "/b/1?q=1" } },
    addresses: { written: ["10.0.0.0/8"], good: { address: "10.9.9.9" } },
  };
  type Name = keyof typeof conditions;
  const names = Object.keys(conditions) as Name[];
  const some = fc.subarray(names, { minLength: 1 });
  fc.assert(
    fc.property(fc.array(some, { minLength: 1, maxLength: 4 }), fc.subarray(names), (written, met) => {
      const asked = Object.assign({ url: "/" }, ...met.map((name) => conditions[name].good)) as Asking;
      // Path and query are in the same text, so one brings the other along unless it is left out.
      const url = `${met.includes("path") ? "/b/1" : "/"}${met.includes("query") ? "?q=1" : ""}`;
      const match = rules(
        ...written.map((rule) => Object.fromEntries(rule.map((name) => [name, conditions[name].written]))),
      );
      const first = written.findIndex((rule) => rule.every((name) => met.includes(name)));
      assert.equal(match({ ...asked, url }), first < 0 ? null : `rule ${first + 1}`);
    }),
  );
});

test("patterns match what the same pattern as a regular expression matches", () => {
  const texts = fc.array(fc.constantFrom("a", "b", "ab", "*"), { maxLength: 8, size: "max" });
  const pattern = texts.map((pieces) => pieces.join("")).filter((text) => text !== "");
  const given = texts.map((pieces) => pieces.filter((piece) => piece !== "*").join(""));
  fc.assert(
    fc.property(pattern, given, (glob, text) => {
      const expected = new RegExp(`^${glob.replaceAll("*", "[^]*")}$`).test(text);
      assert.equal(rules({ header: { x: glob } })({ headers: { x: text } }) !== null, expected);
    }),
    { numRuns: 2_000 },
  );
});

test("a long text takes no longer than its length allows, whatever the pattern", () => {
  const match = rules({ header: { x: `${"*a".repeat(200)}*b` } });
  assert.equal(match({ headers: { x: "a".repeat(100_000) } }), null);
  assert.equal(match({ headers: { x: `${"a".repeat(100_000)}b` } }), "rule 1");
});

test("an explanation has every rule up to the one that decides, with the first condition that fails", () => {
  const bypass = createBypass(
    bypassSchema.parse([
      { name: "hooks", path: ["/hook", "*.css"], methods: ["POST"] },
      { path: ["/assets"], header: { "x-key": "s3cret" } },
      { header: { "x-key": "s3cret" }, addresses: ["10.0.0.0/8"] },
      { userAgent: "*bot*" },
      { cookie: { staff: true } },
      { query: { a: "2" } },
      { name: "me", addresses: ["203.0.113.7"] },
      { name: "not asked", methods: ["GET"] },
    ]),
  );
  const request = arrival({ headers: { "x-key": "other", "user-agent": "curl/8" } });
  const answers = bypass.explain(request, "/booking?a=1", NO_PROXIES);
  assert.deepEqual(
    answers.map(({ rule, failed }) => `${rule}: ${failed ? `${failed.condition}: ${failed.why}` : "holds"}`),
    [
      "hooks: methods: GET is not POST",
      "rule 2: path: /booking is not /assets",
      "rule 3: header: the header x-key is not what the rule asks for",
      "rule 4: userAgent: curl/8 is not *bot*",
      "rule 5: cookie: there is no cookie staff",
      "rule 6: query: the query parameter a is not what the rule asks for",
      "me: holds",
    ],
  );
  assert.deepEqual(answers[0]?.conditions, ["methods", "path"]);
  assert.doesNotMatch(JSON.stringify(answers), /s3cret|other/);
});

test("an explanation tells a path that can be read in several ways", () => {
  const bypass = createBypass(bypassSchema.parse([{ path: ["/a/*/c"] }]));
  const why = (url: string) => bypass.explain(arrival({}), url, NO_PROXIES)[0]?.failed?.why;
  assert.equal(why("/a/b%2fb/c"), "the path can be read in more than one way");
  assert.equal(why("/a/../a/b/c"), "the path can be read in more than one way");
  assert.equal(why("/a/b/d"), "/a/b/d is not /a/*/c");
  assert.equal(why("/a/b/c"), undefined);
});

test("what follows a rule's path may be read in several ways, as long as it stays below it", () => {
  const matches = path("/hook", "/in/index.php", "/files/*.css");
  const yes = ["/hook/a%2Fb", "/hook/a;b", "/hook/a.php/b", "/in/index.php", "/in/index.php/x", "/hook/x:y"];
  const no = [
    ...["/hook;a", "/hook%2Fa", "/x.php/hook", "/in/index.php/a;b", "/in/index.php;a/b"],
    ...["/files/a;b.css", "/files/a:b.css", "/files/a%3Ab.css", "/files/a.php/b.css"],
  ];
  assert.deepEqual(each(yes, matches), []);
  assert.deepEqual(
    each(no, (url) => !matches(url)),
    [],
  );
});

test("a method counts only if no header asks for another", () => {
  const match = rules({ methods: ["GET"], path: ["/a"] });
  assert.equal(match({ url: "/a" }), "rule 1");
  for (const name of [
    "x-http-method-override",
    "x-http-method",
    "x-method-override",
    "x_http_method_override",
  ])
    assert.equal(match({ url: "/a", headers: { [name]: "POST" } }), null, name);
});

test("an explanation and the decision never differ", () => {
  const written = [
    { path: ["/assets"] },
    { path: ["*.css"], methods: ["GET"] },
    { path: ["/"], query: { a: "b" } },
  ];
  const bypass = createBypass(bypassSchema.parse(written));
  fc.assert(
    fc.property(
      hostilePath,
      fc.constantFrom("GET", "POST"),
      fc.constantFrom("", "?a=b"),
      (at, method, query) => {
        const request = arrival({ method });
        const decided = bypass.match(request, at + query, NO_PROXIES);
        const answers = bypass.explain(request, at + query, NO_PROXIES);
        assert.equal(answers.find(({ failed }) => failed === null)?.rule ?? null, decided);
      },
    ),
    { numRuns: 2_000 },
  );
});
