/**
 * What has happened in a room so far, for the board, the operator's counts and the measure of how fair it is: totals by the
 * owner who told of it, and whose turns came when.
 */
import { NO_TOTALS, type Totals } from "../../../core/engine.ts";
import type { Turn } from "../../../core/fairness.ts";

const TURNS_REMEMBERED_MAX = 1_000;

type TotalsSoFar = { -readonly [Key in keyof Totals]: number };

/** Someone was let in, by the owner of the log with that index. */
interface LetIn {
  readonly lane: number;
  readonly key: number;
  readonly origin: number;
}

export class Tallies {
  readonly #totals = new Map<number, TotalsSoFar>();
  readonly #recent: Turn[] = [];
  readonly #highest = new Map<number, number>();
  readonly #letIn = new Map<number, number>();
  #recentNext = 0;

  /** Those of one owner, to be counted on. */
  totalsOf(origin: number): TotalsSoFar {
    let totals = this.#totals.get(origin);
    if (!totals) {
      totals = { ...NO_TOTALS };
      this.#totals.set(origin, totals);
    }
    return totals;
  }

  setTotals(origin: number, totals: Totals): void {
    this.#totals.set(origin, { ...totals });
  }

  forgetTotals(origin: number): void {
    this.#totals.delete(origin);
  }

  /** Of all owners together. */
  totals(): Totals {
    const sum: TotalsSoFar = { ...NO_TOTALS };
    for (const one of this.#totals.values())
      for (const key of Object.keys(sum) as (keyof Totals)[]) sum[key] += one[key];
    return sum;
  }

  noteAdmitted({ lane, key, origin }: LetIn): void {
    this.totalsOf(origin).admitted++;
    this.#letIn.set(lane, (this.#letIn.get(lane) ?? 0) + 1);
    this.#highest.set(lane, Math.max(this.#highest.get(lane) ?? 0, key));
  }

  admittedIn(lane: number): number {
    return this.#letIn.get(lane) ?? 0;
  }

  /** The highest key of a lane that was let in. */
  highestAdmitted(lane: number): number {
    return this.#highest.get(lane) ?? 0;
  }

  /** A turn that says how fair the room is. */
  remember(key: number, at: number): void {
    this.#recent[this.#recentNext++ % TURNS_REMEMBERED_MAX] = { joined: key, admitted: at };
  }

  get recent(): readonly Turn[] {
    return this.#recent;
  }
}
