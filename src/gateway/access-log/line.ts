/**
 * One finished request as one line of the access log, in one of two forms:
 *
 *   combined   the line that Apache and nginx call `combined`, byte for byte, so that goaccess, awstats and the like read
 *              it; what Fairgate knows beyond that follows as key=value
 *   json       one object a line, for programs
 *
 * Most of a line was written by a visitor, and lines are read by programs that split at quotes and by people in
 * terminals. So nothing but printable ASCII leaves here, quotes and backslashes are escaped (`\x22`, in JSON `\u0022`), and
 * every field ends at a length of its own. A byte of a header is one character, whatever it is a part of.
 */

/** What was decided about a request; docs/operating.md says what each means. */
export const DECISIONS = [
  "pass",
  "entered",
  "stray",
  "bypassed",
  "outside",
  "failedOpen",
  "waiting",
  "turnedAway",
  "engineAway",
  "redirected",
  "tooMany",
  "refused",
  "own",
  "none",
] as const;
export type Decision = (typeof DECISIONS)[number];

/** The most characters of each field, with what is escaped written out. */
export const METHOD_CHARACTERS_MAX = 32;
export const PATH_CHARACTERS_MAX = 2_048;
export const REFERER_CHARACTERS_MAX = 1_024;
export const USER_AGENT_CHARACTERS_MAX = 512;
export const HOST_CHARACTERS_MAX = 255;

/** A request that is over. What is not known, or was not there, is null. */
export interface Finished {
  /** When it was over. */
  readonly endedAt: number;
  /** The visitor's, as far as proxies in front can be believed. Empty: it was gone before anybody asked. */
  readonly address: string;
  /** Null, as are path and protocol, for what was no request that could be read. */
  readonly method: string | null;
  readonly path: string | null;
  /** Such as 1.1. Null, too, where the runtime does not tell. */
  readonly httpVersion: string | null;
  readonly status: number;
  /** Of the body, or of an upgraded connection. */
  readonly bytes: number | null;
  readonly referer: string | null;
  readonly userAgent: string | null;
  readonly host: string | null;
  readonly room: string | null;
  readonly decision: Decision;
  readonly visitor: string | null;
  /** The address of the origin that was asked last. */
  readonly origin: string | null;
  /** From the first time the origin was asked until its answer began. */
  readonly originMs: number | null;
  readonly tookMs: number;
  readonly id: string | null;
}

/** A line with its line feed: ASCII, so that it has as many bytes as characters. */
export type Format = (finished: Finished) => string;

export function formatOf(name: "combined" | "json"): Format {
  return name === "json" ? jsonLines() : combinedLines();
}

function combinedLines(): Format {
  const stamp = onceASecond(commonTime);
  const own = (text: string | number | null) => text ?? "-";
  return (one) =>
    `${one.address || "-"} - - [${stamp(one.endedAt)}] "${requestLine(one)}" ${one.status} ${own(one.bytes)} "${inCombined(one.referer, REFERER_CHARACTERS_MAX)}" "${inCombined(one.userAgent, USER_AGENT_CHARACTERS_MAX)}" host="${inCombined(one.host, HOST_CHARACTERS_MAX)}" room=${own(one.room)} decision=${one.decision} visitor=${own(one.visitor)} origin=${own(one.origin)} originMs=${own(one.originMs)} ms=${one.tookMs} id=${own(one.id)}\n`;
}

function requestLine({ method, path, httpVersion }: Finished): string {
  if (method === null) return "-";
  const asked = inCombined(path, PATH_CHARACTERS_MAX);
  const protocol = httpVersion === null ? "" : ` HTTP/${httpVersion}`;
  return `${inCombined(method, METHOD_CHARACTERS_MAX)} ${asked}${protocol}`;
}

function jsonLines(): Format {
  const stamp = onceASecond((at) => new Date(at).toISOString().slice(0, -"000Z".length));
  const own = (text: string | null) => (text === null ? null : `"${text}"`);
  return (one) =>
    `{"time":"${stamp(one.endedAt)}${milliseconds(one.endedAt)}Z","address":${own(one.address || null)},"method":${inJson(one.method, METHOD_CHARACTERS_MAX)},"path":${inJson(one.path, PATH_CHARACTERS_MAX)},"protocol":${own(one.httpVersion && `HTTP/${one.httpVersion}`)},"status":${one.status},"bytes":${one.bytes},"referer":${inJson(one.referer, REFERER_CHARACTERS_MAX)},"userAgent":${inJson(one.userAgent, USER_AGENT_CHARACTERS_MAX)},"host":${inJson(one.host, HOST_CHARACTERS_MAX)},"room":${own(one.room)},"decision":"${one.decision}","visitor":${own(one.visitor)},"origin":${own(one.origin)},"originMs":${one.originMs},"ms":${one.tookMs},"id":${own(one.id)}}\n`;
}

/** Without quotes, which are the caller's; a dash where there is nothing. */
function inCombined(text: string | null, charactersMax: number): string {
  return text === null || text === "" ? "-" : escaped(text, charactersMax, IN_COMBINED);
}

function inJson(text: string | null, charactersMax: number): string | null {
  return text === null ? null : `"${escaped(text, charactersMax, IN_JSON)}"`;
}

/** Printable ASCII but for quote and backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0").toUpperCase();
/** What stands for a byte. Nothing that comes over HTTP has a character beyond these. */
const IN_COMBINED = Array.from({ length: 256 }, (_, code) => plainOr(code, `\\x${hex(code, 2)}`));
const IN_JSON = Array.from({ length: 256 }, (_, code) => plainOr(code, `\\u${hex(code, 4)}`));

function plainOr(code: number, written: string): string {
  const character = String.fromCharCode(code);
  return PLAIN.test(character) ? character : written;
}

/** The text with everything escaped that is not plain, ended before it would be too long. */
function escaped(text: string, charactersMax: number, escapes: readonly string[]): string {
  if (text.length <= charactersMax && PLAIN.test(text)) return text;
  let whole = "";
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const piece = escapes[code] ?? `\\u${hex(code, 4)}`;
    if (whole.length + piece.length > charactersMax) break;
    whole += piece;
  }
  return whole;
}

/** Many lines are of one second, and writing an instant out costs as much as the rest of a line. */
function onceASecond(write: (at: number) => string): (at: number) => string {
  let second = Number.NaN;
  let text = "";
  return (at) => {
    const now = Math.floor(at / 1_000);
    if (now !== second) {
      second = now;
      text = write(now * 1_000);
    }
    return text;
  };
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** As the common log format has it, in UTC: `01/Jun/2026:10:00:00 +0000`. */
function commonTime(at: number): string {
  const iso = new Date(at).toISOString();
  const month = MONTHS[Number(iso.slice(5, 7)) - 1];
  return `${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000`;
}

function milliseconds(at: number): string {
  return String(Math.floor(at) % 1_000).padStart(3, "0");
}
