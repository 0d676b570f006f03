/** Flat header lists of our own answers. */

export const NONE_ADDED: readonly string[] = [];
const NO_SNIFF: readonly string[] = ["X-Content-Type-Options", "nosniff"];
const NO_STORE: readonly string[] = ["Cache-Control", "no-store"];
const JSON_TYPE: readonly string[] = ["Content-Type", "application/json; charset=utf-8"];
const TEXT_TYPE: readonly string[] = ["Content-Type", "text/plain; charset=utf-8"];

/** For JSON that is about one visitor. */
export const PERSONAL_JSON: readonly string[] = [...JSON_TYPE, ...NO_STORE, ...NO_SNIFF];
/** For a line of text that is about one visitor. */
export const PERSONAL_TEXT: readonly string[] = [...TEXT_TYPE, ...NO_STORE, ...NO_SNIFF];
/** For a room's board, the same for everyone. */
export const BOARD_HEADERS: readonly string[] = [
  ...JSON_TYPE,
  ...["Cache-Control", "public, max-age=1"],
  ...NO_SNIFF,
];
/** For a line of ASCII, and the same without a word to caches. */
export const PLAIN_TYPE: readonly string[] = ["Content-Type", "text/plain"];
export const PLAIN: readonly string[] = [...PLAIN_TYPE, ...NO_STORE];
export const PLAIN_UTF8: readonly string[] = [...TEXT_TYPE, ...NO_STORE];
/** For an event stream. */
export const STREAM_HEADERS: readonly string[] = [
  ...["Content-Type", "text/event-stream; charset=utf-8", "Cache-Control", "no-store, no-transform"],
  ...["X-Accel-Buffering", "no"],
  ...NO_SNIFF,
];
