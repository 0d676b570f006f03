import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { normalPath, readAddress, readHost, readPath } from "./route.ts";

test("hosts come out lower case, in ASCII, without a closing dot", () => {
  const cases = {
    "Shop.Example.COM": "shop.example.com",
    "shop.example.com.": "shop.example.com",
    "*.Example.com": "*.example.com",
    "bücher.example": "xn--bcher-kva.example",
    "*.bücher.example": "*.xn--bcher-kva.example",
    localhost: "localhost",
    "10.0.0.1": "10.0.0.1",
    "[::1]": "[::1]",
  };
  for (const [written, host] of Object.entries(cases))
    assert.deepEqual(readHost(written), { value: host }, written);
});

test("a host with anything else in it is refused with the reason", () => {
  const cases = {
    "https://shop.example.com": "has a scheme in it",
    "shop.example.com/tickets": "has a path in it",
    "shop.example.com:443": "has a port in it",
    "[::1]:443": "has a port in it",
    "shop.*.com": "is not a host name",
    "*": "is not a host name",
    "": "is not a host name",
    "-shop.example.com": "is not a host name",
    "shop example.com": "is not a host name",
    [`${"a".repeat(64)}.com`]: "is not a host name",
  };
  for (const [written, wrong] of Object.entries(cases))
    assert.deepEqual(readHost(written), { wrong }, written);
});

test("every spelling of a path comes out the same", () => {
  for (const written of [
    "/shop",
    "/shop/",
    "//shop",
    "/shop//",
    "/%73hop",
    "/a/../shop",
    "/a/%2e%2E/shop",
    "/./shop/.",
  ]) {
    assert.deepEqual(readPath(written), { value: "/shop" }, written);
  }
  assert.deepEqual(readPath("/"), { value: "/" });
  assert.deepEqual(readPath("/köp"), { value: "/k%C3%B6p" });
  assert.deepEqual(readPath("/k%c3%b6p"), { value: "/k%C3%B6p" });
});

test("a path with anything else in it, or of Fairgate's own, is refused", () => {
  for (const written of [
    "",
    "shop",
    "/a?b",
    "/a#b",
    "/a/*",
    "/a b",
    "/a\\b",
    "/.fairgate",
    "/.fairgate/x",
    "/%2efairgate",
  ]) {
    assert.ok("wrong" in readPath(written), written);
  }
  assert.deepEqual(readPath("/.fairgates"), { value: "/.fairgates" });
});

test("the normal form of a normal form is itself", () => {
  const piece = fc.constantFrom("a", "/", ".", "..", "%2e", "%2F", "%41", "%", "ö", "~", "//", ";", "@", ":");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const once = normalPath(`/${pieces.join("")}`);
      assert.ok(once);
      assert.ok(once.startsWith("/"), once);
      assert.equal(normalPath(once), once);
    }),
  );
});

test("origin addresses keep scheme, host and port, and have nothing else", () => {
  assert.deepEqual(readAddress("http://10.0.0.1:3000"), { value: "http://10.0.0.1:3000" });
  assert.deepEqual(readAddress("HTTPS://Shop.example.com:443/"), { value: "https://shop.example.com" });
  for (const written of [
    "",
    "10.0.0.1:3000",
    "ftp://a",
    "http://a/b",
    "http://a?b",
    "http://a#b",
    "http://a:b@c",
    "http://",
  ]) {
    assert.ok("wrong" in readAddress(written), written);
  }
});
