/**
 * The visitor behind a request. The other end of the connection, or the address in its PROXY header, is the peer. What it says
 * about the visitor is believed only when it is a trusted proxy, and only as far back as the chain of trusted proxies reaches:
 * the first address from the right that is none of them is the visitor.
 *
 * Any other peer is the visitor, whatever its headers say.
 */
import { BlockList, isIP, isIPv6 } from "node:net";
import { addressKey } from "../../sockets/whereabouts.ts";
import { type Hop, parseForwarded, plainAddress, splitForwardedFor } from "./forwarded.ts";
import { isHost } from "./framing.ts";

/** What is known of the visitor behind a request. */
export interface Client {
  /** The visitor's address, without brackets or port. */
  readonly address: string;
  readonly protocol: "http" | "https";
  /** The host the visitor asked for, port included; empty when none was given. It finds the room, and the origin gets it. */
  readonly host: string;
  /** The other end of the connection: the visitor, or the nearest proxy. */
  readonly peer: string;
  readonly isPeerTrusted: boolean;
}

/** The parts of a request, HTTP/1 or HTTP/2, that tell where it came from. */
export interface Incoming {
  readonly socket: { readonly remoteAddress?: string | undefined; readonly encrypted?: boolean | undefined };
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Trust {
  /** True for an address that belongs to a proxy the operator named. */
  isTrusted(address: string): boolean;
  /** The visitor, as far as headers can be believed. Never fails. */
  client(request: Incoming): Client;
}

/** The key a visitor is counted by; null for a trusted proxy that does not name the visitor. */
export function countedAs({ address, peer, isPeerTrusted }: Client): string | null {
  return isPeerTrusted && address === peer ? null : addressKey(address);
}

/** How many answers about addresses are remembered. */
const REMEMBERED_MAX = 10_000;

/**
 * Trust in the given addresses and networks (`10.0.0.0/8`), and in nobody else. Most proxies hand on a visitor's own
 * `X-Forwarded-Host`, so a host is believed only where `isHostForwarded` says that they set it themselves.
 */
export function createTrust(trustedProxies: readonly string[], isHostForwarded = false): Trust {
  const isTrusted = createLookup(trustedProxies);
  return {
    isTrusted,
    client(request) {
      const peer = plainAddress(request.socket.remoteAddress ?? "");
      const direct = {
        address: peer,
        protocol: request.socket.encrypted === true ? "https" : "http",
        host: hostOf(request),
        peer,
        isPeerTrusted: false,
      } as const;
      return isTrusted(peer) ? behindProxy(direct, request, { isTrusted, isHostForwarded }) : direct;
    },
  };
}

function createLookup(trustedProxies: readonly string[]): (address: string) => boolean {
  if (trustedProxies.length === 0) return () => false;
  const list = new BlockList();
  for (const written of trustedProxies) addTo(list, written);
  const remembered = new Map<string, boolean>();
  return (address) => {
    const known = remembered.get(address);
    if (known !== undefined) return known;
    const found = isIP(address) !== 0 && list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(address, found);
    return found;
  };
}

function addTo(list: BlockList, written: string): void {
  const [network = "", prefix] = written.trim().split("/");
  const address = plainAddress(network);
  const family = isIPv6(address) ? "ipv6" : "ipv4";
  if (prefix === undefined) {
    list.addAddress(address, family);
    return;
  }
  const isUnmapped = address !== network && isIPv6(network);
  list.addSubnet(address, isUnmapped ? Number(prefix) - 96 : Number(prefix), family);
}

interface Believed {
  readonly isTrusted: (address: string) => boolean;
  readonly isHostForwarded: boolean;
}

function behindProxy(direct: Client, request: Incoming, { isTrusted, isHostForwarded }: Believed): Client {
  const hops = hopsOf(request.headers);
  const visitor = visitorAmong(hops, isTrusted);
  return {
    ...direct,
    address: visitor?.address ?? direct.address,
    protocol: protocolOf(request.headers, visitor) ?? direct.protocol,
    host: (isHostForwarded ? forwardedHost(request.headers, visitor) : null) ?? direct.host,
    isPeerTrusted: true,
  };
}

function hopsOf(headers: Incoming["headers"]): Hop[] {
  const list = joined(headers["x-forwarded-for"]);
  if (list) return splitForwardedFor(list).map((address) => ({ address, protocol: null, host: null }));
  const forwarded = joined(headers.forwarded);
  return forwarded ? parseForwarded(forwarded) : [];
}

/** From the right: past every named proxy, to the first that is none. What is no address ends the search. */
function visitorAmong(hops: readonly Hop[], isTrusted: (address: string) => boolean): Hop | null {
  let nearest: Hop | null = null;
  for (let i = hops.length - 1; i >= 0; i--) {
    const hop = hops[i]!;
    if (hop.address === null || !isAddress(hop.address)) break;
    nearest = hop;
    if (!isTrusted(hop.address)) break;
  }
  return nearest;
}

/** A zone (`fe80::1%eth0`) means something on one machine alone, and may be as long as a header. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes("%");
}

function protocolOf(headers: Incoming["headers"], visitor: Hop | null): "http" | "https" | null {
  const given = (first(headers["x-forwarded-proto"]) || visitor?.protocol || "").toLowerCase();
  return given === "https" || given === "http" ? given : null;
}

/** Of several the last, which the nearest proxy added; those before it may be a visitor's own. */
function forwardedHost(headers: Incoming["headers"], visitor: Hop | null): string | null {
  const given = last(headers["x-forwarded-host"]) || visitor?.host || "";
  return given !== "" && isHost(given) ? given : null;
}

function hostOf({ headers }: Incoming): string {
  const host = headers.host ?? headers[":authority"];
  return typeof host === "string" ? host : "";
}

function joined(value: string | string[] | undefined): string {
  return Array.isArray(value) ? value.join(",") : (value ?? "");
}

function first(value: string | string[] | undefined): string {
  const text = joined(value);
  const comma = text.indexOf(",");
  return (comma < 0 ? text : text.slice(0, comma)).trim();
}

function last(value: string | string[] | undefined): string {
  const text = joined(value);
  return text.slice(text.lastIndexOf(",") + 1).trim();
}
