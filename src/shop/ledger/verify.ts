/**
 * Recounts a shop from its stored records, and compares: the counts of each product must be what the log's movements add up to,
 * and also what baskets and orders hold. Both are made of other records than the counts themselves, so damage to one of the three, or a
 * mistake in the rules, shows as a difference. It reads records only, in any order but the log's own, and needs no running shop.
 */
import { BASKET_PREFIX, basketOfText, linesIn, unitPlaceOf } from "../rules/book/baskets.ts";
import { unitsOf } from "../rules/book/holds.ts";
import { LOG_PREFIX, logEntries } from "../rules/book/movements.ts";
import { ORDER_PREFIX, orderOfText, soldUnits } from "../rules/book/orders.ts";
import { COUNT_PREFIX, type ProductStock, stockOfText } from "../rules/book/stock.ts";
import { DamagedRecord } from "../rules/book/stored-records.ts";
import type { UnitCounts } from "../rules/commands.ts";
import { FOLDED_KEY, FOLDED_PREFIX, Recount } from "./recount.ts";

export type Verified =
  | { readonly kind: "clean"; readonly products: number; readonly entries: number }
  /** The first difference, as a sentence. */
  | { readonly kind: "different"; readonly difference: string };

const PLACES = ["reserved", "pending", "sold"] as const;

type Counts = { -readonly [Place in keyof UnitCounts]: number };

/** Takes all records of a shop, those of the log in their order, and compares at the end. */
export class Verification {
  readonly #recount = new Recount();
  readonly #stocks = new Map<string, ProductStock>();
  /** What baskets and orders hold, by product. */
  readonly #held = new Map<string, Counts>();
  /** What the baskets of one lane hold, by lane and product. */
  readonly #inLanes = new Map<string, Map<string, Counts>>();
  #damage: string | null = null;

  read(key: string, text: string): void {
    try {
      this.#take(key, text);
    } catch (error) {
      if (!(error instanceof DamagedRecord)) throw error;
      this.#damage ??= error.message;
    }
  }

  finish(): Verified {
    const difference = this.#damage ?? this.#firstDifference();
    if (difference !== null) return { kind: "different", difference };
    return { kind: "clean", products: this.#stocks.size, entries: this.#recount.last };
  }

  #take(key: string, text: string): void {
    if (key.startsWith(COUNT_PREFIX))
      this.#stocks.set(key.slice(COUNT_PREFIX.length), stockOfText(key, text));
    else if (key.startsWith(BASKET_PREFIX)) this.#takeBasket(key, text);
    else if (key.startsWith(ORDER_PREFIX))
      this.#hold(this.#held, soldUnits(orderOfText(key, text).tickets), "sold");
    else if (key.startsWith(FOLDED_PREFIX) || key === FOLDED_KEY) this.#recount.restore(key, text);
    else if (key.startsWith(LOG_PREFIX))
      for (const entry of logEntries(key, text)) this.#recount.add(key, entry);
  }

  #takeBasket(key: string, text: string): void {
    const basket = basketOfText(key, text);
    const place = unitPlaceOf(basket);
    if (place === null) return;
    const units = unitsOf(linesIn(basket));
    this.#hold(this.#held, units, place);
    const inLane = this.#inLanes.get(basket.lane) ?? new Map<string, Counts>();
    this.#inLanes.set(basket.lane, inLane);
    this.#hold(inLane, units, place);
  }

  #hold(held: Map<string, Counts>, units: ReadonlyMap<string, number>, place: keyof UnitCounts): void {
    for (const [product, count] of units) {
      const counts = held.get(product) ?? { reserved: 0, pending: 0, sold: 0 };
      counts[place] += count;
      held.set(product, counts);
    }
  }

  #firstDifference(): string | null {
    for (const product of [...this.#recount.products.keys(), ...this.#held.keys()])
      if (!this.#stocks.has(product))
        return `${product} is in the log, in a basket or in an order and has no count`;
    for (const [product, stock] of this.#stocks) {
      const difference = this.#differenceOf(product, stock);
      if (difference !== null) return difference;
    }
    return null;
  }

  #differenceOf(product: string, { stock, counts, settled, byLane }: ProductStock): string | null {
    const logged = this.#recount.products.get(product);
    const held = this.#held.get(product);
    if (logged && logged.stock !== stock)
      return `stock of ${product}: the count has ${stock}, the log ${logged.stock}`;
    for (const place of PLACES) {
      const inLog = logged?.counts[place] ?? 0;
      if (inLog !== counts[place])
        return `${place} units of ${product}: the count has ${counts[place]}, the log ${inLog}`;
      const kept = (held?.[place] ?? 0) + (place === "sold" ? settled : 0);
      if (kept !== counts[place])
        return `${place} units of ${product}: the count has ${counts[place]}, baskets and orders ${kept}`;
    }
    for (const [lane, inLane] of byLane)
      for (const place of ["reserved", "pending"] as const) {
        const kept = this.#inLanes.get(lane)?.get(product)?.[place] ?? 0;
        if (kept !== inLane[place])
          return `${place} units of ${product} in the lane ${lane}: the count has ${inLane[place]}, baskets ${kept}`;
      }
    return null;
  }
}
