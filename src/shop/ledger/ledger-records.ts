/** A ledger's records in storage: written as texts, read in pages. */
import type { DurableStorage } from "../../durable/storage.ts";
import { BASKET_PREFIX } from "../rules/book/baskets.ts";
import type { RecordChange } from "../rules/book/changed-records.ts";
import { LOG_PREFIX, logEntries, logKey } from "../rules/book/movements.ts";
import { ORDER_PREFIX } from "../rules/book/orders.ts";
import { STATE_PREFIXES, type StoredRecord } from "../rules/book/restore.ts";
import { BEHIND_MAX, COUNT_PREFIX } from "../rules/book/stock.ts";
import { DamagedRecord } from "../rules/book/stored-records.ts";
import { FOLDED_KEY } from "./recount.ts";

/** What `verify` reads. The sums of the log's oldest entries come before the log. */
export const VERIFIED_PREFIXES = [COUNT_PREFIX, BASKET_PREFIX, ORDER_PREFIX, FOLDED_KEY, LOG_PREFIX] as const;

/** As on Cloudflare. */
const KEYS_PER_CALL = 128;
const RECORDS_PER_PAGE = 1_000;
/** The book has it all in memory, so storage need not keep it too. */
const NOT_TWICE = { noCache: true } as const;

/** Puts and deletes all of them. With no `await` in between, they are stored together. */
export function putRecords(storage: DurableStorage, changes: readonly RecordChange[]): void {
  const removed = changes.filter(([, text]) => text === null).map(([key]) => key);
  const written = removed.length === 0 ? changes : changes.filter(([, text]) => text !== null);
  for (let from = 0; from < written.length; from += KEYS_PER_CALL)
    storage.put(Object.fromEntries(written.slice(from, from + KEYS_PER_CALL)), NOT_TWICE);
  for (let from = 0; from < removed.length; from += KEYS_PER_CALL)
    storage.delete(removed.slice(from, from + KEYS_PER_CALL));
}

/** All records with this prefix, in the order of their keys, from one key on. */
export async function* readAll(
  storage: DurableStorage,
  prefix: string,
  start = prefix,
): AsyncGenerator<StoredRecord> {
  for (let startAfter: string | null = null; ; ) {
    const page: Map<string, unknown> = await storage.list<unknown>({
      prefix,
      limit: RECORDS_PER_PAGE,
      noCache: true,
      ...(startAfter === null ? { start } : { startAfter }),
    });
    for (const [key, text] of page) {
      if (typeof text !== "string") throw new DamagedRecord(key, "it is no text");
      yield [key, text];
      startAfter = key;
    }
    if (page.size < RECORDS_PER_PAGE) return;
  }
}

/** Everything that the book is made of. Of the log that are the latest entries. */
export async function* readState(storage: DurableStorage): AsyncGenerator<StoredRecord> {
  for (const prefix of STATE_PREFIXES) yield* readAll(storage, prefix);
  const [last] = await storage.list<string>({ prefix: LOG_PREFIX, reverse: true, limit: 1 });
  if (!last) return;
  const firstNeeded = logEntries(...last).at(-1)!.number - BEHIND_MAX + 1;
  // The record that has it may begin before it, so one more is read.
  const [from = last] = await storage.list<string>({
    prefix: LOG_PREFIX,
    end: logKey(Math.max(1, firstNeeded) + 1),
    reverse: true,
    limit: 1,
  });
  yield* readAll(storage, LOG_PREFIX, from[0]);
}
