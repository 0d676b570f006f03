/**
 * Which peer to probe next: round-robin over a shuffled list, shuffled again after each pass (SWIM, section 4.3).
 *
 * Random probing would leave a peer unprobed for an unbounded time now and then. This way no peer of n waits more than 2n − 1
 * turns: when it is first in one pass and last in the next. New peers are inserted at random.
 */
export class ProbeRound {
  readonly #dice: () => number;
  #order: string[] = [];
  #position = 0;

  constructor(dice: () => number) {
    this.#dice = dice;
  }

  add(peer: string): void {
    const index = this.#below(this.#order.length + 1);
    this.#order.splice(index, 0, peer);
    if (index < this.#position) this.#position++;
  }

  remove(peer: string): void {
    const index = this.#order.indexOf(peer);
    if (index < 0) return;
    this.#order.splice(index, 1);
    if (index < this.#position) this.#position--;
  }

  /** The next peer to probe, or null when there is none. */
  next(): string | null {
    if (this.#position >= this.#order.length) {
      this.#order = this.pick(this.#order, this.#order.length);
      this.#position = 0;
    }
    return this.#order[this.#position++] ?? null;
  }

  /** Picks `count` of these at random, in random order; all of them when there are fewer. */
  pick<T>(peers: readonly T[], count: number): T[] {
    const rest = [...peers];
    const picked = Math.min(count, rest.length);
    for (let i = 0; i < picked; i++) {
      const j = i + this.#below(rest.length - i);
      [rest[i], rest[j]] = [rest[j]!, rest[i]!];
    }
    return rest.slice(0, picked);
  }

  #below(limit: number): number {
    return Math.floor(this.#dice() * limit);
  }
}
