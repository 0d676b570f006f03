import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { assertLinear } from "../testing/linear.ts";
import { isClear, type PlainPath, plainEnd, readPlainPath } from "./plain-path.ts";

function plain(target: string): PlainPath {
  const path = readPlainPath(target);
  assert.ok(!("wrong" in path), `${target} has ${"wrong" in path && path.wrong}`);
  return path;
}

const wrong = (target: string) => {
  const path = readPlainPath(target);
  return "wrong" in path ? path.wrong : null;
};

test("every spelling of a path is sent in one form", () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "/": ["/", "//", "/.", "/..", "/../..", "/a/..", "/\\", "/%2e", "/.%2E", "/a/../", "/tickets/x\\..\\.."],
    "/buy": ["/buy", "//buy", "/./buy", "/tickets//../buy", "/tickets/../buy", "/%62uy", "/x\\..\\buy"],
    "/buy/": ["/buy/", "/buy//", "/buy/.", "/buy/x/..", "/buy\\", "/buy/x/%2e%2e"],
    "/caf%C3%A9": ["/caf%C3%A9", "/caf%c3%a9", "/caf\xc3\xa9", "/c%61f\xc3%a9"],
    "/a%20b%2Fc;d": ["/a%20b%2fc;d", "/%61%20b%2Fc;d"],
    "/~x-_.y": ["/%7ex%2d%5f%2ey", "/~x-_.y"],
    "/...x/.y": ["/...x/.y", "/.../../...x/.y"],
  };
  for (const [sent, spellings] of Object.entries(cases))
    for (const written of spellings) assert.equal(plain(written).target, sent, written);
});

test("the query is not touched, and is no part of the path", () => {
  assert.equal(plain("/a/../b?x=/../%2e\\;%zz?\xe9").target, "/b?x=/../%2e\\;%zz?\xe9");
  assert.equal(plain("/?").target, "/?");
  assert.equal(plain("/a?..").isMoved, false);
});

test("what no two readers agree on is refused, with the reason", () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "a fragment": ["/a#b", "/a?b#c", "/#"],
    "no slash at its start": ["", "*", "a", "?a", "http://a/b", "\\a"],
    "malformed percent-encoding": ["/%", "/%2", "/%zz", "/100%", "/%u002e", "/%%32f"],
    "a control character": ["/%00", "/a%0ab", "/%7f", "/%09", "/%1F", "/%C2%85", "/%E2%80%A8", "/a%2500"],
    "a space or control character": ["/a b", "/a\tb", "/\0", "/\x7f", "/\u2603"],
    "percent-encoding that is not UTF-8": ["/%c0%af", "/%c0%ae%c0%ae/", "/%E9", "/\xe9", "/%ff", "/a%25ff"],
    "a name of dots": ["/.../x", "/..%20/x", "/. ./".replace(" ", "%20"), "/x/....", "/..+/x"],
    "a hidden dot segment": [
      "/a/..;/b",
      "/a/.;x/b",
      "/a%2f..%2fb",
      "/a%2f..",
      "/a%5c..%5cb",
      "/%252e%252e/b",
      "/a/..%252fb",
      "/a/..%3b/b",
      "/..%3f",
      "/a%ef%bc%8f..%ef%bc%8fb",
      "/a;/.%E2%80%8B.;/b",
    ],
    "percent-encoding inside percent-encoding": ["/%2525252541"],
  };
  for (const [reason, targets] of Object.entries(cases))
    for (const target of targets) assert.equal(wrong(target), reason, target);
});

test("ordinary paths are not odd", () => {
  for (const path of [
    "/",
    "/a/b-c_d~e/f.html",
    "/.well-known/security.txt",
    "/wiki/Talk:A_(b)",
    "/a%20b",
    "/caf%c3%a9/",
    "/c++",
    "/100%25",
    "/why%3F",
    "/@user/$1,2!'*&=[x]{y}|z^",
    "/index.php/buy",
  ]) {
    const { oddity, isMoved } = plain(path);
    assert.deepEqual([oddity, isMoved], [null, false], path);
  }
});

test("an odd path is told with the first thing that is odd about it", () => {
  const cases = {
    "/a/../b": ["a dot segment", true],
    "/a/%2e%2e/b": ["a needlessly encoded character", true],
    "/a//b": ["a doubled slash", true],
    "/a\\b": ["a backslash", true],
    "/%61": ["a needlessly encoded character", false],
    "/\xc3\xa9": ["a byte above 127", false],
    "/a%2fb": ["an encoded slash", false],
    "/a%5cb": ["an encoded backslash", false],
    "/a;b": ["a semicolon", false],
    "/a%3bb": ["an encoded semicolon", false],
    "/a%2541": ["percent-encoding inside percent-encoding", false],
  } as const;
  for (const [path, expected] of Object.entries(cases)) {
    const { oddity, isMoved } = plain(path);
    assert.deepEqual([oddity, isMoved], [...expected], path);
  }
});

test("a key is what the most forgiving origin sees", () => {
  const cases: Readonly<Record<string, readonly string[]>> = {
    "": ["/"],
    "/tickets": [
      "/tickets",
      "/TICKETS/",
      "/tickets.",
      "/tickets%20",
      "/%20tickets",
      "/tickets+",
      "/t%C4%B1ckets",
    ],
    "/cafe/x": ["/caf%C3%A9/x", "/cafe%CC%81/X", "/CAF%C3%89/x", "/%EF%BD%83afe/x", "/ca%C2%ADfe/x"],
    "/my tickets": ["/my%20tickets", "/my+tickets"],
    "/a&b": ["/a&b", "/a%26b"],
  };
  for (const [key, spellings] of Object.entries(cases))
    for (const written of spellings) assert.equal(plain(written).key, key, written);
});

test("what origins read differently is told apart from what they agree on", () => {
  const doubts = (path: string) => {
    const { key, certain, names } = plain(path);
    return [key.slice(0, certain), names && [...names].join(" ")];
  };
  assert.deepEqual(doubts("/a/b"), ["/a/b", null]);
  assert.deepEqual(doubts("/a/b%2Fc/d"), ["/a/", "b c d"]);
  assert.deepEqual(doubts("/A/b;V=1/d"), ["/a/", "b v=1 v d"]);
  assert.deepEqual(doubts("/a/b%252fc"), ["/a/", "b%2fc b c"]);
  assert.deepEqual(doubts("/tickets%253fx"), ["/", "tickets%3fx tickets x"]);
  assert.deepEqual(doubts("/tickets%252e1"), ["/", "tickets%2e1 tickets tickets.1"]);
  assert.deepEqual(doubts("/shop/index.PHP/buy/1"), ["/shop/", "index.php buy 1"]);
  assert.deepEqual(doubts("/shop/index.php"), ["/shop/index.php", null]);
  assert.deepEqual(doubts("/v1.2/x-3.0/buy"), ["/v1.2/x-3.0/buy", null]);
  assert.deepEqual(doubts("/%20/buy"), ["/", " buy"]);
  assert.deepEqual(doubts("/tickets%EF%BC%8F1"), ["/", "tickets 1"]);
});

test("only a file may be in doubt in a clear path", () => {
  for (const path of ["/a", "/caf%C3%A9", "/index.php/buy", "/a.cgi/b.cgi/c", "/a:b"])
    assert.equal(isClear(plain(path)), true, path);
  for (const path of ["/a;b", "/a%2Fb", "/a%25", "/index.php/a;b", "/%20/a", "/a%3F", "/a%EF%BC%9Fb"])
    assert.equal(isClear(plain(path)), false, path);
});

const NASTY = fc.constantFrom(
  ...["a", "B", "tickets", "x.php", "index.php", " ", "~", ":", "?", "#", "+", "*", "@"],
  ...["/", "/", "/", "//", "\\", "%2f", "%2F", "%5c", "%252f", "%255C", "%25252f"],
  ...[".", "..", "%2e", "%2E.", "%252e", ";", ";x=y", "%3b", "%00", "%0a", "%3f", "%23", "%", "%2", "%25"],
  ...["\xc3\xa9", "%c3%a9", "%C3", "%c0%af", "%e2%80%8b", "%ef%bc%8f", "\xff", "\t", "%u002f", "%41", "%7e"],
);
const nastyPath = fc.array(NASTY, { maxLength: 12, size: "max" }).map((pieces) => `/${pieces.join("")}`);

test("a plain path is plain: read again it is the same, and nothing about it is moved", () => {
  let read = 0;
  fc.assert(
    fc.property(nastyPath, (written) => {
      const path = readPlainPath(written);
      if ("wrong" in path) return;
      read++;
      const again = plain(path.target);
      assert.equal(again.target, path.target);
      assert.equal(again.isMoved, false);
      assert.deepEqual([again.key, again.certain, again.names], [path.key, path.certain, path.names]);
      assert.match(path.target, /^\/[\x21-\x7e]*(?:\?|$)/);
      assert.doesNotMatch(path.target.split("?")[0]!, /\/\/|\\|\/\.{1,2}(?:\/|$)/);
    }),
    { numRuns: 20_000 },
  );
  assert.ok(read > 1_000, `${read} of them were read`);
});

test("the quick look and the long one agree", () => {
  const piece = fc.constantFrom(
    "a",
    "B1",
    "/",
    "/",
    ".",
    "..",
    "x.php",
    "%20",
    "%41",
    ":",
    "?",
    "?q",
    "#",
    "&",
    ";",
    "~",
  );
  let quick = 0;
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const target = `/${pieces.join("")}`;
      const end = plainEnd(target);
      if (end < 0) return;
      quick++;
      const path = plain(target);
      const key = target.slice(0, end).toLowerCase().replace(/\/$/, "");
      assert.deepEqual(
        [path.target, path.key, path.certain, path.names, path.oddity],
        [target, key, key.length, null, null],
      );
    }),
    { numRuns: 10_000 },
  );
  assert.ok(quick > 1_000, `${quick} were plain at once`);
});

test("a long path takes time by its length, whatever its letters", () => {
  const letters = [
    "\\",
    "/",
    ".",
    "/.",
    "/..",
    "%2e/",
    ";",
    "%2f",
    "%252f",
    "%25",
    "%c3%a9",
    "%ef%b7%ba",
    "a;/",
    "x.php/",
  ];
  for (const piece of letters) {
    const target = (length: number) => `/a${piece.repeat(length / piece.length)}a/`;
    assertLinear({ small: 2_048, large: 32_768 }, (length) => readPlainPath(target(length)), piece);
  }
});
