/**
 * The keys by which budgets and binding count addresses. One visitor with IPv6 has a whole /64 to choose
 * addresses from, so that counts as one address; a network is what one customer of a provider, or one small site,
 * usually has: a /24 with IPv4, a /48 with IPv6.
 */
import { isIP } from "node:net";

/** A /24: three numbers of eight bits. */
const IPV4_NETWORK_PARTS = 3;
/** A /64: four groups of sixteen bits. */
const IPV6_ADDRESS_PARTS = 4;
/** A /48. */
const IPV6_NETWORK_PARTS = 3;
const IPV6_PARTS = 8;

export interface Whereabouts {
  /** The address, or with IPv6 its /64. */
  readonly address: string;
  readonly network: string;
}

/** The one key of everything that is not an IP address, such as a socket that has none. */
const NOWHERE: Whereabouts = { address: "", network: "" };

/** The address alone, as `whereabouts` has it. */
export function addressKey(address: string): string {
  // Nearly all there are: plain IPv4, which is its own key.
  return address.includes(":") ? whereabouts(address).address : isIP(address) === 4 ? address : "";
}

/** The keys of an address without brackets or port. Every spelling of one address has the same keys. */
export function whereabouts(address: string): Whereabouts {
  const family = isIP(address);
  if (family === 0) return NOWHERE;
  if (family === 4) return ofIpv4(address);
  const groups = groupsOf(address);
  return isMapped(groups) ? ofIpv4(mappedIpv4(groups)) : ofIpv6(groups);
}

function ofIpv4(address: string): Whereabouts {
  return { address, network: address.split(".", IPV4_NETWORK_PARTS).join(".") };
}

function ofIpv6(groups: readonly number[]): Whereabouts {
  const start = (parts: number) =>
    groups
      .slice(0, parts)
      .map((group) => group.toString(16))
      .join(":");
  return { address: start(IPV6_ADDRESS_PARTS), network: start(IPV6_NETWORK_PARTS) };
}

/** The eight groups of an IPv6 address that is known to be one. */
function groupsOf(address: string): number[] {
  const [written = ""] = address.split("%", 1);
  const [head = "", tail] = written.split("::");
  const before = readGroups(head);
  if (tail === undefined) return before;
  const after = readGroups(tail);
  return [...before, ...new Array<number>(IPV6_PARTS - before.length - after.length).fill(0), ...after];
}

function readGroups(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => (group.includes(".") ? readDotted(group) : Number(`0x${group}`)));
}

/** The last two groups of an IPv6 address may be written as an IPv4 one. */
function readDotted(text: string): number[] {
  const [a = 0, b = 0, c = 0, d = 0] = text.split(".").map(Number);
  return [a * 256 + b, c * 256 + d];
}

/** An IPv4 address inside an IPv6 one, ::ffff:0:0/96 (RFC 4291, section 2.5.5.2). */
function isMapped(groups: readonly number[]): boolean {
  return groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
}

function mappedIpv4(groups: readonly number[]): string {
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join(".");
}
