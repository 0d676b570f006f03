/**
 * Where objects are kept. Reading is at once; writing is two steps: `commit` puts a group of changes in, whole or not at
 * all, and `sync` makes sure that everything committed survives the machine. `SqliteDisk` is the real one; tests and
 * benches hand in others.
 */
import type { HeldValue } from "./held-value.ts";
import type { KeyRange } from "./key-range.ts";
import type { StoreProblem } from "./problem.ts";

/** Which object: objects of different classes may have the same name. The class "" is that of bare states. */
export interface ObjectName {
  readonly className: string;
  readonly name: string;
}

/** What one object changes in one commit, in this order: all keys deleted, then values, then the alarm. */
export interface Changes {
  readonly object: ObjectName;
  readonly isWiped: boolean;
  /** `undefined` deletes the key. */
  readonly values: Iterable<readonly [key: string, held: HeldValue]>;
  /** `undefined` leaves it as it is. */
  readonly alarmAt: number | null | undefined;
}

export interface StoredAlarm {
  readonly object: ObjectName;
  readonly alarmAt: number;
}

export interface Disk {
  /** For problems: the file that is written. */
  readonly file: string;
  read(object: ObjectName, key: string): HeldValue;
  has(object: ObjectName, key: string): boolean;
  /** In the order of the keys' bytes, at most `limit` unless that is below 0. Bytes are the caller's own. */
  list(
    object: ObjectName,
    query: { readonly range: KeyRange; readonly isReverse: boolean; readonly limit: number },
  ): [key: string, held: HeldValue][];
  alarm(object: ObjectName): number | null;
  alarms(): StoredAlarm[];
  /** All of it or nothing: when this throws, nothing of it was kept. */
  commit(all: readonly Changes[]): void;
  /** Calls back when what was committed is on disk, or with what went wrong. */
  sync(done: (failure: Error | null) => void): void;
  /** Asked after each sync: work such as a checkpoint, during which nothing may be committed; null when there is none. */
  upkeep(): Promise<void> | null;
  close(): Promise<void>;
}

/** Whether a failed commit can be tried again later, or the store is done for. */
export const isForGood = (problem: StoreProblem): boolean =>
  problem.code === "damaged" || problem.code === "broken";
