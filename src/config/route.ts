/**
 * Hosts, paths and addresses in settings, read to the one form in which they are compared.
 *
 * A host is lower case, in its ASCII form, without a port or a closing dot. A path starts with a slash, has none at
 * the end, and is plain (`plain-path.ts`): `/shop/` and `/%73hop` are both `/shop`. The gateway makes a request's path
 * plain before it looks for the room, so that no spelling slips past.
 */
import { isIP, isIPv6 } from "node:net";
import { domainToASCII } from "node:url";
import { isClear, readPlainPath } from "./plain-path.ts";

export type Read<T> = { readonly value: T } | { readonly wrong: string };

/** Paths that belong to Fairgate itself; no room may claim them. */
export const OWN_PATH = "/.fairgate";

const HOST =
  /^(?:\*\.)?[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*$/;
const IPV6 = /^\[[0-9a-f:.]+\]$/;
const HOST_CHARACTERS_MAX = 253;
const PORT_MAX = 65_535;

/** The normal form of a host name, or of `*.` and a host name. */
export function readHost(written: string): Read<string> {
  const host = written.trim().toLowerCase().replace(/\.$/, "");
  if (host.includes("://")) return { wrong: "has a scheme in it" };
  if (host.includes("/")) return { wrong: "has a path in it" };
  if (/:\d*$/.test(host) && !IPV6.test(host)) return { wrong: "has a port in it" };
  const ascii = /^[\x00-\x7f]*$/.test(host) ? host : toAscii(host);
  if (ascii.length > HOST_CHARACTERS_MAX || !(HOST.test(ascii) || IPV6.test(ascii)))
    return { wrong: "is not a host name" };
  return { value: IPV6.test(ascii) ? shortIpv6(ascii) : ascii };
}

/** An IPv6 address in brackets, in its one short spelling (RFC 5952); as it is when it is none. */
export function shortIpv6(host: string): string {
  return URL.parse(`http://${host}`)?.hostname ?? host;
}

/** A host with a port, or with `usualPort` when it names none; an IPv6 address loses its brackets. */
export function readHostPort(written: string, usualPort: number): Read<{ host: string; port: number }> {
  const match = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/.exec(written.trim());
  const host = match?.[1]?.toLowerCase() ?? "";
  if (host === "" || /^\d+$/.test(host)) return { wrong: "is not a host with a port" };
  const inBrackets = host.startsWith("[") ? host.slice(1, -1) : null;
  if (inBrackets !== null && !isIPv6(inBrackets)) return { wrong: "is not an IPv6 address" };
  const port = Number(match![2] ?? usualPort);
  if (port < 1 || port > PORT_MAX) return { wrong: "has a port that is out of range" };
  return { value: { host: inBrackets === null ? host : shortIpv6(host).slice(1, -1), port } };
}

function toAscii(host: string): string {
  return host.startsWith("*.") ? `*.${domainToASCII(host.slice(2))}` : domainToASCII(host);
}

/** As it is sent: in ASCII. */
export function inAscii(path: string): string {
  return path.toWellFormed().replace(/[^\x00-\x7f]+/g, encodeURIComponent);
}

/** Without the slash at its end; the root is one. */
export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
}

/** The normal form of a room's path; the path stands for itself and everything below it. */
export function readPath(written: string): Read<string> {
  if (!written.startsWith("/")) return { wrong: "does not start with a slash" };
  if (/[?#]/.test(written)) return { wrong: "has a query or a fragment in it" };
  if (written.includes("*")) return { wrong: "has a * in it; a path covers everything below it without one" };
  if (/[\x00-\x20\x7f\\]/.test(written))
    return { wrong: "has a space, control character or backslash in it" };
  const plain = readPlainPath(inAscii(written));
  if ("wrong" in plain) return { wrong: `has ${plain.wrong} in it` };
  if (!isClear(plain)) return { wrong: "can be read in more than one way" };
  const path = withoutSlash(plain.target);
  if (path === OWN_PATH || path.startsWith(`${OWN_PATH}/`)) return { wrong: "is Fairgate's own" };
  return { value: path };
}

/** An origin's address as `scheme://host:port`, nothing else in it. */
export function readAddress(written: string): Read<string> {
  const url = URL.parse(written);
  if (url === null) return { wrong: "is not a URL" };
  if (url.protocol !== "http:" && url.protocol !== "https:") return { wrong: "is not http or https" };
  if (url.username !== "" || url.password !== "") return { wrong: "has a user name or password in it" };
  if (url.pathname !== "/" || url.search !== "" || url.hash !== "")
    return { wrong: "has a path, query or fragment in it" };
  return { value: url.origin };
}

/** A domain that a cookie can be for: a host name with a dot in it that is no IP address. */
export function readDomain(written: string): Read<string> {
  const host = readHost(written.replace(/^\./, ""));
  if ("wrong" in host) return host;
  const { value } = host;
  if (value.startsWith("*.")) return { wrong: "has a * in it; it covers every host below it without one" };
  if (isIP(value) !== 0 || value.startsWith("[")) return { wrong: "is an IP address" };
  if (!value.includes(".")) return { wrong: "is no domain that browsers take a cookie for" };
  return { value };
}

const ANY_ORIGIN = /^([a-z][a-z0-9+.-]*):\/\/[a-z0-9._~-]+(?::\d{1,5})?$/;

/** An origin as browsers write it in their Origin header, that of a web view (`capacitor://localhost`) included. */
export function readOrigin(written: string): Read<string> {
  if (written.includes("*")) return { wrong: "has a * in it; each origin is named" };
  if (/^https?:/i.test(written)) return readAddress(written);
  const origin = written.toLowerCase();
  return ANY_ORIGIN.test(origin) ? { value: origin } : { wrong: "is not an origin" };
}
