/**
 * Batches of messages that wait for one peer, oldest first. When there is no room, the oldest are dropped: nodes ask again for
 * what they missed.
 *
 * Room is counted in bytes of memory, not of payload: each batch has a cost of its own.
 */
/** The limit while a connection is slow. */
export const QUEUE_BYTES_MAX = 8 * 1_024 * 1_024;
/** The limits without a connection: this much, and nothing older. */
export const AWAY_BYTES_MAX = 1_024 * 1_024;
export const AWAY_MS_MAX = 1_000;
const BATCH_BYTES = 256;
const CLEAR_EVERY = 1_024;

export interface Batch {
  readonly body: Buffer;
  readonly messages: number;
  readonly sentAt: number;
}

export class SendQueue {
  #batches: Batch[] = [];
  #front = 0;
  #bytes = 0;
  #dropped = 0;

  get bytes(): number {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#front === this.#batches.length;
  }

  get dropped(): number {
    return this.#dropped;
  }

  push(batch: Batch): void {
    this.#batches.push(batch);
    this.#bytes += batch.body.length + BATCH_BYTES;
    this.#keep(QUEUE_BYTES_MAX);
  }

  shift(): Batch | undefined {
    const batch = this.#batches[this.#front];
    if (!batch) return undefined;
    this.#bytes -= batch.body.length + BATCH_BYTES;
    this.#front++;
    if (this.#front >= CLEAR_EVERY) {
      this.#batches = this.#batches.slice(this.#front);
      this.#front = 0;
    }
    return batch;
  }

  /** Drops what is not worth keeping without a connection. */
  trimAway(now: number): void {
    this.#keep(AWAY_BYTES_MAX);
    while (!this.isEmpty && now - this.#batches[this.#front]!.sentAt > AWAY_MS_MAX) this.#drop();
  }

  /** Counts messages that were never queued. */
  refuse(messages: number): void {
    this.#dropped += messages;
  }

  #keep(bytesMax: number): void {
    while (this.#bytes > bytesMax) this.#drop();
  }

  #drop(): void {
    this.#dropped += this.shift()?.messages ?? 0;
  }
}
