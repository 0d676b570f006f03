/**
 * Things that are open, in no order. What is closed is taken out at once: a request that is over and still in a list becomes old
 * for the garbage collector, which costs a third of all requests a second.
 */

/** Something that knows where it stands in its list; below 0 when it is in none. */
export interface Listed {
  listedAt: number;
}

export class OpenList<Item extends Listed> {
  #items: Item[] = [];

  add(item: Item): void {
    item.listedAt = this.#items.length;
    this.#items.push(item);
  }

  remove(item: Item): void {
    const at = item.listedAt;
    if (at < 0) return;
    item.listedAt = -1;
    const last = this.#items.pop()!;
    if (last === item) return;
    this.#items[at] = last;
    last.listedAt = at;
  }

  /** Takes out everything. */
  takeAll(): readonly Item[] {
    const items = this.#items;
    this.#items = [];
    for (const item of items) item.listedAt = -1;
    return items;
  }

  get items(): readonly Item[] {
    return this.#items;
  }
}
