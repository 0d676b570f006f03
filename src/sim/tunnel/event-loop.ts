/**
 * Simulated time: work queued by instant. Time jumps from one item to the next, so an hour can pass in a second.
 *
 * A binary heap by (instant, order of queueing). The second part matters: work of the same instant runs in the order it was
 * queued, on every machine, or a seed would not repeat.
 */
export type Work = () => void;

export class EventLoop {
  #time = 0;
  #asked = 0;
  readonly #times: number[] = [];
  readonly #orders: number[] = [];
  readonly #works: Work[] = [];

  get time(): number {
    return this.#time;
  }

  get done(): number {
    return this.#asked - this.#works.length;
  }

  get isEmpty(): boolean {
    return this.#works.length === 0;
  }

  /** Runs something at an instant, or now if that is past. */
  at(time: number, work: Work): void {
    if (Number.isNaN(time)) throw new RangeError("there is no instant NaN");
    this.#rise(Math.max(time, this.#time), this.#asked++, work);
  }

  after(delayMs: number, work: Work): void {
    this.at(this.#time + delayMs, work);
  }

  /** Runs everything up to and at an instant, and stops there. `isOver` is asked after each item and may stop earlier. */
  runUntil(time: number, isOver: () => boolean = () => false): void {
    while (this.#works.length > 0 && this.#times[0]! <= time) {
      this.#time = this.#times[0]!;
      this.#takeFirst()();
      if (isOver()) return;
    }
    this.#time = Math.max(this.#time, time);
  }

  #takeFirst(): Work {
    const first = this.#works[0]!;
    const time = this.#times.pop()!;
    const order = this.#orders.pop()!;
    const work = this.#works.pop()!;
    if (this.#works.length > 0) this.#sink(time, order, work);
    return first;
  }

  #rise(time: number, order: number, work: Work): void {
    let index = this.#works.length;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      // The rising item was queued last, so it stays below equal ones.
      if (this.#times[parent]! <= time) break;
      this.#move(parent, index);
      index = parent;
    }
    this.#put(index, time, order, work);
  }

  #sink(time: number, order: number, work: Work): void {
    const { length } = this.#works;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= length) break;
      if (child + 1 < length && this.#isBefore(child + 1, this.#times[child]!, this.#orders[child]!)) child++;
      if (!this.#isBefore(child, time, order)) break;
      this.#move(child, index);
      index = child;
    }
    this.#put(index, time, order, work);
  }

  #isBefore(index: number, time: number, order: number): boolean {
    const own = this.#times[index]!;
    return own < time || (own === time && this.#orders[index]! < order);
  }

  #move(from: number, to: number): void {
    this.#put(to, this.#times[from]!, this.#orders[from]!, this.#works[from]!);
  }

  #put(index: number, time: number, order: number, work: Work): void {
    this.#times[index] = time;
    this.#orders[index] = order;
    this.#works[index] = work;
  }
}
