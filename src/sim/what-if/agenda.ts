/**
 * What every visitor does next, soonest first: a binary heap of instants and visitor numbers in two typed arrays, which takes
 * millions of entries a second. A visitor has one next step at a time; a new one replaces it, and the old entry is skipped when
 * it comes up. Steps of the same instant come in an order that depends only on earlier calls, so runs repeat.
 */
const NEVER = Number.POSITIVE_INFINITY;

export class Agenda {
  #at: Float64Array;
  #who: Int32Array;
  #size = 0;
  readonly #dueAt: Float64Array;

  constructor(visitors: number) {
    this.#at = new Float64Array(Math.max(1, visitors));
    this.#who = new Int32Array(Math.max(1, visitors));
    this.#dueAt = new Float64Array(visitors).fill(NEVER);
  }

  /** Sets a visitor's next step, in place of an earlier one. */
  put(visitor: number, at: number): void {
    this.#dueAt[visitor] = at;
    if (this.#size === this.#at.length) this.#grow();
    this.#rise(this.#size++, at, visitor);
  }

  /** The visitor has nothing more to do. */
  drop(visitor: number): void {
    this.#dueAt[visitor] = NEVER;
  }

  /** When the next step is due; infinite when there is none. */
  nextAt(): number {
    while (this.#size > 0 && this.#dueAt[this.#who[0]!] !== this.#at[0]) this.#takeFirst();
    return this.#size === 0 ? NEVER : this.#at[0]!;
  }

  /** Takes out the visitor whose step is due at `nextAt`. */
  take(): number {
    const visitor = this.#who[0]!;
    this.#dueAt[visitor] = NEVER;
    this.#takeFirst();
    return visitor;
  }

  #takeFirst(): void {
    const last = --this.#size;
    if (last > 0) this.#sink(this.#at[last]!, this.#who[last]!);
  }

  #rise(index: number, at: number, who: number): void {
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (this.#at[parent]! <= at) break;
      this.#move(parent, index);
      index = parent;
    }
    this.#at[index] = at;
    this.#who[index] = who;
  }

  #sink(at: number, who: number): void {
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.#size) break;
      if (child + 1 < this.#size && this.#at[child + 1]! < this.#at[child]!) child++;
      if (this.#at[child]! >= at) break;
      this.#move(child, index);
      index = child;
    }
    this.#at[index] = at;
    this.#who[index] = who;
  }

  #move(from: number, to: number): void {
    this.#at[to] = this.#at[from]!;
    this.#who[to] = this.#who[from]!;
  }

  #grow(): void {
    const at = new Float64Array(this.#at.length * 2);
    const who = new Int32Array(this.#who.length * 2);
    at.set(this.#at);
    who.set(this.#who);
    this.#at = at;
    this.#who = who;
  }
}
