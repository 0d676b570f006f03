/**
 * One finished request as one line of the access log, in one of two forms:
 *
 *   combined   the line that Apache and nginx call `combined`, byte for byte, so that goaccess, awstats and the like read
 *              it; what Fairgate knows beyond that follows as key=value
 *   json       one object a line, for programs
 *
 * Most of a line was written by a visitor, and is read by programs that split at quotes and by people in terminals. So a line
 * has only printable ASCII, quotes and backslashes are escaped (`\x22`, in JSON `\u0022`), and every field has a maximum length.
 * Each byte of a header counts as one character.
 */

import type { LineBuffer } from "./line-buffer.ts";

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

/** The longest fields in characters, escapes included. */
const METHOD_CHARACTERS_MAX = 32;
export const PATH_CHARACTERS_MAX = 2_048;
const REFERER_CHARACTERS_MAX = 1_024;
export const USER_AGENT_CHARACTERS_MAX = 512;
export const HOST_CHARACTERS_MAX = 255;

/** A finished request. Null: not known, or not present. */
export interface Finished {
  /** When it ended. */
  readonly endedAt: number;
  /** The visitor's address, as far as proxies in front are trusted. Empty: the connection was gone before it was read. */
  readonly address: string;
  /** Null, like path and protocol, for bytes that could not be read as a request. */
  readonly method: string | null;
  readonly path: string | null;
  /** Such as 1.1. Also null when the runtime does not tell. */
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
  /** The origin address that was asked last. */
  readonly origin: string | null;
  /** From the first request to the origin until its answer began. */
  readonly originMs: number | null;
  readonly tookMs: number;
  readonly id: string | null;
}

/** Writes a line with its line feed: printable ASCII, so that it has as many bytes as characters. */
export type Format = (finished: Finished, line: LineBuffer) => void;

export function formatOf(name: "combined" | "json"): Format {
  return name === "json" ? jsonLines() : combinedLines();
}

function combinedLines(): Format {
  const stamp = onceASecond(commonTime);
  return (one, line) => {
    line.text(one.address || "-");
    line.text(stamp(one.endedAt));
    requestLine(one, line);
    line.number(one.status);
    line.text(" ");
    numberOr("-", one.bytes, line);
    line.text(' "');
    inCombined(one.referer, REFERER_CHARACTERS_MAX, line);
    line.text('" "');
    inCombined(one.userAgent, USER_AGENT_CHARACTERS_MAX, line);
    line.text('" host="');
    inCombined(one.host, HOST_CHARACTERS_MAX, line);
    line.text('" room=');
    line.text(one.room ?? "-");
    line.text(" decision=");
    line.text(one.decision);
    line.text(" visitor=");
    line.text(one.visitor ?? "-");
    line.text(" origin=");
    line.text(one.origin ?? "-");
    line.text(" originMs=");
    numberOr("-", one.originMs, line);
    line.text(" ms=");
    line.number(one.tookMs);
    line.text(" id=");
    line.text(one.id ?? "-");
    line.text("\n");
  };
}

/** In quotes, with a space behind. */
function requestLine({ method, path, httpVersion }: Finished, line: LineBuffer): void {
  if (method === null) {
    line.text('"-" ');
    return;
  }
  line.text('"');
  inCombined(method, METHOD_CHARACTERS_MAX, line);
  line.text(" ");
  inCombined(path, PATH_CHARACTERS_MAX, line);
  if (httpVersion !== null) {
    line.text(" HTTP/");
    line.text(httpVersion);
  }
  line.text('" ');
}

function jsonLines(): Format {
  const stamp = onceASecond((at) => `{"time":"${new Date(at).toISOString().slice(0, -"000Z".length)}`);
  return (one, line) => {
    line.text(stamp(one.endedAt));
    line.text(milliseconds(one.endedAt));
    line.text('Z","address":');
    quoted(one.address || null, line);
    line.text(',"method":');
    inJson(one.method, METHOD_CHARACTERS_MAX, line);
    line.text(',"path":');
    inJson(one.path, PATH_CHARACTERS_MAX, line);
    line.text(',"protocol":');
    quoted(one.httpVersion && `HTTP/${one.httpVersion}`, line);
    line.text(',"status":');
    line.number(one.status);
    line.text(',"bytes":');
    numberOr("null", one.bytes, line);
    line.text(',"referer":');
    inJson(one.referer, REFERER_CHARACTERS_MAX, line);
    line.text(',"userAgent":');
    inJson(one.userAgent, USER_AGENT_CHARACTERS_MAX, line);
    line.text(',"host":');
    inJson(one.host, HOST_CHARACTERS_MAX, line);
    line.text(',"room":');
    quoted(one.room, line);
    line.text(',"decision":');
    quoted(one.decision, line);
    line.text(',"visitor":');
    quoted(one.visitor, line);
    line.text(',"origin":');
    quoted(one.origin, line);
    line.text(',"originMs":');
    numberOr("null", one.originMs, line);
    line.text(',"ms":');
    line.number(one.tookMs);
    line.text(',"id":');
    quoted(one.id, line);
    line.text("}\n");
  };
}

function numberOr(absent: string, number: number | null, line: LineBuffer): void {
  if (number === null) line.text(absent);
  else line.number(number);
}

/** Without quotes, which are the caller's; a dash for nothing. */
function inCombined(text: string | null, charactersMax: number, line: LineBuffer): void {
  if (text === null || text === "") line.text("-");
  else line.escaped(text, charactersMax, inHex);
}

function inJson(text: string | null, charactersMax: number, line: LineBuffer): void {
  if (text === null) {
    line.text("null");
    return;
  }
  line.text('"');
  line.escaped(text, charactersMax, inUnicode);
  line.text('"');
}

/** Text of our own, which needs no escapes. */
function quoted(text: string | null, line: LineBuffer): void {
  if (text === null) {
    line.text("null");
    return;
  }
  line.text('"');
  line.text(text);
  line.text('"');
}

/** HTTP delivers header characters as single bytes. */
const inHex = (code: number) => (code > 0xff ? inUnicode(code) : `\\x${hex(code, 2)}`);
const inUnicode = (code: number) => `\\u${hex(code, 4)}`;
const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0").toUpperCase();

/** Many lines have the same second, and formatting an instant costs as much as the rest of a line. */
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

/** As the common log format has it, in UTC, and what stands around it: ` - - [01/Jun/2026:10:00:00 +0000] `. */
function commonTime(at: number): string {
  const iso = new Date(at).toISOString();
  const month = MONTHS[Number(iso.slice(5, 7)) - 1];
  return ` - - [${iso.slice(8, 10)}/${month}/${iso.slice(0, 4)}:${iso.slice(11, 19)} +0000] `;
}

function milliseconds(at: number): string {
  return String(Math.floor(at) % 1_000).padStart(3, "0");
}
