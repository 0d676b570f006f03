/** The lines of a room, one for each lane that has had people in it. A key is in one of them at the most. */
import type { LineBehind } from "../../../core/missed-turns.ts";
import { BlockLine } from "./block-line.ts";

const NOBODY = new BlockLine();

export class LaneLines {
  #lines = new Map<number, BlockLine>();
  #size = 0;

  /** How many wait in all lanes. */
  get size(): number {
    return this.#size;
  }

  waitingIn(lane: number): number {
    return this.#lines.get(lane)?.size ?? 0;
  }

  add(lane: number, key: number): void {
    let line = this.#lines.get(lane);
    if (!line) {
      line = new BlockLine();
      this.#lines.set(lane, line);
    }
    if (line.add(key)) this.#size++;
  }

  remove(lane: number, key: number): void {
    if (this.#lines.get(lane)?.remove(key)) this.#size--;
  }

  /** Keys before this one in its lane. */
  ahead(lane: number, key: number): number {
    return this.#lines.get(lane)?.rankOf(key) ?? 0;
  }

  /** How many in a lane are at or before this key. */
  countUpTo(lane: number, key: number): number {
    return this.#lines.get(lane)?.countUpTo(key) ?? 0;
  }

  /** The key with `rank` before it in its lane, or -1. */
  at(lane: number, rank: number): number {
    const line = this.#lines.get(lane);
    return line && rank >= 0 && rank < line.size ? line.at(rank) : -1;
  }

  /** One lane's line, for going back in it. */
  behind(lane: number): LineBehind {
    const line = this.#lines.get(lane) ?? NOBODY;
    return { size: line.size, ahead: (sequence) => line.rankOf(sequence), at: (rank) => line.at(rank) };
  }

  /** The smallest key of all lanes; null when nobody waits. */
  first(): number | null {
    let first: number | null = null;
    for (const line of this.#lines.values()) {
      const own = line.first();
      if (own !== null && (first === null || own < first)) first = own;
    }
    return first;
  }

  /** Puts everyone into the lane that `laneOf` says. */
  rearrange(laneOf: (key: number) => number): void {
    const lines = [...this.#lines.values()];
    this.#lines = new Map();
    this.#size = 0;
    for (const line of lines) for (const key of line.keys()) this.add(laneOf(key), key);
  }
}
