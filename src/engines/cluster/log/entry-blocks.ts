/**
 * Entries as bytes. An owner packs its log in blocks, and every node reads a block once, keeps it and passes it on unchanged.
 *
 *   block  =  run …                run   =  room (text), count (u32), entry …
 *   entry  =  op (u8), field …     field =  by `ENTRY_FIELDS`: number (f64) | text (u32 length, UTF-8) |
 *                                           list (u32 length, items: 0 and a number, or 1 and a text) | entry
 *
 * The kinds of fields are not in the bytes, so no entry can have other ones. A block with any other error is rejected as a whole:
 * peers tell the truth, but one of another version may write a different format.
 */
import { ENTRY_FIELDS, type Entry, type FieldKind, OP, type Written } from "./entries.ts";

/** The most entries in one block. */
export const BLOCK_ENTRIES_MAX = 4_000;

/** Some entries of one log. */
export type Block = readonly [count: number, bytes: Uint8Array];

const ITEMS_MAX = 1_000_000;
const IS_NUMBER = 0;
const IS_TEXT = 1;

/** Packs entries. */
export function blockOf(written: readonly Written[]): Block {
  const writer = new BlockWriter();
  for (let from = 0; from < written.length; ) {
    const { room } = written[from]!;
    let to = from;
    while (to < written.length && written[to]!.room === room) to++;
    writer.text(room);
    writer.u32(to - from);
    for (; from < to; from++) writer.entry(written[from]!.entry);
  }
  return [written.length, writer.take()];
}

/** The entries of a block; null when it is malformed. */
export function entriesIn([count, bytes]: Block): Written[] | null {
  const reader = new BlockReader(bytes);
  const written: Written[] = [];
  try {
    while (!reader.isAtEnd) {
      const room = reader.text();
      for (let left = reader.u32(count); left > 0; left--) written.push({ room, entry: reader.entry() });
    }
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
  return written.length === count ? written : null;
}

/** The buffer in which blocks are packed. It grows as needed and never shrinks. */
let desk = Buffer.allocUnsafeSlow(64 * 1_024);

class BlockWriter {
  #at = 0;

  u8(value: number): void {
    this.#need(1);
    this.#at = desk.writeUInt8(value, this.#at);
  }

  u32(value: number): void {
    this.#need(4);
    this.#at = desk.writeUInt32LE(value, this.#at);
  }

  number(value: number): void {
    this.#need(8);
    this.#at = desk.writeDoubleLE(value, this.#at);
  }

  text(value: string): void {
    this.#need(4 + 3 * value.length);
    const length = desk.write(value, this.#at + 4, "utf8");
    this.u32(length);
    this.#at += length;
  }

  entry(entry: Entry): void {
    const fields = ENTRY_FIELDS[entry[0]];
    this.u8(entry[0]);
    for (let i = 0; i < fields.length; i++) this.#field(fields[i]!, entry[i + 1]);
  }

  take(): Uint8Array {
    const bytes = new Uint8Array(this.#at);
    bytes.set(desk.subarray(0, this.#at));
    return bytes;
  }

  #field(kind: FieldKind, value: unknown): void {
    if (kind === "key" || kind === "number") this.number(value as number);
    else if (kind === "text") this.text(value as string);
    else if (kind === "place") this.entry(value as Entry);
    else this.#list(value as readonly (number | string)[]);
  }

  #list(items: readonly (number | string)[]): void {
    this.u32(items.length);
    for (const item of items) {
      this.u8(typeof item === "number" ? IS_NUMBER : IS_TEXT);
      if (typeof item === "number") this.number(item);
      else this.text(item);
    }
  }

  #need(bytes: number): void {
    if (this.#at + bytes <= desk.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * desk.length, this.#at + bytes));
    desk.copy(larger, 0, 0, this.#at);
    desk = larger;
  }
}

/** Throws a RangeError on anything unexpected. */
class BlockReader {
  readonly #bytes: Buffer;
  readonly #view: DataView;
  #at = 0;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength);
    this.#view = new DataView(buffer, byteOffset, byteLength);
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  u8(): number {
    return this.#view.getUint8(this.#at++);
  }

  u32(max: number): number {
    const value = this.#view.getUint32(this.#at, true);
    if (value > max) throw new RangeError(`${value} is more than ${max}`);
    this.#at += 4;
    return value;
  }

  number(): number {
    const value = this.#view.getFloat64(this.#at, true);
    if (!Number.isFinite(value)) throw new RangeError(`${value} is not a finite number`);
    this.#at += 8;
    return value;
  }

  text(): string {
    const length = this.u32(this.#bytes.length - this.#at - 4);
    const from = this.#at;
    this.#at += length;
    return this.#bytes.toString("utf8", from, this.#at);
  }

  entry(): Entry {
    const op = this.u8();
    const fields = ENTRY_FIELDS[op as Entry[0]];
    if (!fields) throw new RangeError(`unknown kind of entry: ${op}`);
    const entry: unknown[] = [op];
    for (let i = 0; i < fields.length; i++) entry.push(this.#field(fields[i]!));
    return entry as unknown as Entry;
  }

  #field(kind: FieldKind): unknown {
    if (kind === "number") return this.number();
    if (kind === "text") return this.text();
    if (kind === "key") return this.#key();
    return kind === "list" ? this.#list() : this.#place();
  }

  #key(): number {
    const key = this.number();
    if (!Number.isSafeInteger(key)) throw new RangeError(`${key} is not a key`);
    return key;
  }

  #list(): (number | string)[] {
    const items: (number | string)[] = [];
    for (let left = this.u32(ITEMS_MAX); left > 0; left--) items.push(this.#item());
    return items;
  }

  #item(): number | string {
    const kind = this.u8();
    if (kind > IS_TEXT) throw new RangeError(`unknown kind of item: ${kind}`);
    return kind === IS_NUMBER ? this.number() : this.text();
  }

  /** The entry of a place as it is, never one that takes over. */
  #place(): Entry {
    if (this.#view.getUint8(this.#at) > OP.gone) throw new RangeError("this entry is not about one place");
    return this.entry();
  }
}
