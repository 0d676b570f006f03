import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readRedisUrl } from "./redis-schema.ts";
import { readHostPort } from "./route.ts";

const PORT = 6_379;
const plain = { port: PORT, isTls: false, username: null, password: null, database: null };

test("an address says where the server is, who we are there, and which database is ours", () => {
  const cases: readonly (readonly [string, object])[] = [
    ["redis://127.0.0.1", { ...plain, host: "127.0.0.1" }],
    [" redis://Cache.Example:7000/ ", { ...plain, host: "cache.example", port: 7_000 }],
    ["redis://[::1]:7000/15", { ...plain, host: "::1", port: 7_000, database: 15 }],
    ["rediss://cache.example/0", { ...plain, host: "cache.example", isTls: true, database: 0 }],
    ["redis://:hunter2@cache.example", { ...plain, host: "cache.example", password: "hunter2" }],
    ["redis://shop@cache.example", { ...plain, host: "cache.example", username: "shop" }],
    [
      "redis://shop:p%40ss%2Fw%25rd@cache.example",
      { ...plain, host: "cache.example", username: "shop", password: "p@ss/w%rd" },
    ],
  ];
  for (const [written, value] of cases) assert.deepEqual(readRedisUrl(written), { value }, written);
});

test("an address that is not one is refused with its reason, and without its password", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["", /not a URL/],
    ["127.0.0.1:6379", /not a URL/],
    ["localhost:6379", /not redis:\/\//],
    ["http://:hunter2@127.0.0.1", /not redis:\/\//],
    ["redis+sentinel://127.0.0.1", /not redis:\/\//],
    ["redis:///0", /no host/],
    ["redis://:hunter2@/0", /not a URL|no host/],
    ["redis://:hunter2@127.0.0.1/shop", /something other than the number/],
    ["redis://127.0.0.1/12345", /something other than the number/],
    ["redis://127.0.0.1/0/1", /something other than the number/],
    ["redis://127.0.0.1/-1", /something other than the number/],
    ["redis://127.0.0.1?db=1", /query or a fragment/],
    ["redis://127.0.0.1/0#1", /query or a fragment/],
    ["redis://:hunter2%zz@127.0.0.1", /not written %25/],
    ["redis://127.0.0.1:0", /names no host|port/],
    ["redis://127.0.0.1:99999", /not a URL/],
  ];
  for (const [written, reason] of cases) {
    const read = readRedisUrl(written);
    assert.ok("wrong" in read, written);
    assert.match(read.wrong, reason, written);
    assert.doesNotMatch(read.wrong, /hunter2/);
  }
});

test("any user name and password can be written in an address", () => {
  const words = fc.string({ minLength: 1, maxLength: 40, unit: "grapheme" });
  fc.assert(
    fc.property(words, words, (username, password) => {
      const written = `redis://${encodeURIComponent(username)}:${encodeURIComponent(password)}@10.0.0.1/2`;
      const value = { ...plain, host: "10.0.0.1", username, password, database: 2 };
      assert.deepEqual(readRedisUrl(written), { value });
    }),
  );
});

test("a host may have a port; without one it has the usual one", () => {
  const cases: readonly (readonly [string, string, number])[] = [
    ["10.0.0.1", "10.0.0.1", PORT],
    [" 10.0.0.1:7000 ", "10.0.0.1", 7_000],
    ["Redis-1.shop_net.example:7000", "redis-1.shop_net.example", 7_000],
    ["[::1]", "::1", PORT],
    ["[2001:DB8::1]:65535", "2001:db8::1", 65_535],
  ];
  for (const [written, host, port] of cases)
    assert.deepEqual(readHostPort(written, PORT), { value: { host, port } }, written);
});

test("what is no host is refused", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["", /not a host/],
    ["6379", /not a host/],
    [":6379", /not a host/],
    ["::1", /not a host/],
    ["a b", /not a host/],
    ["shop:hunter2@10.0.0.1", /not a host/],
    ["redis://10.0.0.1", /not a host/],
    ["10.0.0.1:", /not a host/],
    ["[1:2]:6379", /not an IPv6 address/],
    ["10.0.0.1:0", /out of range/],
    ["10.0.0.1:65536", /out of range/],
  ];
  for (const [written, reason] of cases) {
    const read = readHostPort(written, PORT);
    assert.ok("wrong" in read, written);
    assert.match(read.wrong, reason, written);
  }
});
