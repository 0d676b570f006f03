/**
 * Limits reports of problems to one in a while for each address: an absent peer is dialled every two seconds, and strangers may
 * connect as often as they like.
 */
const TELL_EVERY_MS = 5_000;
const ADDRESSES_MAX = 256;

export interface PeerProblem {
  readonly address: string;
  /** A sentence that begins with the address. */
  readonly text: string;
}

export class Problems {
  readonly #tell: (problem: PeerProblem) => void;
  readonly #toldAt = new Map<string, number>();

  constructor(tell: (problem: PeerProblem) => void) {
    this.#tell = tell;
  }

  report(problem: PeerProblem, now: number): void {
    for (const [address, at] of this.#toldAt) {
      if (now - at < TELL_EVERY_MS) break;
      this.#toldAt.delete(address);
    }
    if (this.#toldAt.has(problem.address) || this.#toldAt.size >= ADDRESSES_MAX) return;
    this.#toldAt.set(problem.address, now);
    this.#tell(problem);
  }
}
