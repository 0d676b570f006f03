import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readAddress, readHost, readPath } from "./route.ts";

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
    "[0:0:0:0:0:0:0:1]": "[::1]",
    "[2001:DB8::A]": "[2001:db8::a]",
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
  const piece = fc.constantFrom("a", "/", ".", "..", "%2e", "%41", "ö", "~", "//", "@", ":");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const once = readPath(`/${pieces.join("")}`);
      if ("value" in once) assert.deepEqual(readPath(once.value), once);
    }),
  );
});

test("a room's path is one that every origin reads alike", () => {
  for (const written of ["/a;b", "/a%2Fb", "/a%5Cb", "/a%3Bb", "/a%25", "/why%3F", "/%20", "/index.php/a;b"])
    assert.deepEqual(readPath(written), { wrong: "can be read in more than one way" }, written);
  assert.deepEqual(readPath("/index.php/buy"), { value: "/index.php/buy" });
  assert.deepEqual(readPath("/a%20b"), { value: "/a%20b" });
  assert.deepEqual(readPath("/%zz"), { wrong: "has malformed percent-encoding in it" });
  assert.deepEqual(readPath("/.../a"), { wrong: "has a name of dots in it" });
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
