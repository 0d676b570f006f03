/**
 * What can be wrong with a store, as sentences that say what to do. Answers to the caller's own mistakes (a key too
 * long, a value that cannot be copied) are not here; see `limits.ts`.
 */
import type { STORE_PROBLEMS } from "../core/errors.ts";

export type StoreProblemCode = keyof typeof STORE_PROBLEMS;

/** A store that cannot do what was asked. */
export class StoreProblem extends Error {
  override readonly name = "StoreProblem";
  readonly code: StoreProblemCode;
  /** The file or directory it is about. */
  readonly file: string;

  constructor(code: StoreProblemCode, file: string, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.code = code;
    this.file = file;
  }
}

const START_EMPTY =
  "Stop Fairgate, move the directory away (keep it, to look into later) and start with an empty one: " +
  "visitors who wait are taken back into the line by their tickets.";

export function damaged(file: string, what: string, cause?: unknown): StoreProblem {
  return new StoreProblem("damaged", file, `The store ${file} is damaged: ${what}. ${START_EMPTY}`, cause);
}

export function newer(file: string, found: number, known: number): StoreProblem {
  return new StoreProblem(
    "newer",
    file,
    `The store ${file} has format ${found}, this version knows formats up to ${known}. Run the version of Fairgate that wrote it, or a later one.`,
  );
}

export function locked(directory: string, pid: string | null): StoreProblem {
  const holder = pid === null ? "another process" : `the process ${pid}`;
  return new StoreProblem(
    "locked",
    directory,
    `The directory ${directory} is in use by ${holder}. Stop that one first, or give this one a directory of its own.`,
  );
}

export function broken(file: string, cause: unknown): StoreProblem {
  return new StoreProblem(
    "broken",
    file,
    `The disk did not confirm what was written to ${file} (${textOf(cause)}), so nobody knows what is on it. Look after the disk, then start Fairgate again: it goes on with what is really there.`,
    cause,
  );
}

export function closed(directory: string): StoreProblem {
  return new StoreProblem("closed", directory, `The store ${directory} was closed; open it again to use it.`);
}

export function restarted(parts: { name: string; file: string; cause: unknown }): StoreProblem {
  const { name, file, cause } = parts;
  return new StoreProblem(
    "restarted",
    file,
    `The object "${name}" was started anew: ${textOf(cause)} Get it again from the host, and try again.`,
    cause,
  );
}

const SQLITE_FULL = 13;
const SQLITE_CORRUPT = 11;
const SQLITE_NOTADB = 26;
const SQLITE_BUSY = 5;

/** SQLite's own primary result code, or null when the error is not SQLite's. */
function sqliteCode(error: unknown): number | null {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code & 0xff : null;
}

export const isBusy = (error: unknown): boolean => sqliteCode(error) === SQLITE_BUSY;

/** What an error from SQLite or the file system means for the store. */
export function problemOf(file: string, error: unknown): StoreProblem {
  if (error instanceof StoreProblem) return error;
  const code = sqliteCode(error);
  if (code === SQLITE_CORRUPT || code === SQLITE_NOTADB) return damaged(file, textOf(error), error);
  if (code === SQLITE_FULL || (error as { code?: unknown } | null)?.code === "ENOSPC")
    return new StoreProblem(
      "disk-full",
      file,
      `There is no room left to write to ${file}. Make room on its disk; nothing of the failed write was kept, and writing works again as soon as there is room.`,
      error,
    );
  return new StoreProblem(
    "disk-error",
    file,
    `${file} cannot be read or written: ${textOf(error)}. Look after the disk and the rights of the directory.`,
    error,
  );
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
