/**
 * The line: which sequence numbers are living, and how many of them come before one.
 *
 * Sequences rise with arrival, so the line needs no tree of keys: one bit a sequence says "living", and counts over
 * the bits answer `ahead` and "who is the n-th". The bits are kept in segments of 65,536 sequences; inside a segment
 * a Fenwick tree counts blocks of 256 bits, and over the segments lies another Fenwick tree. Every operation is
 * O(log n) with a very small constant and no allocation, about 0.15 bytes a sequence.
 *
 * Numbers between whole ones (missed-turns.ts) are few and kept in a sorted list.
 *
 * A segment without living bits is dropped, so memory follows the living, not the history; adding an old sequence
 * (a lapsed visitor's return, a line rebuilt from tickets) brings its segment back in its place.
 */
import { lowerBound } from "./order.ts";

const SEGMENT_SIZE = 65_536;
const SEGMENT_WORDS = SEGMENT_SIZE / 32;
const BLOCK_WORDS = 8;
const BLOCK_SHIFT = 3;
const BLOCKS = SEGMENT_WORDS / BLOCK_WORDS;

export class Line {
  #segments: Segment[] = [];
  #sums = new Uint32Array(1);
  /** Living sequences that are no whole numbers, in order. */
  #between: number[] = [];
  /** Living whole sequences. */
  #size = 0;

  /** How many are living. */
  get size(): number {
    return this.#size + this.#between.length;
  }

  has(sequence: number): boolean {
    if (!isWhole(sequence)) return this.#between[lowerBound(this.#between, sequence)] === sequence;
    const segment = this.#find(sequence);
    return segment?.has(sequence - segment.number * SEGMENT_SIZE) ?? false;
  }

  /** Makes a sequence living. False when it was already. */
  add(sequence: number): boolean {
    if (!isWhole(sequence)) return this.#addBetween(sequence);
    const number = Math.floor(sequence / SEGMENT_SIZE);
    let index = this.#lowerBound(number);
    if (this.#segments[index]?.number !== number) {
      this.#segments.splice(index, 0, new Segment(number));
      this.#rebuildSums();
      index = this.#lowerBound(number);
    }
    if (!this.#segments[index]!.set(sequence - number * SEGMENT_SIZE)) return false;
    this.#count(index, 1);
    return true;
  }

  /** Takes a sequence out. False when it was not living. */
  remove(sequence: number): boolean {
    if (!isWhole(sequence)) return this.#removeBetween(sequence);
    const number = Math.floor(sequence / SEGMENT_SIZE);
    const index = this.#lowerBound(number);
    const segment = this.#segments[index];
    if (segment?.number !== number || !segment.clear(sequence - number * SEGMENT_SIZE)) return false;
    this.#count(index, -1);
    const isLast = index === this.#segments.length - 1;
    if (segment.count === 0 && !isLast) {
      this.#segments.splice(index, 1);
      this.#rebuildSums();
    }
    return true;
  }

  /** Living sequences below this one, whether or not it is living itself. */
  ahead(sequence: number): number {
    const whole = this.#wholeAhead(Math.ceil(sequence));
    return this.#between.length === 0 ? whole : whole + lowerBound(this.#between, sequence);
  }

  #wholeAhead(sequence: number): number {
    const number = Math.floor(sequence / SEGMENT_SIZE);
    const index = this.#lowerBound(number);
    let total = 0;
    for (let i = index; i > 0; i &= i - 1) total += this.#sums[i]!;
    const segment = this.#segments[index];
    return segment?.number === number ? total + segment.before(sequence - number * SEGMENT_SIZE) : total;
  }

  /** The living sequence with exactly `rank` living before it, or -1 when the line is shorter. */
  at(rank: number): number {
    if (this.#between.length === 0) return this.#wholeAt(rank);
    let low = 0;
    let high = this.#between.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#wholeAhead(Math.ceil(this.#between[middle]!)) + middle < rank) low = middle + 1;
      else high = middle;
    }
    const found = this.#between[low];
    if (found !== undefined && this.#wholeAhead(Math.ceil(found)) + low === rank) return found;
    return this.#wholeAt(rank - low);
  }

  #wholeAt(rank: number): number {
    if (rank < 0 || rank >= this.#size) return -1;
    let index = 0;
    for (let step = highestPower(this.#segments.length); step > 0; step >>= 1) {
      const next = index + step;
      if (next <= this.#segments.length && this.#sums[next]! <= rank) {
        index = next;
        rank -= this.#sums[next]!;
      }
    }
    const segment = this.#segments[index]!;
    return segment.number * SEGMENT_SIZE + segment.at(rank);
  }

  /** The first living sequence, or -1. */
  first(): number {
    return this.at(0);
  }

  #addBetween(sequence: number): boolean {
    const index = lowerBound(this.#between, sequence);
    if (this.#between[index] === sequence) return false;
    this.#between.splice(index, 0, sequence);
    return true;
  }

  #removeBetween(sequence: number): boolean {
    const index = lowerBound(this.#between, sequence);
    if (this.#between[index] !== sequence) return false;
    this.#between.splice(index, 1);
    return true;
  }

  #find(sequence: number): Segment | undefined {
    const number = Math.floor(sequence / SEGMENT_SIZE);
    const segment = this.#segments[this.#lowerBound(number)];
    return segment?.number === number ? segment : undefined;
  }

  /** Index of the first segment with at least this number. Segments are mostly contiguous: guess, then search. */
  #lowerBound(number: number): number {
    const segments = this.#segments;
    if (segments.length === 0) return 0;
    const guess = number - segments[0]!.number;
    if (guess <= 0) return 0;
    if (segments[guess]?.number === number) return guess;
    let low = 0;
    let high = segments.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (segments[middle]!.number < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #count(index: number, change: number): void {
    this.#size += change;
    for (let i = index + 1; i < this.#sums.length; i += i & -i) this.#sums[i]! += change;
  }

  #rebuildSums(): void {
    const { length } = this.#segments;
    const sums = new Uint32Array(length + 1);
    for (let i = 1; i <= length; i++) {
      sums[i]! += this.#segments[i - 1]!.count;
      const parent = i + (i & -i);
      if (parent <= length) sums[parent]! += sums[i]!;
    }
    this.#sums = sums;
  }
}

class Segment {
  readonly number: number;
  count = 0;
  #bits = new Uint32Array(SEGMENT_WORDS);
  #sums = new Uint32Array(BLOCKS + 1);

  constructor(number: number) {
    this.number = number;
  }

  has(offset: number): boolean {
    return (this.#bits[offset >>> 5]! & (1 << (offset & 31))) !== 0;
  }

  set(offset: number): boolean {
    const bit = 1 << (offset & 31);
    if ((this.#bits[offset >>> 5]! & bit) !== 0) return false;
    this.#bits[offset >>> 5]! |= bit;
    this.#add(offset, 1);
    return true;
  }

  clear(offset: number): boolean {
    const bit = 1 << (offset & 31);
    if ((this.#bits[offset >>> 5]! & bit) === 0) return false;
    this.#bits[offset >>> 5]! &= ~bit;
    this.#add(offset, -1);
    return true;
  }

  before(offset: number): number {
    const word = offset >>> 5;
    let total = 0;
    for (let i = word >>> BLOCK_SHIFT; i > 0; i &= i - 1) total += this.#sums[i]!;
    for (let i = word & -BLOCK_WORDS; i < word; i++) total += popcount(this.#bits[i]!);
    return total + popcount(this.#bits[word]! & ((1 << (offset & 31)) - 1));
  }

  at(rank: number): number {
    let block = 0;
    for (let step = BLOCKS / 2; step > 0; step >>= 1) {
      if (this.#sums[block + step]! <= rank) {
        block += step;
        rank -= this.#sums[block]!;
      }
    }
    let word = block * BLOCK_WORDS;
    for (let living = popcount(this.#bits[word]!); living <= rank; living = popcount(this.#bits[word]!)) {
      rank -= living;
      word++;
    }
    let bits = this.#bits[word]!;
    for (; rank > 0; rank--) bits &= bits - 1;
    return word * 32 + (31 - Math.clz32(bits & -bits));
  }

  #add(offset: number, change: number): void {
    this.count += change;
    for (let i = (offset >>> (5 + BLOCK_SHIFT)) + 1; i <= BLOCKS; i += i & -i) this.#sums[i]! += change;
  }
}

function isWhole(sequence: number): boolean {
  return Math.floor(sequence) === sequence;
}

function popcount(word: number): number {
  word -= (word >>> 1) & 0x55555555;
  word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
  return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

function highestPower(count: number): number {
  return count === 0 ? 0 : 1 << (31 - Math.clz32(count));
}
