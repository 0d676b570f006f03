/**
 * An answer that comes faster than its visitor reads. What does not fit into the visitor's connection is kept here, up
 * to a limit, so that the origin can finish and its connection is free while the visitor reads on. Beyond the limit the
 * origin is paused.
 *
 * A visitor who takes too little of what is waiting is cut off. While nothing waits there is nothing to judge: an origin may be
 * silent for as long as its own limits allow.
 *
 * How much one answer may keep depends on what memory is free (Choudhury and Hahne 1998): a client that reads many answers
 * slowly gets less for each, and there is always something left for others.
 */
import type { ServerResponse } from "node:http";
import { type AnyResponse, isHttp2 } from "./any-http.ts";
import { type Pressed, type SlowVisitors, StreamPace, type WatchedFlow } from "./slow-visitors.ts";

/** The share of the free memory that one answer may have. */
const SHARE_OF_FREE = 1 / 8;
/** How much is given to the response at a time. Progress shows only when all of it has been taken. */
const BATCH_BYTES = 65_536;
/** The same for a slow visitor, who needs longer than this for a batch. */
const SLOW_BATCH_BYTES = 16_384;
const SLOW_BATCH_MS = 1_000;

export interface SpoolOptions {
  readonly slow: SlowVisitors;
  /** The origin address whose connection it has; null once the answer has come whole. */
  readonly address: () => Pressed | null;
  /** There is room again for more of the answer. */
  readonly onRoom: () => void;
  /** The visitor takes too little. */
  readonly onTooSlow: () => void;
}

export class Spool implements WatchedFlow {
  readonly #response: AnyResponse;
  readonly #options: SpoolOptions;
  readonly #pace: StreamPace;
  #chunks: Buffer[] = [];
  /** Bytes in `#chunks`. */
  #bytes = 0;
  /** Bytes given to the response so far. */
  #handed: number;
  #handedAt: number;
  /** True while the response has bytes of ours that the visitor has not taken. */
  #isWaiting = true;
  #isFull: boolean;
  #onEmpty: (() => void) | null = null;

  /** For a response that holds bytes which its visitor has not taken. */
  constructor(response: AnyResponse, options: SpoolOptions) {
    const now = options.slow.now();
    this.#response = response;
    this.#options = options;
    this.#pace = new StreamPace(now);
    this.#handed = response.writableLength;
    this.#handedAt = now;
    this.#isFull = this.#room() <= 0;
    response.once("drain", this.#onTaken).once("close", () => this.#close());
    options.slow.watch(this);
  }

  /** True while the origin should send no more. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** What is kept and was not yet given to the response. */
  get keptBytes(): number {
    return this.#bytes;
  }

  push(chunk: Buffer): void {
    this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    this.#options.slow.answers.take(chunk.length);
    if (!this.#isWaiting) this.#hand(BATCH_BYTES);
    this.#isFull = this.#room() <= 0;
  }

  /** There is no more to come. `done` is called when all of it has been given to the response. */
  end(done: () => void): void {
    if (this.#chunks.length === 0) done();
    else this.#onEmpty = done;
  }

  judge(now: number): void {
    const { answerPace: perSecond, paceWindowMs: windowMs } = this.#options.slow.limits;
    const waiting = this.#response.writableLength;
    const taken = this.#handed - waiting;
    // Nothing waits, or it waits behind the answer to an earlier request of the same connection.
    if (waiting === 0 || isBehindAnother(this.#response)) this.#pace.restart(now, taken);
    else if (this.#pace.isTooSlow(now, taken, { windowMs, perSecond, step: waiting })) this.cut();
  }

  holdingUp(address: Pressed, now: number): number {
    if (!this.#isFull || this.#options.address() !== address) return Number.POSITIVE_INFINITY;
    return this.#pace.current(now, this.#handed - this.#response.writableLength);
  }

  cut(): void {
    this.#options.onTooSlow();
  }

  /** What this answer may keep beyond what it keeps already. */
  #room(): number {
    const { limits, answers } = this.#options.slow;
    return Math.min(limits.spooledAnswerBytes, answers.free * SHARE_OF_FREE) - this.#bytes;
  }

  readonly #onTaken = (error?: Error | null): void => {
    if (error) return;
    const tookMs = this.#options.slow.now() - this.#handedAt;
    this.#isWaiting = false;
    if (this.#chunks.length > 0) this.#hand(tookMs > SLOW_BATCH_MS ? SLOW_BATCH_BYTES : BATCH_BYTES);
    if (this.#chunks.length === 0) {
      const done = this.#onEmpty;
      this.#onEmpty = null;
      done?.();
    }
    // Not for every byte of room: at most half of what may be kept is left by then.
    if (!this.#isFull || this.#room() < this.#bytes) return;
    this.#isFull = false;
    this.#options.onRoom();
  };

  /** Gives the response a batch of what is kept, and hears when it has been taken. */
  #hand(batchBytes: number): void {
    this.#isWaiting = true;
    this.#handedAt = this.#options.slow.now();
    // Both protocols' responses take the same; only their types differ.
    const plain = this.#response as ServerResponse;
    let given = 0;
    let at = 0;
    while (given < batchBytes && at < this.#chunks.length) {
      const chunk = this.#chunks[at]!;
      const part = chunk.subarray(0, batchBytes - given);
      if (part.length === chunk.length) at++;
      else this.#chunks[at] = chunk.subarray(part.length);
      given += part.length;
      const isLast = given >= batchBytes || at === this.#chunks.length;
      plain.write(part, isLast ? this.#onTaken : undefined);
    }
    this.#chunks.splice(0, at);
    this.#letGo(given);
    this.#handed += given;
  }

  #letGo(bytes: number): void {
    this.#bytes -= bytes;
    this.#options.slow.answers.give(bytes);
  }

  #close(): void {
    this.#letGo(this.#bytes);
    this.#chunks = [];
    this.#options.slow.release(this);
  }
}

/** HTTP/1 answers requests in turn: one that was asked for early has no connection yet. */
function isBehindAnother(response: AnyResponse): boolean {
  return !isHttp2(response) && response.socket === null;
}
