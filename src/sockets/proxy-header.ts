/**
 * The PROXY header: the first bytes of a connection, in which a load balancer that passes on TCP names the client ("The PROXY
 * protocol" by HAProxy, sections 2.1 and 2.2).
 *
 *   version 1   PROXY TCP4 203.0.113.7 10.0.0.1 56324 443\r\n
 *   version 2   signature (12 bytes), version and command, family and transport, length of the rest (2 bytes),
 *               source address, destination address, source port, destination port, more fields (TLVs)
 *
 * What does not match the specification is wrong; there is no guessing. The TLVs are skipped unread, the checksum among
 * them, as a receiver may: TCP has checksums of its own, and the sender of this header is trusted anyway.
 *
 * However the header is split, the answer is the same: an answer to the first bytes is final.
 */
import { isIPv4, isIPv6, SocketAddress } from "node:net";

/** The longest header of version 1 (section 2.1). */
export const V1_BYTES_MAX = 107;
/** The longest header of version 2 that is read, TLVs included. Senders keep to 536; nginx reads as many as we do. */
export const V2_BYTES_MAX = 4_096;

/** Where a connection comes from. */
export interface ConnectionSource {
  readonly address: string;
  readonly family: "IPv4" | "IPv6";
  readonly port: number;
}

export interface ProxyHeader {
  /** How many bytes it takes; what comes after them is the visitor's. */
  readonly length: number;
  /** Null: the connection is the sender's own, as in a health check, or the client is not known. */
  readonly source: ConnectionSource | null;
}

/** Not a header, and why: words that go on "the PROXY header …". */
export interface WrongHeader {
  readonly wrong: string;
}

const V1_START = Buffer.from("PROXY ", "latin1");
const V1_END = Buffer.from("\r\n", "latin1");
const PORT_MAX = 65_535;

const SIGNATURE = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");
/** Signature, version and command, family and transport, length. */
const V2_START_BYTES = 16;
const VERSION = 2;
const LOCAL = 0;
const PROXY = 1;
const FAMILY_MAX = 3;
const TRANSPORT_MAX = 2;
const TCP4 = 0x11;
const TCP6 = 0x21;
/** Two addresses and two ports. */
const TCP4_BYTES = 12;
const TCP6_BYTES = 36;

/** The header that these first bytes of a connection begin with; null while it is not whole. Never fails. */
export function readProxyHeader(bytes: Buffer): ProxyHeader | WrongHeader | null {
  if (beginsLike(bytes, SIGNATURE)) return readV2(bytes);
  if (beginsLike(bytes, V1_START)) return readV1(bytes);
  return { wrong: "is missing" };
}

/** True while the bytes, as many as there are, are those of the start. */
function beginsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, length, 0, length) === 0;
}

function readV1(bytes: Buffer): ProxyHeader | WrongHeader | null {
  const end = bytes.subarray(0, V1_BYTES_MAX).indexOf(V1_END);
  if (end < 0) return bytes.length < V1_BYTES_MAX ? null : { wrong: `is longer than ${V1_BYTES_MAX} bytes` };
  const [, family, ...fields] = bytes.toString("latin1", 0, end).split(" ");
  const length = end + V1_END.length;
  // Whatever else is in the line is to be ignored.
  if (family === "UNKNOWN") return { length, source: null };
  const source = readFields(family, fields);
  return source === null ? { wrong: "is malformed" } : { length, source };
}

function readFields(family: string | undefined, fields: readonly string[]): ConnectionSource | null {
  const [from = "", to = "", port = "", toPort = ""] = fields;
  if (fields.length !== 4 || !isPort(port) || !isPort(toPort)) return null;
  if (family === "TCP4" && isIPv4(from) && isIPv4(to)) return ipv4(from, Number(port));
  if (family === "TCP6" && isPlainIpv6(from) && isPlainIpv6(to)) return ipv6(from, Number(port));
  return null;
}

function isPort(text: string): boolean {
  return /^(?:0|[1-9]\d{0,4})$/.test(text) && Number(text) <= PORT_MAX;
}

/** A zone (`fe80::1%eth0`) means something on one machine alone. */
function isPlainIpv6(text: string): boolean {
  return isIPv6(text) && !text.includes("%");
}

function readV2(bytes: Buffer): ProxyHeader | WrongHeader | null {
  if (bytes.length < V2_START_BYTES) return null;
  const command = bytes[12]! & 0xf;
  const kind = bytes[13]!;
  const length = V2_START_BYTES + bytes.readUInt16BE(14);
  if (bytes[12]! >> 4 !== VERSION) return { wrong: `has version ${bytes[12]! >> 4}` };
  if (command !== LOCAL && command !== PROXY) return { wrong: `has the unknown command ${command}` };
  if (length > V2_BYTES_MAX) return { wrong: `is longer than ${V2_BYTES_MAX} bytes` };
  // The family of a connection of the sender's own is to be ignored.
  const wrong = command === LOCAL ? null : wrongKind(kind, length - V2_START_BYTES);
  if (wrong !== null) return { wrong };
  if (bytes.length < length) return null;
  return { length, source: command === LOCAL ? null : sourceOf(kind, bytes) };
}

function wrongKind(kind: number, restBytes: number): string | null {
  if (kind >> 4 > FAMILY_MAX || (kind & 0xf) > TRANSPORT_MAX)
    return `has the unknown family 0x${kind.toString(16)}`;
  const needed = kind === TCP4 ? TCP4_BYTES : kind === TCP6 ? TCP6_BYTES : 0;
  return restBytes < needed ? "is too short for its addresses" : null;
}

/** Other families than TCP have no address that a visitor could have: UNIX sockets, datagrams, and none at all. */
function sourceOf(kind: number, bytes: Buffer): ConnectionSource | null {
  if (kind === TCP4) return ipv4(bytes.subarray(16, 20).join("."), bytes.readUInt16BE(24));
  if (kind !== TCP6) return null;
  const groups = Array.from({ length: 8 }, (_, i) => bytes.readUInt16BE(16 + 2 * i).toString(16));
  return ipv6(groups.join(":"), bytes.readUInt16BE(48));
}

function ipv4(address: string, port: number): ConnectionSource {
  return { address, family: "IPv4", port };
}

/** In the one spelling that the system itself uses, so that nobody is counted twice. */
function ipv6(written: string, port: number): ConnectionSource {
  const { address } = new SocketAddress({ address: written, family: "ipv6" });
  return { address, family: "IPv6", port };
}
