/**
 * What a site in the gateway's own process sees of a request: none of our cookies and nothing forged. The path is the routed
 * one, and the host is the one by which the room was found.
 */
import { isNeverSent, stripCookies } from "../headers.ts";

/** Lower-case names, in every spelling that an app might treat as the same. */
const FORWARDED_HOST = /^x[^a-z0-9]forwarded[^a-z0-9]host$/;

/** The request's headers that the site gets, as flat lists. */
export interface SiteHeaders {
  readonly kept: readonly string[];
  readonly added: readonly string[];
}

/** The headers for the site. `added`: our own, a flat list. */
export function headersForSite(
  raw: readonly string[],
  { added, host }: { added: readonly string[]; host: string },
): SiteHeaders {
  const kept: string[] = [];
  let isHostForwarded = false;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    const value = raw[i + 1]!;
    const lower = name.toLowerCase();
    if (FORWARDED_HOST.test(lower)) isHostForwarded = host !== "";
    const clean = lower === "cookie" ? stripCookies(value) : value;
    if (!isHidden(lower, value) && (clean !== "" || value === "")) kept.push(name, clean);
  }
  return { kept, added: isHostForwarded ? ["X-Forwarded-Host", host, ...added] : added };
}

/** True for a header (name in lower case) that the site must not see: a forged one, or one that names another host. */
export function isHidden(name: string, value: unknown): boolean {
  return (
    isNeverSent(name) || FORWARDED_HOST.test(name) || (name === "forwarded" && /host/i.test(String(value)))
  );
}
