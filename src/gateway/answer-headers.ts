/** Flat header lists of our own answers. */

/** For JSON that is about one visitor. */
export const PERSONAL_JSON: readonly string[] = [
  "Content-Type",
  "application/json; charset=utf-8",
  "Cache-Control",
  "no-store",
  "X-Content-Type-Options",
  "nosniff",
];
/** For a line of text that is about one visitor. */
export const PERSONAL_TEXT: readonly string[] = [
  "Content-Type",
  "text/plain; charset=utf-8",
  "Cache-Control",
  "no-store",
  "X-Content-Type-Options",
  "nosniff",
];
