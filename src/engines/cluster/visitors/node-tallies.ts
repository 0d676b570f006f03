/** What has happened in a room so far, with totals by owner. */
import { NO_TOTALS, type Totals } from "../../../core/engine.ts";
import { Tallies } from "../../../core/tallies.ts";

type TotalsSoFar = { -readonly [Key in keyof Totals]: number };

/** Owners are known by the index of their log. */
export class NodeTallies extends Tallies {
  readonly #totals = new Map<number, TotalsSoFar>();

  /** The totals of one owner, for counting on. */
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

  /** The sum over all owners. */
  totals(): Totals {
    const sum: TotalsSoFar = { ...NO_TOTALS };
    for (const one of this.#totals.values())
      for (const key of Object.keys(sum) as (keyof Totals)[]) sum[key] += one[key];
    return sum;
  }
}
