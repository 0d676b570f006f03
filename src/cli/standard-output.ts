/**
 * Standard output for the log of a process that serves visitors: lines go to the one stream that Node has for it, which
 * waits for no reader. The access log may go there as well (`access-outputs.ts`), and since both write whole lines to one
 * stream, neither writes into a line of the other. pino by itself writes beside that stream, keeps whatever nobody reads,
 * and at the end of the process waits for the reader without end.
 *
 * What would move the cursor of a terminal is escaped. Lines that nobody takes are kept up to a limit, then dropped and counted.
 */
import type { Writable } from "node:stream";
import { plainJson } from "./json-text.ts";

/** What may wait for a reader. */
export const BACKLOG_BYTES_MAX = 4 * 1_024 * 1_024;
/** How long the end of a process waits for its reader. */
const DRAIN_WITHIN_MS = 1_000;
/** The number that pino has for it. */
const WARN = 40;

export class StandardOutput {
  readonly #stream: Writable;
  #dropped = 0;

  constructor(stream: Writable = process.stdout) {
    this.#stream = stream;
    // The reader has gone. That is no reason to stop.
    stream.on("error", () => {});
  }

  /** Takes one line, as pino writes it. */
  write(said: string): void {
    const line = plainJson(said);
    if (this.#stream.writableLength + line.length > BACKLOG_BYTES_MAX) {
      this.#dropped++;
      return;
    }
    if (this.#dropped > 0) this.#stream.write(this.#droppedLine());
    this.#stream.write(line);
  }

  /** Resolves when everything is written, or after a moment. */
  drained(): Promise<void> {
    return new Promise((resolve) => {
      this.#stream.write("", () => resolve());
      setTimeout(resolve, DRAIN_WITHIN_MS).unref();
    });
  }

  #droppedLine(): string {
    const msg = "lines of this log were dropped while nobody read it";
    const line = { level: WARN, time: Date.now(), code: "LOG_DROPPED", lines: this.#dropped, msg };
    this.#dropped = 0;
    return `${JSON.stringify(line)}\n`;
  }
}
