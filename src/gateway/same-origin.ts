/**
 * Whether a browser's request was made by a page of another origin, sibling subdomains included. Such a page can make the
 * browser send our cookie, and must not act for the visitor with it. Newer browsers say so themselves on https
 * (`Sec-Fetch-Site`; `none` is the visitor's own action, such as a typed address). Others send `Origin` with every POST, which
 * is then compared with the requested host. Programs send neither.
 *
 * A page cannot set any of the headers read here, so `X-Forwarded-Host` counts from any sender: a proxy in front may have
 * replaced the host.
 */
import type { Facts } from "./facts.ts";
import { rawHeader } from "./proxy/raw-header.ts";

const OWN_SITES: ReadonlySet<string> = new Set(["same-origin", "none"]);
/** Ports that a browser leaves out. */
const USUAL_PORT = /:(?:80|443)$/;

/** `fetchSite` is the request's `Sec-Fetch-Site`. */
export function isFromElsewhere(facts: Facts, fetchSite: string | undefined): boolean {
  if (fetchSite !== undefined) return !OWN_SITES.has(fetchSite);
  const origin = rawHeader(facts, "Origin", "origin");
  return origin !== undefined && !hostsOf(facts).includes(hostIn(origin));
}

/** The host and port of an origin; "" for one that has none, such as `null`. */
function hostIn(origin: string): string {
  const scheme = origin.indexOf("://");
  return scheme < 0 ? "" : plain(origin.slice(scheme + 3));
}

/** Every host that the visitor may have asked for. */
function hostsOf(facts: Facts): string[] {
  const asked = rawHeader(facts, "Host", "host") ?? facts.headers[":authority"];
  const forwarded = rawHeader(facts, "X-Forwarded-Host", "x-forwarded-host");
  const named = `${asked ?? ""},${forwarded ?? ""}`.split(",");
  return named.map(plain).filter((host) => host !== "");
}

function plain(host: string): string {
  return host.trim().toLowerCase().replace(USUAL_PORT, "");
}
