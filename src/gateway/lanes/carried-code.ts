/**
 * Where a visitor carries a code: in the query (`?fairgate_code=…`) of a link that they were sent, or in the `Fairgate-Code`
 * header of a program. Only the gateway may see it: the header is removed with all other `Fairgate-*` headers, and `withoutCode`
 * removes it from the address before the origin or a log gets that.
 *
 * A name with escapes in it (`fairgate%5Fcode`) is the same name to most origins, so it is here too.
 */
export const CODE_PARAMETER = "fairgate_code";
/** In lower case. */
export const CODE_HEADER = "fairgate-code";

/** The code in an address; null for none. With several, the first counts. */
export function codeInUrl(url: string): string | null {
  const query = queryOf(url);
  if (query === null || !mayHoldCode(query)) return null;
  const found = query.split("&").find(isCode);
  if (found === undefined) return null;
  const written = found.slice(found.indexOf("=") + 1);
  return decoded(written) ?? written;
}

/** The same address without any code; everything else in it stays as it was written. */
export function withoutCode(url: string): string {
  const query = queryOf(url);
  if (query === null || !mayHoldCode(query)) return url;
  const parts = query.split("&");
  const kept = parts.filter((part) => !isCode(part));
  if (kept.length === parts.length) return url;
  const start = url.indexOf("?");
  const fragment = url.slice(start + 1 + query.length);
  return url.slice(0, start) + (kept.length === 0 ? "" : `?${kept.join("&")}`) + fragment;
}

/**
 * The same, as an address to send a visitor to: a redirect, or a link on a page. Leading slashes, backslashes and blanks become
 * one slash: two slashes would name another host, and browsers read backslashes as slashes and skip blanks.
 */
export function linkWithoutCode(url: string): string {
  return withoutCode(url).replace(/^[/\\\x00-\x20]*/, "/");
}

/** The part between the first question mark and the fragment. Only addresses in other headers have a fragment. */
function queryOf(url: string): string | null {
  const hash = url.indexOf("#");
  const end = hash < 0 ? url.length : hash;
  const start = url.indexOf("?");
  return start < 0 || start > end ? null : url.slice(start + 1, end);
}

/** A quick test that is false for nearly every query. */
function mayHoldCode(query: string): boolean {
  return query.includes(CODE_PARAMETER) || query.includes("%");
}

function isCode(part: string): boolean {
  const equals = part.indexOf("=");
  if (equals < 0) return false;
  const name = part.slice(0, equals);
  return name === CODE_PARAMETER || (name.includes("%") && decoded(name) === CODE_PARAMETER);
}

function decoded(written: string): string | null {
  try {
    return decodeURIComponent(written);
  } catch {
    return null;
  }
}
