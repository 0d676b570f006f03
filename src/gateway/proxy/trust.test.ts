import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseForwarded, plainAddress } from "./forwarded.ts";
import { createTrust, type Incoming } from "./trust.ts";

function arrival(remoteAddress: string, headers: Incoming["headers"] = {}, encrypted = false): Incoming {
  return { socket: { remoteAddress, encrypted }, headers: { host: "inner:8080", ...headers } };
}

test("without trusted proxies the peer is the visitor, whatever it says", () => {
  const headers = { "x-forwarded-for": "1.1.1.1", "x-forwarded-proto": "https", "x-forwarded-host": "evil" };
  assert.deepEqual(createTrust([]).client(arrival("::ffff:203.0.113.7", headers)), {
    address: "203.0.113.7",
    protocol: "http",
    host: "inner:8080",
    peer: "203.0.113.7",
    isPeerTrusted: false,
  });
});

test("addresses and networks of both families are known, mapped ones too", () => {
  const { isTrusted } = createTrust([
    "10.0.0.0/8",
    "192.0.2.1",
    "2001:db8::/32",
    "::1",
    "::ffff:172.16.0.0/108",
  ]);
  for (const yes of ["10.255.0.1", "192.0.2.1", "2001:db8:1::5", "::1", "172.16.9.9", "172.31.0.1"])
    assert.equal(isTrusted(yes), true, yes);
  for (const no of ["11.0.0.1", "192.0.2.2", "2001:db9::1", "::2", "172.32.0.1", "", "unknown", "10.0.0"])
    assert.equal(isTrusted(no), false, no);
});

test("the visitor is the first address from the right that is no trusted proxy", () => {
  const { client } = createTrust(["10.0.0.0/8"]);
  const of = (list: string) => client(arrival("10.0.0.1", { "x-forwarded-for": list })).address;
  assert.equal(of("198.51.100.1"), "198.51.100.1");
  assert.equal(of("6.6.6.6, 198.51.100.1, 10.0.0.2"), "198.51.100.1");
  assert.equal(of("10.0.0.3, 10.0.0.2"), "10.0.0.3");
  assert.equal(of("198.51.100.1:4711"), "198.51.100.1");
  assert.equal(of("[2001:db8::1]:80"), "2001:db8::1");
  assert.equal(of("6.6.6.6, unknown"), "10.0.0.1");
  assert.equal(of("6.6.6.6, nonsense, 10.0.0.2"), "10.0.0.2");
  assert.equal(of(""), "10.0.0.1");
});

test("Forwarded is read where there is no X-Forwarded-For", () => {
  const { client } = createTrust(["10.0.0.1"], true);
  const forwarded = 'for="[2001:db8::1]:99";proto=https;host="shop.example:444", for=10.0.0.1;proto=http';
  const found = client(arrival("10.0.0.1", { forwarded }));
  assert.deepEqual([found.address, found.protocol, found.host], ["2001:db8::1", "https", "shop.example:444"]);
});

test("protocol and host come from a trusted proxy only in a proper form", () => {
  const { client } = createTrust(["10.0.0.1"], true);
  const good = client(
    arrival("10.0.0.1", { "x-forwarded-proto": "HTTPS, http", "x-forwarded-host": "a.example" }),
  );
  assert.deepEqual([good.protocol, good.host], ["https", "a.example"]);
  const bad = client(arrival("10.0.0.1", { "x-forwarded-proto": "gopher", "x-forwarded-host": "a b" }, true));
  assert.deepEqual([bad.protocol, bad.host], ["https", "inner:8080"]);
});

test("of several hosts the nearest proxy's counts, since a visitor may have sent the others", () => {
  const { client } = createTrust(["10.0.0.1"], true);
  const host = (headers: Incoming["headers"]) => client(arrival("10.0.0.1", headers)).host;
  assert.equal(host({ "x-forwarded-host": "evil.example, a.example" }), "a.example");
  assert.equal(host({ "x-forwarded-host": ["evil.example", "a.example"] }), "a.example");
  const forwarded = "for=203.0.113.9;host=evil.example, for=198.51.100.1;host=a.example";
  assert.equal(host({ forwarded }), "a.example");
});

test("a forwarded host counts only where the operator says that proxies set it", () => {
  const headers = { "x-forwarded-host": "evil", forwarded: "for=1.1.1.1;host=evil" };
  assert.equal(createTrust(["10.0.0.1"]).client(arrival("10.0.0.1", headers)).host, "inner:8080");
  assert.equal(createTrust(["10.0.0.2"], true).client(arrival("10.0.0.1", headers)).host, "inner:8080");
});

test("HTTP/2 names the host in its authority", () => {
  const request = {
    socket: { remoteAddress: "1.1.1.1", encrypted: true },
    headers: { ":authority": "shop.example" },
  };
  const found = createTrust([]).client(request);
  assert.deepEqual([found.host, found.protocol], ["shop.example", "https"]);
});

test("no header makes it fail, or makes a visitor out of what is no address", () => {
  const { client } = createTrust(["10.0.0.1"]);
  fc.assert(
    fc.property(fc.string(), fc.string(), (list, forwarded) => {
      const found = client(arrival("10.0.0.1", { "x-forwarded-for": list, forwarded }));
      return /^[0-9a-fA-F.:%\w]+$/.test(found.address);
    }),
  );
});

test("quotes, escapes and odd spacing in Forwarded are understood", () => {
  const hops = parseForwarded('For="a;b,c\\"d" ; proto=https,host=x;FOR=1.2.3.4:5');
  assert.deepEqual(hops, [
    { address: 'a;b,c"d', protocol: "https", host: null },
    { address: "1.2.3.4", protocol: null, host: "x" },
  ]);
  assert.equal(plainAddress("::FFFF:1.2.3.4"), "1.2.3.4");
});

test("an address with a zone is believed of no header: it may be as long as one likes", () => {
  const zoned = `fe80::1%${"0".repeat(10_000)}`;
  const trust = createTrust(["10.0.0.1"]);
  const request = { socket: { remoteAddress: "10.0.0.1" }, headers: { "x-forwarded-for": zoned } };
  assert.equal(trust.client(request).address, "10.0.0.1");
});
