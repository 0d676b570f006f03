/**
 * Items with a deadline, soonest first: a binary heap. A deadline that changes is not moved in the heap; the owner checks the
 * item when it comes up and puts it back with its new deadline. So renewing a visit costs nothing, and each visit costs one
 * check per session length.
 */
export class Deadlines<T> {
  #at: number[] = [];
  #items: T[] = [];

  get size(): number {
    return this.#at.length;
  }

  /** The soonest deadline; null when there is none. */
  get soonestAt(): number | null {
    return this.#at[0] ?? null;
  }

  /** The item that is due next; undefined when there is none. */
  get next(): T | undefined {
    return this.#items[0];
  }

  add(at: number, item: T): void {
    let index = this.#at.length;
    this.#at.push(at);
    this.#items.push(item);
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#at[parent]! <= at) break;
      this.#move(parent, index);
      index = parent;
    }
    this.#at[index] = at;
    this.#items[index] = item;
  }

  /** Removes and returns the next item whose deadline is at or before `now`; undefined when there is none. */
  takeDue(now: number): T | undefined {
    if (this.#at.length === 0 || this.#at[0]! > now) return undefined;
    const due = this.#items[0]!;
    const lastAt = this.#at.pop()!;
    const lastItem = this.#items.pop()!;
    if (this.#at.length > 0) this.#sink(lastAt, lastItem);
    return due;
  }

  #sink(at: number, item: T): void {
    const { length } = this.#at;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#at[child + 1]! < this.#at[child]!) child++;
      if (this.#at[child]! >= at) break;
      this.#move(child, index);
      index = child;
    }
    this.#at[index] = at;
    this.#items[index] = item;
  }

  #move(from: number, to: number): void {
    this.#at[to] = this.#at[from]!;
    this.#items[to] = this.#items[from]!;
  }
}
