/**
 * Objects in a SQLite database. One connection writes, on this thread, and what takes long is done elsewhere:
 *
 * - A commit only writes into the log (some 20 µs), with `synchronous = NORMAL`; then the log's file is synced by
 *   libuv's threads, and only after that anyone is told. That is what `synchronous = FULL` promises: FULL differs from
 *   NORMAL in the one sync of the log after each commit, which we do ourselves. SQLite still syncs log and database
 *   around checkpoints, in both; on this thread that is one sync each time the log starts from the beginning again.
 * - Checkpoints (from the log into the database) run on a thread of their own; see `Checkpoints`.
 *
 * Syncing a file that does not grow takes half the time. So the log's file is given its length when the store is opened
 * (SQLite takes what follows its last frame for no part of the log), and is not cut after checkpoints but written over.
 */
import { closeSync, fdatasync, fstatSync, fsyncSync, openSync, statSync, writeSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { Checkpoints, LOG_BYTES, type UpkeepLog } from "./checkpoints.ts";
import { lockDirectory } from "./directory-lock.ts";
import type { Changes, Disk, ObjectName, StoredAlarm } from "./disk.ts";
import { type HeldValue, heldFromDisk, toDisk } from "./held-value.ts";
import { type KeyRange, keyBytes, keyText } from "./key-range.ts";
import { damaged, newer, problemOf } from "./problem.ts";
import {
  APPLICATION_ID,
  checkHeader,
  databaseFile,
  FORMAT,
  logFile,
  makeDatabase,
  makeDirectory,
  sizeOf,
  syncPath,
} from "./store-files.ts";

/** Larger databases are not read through at each start (a second per 500 MB); damage in them shows when it is read. */
const CHECKED_BYTES_MAX = 64 * 2 ** 20;
/** A checkpoint can leave the log a little longer than it should be. */
const LENGTHENED = 1.5;
/** The checkpoint thread writes only in our pauses; if the two ever meet, waiting is better than failing. */
const BUSY_MS_MAX = 1_000;
/** SQLite's own cache of the database; values are cached above. */
const PAGE_CACHE_KIB = 8_192;

export interface SqliteDiskOptions {
  readonly directory: string;
  readonly log: UpkeepLog;
  /** The log is checkpointed when it reaches this size. */
  readonly logBytes?: number | undefined;
  /** Most pages that the database may have: a full disk, for tests. */
  readonly pagesMax?: number | undefined;
}

const SQL = {
  begin: "BEGIN IMMEDIATE",
  commit: "COMMIT",
  findObject: "SELECT id FROM objects WHERE class = ? AND name = ?",
  makeObject: "INSERT INTO objects (class, name) VALUES (?, ?) RETURNING id",
  setAlarm: "UPDATE objects SET alarm_at = ? WHERE id = ?",
  getAlarm: "SELECT alarm_at FROM objects WHERE id = ?",
  alarms: "SELECT class, name, alarm_at FROM objects WHERE alarm_at IS NOT NULL",
  read: "SELECT value FROM entries WHERE object = ? AND key = ?",
  has: "SELECT 1 AS found FROM entries WHERE object = ? AND key = ?",
  list: "SELECT key, value FROM entries WHERE object = ? AND key >= ? AND key < ? ORDER BY key LIMIT ?",
  listReverse:
    "SELECT key, value FROM entries WHERE object = ? AND key >= ? AND key < ? ORDER BY key DESC LIMIT ?",
  put: "INSERT INTO entries (object, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
  delete: "DELETE FROM entries WHERE object = ? AND key = ?",
  wipe: "DELETE FROM entries WHERE object = ?",
} as const;

type Statements = Readonly<Record<keyof typeof SQL, StatementSync>>;
type Row = Readonly<Record<string, unknown>>;

export class SqliteDisk implements Disk {
  readonly file: string;
  readonly #database: DatabaseSync;
  readonly #unlock: () => void;
  readonly #logDescriptor: number;
  readonly #checkpoints: Checkpoints;
  readonly #statements: Statements;
  readonly #ids = new WeakMap<ObjectName, number>();

  /** Opens the store, making it if there is none. Throws a `StoreProblem`. */
  static open(options: SqliteDiskOptions): SqliteDisk {
    const { directory } = options;
    let unlock: (() => void) | null = null;
    let database: DatabaseSync | null = null;
    try {
      makeDirectory(directory);
      unlock = lockDirectory(directory);
      makeDatabase(directory);
      checkHeader(directory);
      database = openDatabase(options);
      return new SqliteDisk(options, database, unlock);
    } catch (error) {
      database?.close();
      unlock?.();
      throw problemOf(directory, error);
    }
  }

  private constructor(options: SqliteDiskOptions, database: DatabaseSync, unlock: () => void) {
    const { directory, log, logBytes = LOG_BYTES } = options;
    this.file = databaseFile(directory);
    this.#database = database;
    this.#unlock = unlock;
    this.#statements = prepare(database);
    this.#logDescriptor = openSync(logFile(directory), "r+");
    lengthen(this.#logDescriptor, LENGTHENED * logBytes);
    syncPath(directory);
    const { file } = this;
    this.#checkpoints = new Checkpoints({ file, logDescriptor: this.#logDescriptor, log, logBytes });
  }

  read(object: ObjectName, key: string): HeldValue {
    const id = this.#find(object);
    if (id === null) return undefined;
    const found = this.#statements.read.get(id, keyBytes(key)) as Row | undefined;
    return found && heldFromDisk(found.value as Uint8Array);
  }

  has(object: ObjectName, key: string): boolean {
    const id = this.#find(object);
    return id !== null && this.#statements.has.get(id, keyBytes(key)) !== undefined;
  }

  list(
    object: ObjectName,
    { range, isReverse, limit }: { range: KeyRange; isReverse: boolean; limit: number },
  ): [string, HeldValue][] {
    const id = this.#find(object);
    if (id === null) return [];
    const statement = isReverse ? this.#statements.listReverse : this.#statements.list;
    const rows = statement.all(id, range.from, range.to, limit) as unknown as [Uint8Array, Uint8Array][];
    return rows.map(([key, value]) => [keyText(key), heldFromDisk(value)]);
  }

  alarm(object: ObjectName): number | null {
    const id = this.#find(object);
    return id === null ? null : ((this.#statements.getAlarm.get(id) as Row).alarm_at as number | null);
  }

  alarms(): StoredAlarm[] {
    return (this.#statements.alarms.all() as Row[]).map((row) => ({
      object: { className: row.class as string, name: row.name as string },
      alarmAt: row.alarm_at as number,
    }));
  }

  commit(all: readonly Changes[]): void {
    const made: ObjectName[] = [];
    try {
      this.#statements.begin.run();
      for (const changes of all) this.#write(changes, made);
      this.#statements.commit.run();
    } catch (error) {
      for (const object of made) this.#ids.delete(object);
      // SQLite has rolled back by itself where it had no room.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  sync(done: (failure: Error | null) => void): void {
    fdatasync(this.#logDescriptor, done);
  }

  upkeep(): Promise<void> | null {
    return this.#checkpoints.upkeep();
  }

  async close(): Promise<void> {
    await this.#checkpoints.close();
    // The last connection to close brings the log into the database and removes it.
    this.#database.close();
    closeSync(this.#logDescriptor);
    this.#unlock();
  }

  /** Whether the descriptor that is synced still belongs to the log that SQLite writes. */
  get syncsTheLog(): boolean {
    const ours = fstatSync(this.#logDescriptor);
    const theirs = statSync(`${this.file}-wal`, { throwIfNoEntry: false });
    return theirs !== undefined && ours.ino === theirs.ino && ours.dev === theirs.dev;
  }

  #write({ object, isWiped, values, alarmAt }: Changes, made: ObjectName[]): void {
    const id = this.#find(object) ?? this.#make(object, made);
    const { put, delete: remove, wipe, setAlarm } = this.#statements;
    if (isWiped) wipe.run(id);
    for (const [key, held] of values) {
      if (held === undefined) remove.run(id, keyBytes(key));
      else put.run(id, keyBytes(key), toDisk(held));
    }
    if (alarmAt !== undefined) setAlarm.run(alarmAt, id);
  }

  #find(object: ObjectName): number | null {
    const known = this.#ids.get(object);
    if (known !== undefined) return known;
    const found = this.#statements.findObject.get(object.className, object.name) as Row | undefined;
    if (!found) return null;
    this.#ids.set(object, found.id as number);
    return found.id as number;
  }

  #make(object: ObjectName, made: ObjectName[]): number {
    const row = this.#statements.makeObject.get(object.className, object.name) as Row;
    this.#ids.set(object, row.id as number);
    made.push(object);
    return row.id as number;
  }
}

/** Fills a file with zeros up to this length, as far as there is room, and syncs it. */
function lengthen(descriptor: number, bytes: number): void {
  const { size } = fstatSync(descriptor);
  try {
    if (size < bytes) writeSync(descriptor, Buffer.alloc(bytes - size), 0, bytes - size, size);
  } catch {
    // Without it, writing is only slower.
  }
  fsyncSync(descriptor);
}

function openDatabase({ directory, pagesMax, logBytes = LOG_BYTES }: SqliteDiskOptions): DatabaseSync {
  const file = databaseFile(directory);
  const database = new DatabaseSync(file, { timeout: BUSY_MS_MAX });
  try {
    checkFormat(database, file);
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      PRAGMA wal_autocheckpoint = 0;
      PRAGMA journal_size_limit = ${2 * logBytes};
      PRAGMA cache_size = -${PAGE_CACHE_KIB};
      PRAGMA temp_store = MEMORY;
    `);
    if (sizeOf(file) <= CHECKED_BYTES_MAX) checkPages(database, file);
    if (pagesMax !== undefined) database.exec(`PRAGMA max_page_count = ${pagesMax}`);
    // A first write, so that the log exists and can be opened.
    database.exec(`PRAGMA user_version = ${FORMAT}`);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function checkFormat(database: DatabaseSync, file: string): void {
  const pragma = (name: string) => (database.prepare(`PRAGMA ${name}`).get() as Row)[name] as number;
  if (pragma("application_id") !== APPLICATION_ID) throw damaged(file, "it is not a store of Fairgate's");
  const found = pragma("user_version");
  if (found > FORMAT) throw newer(file, found, FORMAT);
}

function checkPages(database: DatabaseSync, file: string): void {
  const found = (database.prepare("PRAGMA quick_check(1)").get() as Row).quick_check as string;
  if (found !== "ok") throw damaged(file, found.replaceAll("\n", " "));
}

function prepare(database: DatabaseSync): Statements {
  const statements = Object.fromEntries(
    Object.entries(SQL).map(([name, text]) => [name, database.prepare(text)]),
  ) as Record<keyof typeof SQL, StatementSync>;
  // Takes less memory than objects, where there may be a million.
  for (const statement of [statements.list, statements.listReverse]) statement.setReturnArrays(true);
  return statements;
}
