/**
 * The two headers in which proxies name the client: `X-Forwarded-For` lists and RFC 7239 `Forwarded`. This file
 * reads and writes them; what to believe is decided in `trust.ts`.
 *
 * Bad input is never an error: what cannot be read is left out, and a reader stops at the first thing that is no
 * address, since nothing before it can be believed either.
 */

/** One hop as a proxy described it. Fields it did not give are null. */
export interface Hop {
  readonly address: string | null;
  readonly protocol: string | null;
  readonly host: string | null;
}

/** The most hops looked at; a longer list is cut at its far end. */
const HOPS_MAX = 32;

/** The addresses of an `X-Forwarded-For` list as written, nearest visitor first. */
export function splitForwardedFor(value: string): string[] {
  return value
    .split(",")
    .slice(-HOPS_MAX)
    .map((part) => plainAddress(part.trim()));
}

/** The hops of a `Forwarded` header, nearest visitor first. */
export function parseForwarded(value: string): Hop[] {
  return splitOutsideQuotes(value, ",").slice(-HOPS_MAX).map(parseHop);
}

/** Our own element of a `Forwarded` header. */
export function formatHop(hop: Hop): string {
  let text = `for=${formatNode(hop.address ?? "unknown")}`;
  if (hop.host) text += `;host=${isToken(hop.host) ? hop.host : `"${hop.host}"`}`;
  if (hop.protocol && isToken(hop.protocol)) text += `;proto=${hop.protocol}`;
  return text;
}

/** An address without brackets, port or the IPv4-mapped prefix. */
export function plainAddress(written: string): string {
  let address = written;
  if (address.startsWith("[")) {
    const end = address.indexOf("]");
    address = end < 0 ? address : address.slice(1, end);
  } else if (address.indexOf(":") >= 0 && address.indexOf(":") === address.lastIndexOf(":")) {
    address = address.slice(0, address.indexOf(":"));
  }
  return isMapped(address) ? address.slice(7) : address;
}

/** IPv4 addresses arrive as `::ffff:10.0.0.1` on a socket that listens for both families. */
function isMapped(address: string): boolean {
  return address.length > 7 && address.includes(".") && address.slice(0, 7).toLowerCase() === "::ffff:";
}

function parseHop(element: string): Hop {
  let address: string | null = null;
  let protocol: string | null = null;
  let host: string | null = null;
  for (const pair of splitOutsideQuotes(element, ";")) {
    const equals = pair.indexOf("=");
    if (equals < 0) continue;
    const value = unquote(pair.slice(equals + 1).trim());
    const name = pair.slice(0, equals).trim().toLowerCase();
    if (name === "for") address = plainAddress(value);
    else if (name === "proto") protocol = value;
    else if (name === "host") host = value;
  }
  return { address, protocol, host };
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  if (!text.includes('"')) return text.split(separator);
  const parts: string[] = [];
  let start = 0;
  let isQuoted = false;
  for (let i = 0; i < text.length; i++) {
    const character = text[i];
    if (character === "\\" && isQuoted) i++;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === separator && !isQuoted) {
      parts.push(text.slice(start, i));
      start = i + 1;
    }
  }
  parts.push(text.slice(start));
  return parts;
}

function unquote(text: string): string {
  if (text.length < 2 || !text.startsWith('"') || !text.endsWith('"')) return text;
  return text.slice(1, -1).replace(/\\(.)/g, "$1");
}

/** RFC 7239, section 6: an IPv6 address goes in brackets and quotes. */
function formatNode(address: string): string {
  if (address.includes(":") && /^[\w:.%]*$/.test(address)) return `"[${address}]"`;
  return isToken(address) ? address : "unknown";
}

function isToken(text: string): boolean {
  return /^[\w!#$%&'*+.^`|~-]+$/.test(text);
}
