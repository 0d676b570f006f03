/**
 * A line of keys that arrive nearly, but not quite, in order: a sorted set with rank and select.
 *
 * `core/line.ts` keeps one bit for each sequence, which works when one counter gives the sequences out. Peers give out order keys
 * independently, far apart and a little late, so here the keys themselves are kept: sorted, in blocks of 512, each responsible
 * for all keys from its bound up to the next block's. A Fenwick tree over the blocks' counts gives rank and select in O(log n). A
 * key costs 8 to 16 bytes; in a line that was thinned out, up to a hundred.
 *
 * The front goes first: taking the first key moves an index, and an emptied front block is stepped over, so nothing is shifted.
 * Only a split or a merge in the middle touches all blocks, once in hundreds of changes.
 *
 * Invariant: the bounds after the head's rise strictly, no block from the head on is empty, and the sums are those of the blocks'
 * counts.
 */
const BLOCK_KEYS_MAX = 512;
const MERGED_KEYS_MAX = BLOCK_KEYS_MAX / 2;
/** A block with fewer keys is merged with a neighbour if possible, so that memory follows the living. */
const LONELY_KEYS = BLOCK_KEYS_MAX / 8;
/** Blocks stepped over are removed once there are this many, and more of them than of the others. */
const PASSED_BLOCKS = 64;
const CAPACITY_MIN = 8;

export class BlockLine {
  #blocks: (Block | null)[] = [];
  /** No key of a block is below its bound, except in the head block, which also takes all smaller ones. */
  #bounds = new Float64Array(CAPACITY_MIN);
  #sums = new Int32Array(CAPACITY_MIN + 1);
  #head = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Adds a key. Returns false when it was there already. */
  add(key: number): boolean {
    if (!Number.isFinite(key)) throw new RangeError(`a key must be a finite number, not ${key}`);
    if (this.#size === 0) this.#append(key, new Block());
    let index = this.#find(key);
    let block = this.#blocks[index]!;
    if (block.has(key)) return false;
    if (block.isFull) {
      index = this.#makeRoom(index, key);
      block = this.#blocks[index]!;
    }
    block.insert(key);
    this.#count(index, 1);
    return true;
  }

  /** Removes a key. Returns false when it was not there. */
  remove(key: number): boolean {
    const index = this.#find(key);
    const block = this.#blocks[index];
    if (!block?.delete(key)) return false;
    this.#count(index, -1);
    if (block.count < LONELY_KEYS) this.#tidy(index, block);
    return true;
  }

  /** How many keys are smaller, whether or not this one is there. */
  ahead(key: number): number {
    const index = this.#find(key);
    const block = this.#blocks[index];
    return block ? this.#before(index) + block.below(key) : 0;
  }

  /** How many keys are equal or smaller. */
  countUpTo(key: number): number {
    const index = this.#find(key);
    const block = this.#blocks[index];
    return block ? this.#before(index) + block.below(key) + (block.has(key) ? 1 : 0) : 0;
  }

  /** The key with exactly `rank` smaller ones, or -1 when there are not as many. */
  at(rank: number): number {
    if (!(Number.isInteger(rank) && rank >= 0 && rank < this.#size)) return -1;
    const { length } = this.#blocks;
    let index = 0;
    for (let step = highestPower(length); step > 0; step >>= 1) {
      const next = index + step;
      if (next > length || this.#sums[next]! > rank) continue;
      index = next;
      rank -= this.#sums[next]!;
    }
    return this.#blocks[index]!.at(rank);
  }

  /** The block responsible for a key: the last whose bound is not above it, or the first. */
  #find(key: number): number {
    let low = this.#head;
    let high = this.#blocks.length - 1;
    if (this.#bounds[high]! <= key) return high;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if (this.#bounds[middle]! <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** Makes room beside a full block: a new one at the end of the line, otherwise by a split. */
  #makeRoom(index: number, key: number): number {
    const block = this.#blocks[index]!;
    if (index === this.#blocks.length - 1 && block.below(key) === block.count) {
      this.#append(key, new Block());
      return index + 1;
    }
    const upper = block.split();
    const bound = upper.at(0);
    this.#insertBlock(index + 1, bound, upper);
    return key < bound ? index : index + 1;
  }

  #tidy(index: number, block: Block): void {
    if (block.count === 0) return this.#dropBlock(index);
    const next = this.#blocks[index + 1];
    if (next && block.count + next.count <= MERGED_KEYS_MAX) return this.#merge(index, block, next);
    const previous = this.#blocks[index - 1];
    if (previous && previous.count + block.count <= MERGED_KEYS_MAX) this.#merge(index - 1, previous, block);
  }

  #merge(index: number, lower: Block, upper: Block): void {
    lower.absorb(upper);
    this.#cut(index + 1, 1);
  }

  #dropBlock(index: number): void {
    if (index !== this.#head) return this.#cut(index, 1);
    this.#blocks[this.#head++] = null;
    const isMostlyPassed = this.#head >= PASSED_BLOCKS && this.#head * 2 > this.#blocks.length;
    if (this.#size !== 0 && !isMostlyPassed) return;
    const passed = this.#head;
    this.#head = 0;
    this.#cut(0, passed);
  }

  #append(bound: number, block: Block): void {
    const index = this.#blocks.push(block) - 1;
    this.#grow();
    this.#bounds[index] = bound;
    const i = index + 1;
    this.#sums[i] = block.count;
    for (let step = 1; step < (i & -i); step <<= 1) this.#sums[i]! += this.#sums[i - step]!;
  }

  #insertBlock(index: number, bound: number, block: Block): void {
    this.#blocks.splice(index, 0, block);
    this.#grow();
    this.#bounds.copyWithin(index + 1, index, this.#blocks.length - 1);
    this.#bounds[index] = bound;
    this.#sum();
  }

  #cut(index: number, count: number): void {
    this.#bounds.copyWithin(index, index + count, this.#blocks.length);
    this.#blocks.splice(index, count);
    this.#sum();
  }

  #grow(): void {
    if (this.#blocks.length <= this.#bounds.length) return;
    const bounds = new Float64Array(this.#bounds.length * 2);
    bounds.set(this.#bounds);
    const sums = new Int32Array(bounds.length + 1);
    sums.set(this.#sums);
    this.#bounds = bounds;
    this.#sums = sums;
  }

  #count(index: number, change: number): void {
    this.#size += change;
    const { length } = this.#blocks;
    for (let i = index + 1; i <= length; i += i & -i) this.#sums[i]! += change;
  }

  #before(index: number): number {
    let total = 0;
    for (let i = index; i > 0; i &= i - 1) total += this.#sums[i]!;
    return total;
  }

  #sum(): void {
    const { length } = this.#blocks;
    this.#sums.fill(0, 0, length + 1);
    for (let i = 1; i <= length; i++) {
      this.#sums[i]! += this.#blocks[i - 1]?.count ?? 0;
      const parent = i + (i & -i);
      if (parent <= length) this.#sums[parent]! += this.#sums[i]!;
    }
  }
}

/** Sorted keys in the middle of an array, so that both ends can change without a shift. */
class Block {
  readonly #keys = new Float64Array(BLOCK_KEYS_MAX);
  #start = 0;
  #end = 0;

  get count(): number {
    return this.#end - this.#start;
  }

  get isFull(): boolean {
    return this.count === BLOCK_KEYS_MAX;
  }

  has(key: number): boolean {
    const place = this.#place(key);
    return place < this.#end && this.#keys[place] === key;
  }

  below(key: number): number {
    return this.#place(key) - this.#start;
  }

  at(rank: number): number {
    return this.#keys[this.#start + rank]!;
  }

  keys(): Float64Array {
    return this.#keys.subarray(this.#start, this.#end);
  }

  insert(key: number): void {
    const place = this.#place(key);
    const isNearStart = place - this.#start < this.#end - place;
    if (this.#end === BLOCK_KEYS_MAX || (isNearStart && this.#start > 0)) {
      this.#keys.copyWithin(this.#start - 1, this.#start, place);
      this.#start--;
      this.#keys[place - 1] = key;
      return;
    }
    if (place < this.#end) this.#keys.copyWithin(place + 1, place, this.#end);
    this.#end++;
    this.#keys[place] = key;
  }

  delete(key: number): boolean {
    const place = this.#place(key);
    if (place === this.#end || this.#keys[place] !== key) return false;
    if (place - this.#start < this.#end - place) {
      if (place > this.#start) this.#keys.copyWithin(this.#start + 1, this.#start, place);
      this.#start++;
    } else {
      this.#keys.copyWithin(place, place + 1, this.#end);
      this.#end--;
    }
    return true;
  }

  split(): Block {
    const upper = new Block();
    const middle = (this.#start + this.#end) >>> 1;
    upper.#fill(this.#keys.subarray(middle, this.#end));
    this.#end = middle;
    return upper;
  }

  absorb(upper: Block): void {
    this.#keys.copyWithin(0, this.#start, this.#end);
    this.#end -= this.#start;
    this.#start = 0;
    this.#fill(upper.keys());
  }

  #fill(keys: Float64Array): void {
    this.#keys.set(keys, this.#end);
    this.#end += keys.length;
  }

  /** The index of the first key that is not smaller. */
  #place(key: number): number {
    let low = this.#start;
    let high = this.#end;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function highestPower(count: number): number {
  return count === 0 ? 0 : 1 << (31 - Math.clz32(count));
}
