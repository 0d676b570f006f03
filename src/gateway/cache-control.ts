/**
 * Answers from behind a line must not be stored by shared caches. With a token in it, the next visitor would get somebody else's
 * pass; without one, a page that others have to wait for. Directives of the origin for the visitor's own browser stay.
 */

/**
 * Headers for caches in the network alone, which take precedence over Cache-Control there: RFC 9213, the older
 * Surrogate-Control, and those of Akamai and nginx.
 */
const TARGETED = /^(?:[a-z0-9-]+-cache-control|surrogate-control|edge-control|x-accel-expires)$/i;
const TARGETED_CHARACTERS_MIN = "edge-control".length;
const DIRECTIVE = /[^\s,="]+(?:\s*=\s*(?:"[^"]*"|[^,"]*))?/g;
const FOR_SHARED = /^(?:public|private|s-maxage|proxy-revalidate)\b/i;

/** True for a header that must not stand in such an answer. */
export function isForSharedCaches(name: string): boolean {
  if (name.length < TARGETED_CHARACTERS_MIN) return false;
  // Tests the last letter first, since this is called for every header.
  const last = name.charCodeAt(name.length - 1) | 0x20;
  return (last === 0x6c || last === 0x73) && TARGETED.test(name);
}

let lastGiven = "";
let lastAnswer = "private";

/** The Cache-Control to send instead of `given` ("" for none). */
export function personalCacheControl(given: string): string {
  // Most answers of a site say the same.
  if (given === lastGiven) return lastAnswer;
  const kept = (given.match(DIRECTIVE) ?? []).filter((directive) => !FOR_SHARED.test(directive));
  lastGiven = given;
  lastAnswer = ["private", ...kept.map((directive) => directive.trim())].join(", ");
  return lastAnswer;
}
