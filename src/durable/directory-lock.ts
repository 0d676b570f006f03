/**
 * One process at a time in a directory. The lock is an exclusive transaction on a SQLite file of its own, held as long as the
 * process lives. The system releases it however the process ends, so there is never a stale lock to clean up. The holder's
 * process id is written beside it, only to be shown to a second process.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isBusy, locked } from "./problem.ts";
import { makePrivateFile } from "./store-files.ts";

/** Takes the directory, or throws. The returned function releases it. */
export function lockDirectory(directory: string): () => void {
  const file = join(directory, "lock");
  const pidFile = `${file}.pid`;
  makePrivateFile(file);
  const database = new DatabaseSync(file, { timeout: 0 });
  try {
    database.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    throw isBusy(error) ? locked(directory, readPid(pidFile)) : error;
  }
  writeFileSync(pidFile, `${process.pid}\n`, { mode: 0o600 });
  return () => {
    rmSync(pidFile, { force: true });
    database.close();
  };
}

function readPid(pidFile: string): string | null {
  try {
    return readFileSync(pidFile, "utf8").trim() || null;
  } catch {
    return null;
  }
}
