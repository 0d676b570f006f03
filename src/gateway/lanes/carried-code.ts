/**
 * Where a visitor carries a code: in the query (`?fairgate_code=…`) of a link they were sent, or in the
 * `Fairgate-Code` header of a program. It is for us alone: the header is dropped with everything else called
 * `Fairgate-*`, and `withoutCode` takes it out of the address before the origin or a log sees that.
 *
 * A name with escapes in it (`fairgate%5Fcode`) is the same name to most origins, so it is the same name
 * here.
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
 * The same for a visitor to go to: a redirect or a link on a page. A path that begins with two slashes names
 * another host there, and browsers take a backslash for a slash and pass over blanks, so whatever it begins
 * with becomes one slash.
 */
export function linkWithoutCode(url: string): string {
  return withoutCode(url).replace(/^[/\\\x00-\x20]*/, "/");
}

/** What is between the first question mark and the fragment, which only addresses in other headers have. */
function queryOf(url: string): string | null {
  const hash = url.indexOf("#");
  const end = hash < 0 ? url.length : hash;
  const start = url.indexOf("?");
  return start < 0 || start > end ? null : url.slice(start + 1, end);
}

/** False for nearly every query there is, without taking it apart. */
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
