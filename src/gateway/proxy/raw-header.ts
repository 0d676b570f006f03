/** Single headers read from the raw list, without making an object of them all. */
import type { IncomingHttpHeaders } from "node:http";

/** One header's value from the raw list, found by its usual and its lower-case spelling. A repeated one is joined. */
export function rawHeader(
  request: { readonly rawHeaders: readonly string[]; readonly headers: IncomingHttpHeaders },
  usual: string,
  lower: string,
): string | undefined {
  const raw = request.rawHeaders;
  let found: string | undefined;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    if (name.length !== lower.length || !isNamed(name, usual, lower)) continue;
    if (found !== undefined) return request.headers[lower] as string;
    found = raw[i + 1];
  }
  return found;
}

/** Compares with the two common spellings first, since making a name lower-case makes a new text. */
export function isNamed(name: string, usual: string, lower: string): boolean {
  return (
    name === usual ||
    name === lower ||
    ((name.charCodeAt(0) | 0x20) === lower.charCodeAt(0) && name.toLowerCase() === lower)
  );
}
