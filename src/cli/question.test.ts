import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { HEADERS_MAX } from "../gateway/proxy/framing.ts";
import { type Question, type QuestionFlags, readQuestion } from "./question.ts";

const SHOP = "https://shop.example/";

function good(flags: QuestionFlags): Question {
  const answer = readQuestion({ url: SHOP, ...flags });
  assert.ok(answer.ok && answer.question, JSON.stringify(answer));
  return answer.question;
}

function problems(flags: QuestionFlags): string[] {
  const answer = readQuestion(flags);
  return answer.ok ? [] : answer.problems.map(({ message }) => message);
}

test("no address is no question, and a word about a request needs one", () => {
  assert.deepEqual(readQuestion({}), { ok: true, question: null });
  assert.deepEqual(problems({ method: "GET", address: "::1" }), [
    "--method is about a request, and there is no --url",
    "--address is about a request, and there is no --url",
  ]);
});

test("an address is taken as it would be sent", () => {
  const targets = {
    "https://a": "/",
    "https://a?b": "/?b",
    "https://a/b/../c//d\\e;f?g=/h#i": "/b/../c//d\\e;f?g=/h",
    "https://a/%2e%zz": "/%2e%zz",
    "https://a/ü?ß=€": "/%C3%BC?%C3%9F=%E2%82%AC",
    "https://a/\ud800": "/%EF%BF%BD",
    "https://a\\b": "/\\b",
  };
  for (const [url, target] of Object.entries(targets)) assert.equal(good({ url }).target, target);
  const hosts = {
    "HTTP://Shop.Example:8080/": "shop.example:8080",
    "https://[::1]:443": "[::1]",
    "http://bücher/": "xn--bcher-kva",
  };
  for (const [url, host] of Object.entries(hosts)) assert.equal(good({ url }).arrival.headers.host, host);
  assert.equal(good({ url: "HTTPS://a/" }).arrival.socket.encrypted, true);
  assert.equal(good({ url: "http://a/" }).arrival.socket.encrypted, false);
});

test("an address that no request could have is refused, and no password is shown", () => {
  const wrong = {
    "": "is not an http or https address",
    "shop.example/booking": "is not an http or https address",
    "ftp://a": "is not an http or https address",
    "https:/a": "is not an http or https address",
    "https://": "has no host name in it",
    "https:///booking": "has no host name in it",
    "https://[/": "has no host name in it",
    "https://a:99999/": "has no host name in it",
    "https://a b/": "has a space or control character in it",
    "https://a/\n": "has a space or control character in it",
    "https://me:hush@shop.example/": "has a user name or password in it",
    [`https://a/${"x".repeat(8_192)}`]: "has 8202 characters",
  };
  for (const [url, words] of Object.entries(wrong)) {
    const [message = "", ...more] = problems({ url });
    assert.ok(message.startsWith("--url is ") && message.endsWith(`, which ${words}`), message);
    assert.doesNotMatch(message, /hush/);
    assert.deepEqual(more, []);
  }
});

test("headers are found by their name in lower case, repeated ones joined as a server joins them", () => {
  const header = [
    "Accept: a",
    "accept:b",
    "COOKIE: c=d",
    "Cookie: e=f; g",
    "X-Empty:",
    "X-Time: 10:30",
    "__proto__: x",
  ];
  assert.deepEqual(Object.entries(good({ header }).arrival.headers), [
    ["host", "shop.example"],
    ["accept", "a, b"],
    ["cookie", "c=d; e=f; g"],
    ["x-empty", ""],
    ["x-time", "10:30"],
    ["__proto__", "x"],
  ]);
  assert.equal(good({ header: ["Host: other"] }).arrival.headers.host, "other");
});

test("a header that cannot be read is refused without its value", () => {
  for (const line of ["untold", ": untold", "a b: untold", ""])
    assert.deepEqual(problems({ url: SHOP, header: [line] }), [
      "--header does not begin with a header's name and a colon",
    ]);
  assert.deepEqual(problems({ url: SHOP, header: ["X-A: untold\r\nb"] }), [
    '--header gives "x-a" a character that cannot be sent',
  ]);
  assert.deepEqual(problems({ url: SHOP, header: new Array(HEADERS_MAX + 1).fill("a: b") }), [
    `--header is given ${HEADERS_MAX + 1} times`,
  ]);
});

test("a method and an address are read in the forms people write", () => {
  assert.equal(good({}).method, "GET");
  assert.equal(good({ method: "patch" }).arrival.method, "PATCH");
  assert.equal(good({ address: " ::ffff:10.0.0.1" }).arrival.socket.remoteAddress, "10.0.0.1");
  assert.equal(good({ address: "[2001:db8::1]:443" }).arrival.socket.remoteAddress, "2001:db8::1");
  assert.deepEqual(problems({ url: SHOP, method: "G\u001b", address: "home" }), [
    '--method is "G ", which is not a method',
    '--address is "home", which is not an IP address',
  ]);
});

test("no words make a question throw", () => {
  const words = fc.string({ unit: "binary-ascii", maxLength: 40 });
  const url = fc.oneof(
    words,
    words.map((rest) => `https://${rest}`),
    words.map((rest) => `http://a/${rest}`),
  );
  fc.assert(
    fc.property(url, words, fc.array(words, { maxLength: 3 }), words, (given, method, header, address) => {
      for (const flags of [{ url: given }, { url: given, header }, { url: given, method, header, address }])
        assert.equal(typeof readQuestion(flags).ok, "boolean");
    }),
  );
});
