/**
 * A room's rate at one node. The flow itself is with the root, which counts for all; what it lets a node's newcomers
 * straight through with is handed out in counting rounds, as leave for so many. A node that is alone, and the root in a
 * round, ask the flow; everyone else asks how much leave is left.
 */
import { Flow, type HandedFlow } from "../../core/flow.ts";

export class RoomFlow {
  readonly #flow = new Flow();
  /** Newcomers who may go straight through before the next round. */
  leave = 0;
  /** True while the flow itself is to be asked. */
  isRoot = true;
  /** The part of the rate that is left to those who are not lost. */
  share = 1;

  allowance(perMinute: number | null, now: number): number {
    if (perMinute === null) return Number.POSITIVE_INFINITY;
    return this.isRoot ? this.#flow.allowance(perMinute * this.share, now) : this.leave;
  }

  take(perMinute: number | null, count: number, now: number): void {
    if (this.isRoot) this.#flow.take(perMinute === null ? null : perMinute * this.share, count, now);
    else if (perMinute !== null) this.leave -= count;
  }

  giveBack(perMinute: number | null, count: number): void {
    this.#flow.giveBack(perMinute === null ? null : perMinute * this.share, count);
  }

  bySecond(now: number): Map<number, number> {
    return this.#flow.bySecond(now);
  }

  /** What a doorkeeper remembers of the rate is not from here: the flow is handed over by itself. */
  restore(): void {}

  handOver(now: number): HandedFlow {
    return this.#flow.handOver(now);
  }

  takeOver(handed: HandedFlow, now: number): void {
    this.#flow.takeOver(handed, now);
  }
}
