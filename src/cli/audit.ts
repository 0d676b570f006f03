/**
 * `fairgate audit draw`: checks for anyone that a draw was made as promised, from its record, a visitor's receipt, or both.
 *
 * Exit codes: 0 the draw was made as promised; 1 it was not; 2 the input cannot be read.
 */

import { readFileSync, statSync } from "node:fs";
import type { DrawRecord } from "../core/draw.ts";
import {
  checkReceipt,
  RECEIPT_CHARACTERS_MAX,
  type Receipt,
  readReceipt,
  ticketKey,
} from "../core/draw-receipt.ts";
import {
  checkRecord,
  isSeed,
  RECORD_CHARACTERS_MAX,
  type ReadResult,
  type RoomRecord,
  readRecord,
} from "../core/draw-record.ts";
import { jsonText } from "./json-text.ts";
import { progressHere } from "./progress.ts";

export interface AuditFlags {
  readonly receipt?: string;
  readonly hash?: string;
  readonly json?: boolean;
}

interface Audit {
  readonly drawn: RoomRecord | null;
  readonly receipt: Receipt | null;
  readonly checks: readonly Check[];
  /** What these checks cannot prove, as sentences. */
  readonly unknown: readonly string[];
}

interface Check {
  readonly of: "record" | "hash" | "receipt";
  readonly ok: boolean;
  readonly reason: string;
}

export function auditDraw(file: string | undefined, flags: AuditFlags): void {
  const result = audit(file, flags);
  if ("wrong" in result) {
    if (flags.json) process.stdout.write(jsonText({ ok: false, error: result.wrong }));
    else process.stderr.write(`${result.wrong}\n`);
    process.exitCode = 2;
    return;
  }
  const isGood = result.value.checks.every(({ ok }) => ok);
  if (flags.json) process.stdout.write(jsonText(forPrograms(result.value, isGood)));
  else process.stdout.write(`${inWords(result.value, isGood)}\n`);
  if (!isGood) process.exitCode = 1;
}

function audit(file: string | undefined, flags: AuditFlags): ReadResult<Audit> {
  if (file === undefined && flags.receipt === undefined)
    return { wrong: "Name the file with the record of the draw, or a receipt with --receipt, or both." };
  if (flags.hash !== undefined && !isSeed(flags.hash))
    return { wrong: "What --hash gives is not a hash: 64 hexadecimal digits, lower case." };
  const progress = progressHere();
  const drawn = file === undefined ? null : open(file, "record", (text) => readRecord(text, told("read")));
  if (drawn && "wrong" in drawn) return drawn;
  const receipt = flags.receipt === undefined ? null : open(flags.receipt, "receipt", readReceipt);
  if (receipt && "wrong" in receipt) return receipt;
  const found = { drawn: drawn?.value ?? null, receipt: receipt?.value ?? null };
  const checks = [
    ...(found.drawn ? [recordCheck(found.drawn.record, told("checked"))] : []),
    ...(flags.hash === undefined
      ? []
      : [hashCheck(flags.hash, (found.drawn?.record ?? found.receipt)!.seedHash)]),
    ...(found.receipt ? [receiptCheck(found.receipt, found.drawn)] : []),
  ];
  progress.end();
  return { value: { ...found, checks, unknown: unknownOf(found.drawn !== null, flags.hash !== undefined) } };

  function told(what: string): (done: number) => void {
    return (done) => progress.tell(`${number(done)} tickets ${what}`);
  }
}

/** Reads a file as a record or as a receipt. */
function open<T>(
  file: string,
  what: "record" | "receipt",
  read: (text: string) => ReadResult<T>,
): ReadResult<T> {
  const bytesMax = what === "record" ? RECORD_CHARACTERS_MAX : RECEIPT_CHARACTERS_MAX;
  try {
    const stats = statSync(file);
    if (stats.isFile() && stats.size > bytesMax) return { wrong: `${file} is too large for a ${what}.` };
    // Both are plain ASCII; as latin1 a record takes one byte a character in memory.
    const result = read(readFileSync(file, "latin1"));
    return "wrong" in result ? { wrong: `${file} is not the ${what} of a draw: ${result.wrong}.` } : result;
  } catch (cause) {
    return { wrong: `${file} cannot be read: ${(cause as Error).message}.` };
  }
}

function recordCheck(record: DrawRecord, progress: (done: number) => void): Check {
  const finding = checkRecord(record, progress);
  return { of: "record", ok: finding === null, reason: finding?.reason ?? goodRecord(record.size) };
}

function goodRecord(size: number): string {
  if (size === 0) return "The seed matches its hash; nobody was drawn.";
  if (size === 1) return "The seed matches its hash, and there is one ticket.";
  const all = `all ${number(size)} tickets are there once each, in the order of their keys`;
  return `The seed matches its hash, and ${all}.`;
}

function hashCheck(noted: string, published: string): Check {
  if (noted === published)
    return { of: "hash", ok: true, reason: "The hash of the seed is the one you noted." };
  return { of: "hash", ok: false, reason: `The hash of the seed is ${published}, not the one you noted.` };
}

function receiptCheck(receipt: Receipt, drawn: RoomRecord | null): Check {
  const finding = checkReceipt(receipt, drawn);
  const { ticket, place, of } = receipt;
  const claimed = `${number(place)} of ${number(of)}`;
  const good = drawn
    ? `Ticket ${ticket} has place ${claimed} in the record, as its receipt says.`
    : `The seed matches its hash, and place ${claimed} fits the key of ticket ${ticket}.`;
  return { of: "receipt", ok: finding === null, reason: finding?.reason ?? good };
}

function unknownOf(hasRecord: boolean, hasHash: boolean): string[] {
  return [
    ...(hasHash
      ? []
      : ["That the hash was published before people gathered: give the one you noted then with --hash."]),
    ...(hasRecord
      ? ["That nobody was added or left out: anyone with a receipt can check it against this record."]
      : ["That the place is exactly the one drawn, and the others' too: the record of the draw shows that."]),
    "That nobody who knew the seed before the start made tickets to suit it.",
  ];
}

function inWords(audit: Audit, isGood: boolean): string {
  const { drawn, receipt, checks, unknown } = audit;
  return [
    drawn ? aboutRecord(drawn) : `A receipt of the draw of ${receipt!.event} in the room ${receipt!.room}.`,
    `Hash of the seed: ${(drawn?.record ?? receipt!).seedHash}`,
    ...(receipt ? [`Key of the ticket: ${ticketKey(receipt.seed, receipt.ticket)}`] : []),
    "",
    ...checks.map(({ ok, reason }) => `${ok ? "good     " : "NOT GOOD "} ${reason}`),
    "",
    verdict(isGood, drawn !== null),
    "",
    "What this does not show:",
    ...unknown.map((sentence) => `- ${sentence}`),
  ].join("\n");
}

function aboutRecord({ room, record }: RoomRecord): string {
  const drawnAt = record.drawnAt === null ? "not drawn yet" : `drawn at ${instant(record.drawnAt)}`;
  const start = `start ${instant(record.startAt)}`;
  return `The draw of ${record.event} in the room ${room}: ${count(record.size)}, ${start}, ${drawnAt}.`;
}

function verdict(isGood: boolean, hasRecord: boolean): string {
  if (!isGood) return "Not good: this does not show a draw made as promised.";
  return hasRecord ? "Good: the draw was made as promised." : "Good, as far as a receipt alone can show it.";
}

function forPrograms({ drawn, receipt, checks, unknown }: Audit, ok: boolean): object {
  const { seedHash, event } = (drawn?.record ?? receipt)!;
  return {
    ok,
    room: (drawn ?? receipt)!.room,
    event,
    seedHash,
    size: drawn?.record.size ?? receipt!.of,
    startAt: drawn ? instant(drawn.record.startAt) : null,
    drawnAt: drawn && drawn.record.drawnAt !== null ? instant(drawn.record.drawnAt) : null,
    receipt: receipt && {
      ticket: receipt.ticket,
      place: receipt.place,
      key: ticketKey(receipt.seed, receipt.ticket),
    },
    checks,
    unknown,
  };
}

function instant(at: number): string {
  return new Date(at).toISOString();
}

function count(tickets: number): string {
  return tickets === 1 ? "1 ticket" : `${number(tickets)} tickets`;
}

function number(value: number): string {
  return value.toLocaleString("en");
}
