/**
 * The storage an object is given: `ObjectValues` behind promises. Every operation takes effect when it is called;
 * its promise only says so. A `put` that has to wait because too much is unwritten holds the input gate meanwhile, unless
 * `allowConcurrency` is given; nothing else waits in a way that the option changes. A transaction holds the gate as long as
 * it runs. A caller's mistake, and anything asked of an object that was started anew, is thrown at once.
 *
 * While a transaction runs, what its closure does with `storage` itself is part of it, as on Cloudflare's SQLite
 * storage; whatever else is started waits until it is over. So does another transaction; one inside another is refused.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Committer } from "./committer.ts";
import { hold, release, releaseOwn } from "./held-value.ts";
import type { InputGate } from "./input-gate.ts";
import { keyRangeOf } from "./key-range.ts";
import { checkCount, checkKey, checkKeys, checkLimit } from "./limits.ts";
import type { ObjectValues, Values, WriteManner } from "./object-values.ts";
import type {
  DurableStorage,
  DurableTransaction,
  KeyValues,
  ListOptions,
  ReadOptions,
  WriteOptions,
} from "./storage.ts";
import { TransactionValues } from "./transaction-values.ts";

const DONE: Promise<void> = Promise.resolve();
const PLAIN: WriteManner = { isUnconfirmed: false, isKept: true };

/** Whose code is running: a transaction's closure, or other code. */
const closureOf = new AsyncLocalStorage<TransactionValues>();

/** Told when an alarm is set; null where no handler could be called. */
export type AlarmListener = ((at: number | null) => void) | null;

/** Reads and writes keys, behind promises: of the object itself, and of a transaction as its closure sees it. */
abstract class KeyCalls implements KeyValues {
  get<T>(key: string, options?: ReadOptions): Promise<T | undefined>;
  get<T>(keys: string[], options?: ReadOptions): Promise<Map<string, T>>;
  get<T>(key: string | string[], options?: ReadOptions): Promise<T | undefined | Map<string, T>> {
    return this.with((values) => Promise.resolve(get<T>(values, key, options)));
  }

  put<T>(key: string, value: T, options?: WriteOptions): Promise<void>;
  put<T>(entries: Record<string, T>, options?: WriteOptions): Promise<void>;
  put<T>(key: string | Record<string, T>, value?: T | WriteOptions, options?: WriteOptions): Promise<void> {
    // Held before any wait: the caller may change the value afterwards.
    const entries = heldEntries(key, value);
    const chosen = typeof key === "string" ? options : (value as WriteOptions | undefined);
    return this.with((values) => {
      const manner = mannerOf(chosen);
      for (const [name, held] of entries) values.write(name, held, manner);
      return this.room(chosen);
    });
  }

  delete(key: string, options?: WriteOptions): Promise<boolean>;
  delete(keys: string[], options?: WriteOptions): Promise<number>;
  delete(key: string | string[], options?: WriteOptions): Promise<boolean | number> {
    return this.with((values) => Promise.resolve(remove(values, key, options)));
  }

  list<T>(options: ListOptions = {}): Promise<Map<string, T>> {
    return this.with((values) => Promise.resolve(list<T>(values, options)));
  }

  /** Runs it with the values as this caller sees them. */
  protected abstract with<R>(work: (values: Values) => Promise<R>): Promise<R>;

  /** Resolves when more may be written. */
  protected abstract room(options: WriteOptions | undefined): Promise<void>;
}

export class ObjectStorage extends KeyCalls implements DurableStorage {
  readonly #values: ObjectValues;
  readonly #committer: Committer;
  readonly #gate: InputGate;
  readonly #onAlarm: AlarmListener;
  #running: TransactionValues | null = null;
  #runningIsOver: Promise<void> = DONE;
  /** The alarm whose handler is running: the object does not see it any more. */
  #firingAt: number | null = null;

  constructor(parts: {
    values: ObjectValues;
    committer: Committer;
    gate: InputGate;
    onAlarm: AlarmListener;
  }) {
    super();
    this.#values = parts.values;
    this.#committer = parts.committer;
    this.#gate = parts.gate;
    this.#onAlarm = parts.onAlarm;
  }

  deleteAll(options?: WriteOptions): Promise<void> {
    return this.with((values) => {
      values.wipe(mannerOf(options));
      return DONE;
    });
  }

  getAlarm(): Promise<number | null> {
    return this.with((values) => {
      const at = values.alarmAt();
      return Promise.resolve(at === this.#firingAt ? null : at);
    });
  }

  setAlarm(at: number | Date, options?: WriteOptions): Promise<void> {
    const time = Number(at);
    if (!Number.isFinite(time)) throw new TypeError(`An alarm is set to an instant; this is ${String(at)}.`);
    return this.#changeAlarm(time, options);
  }

  deleteAlarm(options?: WriteOptions): Promise<void> {
    return this.#changeAlarm(null, options);
  }

  /** While the handler of an alarm runs, the object sees no alarm, but the disk keeps it until the handler is through. */
  set firingAt(at: number | null) {
    this.#firingAt = at;
  }

  /** The handler succeeded: its alarm is deleted, unless it has set another. */
  finishAlarm(at: number): void {
    if (this.#firingAt !== at) return;
    this.#firingAt = null;
    try {
      this.#values.checkAlive();
    } catch {
      return;
    }
    this.#values.setAlarm(null, PLAIN);
    this.#onAlarm?.(null);
  }

  async transaction<T>(closure: (txn: DurableTransaction) => Promise<T>): Promise<T> {
    this.#values.checkAlive();
    if (this.#running !== null && closureOf.getStore() === this.#running)
      throw new Error("A transaction cannot be started inside another; use the one at hand.");
    return this.#gate.section(async () => {
      while (this.#running !== null) await this.#runningIsOver;
      this.#values.checkAlive();
      return this.#run(new TransactionValues(this.#values), closure);
    });
  }

  sync(): Promise<void> {
    this.#values.checkAlive();
    return new Promise((confirmed, lost) => this.#values.whenAllConfirmed({ confirmed, lost }));
  }

  async #run<T>(values: TransactionValues, closure: (txn: DurableTransaction) => Promise<T>): Promise<T> {
    const over = Promise.withResolvers<void>();
    this.#running = values;
    this.#runningIsOver = over.promise;
    try {
      const result = await closureOf.run(values, closure, new Transaction(values));
      this.#values.checkAlive();
      values.apply();
      return result;
    } finally {
      values.rollback();
      this.#running = null;
      over.resolve();
    }
  }

  /** Runs it at once, or after a transaction of other code. */
  protected override with<R>(work: (values: Values) => Promise<R>): Promise<R> {
    this.#values.checkAlive();
    if (this.#running === null) return work(this.#values);
    if (closureOf.getStore() === this.#running) return work(this.#running);
    return quiet(this.#afterTransaction(work));
  }

  async #afterTransaction<R>(work: (values: Values) => Promise<R>): Promise<R> {
    while (this.#running !== null) await this.#runningIsOver;
    this.#values.checkAlive();
    return work(this.#values);
  }

  /** When too much is unwritten: resolves once it has gone to disk. */
  protected override room(options: WriteOptions | undefined): Promise<void> {
    if (!this.#committer.isFull) return DONE;
    const open = options?.allowConcurrency ? () => {} : this.#gate.lock();
    return quiet(this.sync().finally(open));
  }

  #changeAlarm(at: number | null, options: WriteOptions | undefined): Promise<void> {
    this.#values.checkAlive();
    if (!this.#onAlarm)
      throw new Error(
        `The object "${this.#values.object.name}" has no alarm() method, so nothing would happen at an alarm.`,
      );
    return this.with((values) => {
      this.#firingAt = null;
      values.setAlarm(at, mannerOf(options));
      this.#onAlarm?.(values.alarmAt());
      return DONE;
    });
  }
}

/** A transaction as its closure sees it. */
class Transaction extends KeyCalls implements DurableTransaction {
  readonly #values: TransactionValues;

  constructor(values: TransactionValues) {
    super();
    this.#values = values;
  }

  rollback(): void {
    this.#values.rollback();
  }

  protected override with<R>(work: (values: Values) => Promise<R>): Promise<R> {
    return work(this.#values);
  }

  protected override room(): Promise<void> {
    return DONE;
  }
}

function get<T>(
  values: Values,
  key: string | string[],
  options?: ReadOptions,
): T | undefined | Map<string, T> {
  const isKept = options?.noCache !== true;
  if (!Array.isArray(key)) {
    checkKey(key);
    return release(values.read(key, isKept)) as T | undefined;
  }
  checkKeys(key);
  const found = new Map<string, T>();
  for (const one of key) {
    const held = values.read(one, isKept);
    if (held !== undefined) found.set(one, release(held) as T);
  }
  return found;
}

function remove(values: Values, key: string | string[], options?: WriteOptions): boolean | number {
  const manner = mannerOf(options);
  const removeOne = (one: string): boolean => {
    const wasThere = values.has(one);
    if (wasThere) values.write(one, undefined, manner);
    return wasThere;
  };
  if (!Array.isArray(key)) {
    checkKey(key);
    return removeOne(key);
  }
  checkKeys(key);
  return key.filter(removeOne).length;
}

function list<T>(values: Values, options: ListOptions): Map<string, T> {
  checkLimit(options.limit);
  const query = { range: keyRangeOf(options), isReverse: options.reverse === true, limit: options.limit };
  const found = new Map<string, T>();
  for (const [key, held] of values.list(query)) found.set(key, releaseOwn(held) as T);
  return found;
}

type HeldEntries = readonly (readonly [string, ReturnType<typeof hold>])[];

function heldEntries(key: string | Record<string, unknown>, value: unknown): HeldEntries {
  if (typeof key !== "object" || key === null) {
    checkKey(key);
    return [[key, hold(key, value)]];
  }
  const entries = Object.entries(key);
  checkCount(entries.length);
  return entries.map(([name, one]) => {
    checkKey(name);
    return [name, hold(name, one)];
  });
}

function mannerOf(options: WriteOptions | undefined): WriteManner {
  if (!options) return PLAIN;
  return { isUnconfirmed: options.allowUnconfirmed === true, isKept: options.noCache !== true };
}

/** Marks a rejection as handled: the output gate reports the failure anyway. */
function quiet<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {});
  return promise;
}
