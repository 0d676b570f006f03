/**
 * A doubly linked list whose links live in what they link: adding, removing and moving to the end take a few writes, whatever the
 * length. A `Map` keeps order too, but leaves a gap for every removed entry, and finding the first one has to skip them.
 */

/** One entry's links: it is in one chain at a time, or in none. */
export class Link<T> {
  readonly of: T;
  chain: Chain<T> | null = null;
  before: Link<T> | null = null;
  after: Link<T> | null = null;

  constructor(of: T) {
    this.of = of;
  }
}

export class Chain<T> implements Iterable<T> {
  #first: Link<T> | null = null;
  #last: Link<T> | null = null;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The one that was appended longest ago. */
  get first(): T | null {
    return this.#first?.of ?? null;
  }

  /** Makes it the last, wherever it was before. */
  append(link: Link<T>): void {
    if (link === this.#last) return;
    link.chain?.remove(link);
    link.chain = this;
    link.before = this.#last;
    if (this.#last) this.#last.after = link;
    else this.#first = link;
    this.#last = link;
    this.#size++;
  }

  remove(link: Link<T>): void {
    if (link.chain !== this) return;
    if (link.before) link.before.after = link.after;
    else this.#first = link.after;
    if (link.after) link.after.before = link.before;
    else this.#last = link.before;
    link.chain = null;
    link.before = null;
    link.after = null;
    this.#size--;
  }

  /** From the first to the last. What is yielded may be removed meanwhile; nothing else may. */
  *[Symbol.iterator](): Iterator<T> {
    for (let link = this.#first; link; ) {
      const { after } = link;
      yield link.of;
      link = after;
    }
  }
}
