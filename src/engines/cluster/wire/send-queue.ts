/**
 * Batches of messages that wait for one peer, oldest first. When there is no room, the oldest go: a message is news, and
 * whoever missed some asks again.
 *
 * Room is counted in bytes kept, not in bytes sent: a batch costs something even if it says little.
 */
/** What may wait while a connection is slow. */
export const QUEUE_BYTES_MAX = 8 * 1_024 * 1_024;
/** What may wait while there is none: so much, and nothing older. */
export const AWAY_BYTES_MAX = 1_024 * 1_024;
export const AWAY_MS_MAX = 1_000;
/** What keeping a batch costs besides its body. */
const BATCH_BYTES = 256;
/** The front of the list is cleared away in steps of so many. */
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

  /** Messages that were let go, ever. */
  get dropped(): number {
    return this.#dropped;
  }

  push(batch: Batch): void {
    this.#batches.push(batch);
    this.#bytes += batch.body.length + BATCH_BYTES;
    this.#keep(QUEUE_BYTES_MAX);
  }

  /** The oldest, which is taken out. */
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

  /** Lets go of what is not worth keeping while there is no connection. */
  trimAway(now: number): void {
    this.#keep(AWAY_BYTES_MAX);
    while (!this.isEmpty && now - this.#batches[this.#front]!.sentAt > AWAY_MS_MAX) this.#drop();
  }

  /** Counts messages that never came in. */
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
