/**
 * A room's rate at one node. The root has the flow, which counts for all nodes. What a node's newcomers need to go straight
 * through is handed out in counting rounds: leave for a number of them, valid for a second. A lone node, and the root during a
 * round, ask the flow; any other node checks how much leave it has.
 *
 * In no minute do more enter than allowed. The root gives a turn only while recent entries, firm turns and outstanding leave add
 * up to fewer. Nodes report the use of a firm turn (`turn-news.ts`) in the same round that stops counting that turn. Leave counts
 * as used at the last instant at which it can be; unused leave is given back with the next round.
 */
import { Flow, type HandedFlow, type TurnsOut } from "../../../core/flow.ts";

const LEAVE_GOOD_MS = 1_000;

export class RoomFlow {
  readonly #flow = new Flow();
  /** How many newcomers may go straight through before the next round. */
  leave = 0;
  #leaveUntil = Number.NEGATIVE_INFINITY;
  /** Entries without leave since the last round: none was needed, or a visit began again. */
  uncharged = 0;
  /** How many firm turns may be used before the next round. */
  entries = Number.POSITIVE_INFINITY;
  /** True while the flow itself is asked. */
  isRoot = true;
  /** This part's share of the rate: members that are lost keep theirs. */
  share = 1;

  allowance(perMinute: number | null, now: number, out?: TurnsOut): number {
    if (perMinute === null) return Number.POSITIVE_INFINITY;
    if (this.isRoot) return this.#flow.allowance(perMinute * this.share, now, out);
    return now < this.#leaveUntil ? this.leave : 0;
  }

  /** The root counts firm turns, so their holders may enter, unless the rate was lowered since. */
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

  /** On other nodes than the root: a firm turn was used, and is reported. */
  enter(count: number, now: number): void {
    if (this.isRoot) this.#flow.enter(count, now);
    else if (this.entries > 0) this.entries -= count;
    else this.leave -= count;
  }

  /**
   * Counts entries by slots in hand, whatever the rate: against leave if there is any; otherwise the root is told, and charges
   * others.
   */
  take(perMinute: number | null, count: number, now: number): void {
    if (this.isRoot) this.#flow.take(this.#scaled(perMinute), count, now);
    else if (perMinute !== null && this.allowance(perMinute, now) > 0) this.leave -= count;
    else this.uncharged += count;
  }

  grant(perMinute: number, count: number, now: number): void {
    this.#flow.take(this.#scaled(perMinute), count, now + LEAVE_GOOD_MS);
  }

  /** At the root: what became of leave since the last round. More may have entered than had leave, where none was needed. */
  settle(
    perMinute: number | null,
    { back, uncharged }: { back: number; uncharged: number },
    now: number,
  ): void {
    if (back > 0) this.#flow.giveBack(this.#scaled(perMinute), back);
    const more = uncharged - Math.min(0, back);
    if (more > 0) this.#flow.take(this.#scaled(perMinute), more, now);
  }

  /** What `look` would see with leave for one more. */
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

  receive(leave: number, now: number): void {
    this.leave += leave;
    this.#leaveUntil = now + LEAVE_GOOD_MS;
  }

  bySecond(now: number): Map<number, number> {
    return this.#flow.bySecond(now);
  }

  /** The doorkeeper's memo has no rate: the flow is handed over by itself. */
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
