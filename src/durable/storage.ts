/**
 * What a durable object is given: a compatible part of Cloudflare's `DurableObjectState`. A class written against these
 * types runs there unchanged; here it runs on `DurableHost`. Only types, so that anyone may import them.
 */

export interface ReadOptions {
  /** Lets other events into the object while this operation waits. */
  allowConcurrency?: boolean;
  /** Does not keep the value in memory afterwards. */
  noCache?: boolean;
}

export interface WriteOptions {
  /** Lets answers and outgoing calls leave before this write is on disk. */
  allowUnconfirmed?: boolean;
  /** Lets other events into the object while this operation waits. */
  allowConcurrency?: boolean;
  /** Does not keep the value in memory once it is on disk. */
  noCache?: boolean;
}

/** Which keys to list. Keys are in the order of their UTF-8 bytes; `end` itself is left out. */
export interface ListOptions extends ReadOptions {
  start?: string;
  startAfter?: string;
  end?: string;
  prefix?: string;
  reverse?: boolean;
  limit?: number;
}

/** Reading and writing keys. Every value read is a copy; operations take effect in the order they were started. */
export interface KeyValues {
  get<T = unknown>(key: string, options?: ReadOptions): Promise<T | undefined>;
  get<T = unknown>(keys: string[], options?: ReadOptions): Promise<Map<string, T>>;
  put<T>(key: string, value: T, options?: WriteOptions): Promise<void>;
  put<T>(entries: Record<string, T>, options?: WriteOptions): Promise<void>;
  /** Whether the key was there. */
  delete(key: string, options?: WriteOptions): Promise<boolean>;
  /** How many of the keys were there. */
  delete(keys: string[], options?: WriteOptions): Promise<number>;
  list<T = unknown>(options?: ListOptions): Promise<Map<string, T>>;
}

export interface DurableTransaction extends KeyValues {
  /** Forgets what this transaction wrote. Nothing more may be done with it. */
  rollback(): void;
}

export interface DurableStorage extends KeyValues {
  /** Deletes every key of the object. Its alarm stays. */
  deleteAll(options?: WriteOptions): Promise<void>;
  /** What the closure writes is stored whole or not at all; a closure that throws has written nothing. */
  transaction<T>(closure: (txn: DurableTransaction) => Promise<T>): Promise<T>;
  getAlarm(options?: ReadOptions): Promise<number | null>;
  setAlarm(at: number | Date, options?: WriteOptions): Promise<void>;
  deleteAlarm(options?: WriteOptions): Promise<void>;
  /** Resolves when every write made so far is on disk; rejects if one could not be. */
  sync(): Promise<void>;
}

export interface DurableState {
  readonly id: { readonly name: string; toString(): string };
  readonly storage: DurableStorage;
  /** No other event enters the object until `work` has settled. If it fails, the object starts anew. */
  blockConcurrencyWhile<T>(work: () => Promise<T>): Promise<T>;
  /** Work that nobody waits for: a failure is logged. */
  waitUntil(promise: Promise<unknown>): void;
}
