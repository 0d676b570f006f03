/**
 * One process at a time in a directory. The lock is an exclusive transaction on a SQLite file of its own, held as long as the
 * process lives. The system releases it however the process ends, so there is never a stale lock to clean up. The holder's
 * process id is written beside it, only to be shown to a second process.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { readPrivate, replacePrivate } from "./private-file.ts";
import { isBusy, locked } from "./problem.ts";
import { makePrivateFile } from "./store-files.ts";

const PID_FILE = "lock.pid";

/** Takes the directory, or throws. The returned function releases it. */
export function lockDirectory(directory: string): () => void {
  const file = join(directory, "lock");
  const pidFile = join(directory, PID_FILE);
  makePrivateFile(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw isBusy(error) ? locked(directory, holderOf(directory)) : error;
  }
  replacePrivate(pidFile, String(process.pid));
  return () => {
    rmSync(pidFile, { force: true });
    database.close();
  };
}

/** The process id that the holder of a directory wrote down; null where that cannot be read. */
export function holderOf(directory: string): string | null {
  try {
    return /^\d{1,10}$/.exec(readPrivate(join(directory, PID_FILE))?.text ?? "")?.[0] ?? null;
  } catch {
    return null;
  }
}
