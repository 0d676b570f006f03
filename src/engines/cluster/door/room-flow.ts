/**
 * A room's rate at one node. The flow itself is with the root, which counts for all; what it lets a node's newcomers
 * straight through with is handed out in counting rounds, as leave for so many, good for a second. A node that has the
 * whole door, and the root in a round, ask the flow; everyone else asks how much leave is left.
 *
 * In no minute do more enter than may. The root gives a turn only while those who entered in the last minute, those with a firm
 * turn anywhere and the leave that is out are fewer; nodes report who used a firm turn (`turn-news.ts`) with the round in which
 * that turn is counted no longer. Leave counts as used at the last instant at which it can be; what is not used is given back with the
 * next round.
 */
import { Flow, type HandedFlow, type TurnsOut } from "../../../core/flow.ts";

const LEAVE_GOOD_MS = 1_000;

export class RoomFlow {
  readonly #flow = new Flow();
  /** Newcomers who may go straight through before the next round. */
  leave = 0;
  #leaveUntil = Number.NEGATIVE_INFINITY;
  /** Who came in without leave, where none was needed or visits began again, since the last round. */
  uncharged = 0;
  /** How many firm turns may be used before the next round. */
  entries = Number.POSITIVE_INFINITY;
  /** True while the flow itself is to be asked. */
  isRoot = true;
  /** The part of the rate that is left to those who are not lost. */
  share = 1;

  allowance(perMinute: number | null, now: number, out?: TurnsOut): number {
    if (perMinute === null) return Number.POSITIVE_INFINITY;
    if (this.isRoot) return this.#flow.allowance(perMinute * this.share, now, out);
    return now < this.#leaveUntil ? this.leave : 0;
  }

  /** A turn that is firm is counted by the root: whoever has one enters, but where the rate was lowered since. */
  entriesLeft(perMinute: number | null, now: number): number {
    if (perMinute === null) return Number.POSITIVE_INFINITY;
    if (this.isRoot) return this.#flow.entriesLeft(this.#scaled(perMinute), now);
    return Math.max(this.entries, this.allowance(perMinute, now));
  }

  giveTurns(perMinute: number | null, count: number, now: number): void {
    if (this.isRoot) this.#flow.giveTurns(this.#scaled(perMinute), count, now);
    else if (perMinute === null) this.uncharged += count;
    else this.leave -= count;
  }

  giveTurnsBack(count: number, now: number): void {
    if (this.isRoot) this.#flow.giveTurnsBack(count, now);
  }

  /** Elsewhere these used firm turns, and are reported. */
  enter(count: number, now: number): void {
    if (this.isRoot) this.#flow.enter(count, now);
    else if (this.entries > 0) this.entries -= count;
    else this.leave -= count;
  }

  /** So many came in by slots in hand, whatever the rate. With leave it is used; otherwise the root hears of it, and others pay. */
  take(perMinute: number | null, count: number, now: number): void {
    if (this.isRoot) this.#flow.take(this.#scaled(perMinute), count, now);
    else if (perMinute !== null && this.allowance(perMinute, now) > 0) this.leave -= count;
    else this.uncharged += count;
  }

  /** By the root: leave for so many is handed out. */
  grant(perMinute: number, count: number, now: number): void {
    this.#flow.take(this.#scaled(perMinute), count, now + LEAVE_GOOD_MS);
  }

  /** By the root: what became of leave since the last round. More may have come in than had leave, where none was needed. */
  settle(
    perMinute: number | null,
    { back, uncharged }: { back: number; uncharged: number },
    now: number,
  ): void {
    if (back > 0) this.#flow.giveBack(this.#scaled(perMinute), back);
    const more = uncharged - Math.min(0, back);
    if (more > 0) this.#flow.take(this.#scaled(perMinute), more, now);
  }

  /** What would be if there were leave for one more. */
  ifThereWereLeave<T>(look: () => T): T {
    const { leave } = this;
    const until = this.#leaveUntil;
    this.leave = 1;
    this.#leaveUntil = Number.POSITIVE_INFINITY;
    const seen = look();
    this.leave = leave;
    this.#leaveUntil = until;
    return seen;
  }

  /** Leave that was handed to this node, good from now on. */
  receive(leave: number, now: number): void {
    this.leave += leave;
    this.#leaveUntil = now + LEAVE_GOOD_MS;
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

  #scaled(perMinute: number | null): number | null {
    return perMinute === null ? null : perMinute * this.share;
  }
}
