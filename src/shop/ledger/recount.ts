/** Counts of products from the log alone: every movement since the beginning, of which the oldest may be folded into sums. */

import type { LedgerEntry } from "../rules/book/movements.ts";
import { DamagedRecord, type RecordShape, readStored } from "../rules/book/stored-records.ts";
import type { UnitCounts } from "../rules/commands.ts";

/** Sums of the log's oldest entries, by product. */
export const FOLDED_PREFIX = "folded/";
/** The number of the last entry in these sums. */
export const FOLDED_KEY = "folded";

/** A product's counts and stock as movements made them. */
export interface Recounted {
  stock: number | null;
  readonly counts: { -readonly [Place in keyof UnitCounts]: number };
}

export class Recount {
  readonly products = new Map<string, Recounted>();
  #last = 0;

  /** The number of the last entry that is counted. */
  get last(): number {
    return this.#last;
  }

  /** Goes on from sums. */
  restore(key: string, text: string): void {
    if (key === FOLDED_KEY) this.#last = readStored(key, text, "count");
    else this.products.set(key.slice(FOLDED_PREFIX.length), readStored<Recounted>(key, text, FOLDED_SHAPE));
  }

  /** Counts the next entry. `key`: the record that it is in. */
  add(key: string, { number, from, to, units }: LedgerEntry): void {
    if (number !== this.#last + 1)
      throw new DamagedRecord(key, `entry ${number} of the log follows entry ${this.#last}`);
    this.#last = number;
    for (const [product, count] of units) {
      const recounted = this.#of(product);
      if (to === "set") recounted.stock = count;
      else if (to === "stock") recounted.stock = (recounted.stock ?? 0) + (count ?? 0);
      else if (to !== null) recounted.counts[to] += count ?? 0;
      if (from !== null) recounted.counts[from] -= count ?? 0;
    }
  }

  #of(product: string): Recounted {
    let recounted = this.products.get(product);
    if (!recounted) {
      recounted = { stock: 0, counts: { reserved: 0, pending: 0, sold: 0 } };
      this.products.set(product, recounted);
    }
    return recounted;
  }
}

const FOLDED_SHAPE: RecordShape = {
  fields: {
    stock: { orNull: "count" },
    counts: { fields: { reserved: "count", pending: "count", sold: "count" } },
  },
};
