import assert from "node:assert/strict";
import http from "node:http";
import { test } from "node:test";
import fc from "fast-check";
import {
  BYPASS_ENTRIES_MAX,
  BYPASS_RULES_MAX,
  type BypassRule,
  bypassCautions,
  bypassSchema,
  METHODS,
} from "./bypass-schema.ts";
import { explain } from "./explain.ts";
import { loadSettings } from "./load.ts";
import { roomOutline, settingAt } from "./outline.ts";
import { roomSchema } from "./schema.ts";
import { writtenRoom } from "./written.ts";

const SECRET = "example-secret-for-tests-0123456789";

function read(...rules: unknown[]): BypassRule[] {
  return bypassSchema.parse(rules);
}

/** What a user is told about one rule, without the quoted line. */
function told(rule: string): string {
  const text = `origin:\n  addresses: [http://127.0.0.1:3000]\nrooms:\n  main:\n    totalActiveUsers: 200\n    bypass:\n      - ${rule}\n`;
  const noFiles = () => assert.fail("a file was read");
  const result = loadSettings({ text, file: "f.yaml" }, {}, { FAIRGATE_SECRET: SECRET }, noFiles);
  return result.ok ? "good" : explain(result.problems);
}

const messageOf = (rule: string) =>
  told(rule)
    .split("\n")[0]!
    .replace(/^f\.yaml:[\d:]+ /, "");

test("a room has no bypass rules unless it is given some", () => {
  assert.deepEqual(roomSchema.parse({}).bypass, []);
});

test("a rule is read into its normal form", () => {
  const [rule] = read({
    name: " hooks ",
    path: ["/Hook/", "/%61/*/b", "*.css"],
    methods: ["post", "M-Search"],
    header: { "X-Health": true, "X-Key": "a*" },
    cookie: { Staff: ["1", "2"] },
    userAgent: "*Robot*",
    query: { "a b": "ü" },
    addresses: ["10.0.0.0/8", " ::1 "],
  });
  assert.deepEqual(rule, {
    name: "hooks",
    path: ["/Hook", "/a/*/b", "*.css"],
    methods: ["POST", "M-SEARCH"],
    header: { "x-health": true, "x-key": ["a*"] },
    cookie: { Staff: ["1", "2"] },
    userAgent: ["*Robot*"],
    query: { "a b": ["ü"] },
    addresses: ["10.0.0.0/8", "::1"],
  });
});

test("a rule as it is written reads back as the same rule", () => {
  const bypass = read(
    { path: ["/a", "/b/*x", "*.tar.gz"], header: { A: true, B: "1" } },
    { userAgent: true, methods: ["get"] },
  );
  const room = roomSchema.parse({ totalActiveUsers: 1, bypass });
  assert.deepEqual(roomSchema.parse(JSON.parse(JSON.stringify(writtenRoom(room)))), room);
});

test("a rule that nobody could fail is refused, since it would let everyone past the line", () => {
  const everyone = /bypass\[0\] is a mapping, which has no condition .* would let everyone past the line/;
  for (const rule of [
    "{}",
    "{ name: all }",
    "{ path: null }",
    "{ path: [/hook, /] }",
    "{ userAgent: true }",
    '{ userAgent: ["*"], path: [/x, /] }',
    "{ addresses: [10.0.0.1, 0.0.0.0/0] }",
    "{ addresses: ['::/0'], path: [/] }",
  ])
    assert.match(messageOf(rule), everyone, rule);
  for (const rule of ["{ path: [/], methods: [OPTIONS] }", "{ path: [/a] }", "{ addresses: [10.0.0.1] }"])
    assert.equal(told(rule), "good", rule);
});

test("a mistyped condition is named once, and its rule is not also called empty", () => {
  const text = told("{ paths: [/hook] }");
  assert.match(text, /there is no setting "paths" in rooms\.main\.bypass\[0\][\s\S]*Did you mean path\?/);
  assert.match(text, /\n1 problem\n$/);
});

test("every wrong condition gets one message that says what is wrong", () => {
  const expected: Record<string, string> = {
    "{ path: /hook }": 'rooms.main.bypass[0].path is "/hook"',
    "{ path: [] }": "rooms.main.bypass[0].path is a list, which has 0 entries",
    "{ path: [hook] }": 'rooms.main.bypass[0].path[0] is "hook", which does not start with a slash',
    '{ path: ["/a?b"] }': 'rooms.main.bypass[0].path[0] is "/a?b", which has a query or a fragment in it',
    "{ path: [/a b] }":
      'rooms.main.bypass[0].path[0] is "/a b", which has a space, control character or backslash in it',
    '{ path: ["/a/*"] }':
      'rooms.main.bypass[0].path[0] is "/a/*", which ends in /*; a path covers everything below it without',
    '{ path: ["/*"] }':
      'rooms.main.bypass[0].path[0] is "/*", which ends in /*; a path covers everything below it without',
    '{ path: ["/a/**/b"] }':
      'rooms.main.bypass[0].path[0] is "/a/**/b", which has ** in it; a path covers everything below it without',
    '{ path: ["*css"] }': 'rooms.main.bypass[0].path[0] is "*css", which is neither a path nor an ending',
    '{ path: ["*.css/x"] }':
      'rooms.main.bypass[0].path[0] is "*.css/x", which is neither a path nor an ending',
    "{ path: [/.fairgate/main/board] }":
      'rooms.main.bypass[0].path[0] is "/.fairgate/main/board", which is Fairgate\'s own',
    "{ methods: [GTE] }": 'rooms.main.bypass[0].methods[0] is "GTE", which is not a method',
    "{ header: [X-A] }": "rooms.main.bypass[0].header is not a mapping",
    "{ header: {} }": "rooms.main.bypass[0].header names nothing",
    "{ header: { X-A: 1 } }":
      "rooms.main.bypass[0].header has a value for X-A that is a number without quotes",
    "{ header: { X-A: false } }":
      "rooms.main.bypass[0].header has a value for X-A that is neither true nor text",
    '{ header: { X-A: "" } }': "rooms.main.bypass[0].header has a value for X-A that is empty",
    "{ header: { X-A: [] } }": "rooms.main.bypass[0].header has a value for X-A that is an empty list",
    '{ header: { X-A: "a\\n" } }':
      "rooms.main.bypass[0].header has a value for X-A that has a character in it that cannot be sent",
    "{ header: { X-A: 'a', x-a: 'b' } }": "rooms.main.bypass[0].header has x-a in it twice",
    "{ header: { 'X A': true } }": 'rooms.main.bypass[0].header has "X A" in it, which cannot be a name',
    "{ header: { 'X-*': true } }": 'rooms.main.bypass[0].header has "X-*" in it, which cannot be a name',
    "{ userAgent: 5 }": "rooms.main.bypass[0].userAgent is 5, which is a number without quotes",
    "{ addresses: [example.com] }":
      'rooms.main.bypass[0].addresses[0] is "example.com", which is not an IP address or network',
    "{ addresses: [10.0.0.0/33] }":
      'rooms.main.bypass[0].addresses[0] is "10.0.0.0/33", which has a prefix length that is out of range',
    "{ addresses: ['::ffff:10.0.0.1/8'] }":
      'rooms.main.bypass[0].addresses[0] is "::ffff:10.0.0.1/8", which is an IPv4 address written as IPv6',
    "{ addresses: ['fe80::1%eth0'] }":
      'rooms.main.bypass[0].addresses[0] is "fe80::1%eth0", which is not an IP address or network',
    "{ name: ' ', path: [/a] }": 'rooms.main.bypass[0].name is " ", which cannot be a name',
  };
  for (const [rule, message] of Object.entries(expected)) {
    assert.equal(messageOf(rule), message);
    assert.match(told(rule), /\n1 problem\n$/, rule);
  }
});

test("a path rule that could never match is refused", () => {
  for (const path of [
    "/a;b",
    "/a%2Fb",
    "/a%25",
    "/a//b",
    "/a/../b",
    "/a/%2e%2e/b",
    "/a%00",
    "/%zz",
    "/a%3Bb",
  ])
    assert.match(messageOf(`{ path: ["${path}"] }`), /in more than one way, so it would never match/, path);
});

test("two rules by one name are refused, the name that goes with a number included", () => {
  const rules = (...names: (string | null)[]) =>
    bypassSchema.safeParse(names.map((name) => ({ name, path: ["/a"] })));
  assert.ok(rules(null, null, "rule 4").success);
  assert.deepEqual(rules("a", "b", "a").error?.issues[0]?.path, [2, "name"]);
  assert.deepEqual(rules(null, "rule 1").error?.issues[0]?.path, [1, "name"]);
});

test("there is a limit to everything", () => {
  const isGood = (...rules: unknown[]) => bypassSchema.safeParse(rules).success;
  const many = (length: number) => Array.from({ length }, (_, i) => `/${i}`);
  const named = (length: number) =>
    Object.fromEntries(many(length).map((name) => [`x${name.slice(1)}`, true]));
  const most = BYPASS_ENTRIES_MAX;
  const tooMany = most + 1;
  assert.ok(isGood(...many(BYPASS_RULES_MAX).map((path) => ({ path: [path] }))));
  assert.ok(!isGood(...many(BYPASS_RULES_MAX + 1).map((path) => ({ path: [path] }))));
  assert.ok(isGood({ path: many(most), header: named(most), userAgent: many(most) }));
  assert.ok(!isGood({ path: many(tooMany) }));
  assert.ok(!isGood({ header: named(tooMany) }));
  assert.ok(!isGood({ userAgent: many(tooMany) }));
  assert.ok(!isGood({ cookie: { a: "x".repeat(501) } }));
  assert.ok(!isGood({ cookie: { ["x".repeat(101)]: true } }));
  assert.ok(!isGood({ path: [`/${"x".repeat(1_024)}`] }));
});

test("values of headers, cookies and queries are in no message, and in no quoted line", () => {
  for (const condition of ["header", "cookie", "query"]) {
    const text = told(`{ ${condition}: { good: hidden, other: [hidden, 7] } }`);
    assert.match(text, /has a value for other that is a number/);
    assert.doesNotMatch(text, /hidden/);
  }
});

test("names of the language's own make no trouble", () => {
  const [rule] = read({ header: JSON.parse('{ "__proto__": "a", "constructor": true }') });
  assert.deepEqual(Object.entries(rule!.header!), [
    ["__proto__", ["a"]],
    ["constructor", true],
  ]);
});

test("no value makes reading rules throw", () => {
  const keys = fc.constantFrom(
    "name",
    "path",
    "methods",
    "header",
    "cookie",
    "userAgent",
    "query",
    "addresses",
  );
  const rule = fc.dictionary(keys, fc.jsonValue({ maxDepth: 3 }));
  fc.assert(
    fc.property(fc.array(rule), (rules) => {
      assert.equal(typeof bypassSchema.safeParse(rules).success, "boolean");
    }),
  );
});

test("every condition says what it should be", () => {
  const rule = settingAt(roomOutline(), ["bypass", 0])!;
  assert.equal(rule.children.length, 8);
  for (const { key, shape, description } of rule.children) assert.ok(shape && description, key);
});

test("a rule for endings is good, with a word of caution that points at it", () => {
  const rules = read({ path: ["/assets"] }, { name: "parts", path: ["/x", "*.css"] });
  const [caution, ...rest] = bypassCautions(rules, ["rooms", "main", "bypass"]);
  assert.deepEqual(rest, []);
  assert.deepEqual(caution?.path, ["rooms", "main", "bypass", 1, "path", 1]);
  assert.match(caution.message, /^rooms\.main\.bypass\[1\]\.path\[1\] is "\*\.css"/);
  assert.match(caution.hint, /\/booking\/x\.css/);
});

test("the methods are those that Node's servers take", () => {
  assert.deepEqual([...METHODS], http.METHODS);
});
