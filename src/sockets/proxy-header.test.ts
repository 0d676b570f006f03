import assert from "node:assert/strict";
import { SocketAddress } from "node:net";
import { test } from "node:test";
import fc from "fast-check";
import { headerV1, headerV2, localV2, rawV2, tlv } from "../testing/gateway/proxy-header.ts";
import { type ProxyHeader, readProxyHeader, V1_BYTES_MAX, V2_BYTES_MAX } from "./proxy-header.ts";

const read = (text: string) => readProxyHeader(Buffer.from(text, "latin1"));
const sourceOf = (bytes: Buffer) => (readProxyHeader(bytes) as ProxyHeader).source;
const plain = (address: string) => new SocketAddress({ address, family: "ipv6" }).address;

/** The answer to bytes that come in these chunks, and after how many of them it was there. */
function readInPieces(bytes: Buffer, cuts: readonly number[]) {
  const ends = [...new Set([...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length])];
  for (const end of ends.sort((a, b) => a - b)) {
    const answer = readProxyHeader(bytes.subarray(0, end));
    if (answer !== null) return answer;
  }
  return null;
}

test("version 1 names the visitor, and what comes behind it is the visitor's", () => {
  assert.deepEqual(read("PROXY TCP4 203.0.113.7 10.0.0.1 56324 443\r\nGET / HTTP/1.1\r\n"), {
    length: 43,
    source: { address: "203.0.113.7", family: "IPv4", port: 56_324 },
  });
  assert.deepEqual(read("PROXY TCP6 2001:DB8:0:0::7 2001:db8::1 0 65535\r\n"), {
    length: 48,
    source: { address: "2001:db8::7", family: "IPv6", port: 0 },
  });
});

test("version 1 of an unknown connection names nobody, whatever else is in its line", () => {
  for (const line of [
    "PROXY UNKNOWN",
    "PROXY UNKNOWN ",
    "PROXY UNKNOWN a b\nc \r d",
    "PROXY UNKNOWN 1.2.3.4 ",
  ])
    assert.deepEqual(read(`${line}\r\nGET /`), { length: line.length + 2, source: null }, line);
});

test("a line that is not exactly as specified is wrong", () => {
  for (const line of [
    "PROXY ",
    "PROXY TCP4",
    "PROXY UNKNOWNS",
    "PROXY unknown",
    "PROXY TCP5 1.2.3.4 1.2.3.4 1 1",
    "PROXY UDP4 1.2.3.4 1.2.3.4 1 1",
    "PROXY tcp4 1.2.3.4 1.2.3.4 1 1",
    "PROXY  TCP4 1.2.3.4 1.2.3.4 1 1",
    "PROXY TCP4 1.2.3.4  1.2.3.4 1 1",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1 1 ",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1 1 1",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1",
    "PROXY TCP4\t1.2.3.4 1.2.3.4 1 1",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1 65536",
    "PROXY TCP4 1.2.3.4 1.2.3.4 01 1",
    "PROXY TCP4 1.2.3.4 1.2.3.4 +1 1",
    "PROXY TCP4 1.2.3.4 1.2.3.4 1 1\n",
    "PROXY TCP4 1.2.3.04 1.2.3.4 1 1",
    "PROXY TCP4 1.2.3 1.2.3.4 1 1",
    "PROXY TCP4 1.2.3.4 shop.example 1 1",
    "PROXY TCP4 ::1 ::1 1 1",
    "PROXY TCP4 1.2.3.4 ::1 1 1",
    "PROXY TCP6 1.2.3.4 1.2.3.4 1 1",
    "PROXY TCP6 fe80::1%eth0 ::1 1 1",
    "PROXY TCP6 [::1] ::1 1 1",
  ])
    assert.deepEqual(read(`${line}\r\n`), { wrong: "is malformed" }, line);
});

test("version 1 has at most 107 bytes, its end included", () => {
  const line = (bytes: number) => `PROXY UNKNOWN ${"a".repeat(bytes - 16)}\r\n`;
  assert.deepEqual(read(line(V1_BYTES_MAX)), { length: V1_BYTES_MAX, source: null });
  assert.deepEqual(read(line(V1_BYTES_MAX + 1)), { wrong: "is longer than 107 bytes" });
  assert.equal(read(line(V1_BYTES_MAX + 1).slice(0, V1_BYTES_MAX - 1)), null);
  assert.deepEqual(read(`PROXY ${"a".repeat(100_000)}`), { wrong: "is longer than 107 bytes" });
});

test("version 2 names the visitor, and fields behind the addresses are skipped", () => {
  const tlvs = Buffer.concat([tlv(0x04, Buffer.alloc(5)), tlv(0xea, Buffer.from("vpce-1"))]);
  for (const address of ["203.0.113.7", "2001:db8::7"]) {
    const bytes = headerV2(address, { tlvs });
    const family = address.includes(":") ? "IPv6" : "IPv4";
    assert.deepEqual(readProxyHeader(Buffer.concat([bytes, Buffer.from("GET /")])), {
      length: bytes.length,
      source: { address, family, port: 56_324 },
    });
  }
});

test("a checksum is skipped with the other fields, right or wrong", () => {
  const crc = tlv(0x03, Buffer.from("deadbeef", "hex"));
  assert.equal(sourceOf(headerV2("203.0.113.7", { tlvs: crc }))?.address, "203.0.113.7");
});

test("version 2 names nobody for connections of the sender's own, and for families without a visitor's address", () => {
  const rest = headerV2("203.0.113.7").subarray(16);
  const unix = Buffer.alloc(216, "/run/a");
  const nobody = [
    localV2(),
    localV2(Buffer.alloc(100)),
    rawV2({ versionAndCommand: 0x20, family: 0x11, rest }),
    rawV2({ versionAndCommand: 0x20, family: 0xff, rest: Buffer.alloc(3) }),
    rawV2({ versionAndCommand: 0x21, family: 0x00, rest: Buffer.alloc(0) }),
    rawV2({ versionAndCommand: 0x21, family: 0x00, rest }),
    rawV2({ versionAndCommand: 0x21, family: 0x12, rest }),
    rawV2({ versionAndCommand: 0x21, family: 0x31, rest: unix }),
    rawV2({ versionAndCommand: 0x21, family: 0x32, rest: unix }),
  ];
  for (const bytes of nobody)
    assert.deepEqual(readProxyHeader(bytes), { length: bytes.length, source: null }, bytes.toString("hex"));
});

test("version 2 with another version, command or family is wrong, and so is one too short for its addresses", () => {
  const whole = { versionAndCommand: 0x21, family: 0x11, rest: headerV2("203.0.113.7").subarray(16) };
  const wrong = [
    [{ ...whole, versionAndCommand: 0x11 }, "has version 1"],
    [{ ...whole, versionAndCommand: 0x31 }, "has version 3"],
    [{ ...whole, versionAndCommand: 0x22 }, "has the unknown command 2"],
    [{ ...whole, family: 0x41 }, "has the unknown family 0x41"],
    [{ ...whole, family: 0x13 }, "has the unknown family 0x13"],
    [{ ...whole, family: 0x21 }, "is too short for its addresses"],
    [{ ...whole, rest: whole.rest.subarray(1) }, "is too short for its addresses"],
  ] as const;
  for (const [header, why] of wrong) assert.deepEqual(readProxyHeader(rawV2(header)), { wrong: why });
});

test("version 2 has a longest header, and one over it is wrong before it has come", () => {
  const ofLength = (bytes: number) => localV2(Buffer.alloc(bytes - 16));
  assert.deepEqual(readProxyHeader(ofLength(V2_BYTES_MAX)), { length: V2_BYTES_MAX, source: null });
  assert.deepEqual(readProxyHeader(ofLength(V2_BYTES_MAX + 1).subarray(0, 16)), {
    wrong: "is longer than 4096 bytes",
  });
});

test("what begins with something else has no header, from the first byte that differs", () => {
  for (const text of ["GET / HTTP/1.1\r\n", "POST", "\x16\x03\x01", "\r\n\r\nGET", "proxy ", "PROXY\t", "\0"])
    assert.deepEqual(read(text), { wrong: "is missing" }, text);
  for (const text of ["", "P", "PROXY", "\r", "\r\n\r\n\0\r\nQUIT\n"]) assert.equal(read(text), null, text);
});

const port = fc.nat({ max: 65_535 });
const address = fc.oneof(fc.ipV4(), fc.ipV6().map(plain));
const header = fc.oneof(
  fc.tuple(address, port).map(([from, at]) => headerV1(from, at)),
  fc
    .tuple(address, port, fc.uint8Array({ maxLength: 300 }))
    .map(([from, at, tlvs]) => headerV2(from, { port: at, tlvs: Buffer.from(tlvs) })),
);

test("both versions say the same of every address and port", () => {
  fc.assert(
    fc.property(address, port, (from, at) => {
      const family = from.includes(":") ? "IPv6" : "IPv4";
      const source = { address: from, family, port: at };
      assert.deepEqual(sourceOf(headerV1(from, at)), source);
      assert.deepEqual(sourceOf(headerV2(from, { port: at })), source);
    }),
  );
});

test("a header split in any way, with anything behind it, gives the same answer as a whole one", () => {
  const cuts = fc.array(fc.nat());
  fc.assert(
    fc.property(header, fc.uint8Array(), cuts, (bytes, behind, at) => {
      const answer = readProxyHeader(bytes)!;
      assert.equal((answer as ProxyHeader).length, bytes.length);
      assert.deepEqual(readInPieces(Buffer.concat([bytes, behind]), at), answer);
      for (let end = 0; end < bytes.length; end++)
        assert.equal(readProxyHeader(bytes.subarray(0, end)), null);
    }),
  );
});

/** Garbage, and headers with one byte changed. */
const bent = fc
  .tuple(header, fc.nat(), fc.nat({ max: 255 }))
  .map(([bytes, at, value]) => bytes.with(at % bytes.length, value))
  .map((bytes) => Buffer.from(bytes));
const garbage = fc.oneof(
  fc.uint8Array({ maxLength: 6_000 }).map((bytes) => Buffer.from(bytes)),
  fc
    .uint8Array({ maxLength: 200 })
    .map((bytes) => Buffer.concat([Buffer.from("\r\n\r\n\0\r\nQUIT\n!", "latin1"), bytes])),
  fc.string({ unit: "binary-ascii" }).map((text) => Buffer.from(`PROXY ${text}\r\n`, "latin1")),
);

test("garbage never fails, never takes more than the limits, and gives the same answer however it is split", () => {
  fc.assert(
    fc.property(fc.oneof(bent, garbage), fc.array(fc.nat()), (bytes, cuts) => {
      const answer = readProxyHeader(bytes);
      assert.deepEqual(readInPieces(bytes, cuts), answer);
      if (answer === null) assert.ok(bytes.length < V2_BYTES_MAX);
      else if ("length" in answer) assert.ok(answer.length <= Math.min(bytes.length, V2_BYTES_MAX));
    }),
  );
});
