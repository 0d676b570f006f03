/** PROXY headers, well-formed as load balancers write them, and malformed. */
import { isIPv6, SocketAddress } from "node:net";

const SIGNATURE = Buffer.from("0d0a0d0a000d0a515549540a", "hex");

/** Version 1, for a visitor from this address. */
export function headerV1(address: string, port = 56_324): Buffer {
  const [family, to] = isIPv6(address) ? ["TCP6", "2001:db8::1"] : ["TCP4", "10.0.0.1"];
  return Buffer.from(`PROXY ${family} ${address} ${to} ${port} 443\r\n`, "latin1");
}

/** Version 2, for a visitor from this address, with a number of bytes of other fields (TLVs). */
export function headerV2(
  address: string,
  { port = 56_324, tlvs = Buffer.alloc(0) }: { port?: number; tlvs?: Buffer } = {},
): Buffer {
  const isV6 = isIPv6(address);
  const ports = Buffer.alloc(4);
  ports.writeUInt16BE(port, 0);
  ports.writeUInt16BE(443, 2);
  const [from, to] = [address, isV6 ? "2001:db8::1" : "10.0.0.1"].map(bytesOf);
  return rawV2({
    versionAndCommand: 0x21,
    family: isV6 ? 0x21 : 0x11,
    rest: Buffer.concat([from!, to!, ports, tlvs]),
  });
}

/** Version 2 of a connection that is the sender's own, such as a health check. */
export function localV2(rest = Buffer.alloc(0)): Buffer {
  return rawV2({ versionAndCommand: 0x20, family: 0, rest });
}

/** Version 2, byte by byte. */
export function rawV2(header: {
  readonly versionAndCommand: number;
  readonly family: number;
  readonly rest: Buffer;
  /** What its length field says; by default the real length. */
  readonly length?: number;
}): Buffer {
  const { versionAndCommand, family, rest, length = rest.length } = header;
  return Buffer.concat([
    SIGNATURE,
    Buffer.from([versionAndCommand, family, length >> 8, length & 0xff]),
    rest,
  ]);
}

/** One more field: its type and its value. */
export function tlv(type: number, value: Buffer): Buffer {
  return Buffer.concat([Buffer.from([type, value.length >> 8, value.length & 0xff]), value]);
}

function bytesOf(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split(".").map(Number));
  const [head = "", tail = ""] = new SocketAddress({ address, family: "ipv6" }).address.split("::");
  const groups = (text: string) => (text === "" ? [] : text.split(":").flatMap(groupsOf));
  const [before, after] = [groups(head), groups(tail)];
  const all = [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
  return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(group: string): number[] {
  if (!group.includes(".")) return [Number.parseInt(group, 16)];
  const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}
