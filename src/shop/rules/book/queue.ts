/**
 * Items in the order in which they came, each at a position that is never given again. Removing one costs the same anywhere, and
 * how many are before one is told without looking at each of them: they are counted by blocks of positions.
 */

/** Positions in a block. */
const BLOCK = 512;
/** Positions before the first item are dropped when there are as many. */
const GAPS_MAX = 1_024;

export class Queue<T> {
  #items: (T | null)[] = [];
  /** The position of the first entry of `#items`. */
  #first: number;
  /** No item is before this position. */
  #head: number;
  /** Items in each block that has any, in their order. */
  readonly #blocks = new Map<number, number>();

  constructor(first = 0) {
    this.#first = first;
    this.#head = first;
  }

  /** The position of the next item. */
  get next(): number {
    return this.#first + this.#items.length;
  }

  push(item: T): number {
    this.#count(this.next, 1);
    return this.#items.push(item) - 1 + this.#first;
  }

  /** Puts an item at a later position than all others. */
  putAt(position: number, item: T): void {
    while (this.next < position) this.#items.push(null);
    this.push(item);
  }

  remove(position: number): void {
    if (position < this.#first || position >= this.next) return;
    if (this.#items[position - this.#first] !== null) this.#count(position, -1);
    this.#items[position - this.#first] = null;
    if (position === this.#head) this.#dropGaps();
  }

  removeOldest(): void {
    this.remove(this.#head);
  }

  get oldest(): T | null {
    for (const item of this.from(this.#head)) return item;
    return null;
  }

  /** How many items are before a position. */
  before(position: number): number {
    const own = Math.floor(position / BLOCK);
    let before = 0;
    for (const [block, items] of this.#blocks) {
      if (block >= own) break;
      before += items;
    }
    const end = Math.min(position, this.next);
    for (let at = Math.max(own * BLOCK, this.#head); at < end; at++)
      if (this.#items[at - this.#first] !== null) before++;
    return before;
  }

  /** Items from a position on. */
  *from(position: number): Generator<T> {
    for (let at = Math.max(position, this.#head); at < this.next; at++) {
      const item = this.#items[at - this.#first]!;
      if (item !== null) yield item;
    }
  }

  [Symbol.iterator](): Generator<T> {
    return this.from(this.#head);
  }

  #count(position: number, change: number): void {
    const block = Math.floor(position / BLOCK);
    const items = (this.#blocks.get(block) ?? 0) + change;
    if (items === 0) this.#blocks.delete(block);
    else this.#blocks.set(block, items);
  }

  #dropGaps(): void {
    while (this.#head < this.next && this.#items[this.#head - this.#first] === null) this.#head++;
    const gaps = this.#head - this.#first;
    if (gaps < GAPS_MAX || gaps * 2 < this.#items.length) return;
    this.#items = this.#items.slice(gaps);
    this.#first = this.#head;
  }
}
