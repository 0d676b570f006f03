/** `node:worker_threads` for modules of the single executable that start a thread: its program is in the executable. */
import { getAsset } from "node:sea";
import * as threads from "node:worker_threads";

export * from "node:worker_threads";

export class Worker extends threads.Worker {
  constructor(program: URL, options: threads.WorkerOptions) {
    super(getAsset(program.pathname.slice(1), "utf8"), { ...options, eval: true });
  }
}
