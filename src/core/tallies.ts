/** Who was let in so far, by lane, and the latest turns: for the board, the operator's counts and the measure of fairness. */
import type { Turn } from "./fairness.ts";

const TURNS_REMEMBERED_MAX = 1_000;

export class Tallies {
  /** The highest sequence let in, by lane, and how many were. */
  readonly highest = new Map<number, number>();
  readonly letIn = new Map<number, number>();
  /** A ring: the oldest makes room for the next. */
  readonly recent: Turn[] = [];
  #recentNext = 0;

  noteLetIn(lane: number, sequence: number): void {
    this.letIn.set(lane, this.letInOf(lane) + 1);
    this.highest.set(lane, Math.max(this.highestOf(lane), sequence));
  }

  letInOf(lane: number): number {
    return this.letIn.get(lane) ?? 0;
  }

  /** 0: none. */
  highestOf(lane: number): number {
    return this.highest.get(lane) ?? 0;
  }

  /** Remembers a turn that says how fair the room is. */
  remember(sequence: number, now: number): void {
    this.recent[this.#recentNext++ % TURNS_REMEMBERED_MAX] = { joined: sequence, admitted: now };
  }
}
