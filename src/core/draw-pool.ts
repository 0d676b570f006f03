/**
 * Who gathered for a draw: the id at each sequence. In memory 16 bytes and a bit each, in blocks of 4,096
 * sequences, so that the gap of a million sequences that a crash leaves costs nothing.
 *
 * What is kept on disk are pieces of 256 sequences, which of them are there and then their ids alone: people
 * gather one by one, and writing a whole block of 64 KiB for each group of them would cost the disk many
 * times what came in.
 */

import { readHex } from "./hex.ts";
import { ID_BYTES } from "./id.ts";

const BLOCK_SIZE = 4_096;
/** Sequences in one piece of what is kept on disk. */
const PIECE_SIZE = 256;
const PIECE_SHIFT = 8;
const PIECES_PER_BLOCK = BLOCK_SIZE / PIECE_SIZE;
/** The bytes at a piece's beginning that say which sequences are there, a bit each. */
const PRESENCE_BYTES = PIECE_SIZE / 8;

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

  /** Takes someone in. False, and nothing done, where somebody has that sequence already. */
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

  /** Takes everybody out, once nobody will ask about the draw again. */
  clear(): void {
    for (const block of this.#blocks.values()) {
      for (let offset = 0; offset < BLOCK_SIZE; offset += PIECE_SIZE)
        if (hasAnybody(block, offset)) this.#note(block, offset);
    }
    this.#blocks.clear();
    this.#size = 0;
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /** Pieces that changed since this was last asked, as bytes; null for one with nobody left in it. */
  takeChanges(): Map<number, Uint8Array | null> {
    const changes = new Map<number, Uint8Array | null>();
    for (const piece of this.#changed) changes.set(piece, this.#encode(piece));
    this.#changed.clear();
    return changes;
  }

  /** Takes a piece in again as `takeChanges` gave it. */
  restore(piece: number, bytes: Uint8Array): void {
    const number = Math.floor(piece / PIECES_PER_BLOCK);
    const block = this.#block(number);
    const from = (piece - number * PIECES_PER_BLOCK) * PIECE_SIZE;
    let at = PRESENCE_BYTES;
    for (let i = 0; i < PIECE_SIZE; i++) {
      if ((bytes[i >> 3]! & (1 << (i & 7))) === 0) continue;
      block.ids.set(bytes.subarray(at, at + ID_BYTES), (from + i) * ID_BYTES);
      at += ID_BYTES;
      if (!isPresent(block, from + i)) this.#mark(block, from + i);
    }
    if (at !== bytes.length) throw new Error(`piece ${piece} of a draw has ${bytes.length} bytes, not ${at}`);
  }

  /**
   * Runs of sequences without a gap, in rising order: the first, how many, and their ids, 16 bytes each,
   * which are good for as long as the visit lasts.
   */
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
    this.#changed.add(block.number * PIECES_PER_BLOCK + (offset >> PIECE_SHIFT));
  }

  #encode(piece: number): Uint8Array | null {
    const number = Math.floor(piece / PIECES_PER_BLOCK);
    const block = this.#blocks.get(number);
    const from = (piece - number * PIECES_PER_BLOCK) * PIECE_SIZE;
    if (!block || !hasAnybody(block, from)) return null;
    const bytes = new Uint8Array(PRESENCE_BYTES + PIECE_SIZE * ID_BYTES);
    bytes.set(block.present.subarray(from >> 3, (from + PIECE_SIZE) >> 3));
    let at = PRESENCE_BYTES;
    for (let offset = from; offset < from + PIECE_SIZE; offset++) {
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

/** Not by `%`: for numbers beyond 32 bits that is a call, and a slow one. */
function offsetOf(sequence: number): number {
  return sequence - blockOf(sequence) * BLOCK_SIZE;
}

function isPresent(block: Block, offset: number): boolean {
  return (block.present[offset >> 3]! & (1 << (offset & 7))) !== 0;
}

/** Whether anybody is in the piece that begins at `offset`. */
function hasAnybody(block: Block, offset: number): boolean {
  return block.present.subarray(offset >> 3, (offset + PIECE_SIZE) >> 3).some((byte) => byte !== 0);
}
