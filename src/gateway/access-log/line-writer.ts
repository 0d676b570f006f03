/**
 * Writes lines to a file or to standard output in batches, without making a request wait. A batch goes out when it is full, or
 * after a moment, one write at a time.
 *
 *   add ──▶ gathering ──▶ batches ──▶ output          256 KB, or 200 ms after the first line
 *                            │           │ fails: opened again by its name, every few seconds
 *                            └ full: lines are dropped, and counted in the log
 *
 * A disk that is full or slow, or standard output that nobody reads, loses lines. It never delays a visitor, and never takes
 * more memory than `BUFFERED_BYTES_MAX`.
 *
 * Rotation: the file is reopened by its name, and replaces the old one between two writes. No line is lost by that or split
 * between two files.
 */
import { LOG_EVERY_MS } from "../../core/log-pace.ts";
import type { World } from "../../core/world.ts";
import { PacedLog } from "../paced-log.ts";
import { LINE_BYTES_MAX, LineBuffer } from "./line-buffer.ts";

/** Bytes in a batch: handing one to another thread takes 0.1 ms, whatever its size. Lines are far shorter. */
export const BATCH_BYTES = 256 * 1_024;
/** How long a line waits for others. */
export const GATHER_MS = 200;
/** The most bytes that wait to be written. */
export const BUFFERED_BYTES_MAX = 8 * 1_024 * 1_024;
/** After a failure. */
export const RETRY_AFTER_MS = 5_000;
/** How long closing waits for an output that takes nothing. */
export const CLOSE_WITHIN_MS = 1_000;

const LINE_FEED = 0x0a;

/** An open file or stream. */
export interface Output {
  /** The same for the same file, by whichever name it was opened. */
  readonly identity: string;
  /** Writes the bytes, or the first of them, then reports how many were written and the error. One call at a time. */
  write(bytes: Buffer, done: (error: Error | null, written: number) => void): void;
  /** The same without waiting, for a process that is about to end. May throw. */
  writeNow(bytes: Buffer): void;
  close(): void;
}

/** Where lines go; it can be opened again. */
export interface Destination {
  /** For the log. */
  readonly name: string;
  /** True when the process's own log goes there too: a failure can then not be logged. */
  readonly hasOwnLog: boolean;
  open(): Promise<Output>;
}

/** Lines on their way out. */
interface Batch {
  readonly buffer: LineBuffer;
  /** What is still to be written: whole lines, except the first if a write ended in the middle of it. */
  rest: Buffer;
}

/** Writes one line with its line feed, of at most `LINE_BYTES_MAX`. */
type WriteLine<Line> = (line: Line, to: LineBuffer) => void;

export interface LineWriterOptions<Line> {
  readonly destination: Destination;
  readonly writeLine: WriteLine<Line>;
  readonly world: Pick<World, "clock" | "timers" | "log">;
}

export class LineWriter<Line> {
  readonly #destination: Destination;
  readonly #writeLine: WriteLine<Line>;
  readonly #world: Pick<World, "clock" | "timers" | "log">;
  readonly #problems: PacedLog;
  #output: Output;
  /** Takes over after the write under way. */
  #next: Output | null = null;
  #gathering = new LineBuffer(BATCH_BYTES);
  readonly #batches: Batch[] = [];
  /** A written batch, reused for the next lines. */
  #spare: LineBuffer | null = null;
  #batchedBytes = 0;
  #isFirstTorn = false;
  #isWriting = false;
  #isFailing = false;
  #isGatherTimed = false;
  #isClosed = false;
  #stopRetry: (() => void) | null = null;
  #onIdle: (() => void) | null = null;
  #dropped = 0;
  #nextTellAt = Number.NEGATIVE_INFINITY;

  /** Opens the destination. Rejects when it cannot be opened. */
  static async open<Line>(options: LineWriterOptions<Line>): Promise<LineWriter<Line>> {
    return new LineWriter(options, await options.destination.open());
  }

  private constructor({ destination, writeLine, world }: LineWriterOptions<Line>, output: Output) {
    this.#destination = destination;
    this.#writeLine = writeLine;
    this.#world = world;
    this.#output = output;
    this.#problems = new PacedLog(world);
  }

  add(line: Line): void {
    if (this.#bufferedBytes + LINE_BYTES_MAX > BUFFERED_BYTES_MAX) {
      this.#drop();
      return;
    }
    if (!this.#gathering.hasRoom) this.#write();
    this.#writeLine(line, this.#gathering);
    if (this.#isGatherTimed) return;
    this.#isGatherTimed = true;
    this.#world.timers.after(GATHER_MS, this.#onGathered);
  }

  /** Reopens the file by its name after it was moved away. While that fails, the old file is used. */
  reopen(): void {
    this.#stopRetry?.();
    this.#destination.open().then(
      (output) => this.#turnTo(output),
      (error: Error) => this.#retry(error, "the access log cannot be opened again"),
    );
  }

  /** Writes as much as can be written at once, for a process that is about to end. */
  writeNow(): void {
    this.#seal();
    // The operating system finishes the write under way.
    const batches = this.#batches.splice(this.#isWriting ? 1 : 0);
    try {
      for (const { rest } of batches) this.#output.writeNow(rest);
    } catch {
      // Nothing can be retried or logged any more.
    }
  }

  /** Writes everything, and closes. Waits only a moment for an output that takes nothing. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopRetry?.();
    this.#isFailing = false;
    this.#write();
    if (this.#isWriting) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        this.#world.timers.after(CLOSE_WITHIN_MS, resolve);
      });
    }
    this.#nextTellAt = Number.NEGATIVE_INFINITY;
    this.#tellDropped();
    const bytes = this.#bufferedBytes;
    if (bytes > 0) this.#tell({ bytes }, "the access log ended before all of it was written");
    this.#next?.close();
    this.#output.close();
  }

  get #bufferedBytes(): number {
    return this.#batchedBytes + this.#gathering.length;
  }

  readonly #onGathered = (): void => {
    this.#isGatherTimed = false;
    this.#write();
  };

  /** Makes a batch of what was gathered. */
  #seal(): void {
    const buffer = this.#gathering;
    if (buffer.length === 0) return;
    this.#batches.push({ buffer, rest: buffer.written });
    this.#batchedBytes += buffer.length;
    this.#gathering = this.#spare ?? new LineBuffer(BATCH_BYTES);
    this.#gathering.clear();
    this.#spare = null;
  }

  #write(): void {
    this.#seal();
    const batch = this.#batches[0];
    if (this.#isWriting || this.#isFailing || batch === undefined) return;
    this.#isWriting = true;
    this.#output.write(batch.rest, this.#onWritten);
  }

  readonly #onWritten = (error: Error | null, written: number): void => {
    this.#isWriting = false;
    this.#takeOff(written);
    if (this.#next) this.#takeOver(this.#next);
    else if (error) {
      this.#isFailing = true;
      this.#retry(error, "the access log cannot be written");
    } else {
      this.#tellDropped();
      // Lines that are still being gathered go out later.
      if (this.#batches.length > 0 || this.#isClosed) this.#write();
    }
    if (!this.#isWriting) this.#onIdle?.();
  };

  /** This many bytes of the first batch are written. */
  #takeOff(written: number): void {
    const [batch] = this.#batches as [Batch];
    const { rest } = batch;
    this.#batchedBytes -= written;
    if (written > 0) this.#isFirstTorn = rest[written - 1] !== LINE_FEED;
    batch.rest = rest.subarray(written);
    if (batch.rest.length === 0) this.#spare = this.#batches.shift()!.buffer;
  }

  #turnTo(output: Output): void {
    if (this.#isClosed) output.close();
    else if (this.#isWriting) {
      this.#next?.close();
      this.#next = output;
    } else this.#takeOver(output);
  }

  #takeOver(output: Output): void {
    const former = this.#output;
    this.#next = null;
    this.#output = output;
    this.#isFailing = false;
    former.close();
    // A line whose beginning went to the former file is dropped, not continued in the new one.
    if (this.#isFirstTorn && former.identity !== output.identity) this.#dropTorn();
    this.#write();
  }

  #dropTorn(): void {
    this.#takeOff(this.#batches[0]!.rest.indexOf(LINE_FEED) + 1);
    this.#drop();
  }

  #retry(cause: Error, message: string): void {
    const { name, hasOwnLog } = this.#destination;
    const { code, message: error } = cause as NodeJS.ErrnoException;
    const fields = { code: "ACCESS_LOG", to: name, cause: code, error };
    if (!hasOwnLog) this.#problems.add({ level: "error", about: "", fields, message });
    this.#stopRetry?.();
    if (!this.#isClosed) this.#stopRetry = this.#world.timers.after(RETRY_AFTER_MS, () => this.reopen());
  }

  #drop(): void {
    this.#dropped++;
    if (!this.#destination.hasOwnLog) this.#tellDropped();
  }

  /** Logs how many lines were dropped, at most once a second. */
  #tellDropped(): void {
    const now = this.#world.clock.now();
    if (this.#dropped === 0 || now < this.#nextTellAt) return;
    this.#nextTellAt = now + LOG_EVERY_MS;
    const message = "lines of the access log were dropped: they are not taken as fast as they come";
    this.#tell({ lines: this.#dropped }, message);
    this.#dropped = 0;
  }

  #tell(fields: object, message: string): void {
    this.#world.log.warn({ code: "ACCESS_LOG", to: this.#destination.name, ...fields }, message);
  }
}
