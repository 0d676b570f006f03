/**
 * Hosts and paths of a room's routes, and origin addresses, in the one form that everything compares.
 *
 * A host is lower case, in its ASCII form, without a port or a closing dot. A path starts with a slash, has none at
 * the end, and has the percent-encoding a URL parser would give it: `/shop/` and `/%73hop` are both `/shop`. The gateway
 * puts a request's path through `normalPath` before it looks for the room, so that no spelling slips past.
 */
import { domainToASCII } from "node:url";

export type Read<T> = { readonly value: T } | { readonly wrong: string };

/** Paths that belong to Fairgate itself; no room may claim them. */
export const OWN_PATH = "/.fairgate";

const HOST =
  /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IPV6 = /^\[[0-9a-f:.]+\]$/;
const HOST_CHARACTERS_MAX = 253;

/** The normal form of a host name, or of `*.` and a host name. */
export function readHost(written: string): Read<string> {
  const host = written.trim().toLowerCase().replace(/\.$/, "");
  if (host.includes("://")) return { wrong: "has a scheme in it" };
  if (host.includes("/")) return { wrong: "has a path in it" };
  if (/:\d*$/.test(host) && !IPV6.test(host)) return { wrong: "has a port in it" };
  const ascii = /^[\x00-\x7f]*$/.test(host) ? host : toAscii(host);
  if (ascii.length > HOST_CHARACTERS_MAX || !(HOST.test(ascii) || IPV6.test(ascii)))
    return { wrong: "is not a host name" };
  return { value: ascii };
}

function toAscii(host: string): string {
  return host.startsWith("*.") ? `*.${domainToASCII(host.slice(2))}` : domainToASCII(host);
}

/** The normal form of a room's path; the path stands for itself and everything below it. */
export function readPath(written: string): Read<string> {
  if (!written.startsWith("/")) return { wrong: "does not start with a slash" };
  if (/[?#]/.test(written)) return { wrong: "has a query or a fragment in it" };
  if (written.includes("*")) return { wrong: "has a * in it; a path covers everything below it without one" };
  if (/[\x00-\x20\x7f\\]/.test(written))
    return { wrong: "has a space, control character or backslash in it" };
  const path = normalPath(written);
  if (path === null) return { wrong: "is not a path" };
  if (path === OWN_PATH || path.startsWith(`${OWN_PATH}/`)) return { wrong: "is Fairgate's own" };
  return { value: path };
}

/** The form in which paths are compared: dots resolved, slashes single, needless encoding undone. Null: not a path. */
export function normalPath(path: string): string | null {
  // A stray % is a literal one; left as it is, it could become half of an escape that was never written.
  const literal = path.replace(/%(?![0-9a-f]{2})/gi, "%25");
  const decoded = literal.replace(/%([0-9a-f]{2})/gi, decodeUnreserved).replace(/\/{2,}/g, "/");
  const base = "http://room";
  if (!URL.canParse(decoded, base)) return null;
  const { pathname } = new URL(decoded, base);
  return pathname.length > 1 && pathname.endsWith("/") ? pathname.replace(/\/+$/, "") || "/" : pathname;
}

function decodeUnreserved(encoded: string, hex: string): string {
  const character = String.fromCharCode(Number.parseInt(hex, 16));
  return /[A-Za-z0-9._~-]/.test(character) ? character : encoded.toUpperCase();
}

/** An origin's address as `scheme://host:port`, nothing else in it. */
export function readAddress(written: string): Read<string> {
  if (!URL.canParse(written)) return { wrong: "is not a URL" };
  const url = new URL(written);
  if (url.protocol !== "http:" && url.protocol !== "https:") return { wrong: "is not http or https" };
  if (url.username !== "" || url.password !== "") return { wrong: "has a user name or password in it" };
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    return { wrong: "has a path, query or fragment in it" };
  return { value: url.origin };
}
