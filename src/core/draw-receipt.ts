/**
 * A receipt: a visitor's own proof of a draw, a small JSON text with their ticket's id and place. Together with the record of
 * the draw it shows that they are in it, at the place they were told. Receipts keep the record honest: a visitor who is
 * missing from it, or finds another number of drawn tickets than they were told, can prove it.
 *
 * Even alone a receipt shows something. The other tickets' keys are random, so a place far from where its key points cannot
 * have come about by chance.
 */
import { compareDrawKeys, compareIds, type DrawRecord, keyHash, seedHash } from "./draw.ts";
import {
  type DrawFinding,
  isDrawName,
  isSeed,
  isSize,
  type ReadResult,
  type RoomRecord,
} from "./draw-record.ts";
import { fromHex } from "./hex.ts";
import { ID_BYTES, isId } from "./id.ts";

export interface Receipt {
  readonly room: string;
  readonly event: string;
  /** The ticket's id. */
  readonly ticket: string;
  /** From 1 on. */
  readonly place: number;
  /** How many were drawn. */
  readonly of: number;
  readonly seedHash: string;
  readonly seed: string;
}

export const RECEIPT_CHARACTERS_MAX = 4_096;
/** An honest receipt is called impossible at most twice in 10^12 draws, once for either side. */
const CHANCE_MIN = 1e-12;

/** The receipt of a ticket. Null: it was not in the draw, or nothing is drawn yet. */
export function receiptOf(room: string, record: DrawRecord, ticket: string): Receipt | null {
  const { event, seed, ids, size } = record;
  const id = isId(ticket) ? fromHex(ticket) : null;
  if (seed === null || ids === null || id === null) return null;
  const rank = rankOf(seed, ids, id);
  return rank < 0
    ? null
    : { room, event, ticket, place: rank + 1, of: size, seedHash: record.seedHash, seed };
}

export function receiptText(receipt: Receipt): string {
  return `${JSON.stringify(receipt, null, 2)}\n`;
}

/** Reads a receipt as `receiptText` writes it. Other fields are ignored. */
export function readReceipt(text: string): ReadResult<Receipt> {
  if (text.length > RECEIPT_CHARACTERS_MAX) return { wrong: "it is longer than any receipt" };
  const fields = readJson(text);
  if (fields === null) return { wrong: "it is not a JSON object" };
  const { room, event, ticket, place, of, seedHash: hash, seed } = fields;
  if (!isDrawName(room)) return { wrong: "room is not a room's name" };
  if (!isDrawName(event)) return { wrong: "event is not an event's name" };
  if (typeof ticket !== "string" || !isId(ticket)) return { wrong: "ticket is not 32 hexadecimal digits" };
  if (!isSize(of) || of < 1) return { wrong: "of is not how many were drawn" };
  if (!isSize(place) || place < 1 || place > of) return { wrong: `place is not between 1 and ${of}` };
  if (!isSeed(hash)) return { wrong: "seedHash is not 64 hexadecimal digits" };
  if (!isSeed(seed)) return { wrong: "seed is not 64 hexadecimal digits" };
  return { value: { room, event, ticket, place, of, seedHash: hash, seed } };
}

/**
 * What is wrong with a receipt; null when nothing is. With the record, which must have been checked first, everything is
 * checked; without it, that the seed is the published one and that the ticket's key could have got the place.
 */
export function checkReceipt(receipt: Receipt, drawn: RoomRecord | null): DrawFinding | null {
  if (seedHash(receipt.seed) !== receipt.seedHash)
    return { kind: "seed", reason: "The receipt's seed is not the one whose hash was published." };
  return drawn ? checkByRecord(receipt, drawn) : checkByChance(receipt);
}

/** A ticket's key under a seed, in hexadecimal. */
export function ticketKey(seed: string, ticket: string): string {
  return Array.from(keyWords(seed, ticket), (word) => word.toString(16).padStart(8, "0")).join("");
}

function checkByRecord(receipt: Receipt, { room, record }: RoomRecord): DrawFinding | null {
  const { ticket, place, of } = receipt;
  if (receipt.room !== room || receipt.event !== record.event)
    return otherDraw(`of ${receipt.event} in ${receipt.room}, the record of ${record.event} in ${room}`);
  if (receipt.seedHash !== record.seedHash) return otherDraw("with another seed than the record's");
  if (of !== record.size) return otherDraw(`of ${number(of)} tickets, the record of ${number(record.size)}`);
  const rank = record.ids ? findId(record.ids, fromHex(ticket)!) : -1;
  if (rank === place - 1) return null;
  const reason =
    rank < 0
      ? `Ticket ${ticket} is not in the record.`
      : `Ticket ${ticket} is at place ${number(rank + 1)} in the record, not ${number(place)}.`;
  return { kind: "place", reason };
}

function otherDraw(difference: string): DrawFinding {
  return { kind: "otherDraw", reason: `The receipt is of another draw: ${difference}.` };
}

/**
 * Each of the others has a smaller key with probability `share`, the key as a fraction. Chernoff's bound says how far their
 * number can stray: of n, a part q or more has a probability of at most
 * exp(-n (q ln(q / share) + (1 - q) ln((1 - q) / (1 - share)))).
 */
function checkByChance({ seed, ticket, place, of }: Receipt): DrawFinding | null {
  const [first = 0, second = 0] = keyWords(seed, ticket);
  const share = (first + (second + 0.5) / 2 ** 32) / 2 ** 32;
  const others = of - 1;
  if (others === 0) return null;
  const part = (place - 1) / others;
  const distance = surprise(part, share) + surprise(1 - part, 1 - share);
  if (others * distance <= -Math.log(CHANCE_MIN)) return null;
  const about = number(Math.round(share * others) + 1);
  const claimed = `${number(place)} of ${number(of)}`;
  const reason = `Ticket ${ticket} cannot have place ${claimed}: its key points to about ${about}.`;
  return { kind: "place", reason };
}

function surprise(seen: number, expected: number): number {
  return seen === 0 ? 0 : seen * Math.log(seen / expected);
}

/** Where an id stands in the drawn order, found by its key; -1 when it is not there. */
function rankOf(seed: string, ids: Uint8Array, id: Uint8Array): number {
  const hash = keyHash(seed);
  hash.hash(id, 0);
  const key = hash.words.slice();
  let low = 0;
  let high = ids.length / ID_BYTES;
  while (low < high) {
    const middle = (low + high) >>> 1;
    hash.hash(ids, middle * ID_BYTES);
    const order = compareDrawKeys(hash.words, key) || compareIds(ids, middle, id, 0);
    if (order === 0) return middle;
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return -1;
}

/** The same in a record that has not been checked, so that its order cannot be relied on. */
function findId(ids: Uint8Array, id: Uint8Array): number {
  const size = ids.length / ID_BYTES;
  for (let rank = 0; rank < size; rank++) if (compareIds(ids, rank, id, 0) === 0) return rank;
  return -1;
}

function keyWords(seed: string, ticket: string): Uint32Array {
  const hash = keyHash(seed);
  hash.hash(fromHex(ticket)!, 0);
  return hash.words;
}

function readJson(text: string): Record<string, unknown> | null {
  try {
    const read: unknown = JSON.parse(text);
    return typeof read === "object" && read !== null && !Array.isArray(read) ? { ...read } : null;
  } catch {
    return null;
  }
}

function number(value: number): string {
  return value.toLocaleString("en");
}
