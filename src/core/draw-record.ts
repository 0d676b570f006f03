/**
 * The record of a draw as a text that people can read and keep, and the check that it was drawn as promised.
 * After a few lines about the draw comes one ticket a line, the first place first:
 *
 *   fairgate draw 1
 *   # how to check it
 *   room: tickets
 *   …
 *
 *   6f1ed002ab5595859014ebf0951522d9
 *
 * A record may come from anyone, so nothing in it is believed, and what is read of it has limits.
 */
import { compareDrawKeys, compareIds, type DrawRecord, keyHash, seedHash } from "./draw.ts";
import { readHex, toHex, writeHex } from "./hex.ts";
import { ID_BYTES } from "./id.ts";

/** The most tickets a record may list. */
export const RECORD_SIZE_MAX = 10_000_000;
const HEADER_LINES_MAX = 32;
const HEADER_LINE_CHARACTERS_MAX = 256;
const ID_CHARACTERS = 2 * ID_BYTES;
/** The longest text that is read as a record, line ends of two characters included. */
export const RECORD_CHARACTERS_MAX =
  HEADER_LINES_MAX * HEADER_LINE_CHARACTERS_MAX + RECORD_SIZE_MAX * (ID_CHARACTERS + 2);
/** How many tickets are written, read or checked between two reports of progress. */
const STEP = 4_096;

const LINE_END = 0x0a;

const FIRST_LINE = "fairgate draw 1";
const EXPLANATION = [
  "# Who was drawn at which place: one ticket a line, the first place first.",
  "# Check all of it with: fairgate audit draw FILE",
  "# Or by hand: seedHash is the SHA-256 of the seed's 32 bytes. A ticket's key is the SHA-256 of the seed's",
  "# bytes and then the ticket's 16. Places are the keys in rising order. One key:",
  "# printf '%s%s' SEED TICKET | xxd -r -p | sha256sum",
];

/** A record and the room it is of. */
export interface RoomRecord {
  readonly room: string;
  readonly record: DrawRecord;
}

export type ReadResult<T> = { readonly value: T } | { readonly wrong: string };

/** What is wrong with a record or receipt. */
export interface DrawFinding {
  readonly kind: FindingKind;
  /** A sentence for people. */
  readonly reason: string;
}

/**
 * Of a record: `notDrawn`, there is nothing to check yet; `seed`, it is not the one whose hash was published; `size`, the
 * number of tickets is not the stated one; `twice`, one ticket has two places; `order`, a ticket has another's place. Of a
 * receipt: `otherDraw`, it belongs to another draw; `place`, its ticket was drawn at another place.
 */
export type FindingKind = "notDrawn" | "seed" | "size" | "twice" | "order" | "otherDraw" | "place";

/** Called now and then with the number of tickets done. */
export type DrawProgress = (done: number) => void;

/** The same as bytes, in parts of some hundred kilobytes, so that the thread is not blocked for long. */
export function* recordParts(room: string, record: DrawRecord): Generator<Uint8Array<ArrayBuffer>> {
  yield new TextEncoder().encode(headerText(room, record));
  const ids = record.ids ?? new Uint8Array();
  for (let from = 0; from < ids.length; from += STEP * ID_BYTES)
    yield idLines(ids.subarray(from, from + STEP * ID_BYTES));
}

/** Reads a record as `recordParts` gives it. */
export function readRecord(text: string, progress: DrawProgress = () => {}): ReadResult<RoomRecord> {
  if (text.length > RECORD_CHARACTERS_MAX) return { wrong: "it is longer than any record" };
  const header = readHeader(text);
  if ("wrong" in header) return header;
  const { fields, bodyAt, lines } = header.value;
  const about = readFields(fields);
  if ("wrong" in about) return about;
  const ids = readIds(text, bodyAt, lines, progress);
  if ("wrong" in ids) return ids;
  const { room, ...record } = about.value;
  if (record.seed === null && ids.value.length > 0)
    return { wrong: `line ${lines + 1}: there are tickets, but no seed they were drawn by` };
  return { value: { room, record: { ...record, ids: record.seed === null ? null : ids.value } } };
}

/** What is wrong with a record; null when everything is as the draw promised. */
export function checkRecord(record: DrawRecord, progress: DrawProgress = () => {}): DrawFinding | null {
  const { seed, ids, size } = record;
  if (seed === null || ids === null)
    return { kind: "notDrawn", reason: "It is not drawn yet: there is only the hash of the seed." };
  if (!isSeed(seed) || seedHash(seed) !== record.seedHash)
    return { kind: "seed", reason: "The seed is not the one whose hash was published." };
  if (ids.length !== size * ID_BYTES) {
    const reason = `There should be ${count(size)}, but there are ${count(ids.length / ID_BYTES)}.`;
    return { kind: "size", reason };
  }
  return checkOrder(seed, ids, progress);
}

/** Whether a name can be a room's or an event's. */
export function isDrawName(text: unknown): text is string {
  return typeof text === "string" && /^[a-z0-9-]{1,64}$/.test(text);
}

/** Whether a text is 32 bytes in hexadecimal, as seeds and their hashes are. */
export function isSeed(text: unknown): text is string {
  return typeof text === "string" && /^[0-9a-f]{64}$/.test(text);
}

/** Whether a number can be how many were drawn. */
export function isSize(number: unknown): number is number {
  return Number.isInteger(number) && (number as number) >= 0 && (number as number) <= RECORD_SIZE_MAX;
}

/** Each key must be above the one before it; then no ticket can be there twice either. */
function checkOrder(seed: string, ids: Uint8Array, progress: DrawProgress): DrawFinding | null {
  const hash = keyHash(seed);
  const before = new Uint32Array(hash.words.length);
  for (let rank = 0; rank * ID_BYTES < ids.length; rank++) {
    if (rank % STEP === 0) progress(rank);
    hash.hash(ids, rank * ID_BYTES);
    const order =
      rank === 0 ? -1 : compareDrawKeys(before, hash.words) || compareIds(ids, rank - 1, ids, rank);
    if (order >= 0) return wrongOrder(ids, rank, order === 0);
    before.set(hash.words);
  }
  return null;
}

function wrongOrder(ids: Uint8Array, rank: number, isSame: boolean): DrawFinding {
  const ticket = toHex(ids, rank * ID_BYTES, ID_BYTES);
  if (isSame)
    return { kind: "twice", reason: `Ticket ${ticket} is there twice, at place ${rank} and ${rank + 1}.` };
  const before = toHex(ids, (rank - 1) * ID_BYTES, ID_BYTES);
  const reason = `By its key, ticket ${ticket} at place ${rank + 1} comes before ${before} at place ${rank}.`;
  return { kind: "order", reason };
}

function idLines(ids: Uint8Array): Uint8Array<ArrayBuffer> {
  const lines = new Uint8Array((ids.length / ID_BYTES) * (ID_CHARACTERS + 1));
  for (let from = 0, at = 0; from < ids.length; from += ID_BYTES) {
    writeHex(ids, from, ID_BYTES, lines, at);
    at += ID_CHARACTERS;
    lines[at++] = LINE_END;
  }
  return lines;
}

function headerText(room: string, record: DrawRecord): string {
  const lines = [
    FIRST_LINE,
    ...EXPLANATION,
    `room: ${room}`,
    `event: ${record.event}`,
    `startAt: ${instantText(record.startAt)}`,
    ...(record.drawnAt === null ? [] : [`drawnAt: ${instantText(record.drawnAt)}`]),
    `seedHash: ${record.seedHash}`,
    ...(record.seed === null ? [] : [`seed: ${record.seed}`]),
    `size: ${record.size}`,
  ];
  return `${lines.join("\n")}\n\n`;
}

interface Header {
  readonly fields: ReadonlyMap<string, string>;
  /** Where the tickets begin. */
  readonly bodyAt: number;
  /** How many lines are before them. */
  readonly lines: number;
}

function readHeader(text: string): ReadResult<Header> {
  const fields = new Map<string, string>();
  let at = 0;
  for (let lines = 1; lines <= HEADER_LINES_MAX; lines++) {
    const window = text.slice(at, at + HEADER_LINE_CHARACTERS_MAX);
    const end = window.indexOf("\n");
    if (end < 0 && window.length === HEADER_LINE_CHARACTERS_MAX)
      return { wrong: `line ${lines} is too long` };
    const line = (end < 0 ? window : window.slice(0, end)).replace(/\r$/, "");
    at = end < 0 ? text.length : at + end + 1;
    if (lines === 1) {
      if (line !== FIRST_LINE) return { wrong: `it does not begin with "${FIRST_LINE}"` };
    } else if (line === "") return { value: { fields, bodyAt: at, lines } };
    else if (!line.startsWith("#")) {
      const [, name = "", value = ""] = /^(\w+): (.*)$/.exec(line) ?? [];
      if (!FIELDS.has(name)) return { wrong: `line ${lines} is not one a record has` };
      if (fields.has(name)) return { wrong: `line ${lines} gives ${name} a second time` };
      fields.set(name, value);
    }
  }
  return { wrong: "there is no end to the lines about the draw" };
}

const FIELDS = new Set(["room", "event", "startAt", "drawnAt", "seedHash", "seed", "size"]);

/** What the lines before the tickets say. */
function readFields(
  fields: ReadonlyMap<string, string>,
): ReadResult<Omit<DrawRecord, "ids"> & { room: string }> {
  const room = fields.get("room");
  const event = fields.get("event");
  const startAt = readInstant(fields.get("startAt"));
  const drawnAt = fields.has("drawnAt") ? readInstant(fields.get("drawnAt")) : null;
  const hash = fields.get("seedHash");
  const seed = fields.get("seed") ?? null;
  const size = readSize(fields.get("size"));
  if (!isDrawName(room)) return { wrong: "room is not a room's name" };
  if (!isDrawName(event)) return { wrong: "event is not an event's name" };
  if (Number.isNaN(startAt)) return { wrong: "startAt is not a time such as 2026-06-01T10:00:00.000Z" };
  if (Number.isNaN(drawnAt)) return { wrong: "drawnAt is not a time such as 2026-06-01T10:00:00.000Z" };
  if (!isSeed(hash)) return { wrong: "seedHash is not 64 hexadecimal digits" };
  if (seed !== null && !isSeed(seed)) return { wrong: "seed is not 64 hexadecimal digits" };
  if (!isSize(size)) return { wrong: `size is not a number up to ${RECORD_SIZE_MAX.toLocaleString("en")}` };
  return { value: { room, event, startAt, drawnAt, seedHash: hash, seed, size } };
}

function readIds(
  text: string,
  bodyAt: number,
  lines: number,
  progress: DrawProgress,
): ReadResult<Uint8Array> {
  const ids = new Uint8Array(Math.ceil((text.length - bodyAt) / (ID_CHARACTERS + 1)) * ID_BYTES);
  let count = 0;
  for (let at = bodyAt; at < text.length; count++) {
    if (count % STEP === 0) progress(count);
    const isTicket = readHex(text, at, ids, count * ID_BYTES, ID_BYTES);
    at += ID_CHARACTERS;
    if (text[at] === "\r") at++;
    if (!isTicket || (at < text.length && text[at] !== "\n"))
      return { wrong: `line ${lines + count + 1} is not a ticket of ${ID_CHARACTERS} hexadecimal digits` };
    at++;
  }
  return { value: ids.subarray(0, count * ID_BYTES) };
}

function instantText(at: number): string {
  return new Date(at).toISOString();
}

function readInstant(text: string | undefined): number {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text ?? "") ? Date.parse(text!) : Number.NaN;
}

function readSize(text: string | undefined): number {
  return /^\d{1,8}$/.test(text ?? "") ? Number(text) : Number.NaN;
}

function count(tickets: number): string {
  return tickets === 1 ? "1 ticket" : `${tickets.toLocaleString("en")} tickets`;
}
