/**
 * From what failed to what follows: what the visitor and the log are told (status, kind and code), whether the origin is
 * to blame, and how often the request may be sent again. One table each.
 */
import type { PROXY_ERRORS } from "../../core/errors.ts";
import type { PageKind } from "../page/languages.ts";

/** Codes are stable: operators search their logs for them. */
export type ProxyErrorCode = keyof typeof PROXY_ERRORS;

export interface Diagnosis {
  readonly status: number;
  readonly kind: PageKind;
  readonly code: ProxyErrorCode;
}

const UNREACHABLE: Diagnosis = { status: 502, kind: "originAway", code: "ORIGIN_UNREACHABLE" };
const BROKEN: Diagnosis = { status: 502, kind: "originAway", code: "ORIGIN_BROKEN" };
const CONNECT_TIMEOUT: Diagnosis = { status: 504, kind: "originSlow", code: "ORIGIN_CONNECT_TIMEOUT" };
const OUT_OF_FILES: Diagnosis = { status: 503, kind: "originAway", code: "OUT_OF_FILES" };
const MALFORMED: Diagnosis = { status: 400, kind: "badRequest", code: "REQUEST_MALFORMED" };

const BY_CODE: Readonly<Record<string, Diagnosis>> = {
  UND_ERR_CONNECT_TIMEOUT: CONNECT_TIMEOUT,
  ETIMEDOUT: CONNECT_TIMEOUT,
  UND_ERR_HEADERS_TIMEOUT: { status: 504, kind: "originSlow", code: "ORIGIN_HEADERS_TIMEOUT" },
  UND_ERR_BODY_TIMEOUT: { status: 504, kind: "originSlow", code: "ORIGIN_IDLE_TIMEOUT" },
  ECONNREFUSED: UNREACHABLE,
  EHOSTUNREACH: UNREACHABLE,
  ENETUNREACH: UNREACHABLE,
  ENOTFOUND: UNREACHABLE,
  EAI_AGAIN: UNREACHABLE,
  EMFILE: OUT_OF_FILES,
  ENFILE: OUT_OF_FILES,
  ORIGIN_BUSY: { status: 503, kind: "originAway", code: "ORIGIN_BUSY" },
  BODY_TOO_LARGE: { status: 413, kind: "tooLarge", code: "BODY_TOO_LARGE" },
  BODY_TOO_SLOW: { status: 408, kind: "tooSlow", code: "BODY_TOO_SLOW" },
  READER_TOO_SLOW: { status: 408, kind: "tooSlow", code: "READER_TOO_SLOW" },
  BODY_CUT_SHORT: { status: 400, kind: "badRequest", code: "VISITOR_LEFT" },
  VISITOR_LEFT: { status: 408, kind: "badRequest", code: "VISITOR_LEFT" },
  UND_ERR_INVALID_ARG: MALFORMED,
  UND_ERR_NOT_SUPPORTED: MALFORMED,
};

/** What to tell about an error met on the way to the origin. An unknown one is the origin's. */
export function diagnose(error: Error): Diagnosis {
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && BY_CODE[code]) || BROKEN;
}

/** Not the origin's fault, though it did not answer. A stream of events may be silent for as long as it likes. */
const NO_FAULT: ReadonlySet<ProxyErrorCode> = new Set(["OUT_OF_FILES", "ORIGIN_BUSY", "ORIGIN_IDLE_TIMEOUT"]);

/** True when the error tells something about how the origin's address does. */
export function isOriginsFault(error: Error): boolean {
  const { kind, code } = diagnose(error);
  return (kind === "originAway" || kind === "originSlow") && !NO_FAULT.has(code);
}

/** How often a request may be sent again after an error, where the method allows it. */
export interface Repeats {
  /** To other addresses. */
  readonly elsewhere: number;
  /** To the same address, where there is no other. */
  readonly here: number;
}

/** A request that brings a server down must not bring down every one. A kept connection may just have been closed. */
const AFTER_HANG_UP: Repeats = { elsewhere: 2, here: 1 };
/** The address may still be at work on it. */
const AFTER_TIMEOUT: Repeats = { elsewhere: 1, here: 0 };
const NEVER: Repeats = { elsewhere: 0, here: 0 };

const REPEATS_BY_CODE: Readonly<Record<string, Repeats>> = {
  UND_ERR_SOCKET: AFTER_HANG_UP,
  ECONNRESET: AFTER_HANG_UP,
  EPIPE: AFTER_HANG_UP,
  UND_ERR_HEADERS_TIMEOUT: AFTER_TIMEOUT,
};

/** For an error that came before any answer. */
export function repeatsAfter(error: Error): Repeats {
  const { code } = error as NodeJS.ErrnoException;
  return (code !== undefined && REPEATS_BY_CODE[code]) || NEVER;
}
