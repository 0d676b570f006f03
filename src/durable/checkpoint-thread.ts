/**
 * The checkpoint thread. At "copy" it copies the log into the database while the writer goes on; at "finish", while nobody
 * writes, it also frees unused pages. See checkpoints.ts.
 */
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import type { UpkeepAnswer, UpkeepStep } from "./checkpoints.ts";

/** Free pages released in one pause: 8 MiB, about ten milliseconds. */
const PAGES_GIVEN_BACK_MAX = 2_048;
const WAIT_MS_MAX = 1_000;

const database = new DatabaseSync((workerData as { file: string }).file, { timeout: WAIT_MS_MAX });
database.exec("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 0");

const checkpoint = () => database.prepare("PRAGMA wal_checkpoint(PASSIVE)").get();

function run(step: UpkeepStep): UpkeepAnswer {
  try {
    if (step === "finish") database.exec(`PRAGMA incremental_vacuum(${PAGES_GIVEN_BACK_MAX})`);
    checkpoint();
    return null;
  } catch (error) {
    return String(error);
  }
}

parentPort!.on("message", (step: UpkeepStep) => parentPort!.postMessage(run(step)));
