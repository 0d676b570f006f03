/** Items in the order in which they came, each at a position that is never given again. Removing one costs the same anywhere. */

/** Positions before the first item are dropped when there are as many. */
const GAPS_MAX = 1_024;

export class Queue<T> {
  #items: (T | null)[] = [];
  /** The position of the first entry of `#items`. */
  #first: number;
  /** No item is before this position. */
  #head: number;

  constructor(first = 0) {
    this.#first = first;
    this.#head = first;
  }

  /** The position of the next item. */
  get next(): number {
    return this.#first + this.#items.length;
  }

  push(item: T): number {
    return this.#items.push(item) - 1 + this.#first;
  }

  /** Puts an item at a later position than all others. */
  putAt(position: number, item: T): void {
    while (this.next < position) this.#items.push(null);
    this.#items.push(item);
  }

  remove(position: number): void {
    if (position < this.#first || position >= this.next) return;
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

  #dropGaps(): void {
    while (this.#head < this.next && this.#items[this.#head - this.#first] === null) this.#head++;
    const gaps = this.#head - this.#first;
    if (gaps < GAPS_MAX || gaps * 2 < this.#items.length) return;
    this.#items = this.#items.slice(gaps);
    this.#first = this.#head;
  }
}
