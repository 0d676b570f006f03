import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { addressKey, whereabouts } from "./whereabouts.ts";

const isSameAddress = (a: string, b: string) => whereabouts(a).address === whereabouts(b).address;
const isSameNetwork = (a: string, b: string) => whereabouts(a).network === whereabouts(b).network;

test("with IPv4 an address is itself, and a network is its /24", () => {
  assert.deepEqual(whereabouts("203.0.113.7"), { address: "203.0.113.7", network: "203.0.113" });
  assert.ok(isSameNetwork("203.0.113.7", "203.0.113.255") && !isSameAddress("203.0.113.7", "203.0.113.255"));
  assert.ok(!isSameNetwork("203.0.113.7", "203.0.114.7"));
});

test("with IPv6 a /64 is one address, and a /48 one network", () => {
  assert.ok(isSameAddress("2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"));
  assert.ok(!isSameAddress("2001:db8:1:2::1", "2001:db8:1:3::1"));
  assert.ok(isSameNetwork("2001:db8:1:2::1", "2001:db8:1:3::1"));
  assert.ok(!isSameNetwork("2001:db8:1:2::1", "2001:db8:2:2::1"));
});

test("every spelling of one address is one address", () => {
  const spellings = [
    ["2001:db8::1", "2001:0DB8:0000:0000:0000:0000:0000:0001", "2001:db8:0::0:1", "2001:db8::1%eth0"],
    ["203.0.113.7", "::ffff:203.0.113.7", "::FFFF:cb00:7107", "0:0:0:0:0:ffff:cb00:7107"],
    ["::", "0:0:0:0:0:0:0:0", "::0.0.0.1"],
    ["1::", "1:0:0:0:5::"],
  ];
  for (const [first, ...others] of spellings)
    for (const other of others) assert.deepEqual(whereabouts(other), whereabouts(first!), other);
});

test("two IPv4 addresses are one network exactly when their first three numbers are the same", () => {
  fc.assert(
    fc.property(fc.ipV4(), fc.ipV4(), fc.boolean(), (a, b, isNear) => {
      const other = isNear ? [...a.split(".").slice(0, 3), b.split(".")[3]].join(".") : b;
      const start = (address: string) => address.slice(0, address.lastIndexOf("."));
      return (
        isSameNetwork(a, other) === (start(a) === start(other)) && isSameAddress(a, other) === (a === other)
      );
    }),
  );
});

test("two IPv6 addresses are one address exactly when their first 64 bits are the same", () => {
  const groups = fc.array(fc.nat({ max: 0xffff }), { minLength: 8, maxLength: 8 });
  const written = (of: readonly number[]) => of.map((group) => group.toString(16)).join(":");
  fc.assert(
    fc.property(groups, groups, fc.nat({ max: 8 }), (a, b, shared) => {
      const other = [...a.slice(0, shared), ...b.slice(shared)];
      const isSame = (parts: number) => a.slice(0, parts).every((group, i) => group === other[i]);
      assert.equal(isSameAddress(written(a), written(other)), isSame(4));
      assert.equal(isSameNetwork(written(a), written(other)), isSame(3));
    }),
  );
});

test("what is no address is all one, and never an error", () => {
  for (const text of [
    "",
    "unknown",
    "/run/socket",
    "1.2.3",
    "1.2.3.4.5",
    "::1::",
    "g::",
    "[::1]",
    "1.2.3.4:80",
  ])
    assert.deepEqual(whereabouts(text), { address: "", network: "" }, text);
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), fc.ipV6()), (text) => {
      const { address, network } = whereabouts(text);
      return address.length <= 19 && network.length <= 15 && !address.includes("NaN");
    }),
  );
});

test("the key of an address alone is the one among its whereabouts", () => {
  const addresses = ["10.0.0.1", "::ffff:10.0.0.1", "2001:db8:0:1::5", "::1", "", "unknown", "1.2.3"];
  for (const address of addresses) assert.equal(addressKey(address), whereabouts(address).address, address);
});
