import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { endpointOf } from "../engines/cluster/wire/address.ts";
import { readEntryNode, readPeerAddress } from "./cluster-schema.ts";
import { formatEntryNode } from "./cluster-settings.ts";

test("an address is read to the one way in which every node writes it", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["10.0.0.7:7100", "10.0.0.7:7100"],
    [" Gate-1.Example:80 ", "gate-1.example:80"],
    ["gate_1", "gate_1:7100"],
    ["[2001:DB8:0:0::1]:7200", "[2001:db8::1]:7200"],
    ["[::1]", "[::1]:7100"],
  ];
  for (const [written, value] of cases) assert.deepEqual(readPeerAddress(written), { value }, written);
});

test("what is no address is refused with its reason", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["", /not a host/],
    ["7100", /not a host/],
    [":7100", /not a host/],
    ["::1", /not a host/],
    ["[1:2]:7100", /not an IPv6/],
    ["http://10.0.0.7", /not a host/],
    ["10.0.0.7:0", /out of range/],
    ["10.0.0.7:65536", /out of range/],
  ];
  for (const [written, reason] of cases) {
    const read = readPeerAddress(written);
    assert.ok("wrong" in read, written);
    assert.match(read.wrong, reason, written);
  }
});

test("whatever is taken for an address, the wire takes too", () => {
  const hosts = fc.oneof(
    fc.ipV4(),
    fc.ipV6().map((host) => `[${host}]`),
    fc.domain(),
    fc.string({ maxLength: 30 }),
  );
  fc.assert(
    fc.property(hosts, fc.integer({ min: 0, max: 70_000 }), (host, port) => {
      const read = readPeerAddress(`${host}:${port}`);
      if ("value" in read) assert.ok(endpointOf(read.value), read.value);
    }),
  );
});

test("a name stands for its addresses, or for the hosts of a service", () => {
  const cases: readonly (readonly [string, object])[] = [
    ["dns:Fairgate.internal:7200", { by: "records", name: "fairgate.internal", port: 7_200 }],
    ["dns:fairgate.internal.", { by: "records", name: "fairgate.internal", port: 7_100 }],
    ["dns:_fairgate._tcp.shop.internal", { by: "service", name: "_fairgate._tcp.shop.internal" }],
    ["10.0.0.7", { by: "address", address: "10.0.0.7:7100" }],
  ];
  for (const [written, value] of cases) assert.deepEqual(readEntryNode(written), { value }, written);
});

test("a name that is none is refused with its reason", () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ["dns:", /no name/],
    ["dns:10.0.0.7:7100", /no name/],
    ["dns:a b:7100", /no name/],
    ["dns:fairgate.internal:0", /out of range/],
    ["dns:_fairgate._tcp.shop:7100", /SRV records say the ports/],
  ];
  for (const [written, reason] of cases) {
    const read = readEntryNode(written);
    assert.ok("wrong" in read, written);
    assert.match(read.wrong, reason, written);
  }
});

test("what was read is written so that it is read as the same", () => {
  for (const written of ["[::1]:7200", "dns:a.b:7100", "dns:_a._tcp.b"]) {
    const read = readEntryNode(written);
    assert.ok("value" in read);
    assert.equal(formatEntryNode(read.value), written);
  }
});
