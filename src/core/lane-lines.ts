/**
 * The lines of a room, one for each lane that has had people in it. A sequence is in at most one of them.
 *
 * Engines differ in how one line is kept (bits where sequences are dense, sorted blocks where peers give them out), not in
 * what lanes make of it.
 */
import type { LineBehind } from "./missed-turns.ts";
import { EVERYBODY } from "./rules.ts";

/** One lane's living sequences. */
export interface LaneLine extends LineBehind {
  /** False when it is there already. */
  add(sequence: number): boolean;
  /** False when it is not there. */
  remove(sequence: number): boolean;
}

export class LaneLines<L extends LaneLine> {
  readonly #makeLine: () => L;
  /** Kept apart: most rooms have no other. */
  #everybody: L;
  #others = new Map<number, L>();
  #size = 0;

  constructor(makeLine: () => L) {
    this.#makeLine = makeLine;
    this.#everybody = makeLine();
  }

  /** How many wait in all lanes. */
  get size(): number {
    return this.#size;
  }

  waitingIn(lane: number): number {
    return this.find(lane)?.size ?? 0;
  }

  add(lane: number, sequence: number): void {
    if (this.#line(lane).add(sequence)) this.#size++;
  }

  /** Makes sure that a sequence is in this lane and in no other; null: in none. */
  put(lane: number | null, sequence: number): void {
    if (lane !== EVERYBODY) this.remove(EVERYBODY, sequence);
    for (const other of this.#others.keys()) if (other !== lane) this.remove(other, sequence);
    if (lane !== null) this.add(lane, sequence);
  }

  remove(lane: number, sequence: number): void {
    if (this.find(lane)?.remove(sequence)) this.#size--;
  }

  /** Living sequences before this one in its lane. */
  ahead(lane: number, sequence: number): number {
    return this.find(lane)?.ahead(sequence) ?? 0;
  }

  /** The sequence with `rank` before it in its lane, or -1. */
  at(lane: number, rank: number): number {
    return this.find(lane)?.at(rank) ?? -1;
  }

  /** The smallest sequence of all lanes; null when nobody waits. */
  first(): number | null {
    const firsts = [this.#everybody, ...this.#others.values()].filter(({ size }) => size > 0);
    return firsts.length === 0 ? null : Math.min(...firsts.map((line) => line.at(0)));
  }

  /** A lane's line, for those who go back in it. */
  behind(lane: number): LineBehind {
    return this.#line(lane);
  }

  /** Puts everyone into the lane that `laneOf` says. */
  rearrange(laneOf: (sequence: number) => number): void {
    const lines = [this.#everybody, ...this.#others.values()];
    this.#everybody = this.#makeLine();
    this.#others = new Map();
    this.#size = 0;
    for (const line of lines) {
      for (let sequence = line.at(0); sequence >= 0; sequence = line.at(0)) {
        line.remove(sequence);
        this.add(laneOf(sequence), sequence);
      }
    }
  }

  protected find(lane: number): L | undefined {
    return lane === EVERYBODY ? this.#everybody : this.#others.get(lane);
  }

  #line(lane: number): L {
    const found = this.find(lane);
    if (found) return found;
    const line = this.#makeLine();
    this.#others.set(lane, line);
    return line;
  }
}
