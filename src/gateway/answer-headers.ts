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

/** Flat header list of an event stream. */
export const STREAM_HEADERS: readonly string[] = [
  "Content-Type",
  "text/event-stream; charset=utf-8",
  "Cache-Control",
  "no-store, no-transform",
  "X-Accel-Buffering",
  "no",
  "X-Content-Type-Options",
  "nosniff",
];
