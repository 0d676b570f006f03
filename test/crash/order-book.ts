/**
 * The order of entries. An entry counts from the arrival of its pass. A visitor is overtaken when they are still told to wait,
 * by an answer that was asked for later than that, although they joined earlier. Who joined earlier follows from the sequence. A
 * visitor who went straight through has none, and certainly joined after everyone whose place had arrived before the other asked.
 *
 * Entries come in the order of their instants, so the highest so far is kept with each and found by binary search.
 */
export interface Entry {
  readonly at: number;
  /** null for a visitor who went straight through. */
  readonly sequence: number | null;
  readonly joinAskedAt: number;
}

interface Highest {
  readonly at: number;
  readonly sequence: number;
  readonly joinAskedAt: number;
}

export class OrderBook {
  readonly #highest: Highest[] = [];

  enter({ at, sequence, joinAskedAt }: Entry): void {
    const last = this.#highest.at(-1) ?? { sequence: -Infinity, joinAskedAt: -Infinity };
    this.#highest.push({
      at,
      sequence: Math.max(last.sequence, sequence ?? -Infinity),
      joinAskedAt: Math.max(last.joinAskedAt, sequence === null ? joinAskedAt : -Infinity),
    });
  }

  /** Whether a visitor who joined after this place was given had a pass before `askedAt`. */
  isOvertaken(place: { sequence: number; placedAt: number }, askedAt: number): boolean {
    const before = this.#before(askedAt);
    return before !== undefined && (before.sequence > place.sequence || before.joinAskedAt > place.placedAt);
  }

  /** The last entry earlier than `at`. */
  #before(at: number): Highest | undefined {
    let low = 0;
    let high = this.#highest.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#highest[middle]!.at < at) low = middle + 1;
      else high = middle;
    }
    return this.#highest[low - 1];
  }
}
