/**
 * What went wrong with whom, told at most once in a while for each address: a peer that is away is dialled every two
 * seconds, and a stranger may knock as often as it likes.
 */
const TELL_EVERY_MS = 5_000;
/** So many addresses are told of in that time; who knocks from more is counted, not told. */
const ADDRESSES_MAX = 256;

export interface PeerProblem {
  readonly address: string;
  /** A sentence about the address, which begins with it. */
  readonly text: string;
}

export class Problems {
  readonly #tell: (problem: PeerProblem) => void;
  /** When each address was told of last, the longest ago first. */
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
