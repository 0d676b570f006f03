/**
 * The ledger's log: every change of a count, with its cause, in the order in which it happened. `verify.ts` recounts from it. Entries are lines of JSON,
 * some dozens to a record (`log/000000000000123`, by the number of its first entry), and only the last record is ever written again.
 *
 * Entries are numbered from 1 without gaps. The last number is also the version of everything that is shown.
 */

import type { UnitCounts } from "../commands.ts";
import type { ChangedRecords } from "./changed-records.ts";
import { DamagedRecord, type RecordShape, readStored } from "./stored-records.ts";

/** A record is full at this many characters: about a page of the disk. */
const RECORD_LENGTH = 4_096;
/** Of numbers in keys, so that keys are in their order. */
export const NUMBER_DIGITS = 15;
export const LOG_PREFIX = "log/";

/** Where units are. */
export type UnitPlace = keyof UnitCounts;

export interface Movement {
  readonly cause: string;
  /** The basket, order or product that it is about. */
  readonly about: string;
  readonly lane: string | null;
  /** Null: they were free. `stock`: these are changes of the stock, and `units` may be negative. `set`: stocks as they are from now on. */
  readonly from: UnitPlace | null;
  readonly to: UnitPlace | "stock" | "set" | null;
  readonly units: Iterable<readonly [product: string, units: number | null]>;
}

export interface LedgerEntry extends Omit<Movement, "units"> {
  readonly number: number;
  readonly at: number;
  readonly units: readonly (readonly [product: string, units: number | null])[];
}

export class MovementLog {
  readonly #changes: ChangedRecords;
  #last = 0;
  #lastAt = 0;
  #record: LogRecord | null = null;

  constructor(changes: ChangedRecords) {
    this.#changes = changes;
  }

  /** The number of the last entry. */
  get last(): number {
    return this.#last;
  }

  /** When it was added; 0 before there is one. */
  get lastAt(): number {
    return this.#lastAt;
  }

  add(at: number, { cause, about, lane, from, to, units }: Movement): void {
    const number = ++this.#last;
    this.#lastAt = at;
    const line = JSON.stringify([number, at, cause, about, lane, from, to, Array.from(units)]);
    if (this.#record && this.#record.text.length < RECORD_LENGTH) this.#record.text += `\n${line}`;
    else this.#record = newRecord(logKey(number), line);
    this.#changes.put(this.#record.key, this.#record.written);
  }

  /** Something that moves no units. */
  note(at: number, cause: string, about: string): void {
    this.add(at, { cause, about, lane: null, from: null, to: null, units: [] });
  }

  /** Goes on after the last record that is stored. */
  restore(key: string, text: string): void {
    const last = logEntries(key, text).at(-1)!;
    this.#last = last.number;
    this.#lastAt = last.at;
  }
}

interface LogRecord {
  readonly key: string;
  text: string;
  readonly written: () => string;
}

function newRecord(key: string, text: string): LogRecord {
  const record: LogRecord = { key, text, written: () => record.text };
  return record;
}

export function logKey(number: number): string {
  return `${LOG_PREFIX}${String(number).padStart(NUMBER_DIGITS, "0")}`;
}

const ENTRY_SHAPE: RecordShape = { listOf: "anything" };

/** The entries of one record. */
export function logEntries(key: string, text: string): LedgerEntry[] {
  return text.split("\n").map((line) => {
    const parts = readStored<unknown[]>(key, line, ENTRY_SHAPE);
    const [number, at, cause, about, lane, from, to, units] = parts;
    if (parts.length !== 8 || !Number.isSafeInteger(number) || !Array.isArray(units))
      throw new DamagedRecord(key, `the line ${JSON.stringify(line.slice(0, 80))} is no entry`);
    return { number, at, cause, about, lane, from, to, units } as LedgerEntry;
  });
}
