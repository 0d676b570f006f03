/**
 * The files of a store and what they must look like before SQLite is let near them.
 *
 *   objects.db       the database; made under another name and moved here whole, so it is never half there
 *   objects.db-wal   SQLite's log of what is not in the database yet
 *   objects.db-shm   SQLite's index of that log; made anew at will
 *   lock, lock.pid   see directory-lock.ts
 *
 * A process must never open and close objects.db or lock beside SQLite: closing any descriptor of a file gives up all
 * of the process's POSIX locks on it. The log has no locks, so `SqliteDisk` may have a descriptor of its own there.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { damaged } from "./problem.ts";

export const FORMAT = 1;
/** "FGd1": the mark in the file that it is ours. */
export const APPLICATION_ID = 0x46476431;
export const PAGE_BYTES = 4_096;
const DIRECTORY_MODE = 0o700;
const FILE_MODE = 0o600;
const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";
/** Where the header has the number of pages in the database. */
const PAGE_COUNT_AT = 28;

export const databaseFile = (directory: string): string => join(directory, "objects.db");
export const logFile = (directory: string): string => `${databaseFile(directory)}-wal`;

const SCHEMA = `
  PRAGMA page_size = ${PAGE_BYTES};
  PRAGMA auto_vacuum = INCREMENTAL;
  PRAGMA journal_mode = WAL;
  BEGIN;
  CREATE TABLE objects (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,
    name TEXT NOT NULL,
    alarm_at REAL,
    UNIQUE (class, name)
  ) STRICT;
  CREATE INDEX alarms ON objects (alarm_at) WHERE alarm_at IS NOT NULL;
  CREATE TABLE entries (
    object INTEGER NOT NULL,
    key BLOB NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (object, key)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${FORMAT};
  COMMIT;
`;

export function makeDirectory(directory: string): void {
  const made = mkdirSync(directory, { recursive: true, mode: DIRECTORY_MODE });
  if (made !== undefined) syncPath(dirname(made));
}

/** Creates the file, readable for its owner only, if it is missing: SQLite gives its other files the same permissions. */
export function makePrivateFile(file: string): void {
  if (existsSync(file)) return;
  closeSync(openSync(file, "a", FILE_MODE));
}

/** Creates an empty database if there is none. */
export function makeDatabase(directory: string): void {
  const file = databaseFile(directory);
  if (existsSync(file)) return;
  if (sizeOf(logFile(directory)) > 0)
    throw damaged(directory, "the log objects.db-wal is there, but the database objects.db is gone");
  const unfinished = `${file}.new`;
  for (const ending of ["", "-wal", "-shm", "-journal"]) rmSync(unfinished + ending, { force: true });
  makePrivateFile(unfinished);
  const database = new DatabaseSync(unfinished);
  database.exec(SCHEMA);
  database.close();
  syncPath(unfinished);
  renameSync(unfinished, file);
  syncPath(directory);
}

/** Throws when the file cannot be a database. A log that ends in the middle is no damage: SQLite drops its last part. */
export function checkHeader(directory: string): void {
  const file = databaseFile(directory);
  const header = Buffer.alloc(HEADER_BYTES);
  const descriptor = openSync(file, "r");
  const length = readSync(descriptor, header, 0, HEADER_BYTES, 0);
  closeSync(descriptor);
  if (length < HEADER_BYTES) throw damaged(file, `it was cut off after ${length} bytes`);
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC)
    throw damaged(file, "it does not begin as a SQLite database does");
  const bytes = header.readUInt32BE(PAGE_COUNT_AT) * PAGE_BYTES;
  // While there is a log, a checkpoint may have stopped half-way; the log still has the rest.
  if (sizeOf(file) < bytes && sizeOf(logFile(directory)) === 0)
    throw damaged(file, `it should have ${bytes} bytes and has ${sizeOf(file)}`);
}

export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/** Syncs a file's or directory's own entries, so that they survive the machine. */
export function syncPath(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
