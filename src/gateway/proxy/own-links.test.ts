import assert from "node:assert/strict";
import { test } from "node:test";
import { createOwnLinks } from "./own-links.ts";
import type { Client } from "./trust.ts";

/** What becomes of a header of an origin, for a visitor at https://shop.example unless told otherwise. */
function rewriter(hostHeader: string, addresses: readonly string[], visitor: Partial<Client> = {}) {
  const client: Client = {
    ...{ address: "6.6.6.6", protocol: "https", host: "shop.example", peer: "6.6.6.6", isPeerTrusted: false },
    ...visitor,
  };
  const links = createOwnLinks({ hostHeader, addresses: [...addresses] })!;
  return (name: string, value: string) => links.rewrite([name, value], client)[1];
}

const ORIGIN = ["http://10.0.0.1:3000", "https://Inner.example"];

test("nothing is rewritten where the origin knows the visitor's host", () => {
  const settings = { hostHeader: "preserve", addresses: ORIGIN };
  assert.equal(createOwnLinks(settings), null);
});

test("a URL of any of the origin's addresses becomes the visitor's, with the rest as it was", () => {
  const rewrite = rewriter("origin", ORIGIN);
  const cases: Record<string, string> = {
    "http://10.0.0.1:3000/a/../b?c=http://10.0.0.1:3000#d": "/a/../b?c=http://10.0.0.1:3000#d",
    "https://10.0.0.1:3000": "",
    "HTTP://10.0.0.1:3000?q": "?q",
    "http://10.0.0.1:3000//evil.example/x": "//evil.example/x",
    "https://inner.example/x": "/x",
    "https://INNER.example:443/x": "/x",
    "http://inner.example:80/x": "/x",
    "http://inner.example#x": "#x",
  };
  for (const [url, rest] of Object.entries(cases))
    for (const name of ["Location", "location", "LOCATION", "Content-Location", "content-location"])
      assert.equal(rewrite(name, url), `https://shop.example${rest}`, `${name}: ${url}`);
  assert.equal(rewrite("Location", "//10.0.0.1:3000/x"), "//shop.example/x");
});

test("every other URL is left alone, however much it looks like the origin's", () => {
  const rewrite = rewriter("origin", ORIGIN);
  const others = [
    "/x",
    "x",
    "",
    "https://elsewhere.example/x",
    "http://10.0.0.1/x",
    "http://10.0.0.1:30000/x",
    "http://10.0.0.1:3000.evil.example/x",
    "http://10.0.0.1:3000@evil.example/x",
    "http://user@10.0.0.1:3000/x",
    "http://10.0.0.1:3000\\@evil.example/x",
    "http://inner.example.evil.example/x",
    "http://evil-inner.example/x",
    "https://inner.example:8443/x",
    "ftp://10.0.0.1:3000/x",
    "http:/10.0.0.1:3000/x",
    " http://10.0.0.1:3000/x",
    "/redirect?to=http://10.0.0.1:3000/x",
    `http://${"a".repeat(70_000)}`,
  ];
  for (const url of others) assert.equal(rewrite("Location", url), url);
  assert.equal(rewrite("Link", "http://10.0.0.1:3000/x"), "http://10.0.0.1:3000/x");
});

test("a Refresh is rewritten in all the forms in which browsers read it", () => {
  const rewrite = rewriter("origin", ORIGIN);
  const to = (url: string) => url.replace("http://10.0.0.1:3000", "https://shop.example");
  for (const value of [
    "5; url=http://10.0.0.1:3000/x",
    "0;URL='http://10.0.0.1:3000/x'",
    '1.5 , url = "http://10.0.0.1:3000/x"',
    "3;http://10.0.0.1:3000/x",
  ])
    assert.equal(rewrite("Refresh", value), to(value));
  for (const value of ["5", "5; url=/x", "url=http://10.0.0.1:3000/x", "5; src=http://10.0.0.1:3000/x"])
    assert.equal(rewrite("Refresh", value), value);
});

test("an origin that was given a name is known by it, by its port, and by its addresses", () => {
  const rewrite = rewriter("shop.internal", ["http://10.0.0.1:3000"]);
  for (const own of ["shop.internal", "SHOP.internal:80", "shop.internal:3000", "10.0.0.1:3000"])
    assert.equal(rewrite("Location", `http://${own}/x`), "https://shop.example/x", own);
  assert.equal(rewrite("Location", "http://shop.internal:8080/x"), "http://shop.internal:8080/x");
  const withPort = rewriter("shop.internal:8080", ["http://10.0.0.1:3000"]);
  assert.equal(withPort("Location", "http://shop.internal:8080/x"), "https://shop.example/x");
  assert.equal(withPort("Location", "http://shop.internal/x"), "http://shop.internal/x");
});

test("an IPv6 address is known with its brackets", () => {
  const rewrite = rewriter("origin", ["http://[::1]:3000"], { host: "[2001:db8::1]:8080", protocol: "http" });
  assert.equal(rewrite("Location", "http://[::1]:3000/x"), "http://[2001:db8::1]:8080/x");
});

test("an origin behind http that asks for https gets it, and no other scheme of its own counts", () => {
  const plain = rewriter("origin", ["http://10.0.0.1:3000"], { protocol: "http" });
  assert.equal(plain("Location", "https://10.0.0.1:3000/x"), "https://shop.example/x");
  assert.equal(plain("Location", "http://10.0.0.1:3000/x"), "http://shop.example/x");
  const secure = rewriter("origin", ["https://10.0.0.1:3000"], { protocol: "http" });
  assert.equal(secure("Location", "https://10.0.0.1:3000/x"), "http://shop.example/x");
});

test("nothing but a host gets into an answer, and a visitor who is at the name already stays there", () => {
  const url = "http://10.0.0.1:3000/x";
  for (const host of ["", "a b", "a\r\nSet-Cookie: b=1", "a/", "a@b"])
    assert.equal(rewriter("origin", ORIGIN, { host })("Location", url), url);
  const named = rewriter("shop.example", ["http://10.0.0.1:3000"]);
  assert.equal(named("Location", "http://shop.example/x"), "http://shop.example/x");
});

test("a cookie for the origin's own host becomes one of the host that was asked", () => {
  const rewrite = rewriter("shop.internal", ["http://10.0.0.1:3000"]);
  const cases: [string, string][] = [
    ["a=1; Domain=shop.internal; Path=/", "a=1; Path=/"],
    ["a=1;domain=.SHOP.internal", "a=1"],
    ["a=1; DOMAIN = 10.0.0.1 ; Secure", "a=1; Secure"],
    ["a=1; Domain=shop.internal; Domain=10.0.0.1; HttpOnly", "a=1; HttpOnly"],
  ];
  for (const [given, kept] of cases) assert.equal(rewrite("Set-Cookie", given), kept);
  for (const other of [
    "a=1",
    "Domain=shop.internal",
    "a=1; Domain=internal",
    "a=1; Domain=elsewhere.example",
    "a=1; Domain",
    "a=1; Path=/; X-Domain=shop.internal",
    "",
  ])
    assert.equal(rewrite("set-cookie", other), other);
});

test("a cookie that the visitor's browser takes as it is stays for all hosts below its domain", () => {
  for (const host of ["shop.example", "www.shop.example:8443"]) {
    const rewrite = rewriter("shop.example", ["http://10.0.0.1:3000"], { host });
    assert.equal(rewrite("Set-Cookie", "a=1; Domain=shop.example"), "a=1; Domain=shop.example");
  }
  const elsewhere = rewriter("shop.example", ["http://10.0.0.1:3000"], { host: "evilshop.example" });
  assert.equal(elsewhere("Set-Cookie", "a=1; Domain=shop.example"), "a=1");
});
