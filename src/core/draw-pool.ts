/**
 * The visitors gathered for a draw: the id at each sequence. It takes 16 bytes and a bit each in memory, in blocks of 4,096
 * sequences, so that the gap of a million sequences that a crash leaves costs nothing.
 *
 * On disk are chunks of 256 sequences: a bit for each, then the ids that are there. Visitors gather one by one, and writing a
 * whole block of 64 KiB for each group of them would write many times what came in.
 */
import { readHex } from "./hex.ts";
import { ID_BYTES } from "./id.ts";

const BLOCK_SIZE = 4_096;
/** Sequences in one chunk on disk. */
const CHUNK_SIZE = 256;
const CHUNK_SHIFT = 8;
const CHUNKS_PER_BLOCK = BLOCK_SIZE / CHUNK_SIZE;
/** Bytes at the start of a chunk, with a bit for each sequence that is there. */
const PRESENCE_BYTES = CHUNK_SIZE / 8;

export class DrawPool {
  readonly #blocks = new Map<number, Block>();
  readonly #changed = new Set<number>();
  #size = 0;

  /** How many gathered. */
  get size(): number {
    return this.#size;
  }

  has(sequence: number): boolean {
    const block = this.#blocks.get(blockOf(sequence));
    return block !== undefined && isPresent(block, offsetOf(sequence));
  }

  /** Adds a visitor. False, and nothing done, if the sequence is taken. */
  add(sequence: number, id: string): boolean {
    const block = this.#block(blockOf(sequence));
    const offset = offsetOf(sequence);
    if (isPresent(block, offset)) return false;
    if (id.length !== 2 * ID_BYTES || !readHex(id, 0, block.ids, offset * ID_BYTES, ID_BYTES))
      throw new RangeError(`an id is ${2 * ID_BYTES} hexadecimal digits, not "${id}"`);
    this.#mark(block, offset);
    this.#note(block, offset);
    return true;
  }

  /** Removes everybody, once the draw is no longer needed. */
  clear(): void {
    for (const block of this.#blocks.values()) {
      for (let offset = 0; offset < BLOCK_SIZE; offset += CHUNK_SIZE)
        if (isUsed(block, offset)) this.#note(block, offset);
    }
    this.#blocks.clear();
    this.#size = 0;
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /** Chunks that changed since the last call, as bytes; null for an empty one. */
  takeChanges(): Map<number, Uint8Array | null> {
    const changes = new Map<number, Uint8Array | null>();
    for (const chunk of this.#changed) changes.set(chunk, this.#encode(chunk));
    this.#changed.clear();
    return changes;
  }

  /** Restores a chunk that `takeChanges` returned. */
  restore(chunk: number, bytes: Uint8Array): void {
    const number = Math.floor(chunk / CHUNKS_PER_BLOCK);
    const block = this.#block(number);
    const from = (chunk - number * CHUNKS_PER_BLOCK) * CHUNK_SIZE;
    let at = PRESENCE_BYTES;
    for (let i = 0; i < CHUNK_SIZE; i++) {
      if ((bytes[i >> 3]! & (1 << (i & 7))) === 0) continue;
      block.ids.set(bytes.subarray(at, at + ID_BYTES), (from + i) * ID_BYTES);
      at += ID_BYTES;
      if (!isPresent(block, from + i)) this.#mark(block, from + i);
    }
    if (at !== bytes.length) throw new Error(`chunk ${chunk} of a draw has ${bytes.length} bytes, not ${at}`);
  }

  /** Visits runs of consecutive sequences in rising order, with their ids, 16 bytes each, valid during the visit. */
  forEachRun(visit: (sequence: number, length: number, ids: Uint8Array) => void): void {
    const blocks = [...this.#blocks.values()].sort((a, b) => a.number - b.number);
    for (const block of blocks) {
      for (let from = 0; from < BLOCK_SIZE; from++) {
        if (!isPresent(block, from)) continue;
        let to = from + 1;
        while (to < BLOCK_SIZE && isPresent(block, to)) to++;
        visit(
          block.number * BLOCK_SIZE + from,
          to - from,
          block.ids.subarray(from * ID_BYTES, to * ID_BYTES),
        );
        from = to;
      }
    }
  }

  #mark(block: Block, offset: number): void {
    block.present[offset >> 3]! |= 1 << (offset & 7);
    this.#size++;
  }

  #note(block: Block, offset: number): void {
    this.#changed.add(block.number * CHUNKS_PER_BLOCK + (offset >> CHUNK_SHIFT));
  }

  #encode(chunk: number): Uint8Array | null {
    const number = Math.floor(chunk / CHUNKS_PER_BLOCK);
    const block = this.#blocks.get(number);
    const from = (chunk - number * CHUNKS_PER_BLOCK) * CHUNK_SIZE;
    if (!block || !isUsed(block, from)) return null;
    const bytes = new Uint8Array(PRESENCE_BYTES + CHUNK_SIZE * ID_BYTES);
    bytes.set(block.present.subarray(from >> 3, (from + CHUNK_SIZE) >> 3));
    let at = PRESENCE_BYTES;
    for (let offset = from; offset < from + CHUNK_SIZE; offset++) {
      if (!isPresent(block, offset)) continue;
      bytes.set(block.ids.subarray(offset * ID_BYTES, (offset + 1) * ID_BYTES), at);
      at += ID_BYTES;
    }
    return bytes.slice(0, at);
  }

  #block(number: number): Block {
    let block = this.#blocks.get(number);
    if (!block) {
      block = {
        number,
        ids: new Uint8Array(BLOCK_SIZE * ID_BYTES),
        present: new Uint8Array(BLOCK_SIZE / 8),
      };
      this.#blocks.set(number, block);
    }
    return block;
  }
}

interface Block {
  readonly number: number;
  readonly ids: Uint8Array;
  /** A bit for each sequence. */
  readonly present: Uint8Array;
}

function blockOf(sequence: number): number {
  return Math.floor(sequence / BLOCK_SIZE);
}

/** Not by `%`, which is a slow call for numbers beyond 32 bits. */
function offsetOf(sequence: number): number {
  return sequence - blockOf(sequence) * BLOCK_SIZE;
}

function isPresent(block: Block, offset: number): boolean {
  return (block.present[offset >> 3]! & (1 << (offset & 7))) !== 0;
}

/** True unless the chunk that begins at `offset` is empty. */
function isUsed(block: Block, offset: number): boolean {
  return block.present.subarray(offset >> 3, (offset + CHUNK_SIZE) >> 3).some((byte) => byte !== 0);
}
