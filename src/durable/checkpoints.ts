/**
 * Brings SQLite's log into the database before it grows without end, on a thread of its own.
 *
 *   resting ──log is long──▶ copying ──▶ waiting for a pause ──next upkeep──▶ finishing ──▶ resting
 *            (commits go on meanwhile)                     (nothing is committed meanwhile)
 *
 * SQLite starts its log from the beginning again only when all of it has been copied, which never happens while commits
 * keep coming. So the bulk is copied beside them, and the little that came since in a pause of a few milliseconds, in
 * which the next group gathers. If commits outrun the copying altogether, they wait for it. In the same pause, pages that
 * deleted data left behind are given back.
 */
import { readSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { Log } from "../core/world.ts";
import { PAGE_BYTES } from "./store-files.ts";

export const LOG_BYTES = 4 * 2 ** 20;
/** When the log is this many times its length, commits wait until it has been copied. */
const LENGTHS_MAX = 8;
/** The number of groups between two looks at the log, and after a failed checkpoint (a full disk). */
const GROUPS_BETWEEN_LOOKS = 8;
const GROUPS_BETWEEN_TRIES = 256;

/** The layout of the log, from SQLite's file format: a header, then frames of a header and a page each. */
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const SALT_AT_IN_LOG = 16;
const SALT_AT_IN_FRAME = 8;
const SALT_BYTES = 8;

export type UpkeepStep = "copy" | "finish";
/** What went wrong; null for nothing. */
export type UpkeepAnswer = string | null;
export type UpkeepLog = Pick<Log, "warn">;

interface CheckpointOptions {
  readonly file: string;
  readonly logDescriptor: number;
  readonly log: UpkeepLog;
  readonly logBytes: number;
}

export class Checkpoints {
  readonly #options: CheckpointOptions;
  /** Offsets of frames that exist only in a long log, and only in an overlong one. */
  readonly #longAt: number;
  readonly #overlongAt: number;
  readonly #logSalt = Buffer.alloc(SALT_BYTES);
  readonly #frameSalt = Buffer.alloc(SALT_BYTES);
  #phase: "resting" | "copying" | "paused" | "closed" = "resting";
  #copying: Promise<void> | null = null;
  #groupsToSkip = 0;
  #worker: Worker | null = null;
  #settle: ((answer: UpkeepAnswer) => void) | null = null;

  constructor(options: CheckpointOptions) {
    this.#options = options;
    this.#longAt = frameAt(options.logBytes);
    this.#overlongAt = frameAt(options.logBytes * LENGTHS_MAX);
  }

  /** Called between groups. Nothing may be committed until the returned promise settles. */
  upkeep(): Promise<void> | null {
    if (this.#phase === "paused") return this.#finish();
    if (this.#groupsToSkip-- > 0) return null;
    this.#groupsToSkip = GROUPS_BETWEEN_LOOKS;
    if (this.#phase === "copying") return this.#reaches(this.#overlongAt) ? this.#copying : null;
    if (this.#phase === "resting" && this.#reaches(this.#longAt)) this.#copying = this.#copy();
    return null;
  }

  async close(): Promise<void> {
    this.#phase = "closed";
    this.#settle?.("the store was closed");
    const worker = this.#worker;
    this.#worker = null;
    await worker?.terminate();
  }

  async #copy(): Promise<void> {
    this.#phase = "copying";
    const failure = await this.#ask("copy");
    if (failure === null) this.#become("paused");
    else this.#rest(failure);
  }

  async #finish(): Promise<void> {
    this.#rest(await this.#ask("finish"));
  }

  #rest(failure: string | null): void {
    if (!this.#become("resting") || failure === null) return;
    this.#groupsToSkip = GROUPS_BETWEEN_TRIES;
    const { file, log } = this.#options;
    log.warn(
      { file, failure },
      "The store's log could not be brought into its database; it grows until that works.",
    );
  }

  /** After closing, nothing is started any more. */
  #become(phase: "resting" | "paused"): boolean {
    if (this.#phase === "closed") return false;
    this.#phase = phase;
    return true;
  }

  /**
   * Whether the log has a frame there. Its file says nothing, since it is written over from the start; but a frame
   * that belongs to the log as it is now carries the salt that stands in the log's header.
   */
  #reaches(at: number): boolean {
    const { logDescriptor } = this.#options;
    const length = readSync(logDescriptor, this.#frameSalt, 0, SALT_BYTES, at + SALT_AT_IN_FRAME);
    if (length < SALT_BYTES) return false;
    readSync(logDescriptor, this.#logSalt, 0, SALT_BYTES, SALT_AT_IN_LOG);
    return this.#logSalt.equals(this.#frameSalt);
  }

  #ask(step: UpkeepStep): Promise<UpkeepAnswer> {
    return new Promise((resolve) => {
      this.#settle = (answer) => {
        this.#settle = null;
        this.#worker?.unref();
        resolve(answer);
      };
      this.#worker ??= this.#start();
      // The thread keeps the process alive for a checkpoint that somebody awaits, and for nothing else.
      this.#worker.ref();
      this.#worker.postMessage(step);
    });
  }

  #start(): Worker {
    // This file ends in .ts in the source and in .js in the built package, and so does the thread's.
    const ending = import.meta.url.endsWith(".ts") ? "ts" : "js";
    const worker = new Worker(new URL(`./checkpoint-thread.${ending}`, import.meta.url), {
      workerData: { file: this.#options.file },
    });
    worker.on("message", (answer: UpkeepAnswer) => this.#settle?.(answer));
    const lose = (failure: string) => {
      if (this.#worker === worker) this.#worker = null;
      this.#settle?.(failure);
    };
    worker.on("error", (error) => lose(String(error)));
    worker.on("exit", () => lose("its thread ended"));
    return worker;
  }
}

function frameAt(bytes: number): number {
  const frames = Math.ceil(bytes / (FRAME_HEADER_BYTES + PAGE_BYTES));
  return LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + PAGE_BYTES);
}
