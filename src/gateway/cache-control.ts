/**
 * An answer that carries a visitor's token must not be stored by a cache that serves others: the next visitor would get
 * the page and, with it, somebody's pass. What the origin said for the visitor's own browser stays.
 */

/** Words to caches in the network alone, which go before Cache-Control there (RFC 9213; Surrogate-Control is older). */
const TARGETED = /^(?:[a-z0-9-]+-cache-control|surrogate-control)$/i;
const DIRECTIVE = /[^\s,="]+(?:\s*=\s*(?:"[^"]*"|[^,"]*))?/g;
const FOR_SHARED = /^(?:public|private|s-maxage|proxy-revalidate)\b/i;

/** True for a header that must not stand beside a visitor's token. */
export function isForSharedCaches(name: string): boolean {
  return name.length > 13 && TARGETED.test(name);
}

/** The Cache-Control to send instead of `given` ("" for none). */
export function personalCacheControl(given: string): string {
  const kept = (given.match(DIRECTIVE) ?? []).filter((directive) => !FOR_SHARED.test(directive));
  return ["private", ...kept.map((directive) => directive.trim())].join(", ");
}
