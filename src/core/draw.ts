/**
 * The provable draw. Everybody who gathered before an event has the same chance of any place, and anyone can
 * check afterwards that it was so:
 *
 *   before the prequeue opens    a seed of 32 random bytes is fixed and its SHA-256 published
 *   while people gather          each gets a ticket with an id of 16 random bytes
 *   at the start                 the seed is revealed; a ticket's key is SHA-256(seed bytes, id bytes), and
 *                                places are the keys in rising order
 *
 * So nobody who learned an id while the seed was secret could tell which place it would get, and the operator who fixed the
 * seed could not know the ids to come. The published hash reveals no key: a key is the hash of one block with seed and id,
 * which cannot be computed by extending the hash of the seed alone.
 *
 * The gathered visitors already have sequences in the line and share them out: place r gets the r-th smallest. Visitors who
 * came earlier stay in front of the draw, latecomers behind it.
 *
 * Pool and seed alone decide the result, so after a crash the same draw is made again from them.
 *
 * What it does not prove: that nobody who knew the seed tried ids until one was good, or added visitors who never came. The
 * holder of the seed has to be trusted not to.
 */
import type { DrawPool } from "./draw-pool.ts";
import { fromHex, readHex, toHex } from "./hex.ts";
import { ID_BYTES } from "./id.ts";
import { lowerBound } from "./order.ts";
import { SeededHash, sha256 } from "./sha256.ts";

/** A draw as anyone may have it: the commitment first, the seed and everyone's id once it is drawn. */
export interface DrawRecord {
  readonly event: string;
  /** SHA-256 of the seed's bytes, in hexadecimal; published before the first place is given. */
  readonly seedHash: string;
  /** 32 bytes in hexadecimal. Null until it is drawn. */
  readonly seed: string | null;
  readonly startAt: number;
  readonly drawnAt: number | null;
  /** How many gathered. */
  readonly size: number;
  /** 16 bytes each, in the drawn order. Null until it is drawn. */
  readonly ids: Uint8Array | null;
}

/** What is published of a seed beforehand. */
export function seedHash(seed: string): string {
  return toHex(sha256(seedBytes(seed)));
}

/** Who gathered, as a draw asks for them. */
export type Gathered = Pick<DrawPool, "size" | "forEachRun">;

/** Draws: gives everyone in the pool their place. */
export function drawOrder(pool: Gathered, seed: string): Drawn {
  const sequences = new Sequences();
  const gathered = new Uint8Array(pool.size * ID_BYTES);
  pool.forEachRun((sequence, length, ids) => {
    gathered.set(ids, sequences.size * ID_BYTES);
    sequences.addRun(sequence, length);
  });
  const hash = keyHash(seed);
  const prefixes = new Uint32Array(pool.size);
  for (let i = 0; i < prefixes.length; i++) {
    hash.hash(gathered, i * ID_BYTES);
    prefixes[i] = hash.words[0]!;
  }
  const order = sortedOrder(prefixes);
  const sorted = order.map((index) => prefixes[index]!);
  settleTies(order, sorted, gathered, hash);
  return new Drawn({ hash, sequences, order, prefixes: sorted, ids: inOrder(gathered, order) });
}

interface DrawnParts {
  readonly hash: SeededHash;
  readonly sequences: Sequences;
  /** For each place, from the first on: the index of its visitor among those who gathered, in their old order. */
  readonly order: Uint32Array;
  /** For each place the first 32 bits of its key, by which a ticket's place is found. */
  readonly prefixes: Uint32Array;
  readonly ids: Uint8Array;
}

/** A finished draw: who got which place, and so which sequence. */
export class Drawn {
  readonly size: number;
  readonly #parts: DrawnParts;
  readonly #asked = new Uint8Array(ID_BYTES);

  constructor(parts: DrawnParts) {
    this.size = parts.order.length;
    this.#parts = parts;
  }

  /** The place a ticket was drawn at, from 1 on. Null: it was not in the draw. */
  placeOf(id: string): number | null {
    const asked = this.#asked;
    const { hash, prefixes, ids } = this.#parts;
    if (id.length !== 2 * ID_BYTES || !readHex(id, 0, asked, 0, ID_BYTES)) return null;
    hash.hash(asked, 0);
    const prefix = hash.words[0]!;
    for (let rank = lowerBound(prefixes, prefix); prefixes[rank] === prefix; rank++)
      if (compareIds(ids, rank, asked, 0) === 0) return rank + 1;
    return null;
  }

  /** The sequence a ticket has from now on. Null: it was not in the draw. */
  sequenceFor(id: string): number | null {
    const place = this.placeOf(id);
    return place === null ? null : this.#parts.sequences.at(place - 1);
  }

  /** Everyone's old and new sequence, in the order of the new, the same each time. */
  forEachMove(visit: (oldSequence: number, newSequence: number) => void): void {
    const { sequences, order } = this.#parts;
    for (let rank = 0; rank < this.size; rank++) visit(sequences.at(order[rank]!), sequences.at(rank));
  }

  /** Everyone's id, 16 bytes each, in the drawn order. Not to be written to. */
  ids(): Uint8Array {
    return this.#parts.ids;
  }
}

/** The keys of tickets under a seed, one after the other. */
export function keyHash(seed: string): SeededHash {
  return new SeededHash(seedBytes(seed));
}

/** Negative when the id at `rankA` of `a` is below the one at `rankB` of `b`, 0 when they are the same. */
export function compareIds(a: Uint8Array, rankA: number, b: Uint8Array, rankB: number): number {
  for (let i = 0; i < ID_BYTES; i++) {
    const difference = a[rankA * ID_BYTES + i]! - b[rankB * ID_BYTES + i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Negative when key `a` is below key `b`, 0 when they are the same. */
export function compareDrawKeys(a: Uint32Array, b: Uint32Array): number {
  for (let i = 0; i < a.length; i++) {
    const difference = a[i]! - b[i]!;
    if (difference !== 0) return difference;
  }
  return 0;
}

/** Rising sequences, kept as runs without a gap: mostly there is one. */
class Sequences {
  #size = 0;
  readonly #firstIndexes: number[] = [];
  readonly #firstSequences: number[] = [];

  get size(): number {
    return this.#size;
  }

  addRun(sequence: number, length: number): void {
    if (this.#size === 0 || this.at(this.#size - 1) + 1 !== sequence) {
      this.#firstIndexes.push(this.#size);
      this.#firstSequences.push(sequence);
    }
    this.#size += length;
  }

  /** The sequence with exactly `index` before it. */
  at(index: number): number {
    const run = lowerBound(this.#firstIndexes, index + 1) - 1;
    return this.#firstSequences[run]! + index - this.#firstIndexes[run]!;
  }
}

const DIGIT_BITS = 11;
const DIGIT_MASK = (1 << DIGIT_BITS) - 1;

/** The indexes of the numbers, by rising number and then by index: a radix sort from the least digit up. */
function sortedOrder(numbers: Uint32Array): Uint32Array {
  let order = new Uint32Array(numbers.length);
  for (let index = 0; index < order.length; index++) order[index] = index;
  let other = new Uint32Array(numbers.length);
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    const starts = digitStarts(numbers, shift);
    for (const index of order) other[starts[(numbers[index]! >>> shift) & DIGIT_MASK]!++] = index;
    [order, other] = [other, order];
  }
  return order;
}

/** How many numbers have a smaller digit, for each digit. */
function digitStarts(numbers: Uint32Array, shift: number): Uint32Array {
  const starts = new Uint32Array(DIGIT_MASK + 2);
  for (const number of numbers) starts[((number >>> shift) & DIGIT_MASK) + 1]!++;
  for (let digit = 1; digit < starts.length; digit++) starts[digit]! += starts[digit - 1]!;
  return starts;
}

/**
 * Where keys begin with the same 32 bits, about a hundred times in a million, the whole keys decide, then the
 * ids.
 */
function settleTies(order: Uint32Array, prefixes: Uint32Array, ids: Uint8Array, hash: SeededHash): void {
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && prefixes[to] === prefixes[from]) to++;
    if (to > from + 1) order.set(byWholeKey(order.subarray(from, to), ids, hash), from);
    from = to;
  }
}

function byWholeKey(indexes: Uint32Array, ids: Uint8Array, hash: SeededHash): number[] {
  const keyed = Array.from(indexes, (index) => {
    hash.hash(ids, index * ID_BYTES);
    return { index, key: hash.words.slice() };
  });
  keyed.sort((a, b) => compareDrawKeys(a.key, b.key) || compareIds(ids, a.index, ids, b.index));
  return keyed.map(({ index }) => index);
}

/** The ids in that order. Copied by words, which are the same bytes whichever way the machine reads them. */
function inOrder(ids: Uint8Array, order: Uint32Array): Uint8Array {
  const from = new Uint32Array(ids.buffer);
  const to = new Uint32Array(from.length);
  for (let rank = 0; rank < order.length; rank++) {
    const index = order[rank]!;
    for (let i = 0; i < ID_WORDS; i++) to[rank * ID_WORDS + i] = from[index * ID_WORDS + i]!;
  }
  return new Uint8Array(to.buffer);
}

const ID_WORDS = ID_BYTES / 4;
const SEED_BYTES = 32;

function seedBytes(seed: string): Uint8Array {
  const bytes = fromHex(seed);
  if (bytes?.length !== SEED_BYTES) throw new RangeError(`a seed is ${2 * SEED_BYTES} hexadecimal digits`);
  return bytes;
}
