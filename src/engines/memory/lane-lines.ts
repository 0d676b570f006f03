/** The lines of a room, one for each lane that has had people in it. A sequence is in one of them at the most. */
import { Line } from "../../core/line.ts";
import type { LineBehind } from "../../core/missed-turns.ts";
import { EVERYBODY } from "../../core/rules.ts";

export class LaneLines {
  /** The line of everybody who is in no other lane. */
  #everybody = new Line();
  #others = new Map<number, Line>();
  #size = 0;

  /** How many wait in all lanes. */
  get size(): number {
    return this.#size;
  }

  waitingIn(lane: number): number {
    return this.#find(lane)?.size ?? 0;
  }

  /** Lanes with people in them. */
  lanes(): number[] {
    const others = [...this.#others].filter(([, line]) => line.size > 0).map(([lane]) => lane);
    return this.#everybody.size > 0 ? [...others, EVERYBODY] : others;
  }

  add(lane: number, sequence: number): void {
    if (this.#line(lane).add(sequence)) this.#size++;
  }

  /** Sees to it that a sequence is in this lane and in no other; null: in none. */
  put(lane: number | null, sequence: number): void {
    if (lane !== EVERYBODY) this.remove(EVERYBODY, sequence);
    for (const other of this.#others.keys()) if (other !== lane) this.remove(other, sequence);
    if (lane !== null) this.add(lane, sequence);
  }

  remove(lane: number, sequence: number): void {
    if (this.#find(lane)?.remove(sequence)) this.#size--;
  }

  /** Living sequences before this one in its lane. */
  ahead(lane: number, sequence: number): number {
    return this.#find(lane)?.ahead(sequence) ?? 0;
  }

  /** The sequence with `rank` before it in its lane, or -1. */
  at(lane: number, rank: number): number {
    return this.#find(lane)?.at(rank) ?? -1;
  }

  /** A lane's line, for those who go back in it. */
  behind(lane: number): LineBehind {
    return this.#line(lane);
  }

  /** Puts everyone into the lane that `laneOf` says. */
  rearrange(laneOf: (sequence: number) => number): void {
    const lines = [this.#everybody, ...this.#others.values()];
    this.#everybody = new Line();
    this.#others = new Map();
    this.#size = 0;
    for (const line of lines) {
      for (let sequence = line.first(); sequence >= 0; sequence = line.first()) {
        line.remove(sequence);
        this.add(laneOf(sequence), sequence);
      }
    }
  }

  #find(lane: number): Line | undefined {
    return lane === EVERYBODY ? this.#everybody : this.#others.get(lane);
  }

  #line(lane: number): Line {
    const found = this.#find(lane);
    if (found) return found;
    const line = new Line();
    this.#others.set(lane, line);
    return line;
  }
}
