/**
 * Keeps the log bounded: its oldest entries become sums by product, from which a recount goes on. What happened before cannot be
 * read one by one any more; that it adds up still can.
 */
import type { DurableStorage } from "../../durable/storage.ts";
import type { RecordChange } from "../rules/book/changed-records.ts";
import { LOG_PREFIX, logEntries } from "../rules/book/movements.ts";
import { putRecords, readAll } from "./ledger-records.ts";
import { FOLDED_KEY, FOLDED_PREFIX, Recount } from "./recount.ts";

/** Entries that can be read one by one: about a hundred megabytes, and many more than a count may be behind. */
export const LOG_ENTRIES_MAX = 1_000_000;
/** Records that are folded in one go. */
const RECORDS_AT_ONCE = 64;

export class LogFolding {
  readonly #storage: DurableStorage;
  readonly #entriesMax: number;
  #recount = new Recount();
  #isFolding = false;

  constructor(storage: DurableStorage, entriesMax: number = LOG_ENTRIES_MAX) {
    this.#storage = storage;
    this.#entriesMax = entriesMax;
  }

  async load(): Promise<void> {
    const recount = new Recount();
    for await (const [key, text] of readAll(this.#storage, FOLDED_KEY)) recount.restore(key, text);
    this.#recount = recount;
  }

  /** `last`: the number of the log's last entry. */
  isDue(last: number): boolean {
    return !this.#isFolding && last - this.#recount.last > this.#entriesMax;
  }

  /** Folds the oldest records. */
  async fold(): Promise<void> {
    this.#isFolding = true;
    try {
      const oldest = await this.#storage.list<string>({
        prefix: LOG_PREFIX,
        limit: RECORDS_AT_ONCE + 1,
        noCache: true,
      });
      // The last record may still be written to.
      this.#foldAll([...oldest].slice(0, -1));
    } finally {
      this.#isFolding = false;
    }
  }

  #foldAll(records: readonly (readonly [key: string, text: string])[]): void {
    const touched = new Set<string>();
    for (const [key, text] of records)
      for (const entry of logEntries(key, text)) {
        this.#recount.add(key, entry);
        for (const [product] of entry.units) touched.add(product);
      }
    const sums = Array.from(touched, (product): RecordChange => {
      const text = JSON.stringify(this.#recount.products.get(product));
      return [FOLDED_PREFIX + product, text];
    });
    const folded = records.map(([key]): RecordChange => [key, null]);
    putRecords(this.#storage, [...sums, [FOLDED_KEY, JSON.stringify(this.#recount.last)], ...folded]);
  }
}
