/**
 * Values in memory that are also on disk, least recently used out first, bounded in bytes over all objects. Values not
 * on disk yet are not in this list and so are never dropped.
 *
 * The order is that of a clock with a second chance: a read only marks its entry, and a marked entry that comes up to be
 * dropped goes round once more.
 */
import { type HeldValue, heldBytes } from "./held-value.ts";

const CACHE_BYTES = 64 * 2 ** 20;
/** What an entry takes besides its key and value: the object, and its place in two structures. */
const ENTRY_BYTES = 160;

export class CacheEntry {
  readonly home: Map<string, CacheEntry>;
  readonly key: string;
  held: HeldValue;
  isDirty = false;
  /** Whether it stays in memory once it is on disk. */
  isKept = true;
  isUsed = false;
  bytes = 0;
  newer: CacheEntry | null = null;
  older: CacheEntry | null = null;

  constructor(home: Map<string, CacheEntry>, key: string, held: HeldValue) {
    this.home = home;
    this.key = key;
    this.held = held;
  }
}

export function entryBytes(entry: CacheEntry): number {
  return ENTRY_BYTES + entry.key.length * 2 + heldBytes(entry.held);
}

export class ValueCache {
  readonly #bytesMax: number;
  #bytes = 0;
  #newest: CacheEntry | null = null;
  #oldest: CacheEntry | null = null;

  constructor(bytesMax: number = CACHE_BYTES) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Adds an entry that is on disk, and drops others until there is room. */
  add(entry: CacheEntry): void {
    entry.bytes = entryBytes(entry);
    this.#bytes += entry.bytes;
    this.#link(entry);
    while (this.#bytes > this.#bytesMax && this.#oldest) this.#dropOne(this.#oldest);
  }

  /** Removes an entry from the list, not from its home. */
  remove(entry: CacheEntry): void {
    this.#bytes -= entry.bytes;
    this.#unlink(entry);
  }

  #dropOne(oldest: CacheEntry): void {
    if (oldest.isUsed) {
      oldest.isUsed = false;
      this.#unlink(oldest);
      this.#link(oldest);
      return;
    }
    this.remove(oldest);
    oldest.home.delete(oldest.key);
  }

  #link(entry: CacheEntry): void {
    entry.older = this.#newest;
    if (this.#newest) this.#newest.newer = entry;
    else this.#oldest = entry;
    this.#newest = entry;
  }

  #unlink(entry: CacheEntry): void {
    if (entry.newer) entry.newer.older = entry.older;
    else this.#newest = entry.older;
    if (entry.older) entry.older.newer = entry.newer;
    else this.#oldest = entry.newer;
    entry.newer = null;
    entry.older = null;
  }
}
