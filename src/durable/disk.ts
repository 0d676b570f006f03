/**
 * Where objects are kept. Reading is at once; writing is two steps: `commit` puts a group of changes in, whole or not at
 * all, and `sync` makes sure that everything committed survives the machine. `SqliteDisk` is the real one; tests and
 * benches hand in others.
 */
import type { HeldValue } from "./held-value.ts";
import type { KeyRange } from "./key-range.ts";
import type { StoreProblem } from "./problem.ts";

/** Identifies an object: objects of different classes may have the same name. The class of bare states is "". */
export interface ObjectName {
  readonly className: string;
  readonly name: string;
}

/** What one object changes in one commit, applied in this order: delete all keys, set values, set the alarm. */
export interface Changes {
  readonly object: ObjectName;
  readonly isWiped: boolean;
  /** `undefined` deletes the key. */
  readonly values: Iterable<readonly [key: string, held: HeldValue]>;
  /** `undefined` leaves it unchanged. */
  readonly alarmAt: number | null | undefined;
}

export interface StoredAlarm {
  readonly object: ObjectName;
  readonly alarmAt: number;
}

export interface Disk {
  /** The file's path, for messages. */
  readonly file: string;
  read(object: ObjectName, key: string): HeldValue;
  has(object: ObjectName, key: string): boolean;
  /** Entries in the order of the keys' bytes, at most `limit` of them unless it is negative. The bytes belong to the caller. */
  list(
    object: ObjectName,
    query: { readonly range: KeyRange; readonly isReverse: boolean; readonly limit: number },
  ): [key: string, held: HeldValue][];
  alarm(object: ObjectName): number | null;
  alarms(): StoredAlarm[];
  /** Atomic: when this throws, nothing was stored. */
  commit(all: readonly Changes[]): void;
  /** Calls back when what was committed is on disk, or with what went wrong. */
  sync(done: (failure: Error | null) => void): void;
  /** Called after each sync, for work such as a checkpoint during which nothing may be committed; null when there is none. */
  upkeep(): Promise<void> | null;
  close(): Promise<void>;
}

/** Whether a failed commit can be tried again later, or the store is broken. */
export const isForGood = (problem: StoreProblem): boolean =>
  problem.code === "damaged" || problem.code === "broken";
