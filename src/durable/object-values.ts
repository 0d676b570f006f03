/**
 * The values of one object, at once: what it wrote and is not on disk yet, over what is in the cache, over the disk.
 * Nothing here waits; `ObjectStorage` puts promises and gates around it, `TransactionValues` lies on top of it while a
 * transaction runs.
 */
import type { Committer, Group, Waiter, Writer } from "./committer.ts";
import type { Changes, Disk, ObjectName } from "./disk.ts";
import { isForGood } from "./disk.ts";
import { copyOf, type HeldValue } from "./held-value.ts";
import { compareUtf8, isWithin, type KeyRange } from "./key-range.ts";
import { problemOf, restarted, type StoreProblem } from "./problem.ts";
import { CacheEntry, entryBytes, type ValueCache } from "./value-cache.ts";

/** What a row counts for besides its own bytes: even the smallest takes time to write. */
const ROW_BYTES = 1_024;

export interface Query {
  readonly range: KeyRange;
  readonly isReverse: boolean;
  readonly limit: number | undefined;
}

export interface WriteManner {
  readonly isUnconfirmed: boolean;
  readonly isKept: boolean;
}

/** Values that are read and changed at once. */
export interface Values {
  read(key: string, isKept: boolean): HeldValue;
  has(key: string): boolean;
  /** The bytes belong to the caller. */
  list(query: Query): Map<string, HeldValue>;
  write(key: string, held: HeldValue, manner: WriteManner): void;
  wipe(manner: WriteManner): void;
  alarmAt(): number | null;
  setAlarm(at: number | null, manner: WriteManner): void;
}

/** The parts of a store that its objects share. */
export interface Store {
  readonly disk: Disk;
  readonly committer: Committer;
  readonly cache: ValueCache;
}

export class ObjectValues implements Values, Writer {
  readonly object: ObjectName;
  readonly #store: Store;
  readonly #onLost: (problem: StoreProblem) => void;
  readonly #entries = new Map<string, CacheEntry>();
  #dirty: CacheEntry[] = [];
  #isWiped = false;
  /** Undefined: not read yet. */
  #alarmAt: number | null | undefined;
  #isAlarmDirty = false;
  /** The last group with a write of ours that is not confirmed yet, and the last one that outputs wait for. */
  #group: Group | null = null;
  #gatedGroup: Group | null = null;
  #lost: StoreProblem | null = null;

  /** `onLost` is called once, when a write could not be stored: the object has to start anew. */
  constructor(object: ObjectName, store: Store, onLost: (problem: StoreProblem) => void) {
    this.object = object;
    this.#store = store;
    this.#onLost = onLost;
  }

  /** Throws once the object has lost a write or the store is broken. */
  checkAlive(): void {
    if (this.#lost) throw this.#lost;
    const { end } = this.#store.committer;
    if (end) throw end;
  }

  read(key: string, isKept: boolean): HeldValue {
    const entry = this.#entries.get(key);
    if (entry) {
      entry.isUsed = true;
      return entry.held;
    }
    if (this.#isWiped) return undefined;
    const held = this.#fromDisk((disk) => disk.read(this.object, key));
    if (isKept) this.#keep(new CacheEntry(this.#entries, key, held));
    return held;
  }

  has(key: string): boolean {
    const entry = this.#entries.get(key);
    if (entry) return entry.held !== undefined;
    return !this.#isWiped && this.#fromDisk((disk) => disk.has(this.object, key));
  }

  list(query: Query): Map<string, HeldValue> {
    const changed = this.#dirty.filter((entry) => isWithin(query.range, entry.key));
    if (this.#isWiped) return overlay(new Map(), changed.map(ownPairOf), query);
    const limit = query.limit === undefined ? -1 : query.limit + changed.length;
    const rows = this.#fromDisk((disk) => disk.list(this.object, { ...query, limit }));
    return overlay(new Map(rows), changed.map(ownPairOf), query);
  }

  write(key: string, held: HeldValue, manner: WriteManner): void {
    let entry = this.#entries.get(key);
    if (!entry) {
      entry = new CacheEntry(this.#entries, key, undefined);
      this.#entries.set(key, entry);
    } else if (!entry.isDirty) this.#store.cache.remove(entry);
    if (!entry.isDirty) {
      entry.isDirty = true;
      entry.bytes = 0;
      this.#dirty.push(entry);
    }
    entry.held = held;
    entry.isKept = manner.isKept;
    const bytes = entryBytes(entry);
    this.#store.committer.grow(bytes - entry.bytes + (entry.bytes === 0 ? ROW_BYTES : 0));
    entry.bytes = bytes;
    this.#join(manner);
  }

  wipe(manner: WriteManner): void {
    this.#forget();
    this.#isWiped = true;
    this.#join(manner);
  }

  alarmAt(): number | null {
    if (this.#alarmAt === undefined) this.#alarmAt = this.#fromDisk((disk) => disk.alarm(this.object));
    return this.#alarmAt;
  }

  setAlarm(at: number | null, manner: WriteManner): void {
    this.#alarmAt = at;
    this.#isAlarmDirty = true;
    this.#join(manner);
  }

  /** Calls back when the writes that outputs wait for are on disk: at once if there are none. */
  whenConfirmed(waiter: Waiter): void {
    if (this.#lost) waiter.lost(this.#lost);
    else if (this.#gatedGroup) this.#gatedGroup.waiters.push(waiter);
    else waiter.confirmed();
  }

  /** The same for every write, including those that outputs do not wait for. */
  whenAllConfirmed(waiter: Waiter): void {
    if (this.#lost) waiter.lost(this.#lost);
    else if (this.#group) this.#group.waiters.push(waiter);
    else waiter.confirmed();
  }

  takeChanges(): Changes {
    return {
      object: this.object,
      isWiped: this.#isWiped,
      values: this.#dirty.map(pairOf),
      alarmAt: this.#isAlarmDirty ? this.#alarmAt : undefined,
    };
  }

  committed(): void {
    const written = this.#dirty;
    this.#dirty = [];
    this.#isWiped = false;
    this.#isAlarmDirty = false;
    for (const entry of written) {
      entry.isDirty = false;
      if (entry.isKept && !this.#lost) this.#store.cache.add(entry);
      else this.#entries.delete(entry.key);
    }
  }

  confirmed(group: Group): void {
    if (this.#group === group) this.#group = null;
    if (this.#gatedGroup === group) this.#gatedGroup = null;
  }

  lost(problem: StoreProblem): void {
    if (!this.#lost) this.#lost = restarted({ name: this.object.name, file: problem.file, cause: problem });
    this.#forget();
    this.#onLost(problem);
  }

  /**
   * Nothing more may be done with these values, for a reason that is not the disk's. What was written before goes to
   * disk all the same; `settled` is called when it is there, and only then may the object be made anew.
   */
  retire(cause: unknown, settled: () => void): void {
    if (this.#lost) return settled();
    this.whenAllConfirmed({ confirmed: settled, lost: settled });
    this.#lost = restarted({ name: this.object.name, file: this.#store.disk.file, cause });
  }

  /** Whether everything written so far is on disk. */
  get isConfirmed(): boolean {
    return this.#group === null;
  }

  /** Takes the object out of memory. Its code that is still running may do nothing more. */
  leave(): void {
    const cause = "nobody had called it for a while.";
    this.#lost = restarted({ name: this.object.name, file: this.#store.disk.file, cause });
    this.#forget();
  }

  #join({ isUnconfirmed }: WriteManner): void {
    this.#group = this.#store.committer.join(this, this.#group);
    if (!isUnconfirmed) this.#gatedGroup = this.#group;
  }

  #keep(entry: CacheEntry): void {
    this.#entries.set(entry.key, entry);
    this.#store.cache.add(entry);
  }

  #forget(): void {
    for (const entry of this.#entries.values()) if (!entry.isDirty) this.#store.cache.remove(entry);
    this.#entries.clear();
    this.#dirty = [];
  }

  #fromDisk<T>(read: (disk: Disk) => T): T {
    const { disk, committer } = this.#store;
    try {
      return read(disk);
    } catch (error) {
      const problem = problemOf(disk.file, error);
      if (isForGood(problem)) committer.break(problem);
      throw problem;
    }
  }
}

const pairOf = ({ key, held }: CacheEntry): [string, HeldValue] => [key, held];
const ownPairOf = ({ key, held }: CacheEntry): [string, HeldValue] => [key, copyOf(held)];

/** Rows with changes applied to them: sorted, and cut to the limit. */
export function overlay(
  rows: Map<string, HeldValue>,
  changes: readonly (readonly [string, HeldValue])[],
  { isReverse, limit }: Query,
): Map<string, HeldValue> {
  if (changes.length === 0 && (limit === undefined || rows.size <= limit)) return rows;
  for (const [key, held] of changes) {
    if (held === undefined) rows.delete(key);
    else rows.set(key, held);
  }
  const sorted = [...rows].sort(([a], [b]) => (isReverse ? compareUtf8(b, a) : compareUtf8(a, b)));
  return new Map(limit === undefined ? sorted : sorted.slice(0, limit));
}
