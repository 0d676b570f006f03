/**
 * Recounts a shop from its stored records, and compares. The counts of each product must be what the log's movements add up to, at
 * the entry that the product's record is as of; and at the end of the log it must be what baskets and orders hold. All three are
 * records of their own, so damage to one of them, or a mistake in the rules, shows as a difference.
 *
 * It needs no running shop. Records are read in the order of `VERIFIED_PREFIXES`: the log last, and in its own order.
 */
import { BASKET_PREFIX, basketOfText, linesIn, unitPlaceOf } from "../rules/book/baskets.ts";
import { unitsOf } from "../rules/book/holds.ts";
import { type LedgerEntry, LOG_PREFIX, logEntries } from "../rules/book/movements.ts";
import { ORDER_PREFIX, orderOfText, soldUnits } from "../rules/book/orders.ts";
import { COUNT_PREFIX, type ProductStock, stockOfText } from "../rules/book/stock.ts";
import { DamagedRecord } from "../rules/book/stored-records.ts";
import type { UnitCounts } from "../rules/commands.ts";
import { FOLDED_KEY, FOLDED_PREFIX, Recount, type Recounted } from "./recount.ts";

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
  /** Products whose records were compared with the log. */
  readonly #compared = new Set<string>();
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
      for (const entry of logEntries(key, text)) this.#takeEntry(key, entry);
  }

  #takeEntry(key: string, entry: LedgerEntry): void {
    for (const [product] of entry.units) this.#compareBefore(entry.number, product);
    this.#recount.add(key, entry);
    const { number, from, to, lane } = entry;
    for (const [product, count] of entry.units) {
      const stock = this.#stocks.get(product);
      const inLane = lane === null ? undefined : stock?.byLane.get(lane);
      if (!inLane || count === null || number <= stock!.storedAt!) continue;
      if (from !== null) inLane[from] -= count;
      if (to !== null && to !== "stock" && to !== "set") inLane[to] += count;
    }
  }

  /** Compares a product's record with the log up to the entry that the record is as of, when the next one comes. */
  #compareBefore(number: number, product: string): void {
    const stock = this.#stocks.get(product);
    if (!stock || this.#compared.has(product) || number <= stock.storedAt!) return;
    this.#compared.add(product);
    this.#damage ??= this.#differenceToLog(product, stock);
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
      const toLog = this.#compared.has(product) ? null : this.#differenceToLog(product, stock);
      const difference =
        toLog ?? this.#differenceToHeld(product, stock) ?? this.#differenceInLanes(product, stock);
      if (difference !== null) return difference;
    }
    return null;
  }

  #differenceToLog(product: string, { stock, counts }: ProductStock): string | null {
    const logged = this.#recount.products.get(product) ?? NOTHING;
    if (logged.stock !== stock) return `stock of ${product}: the count has ${stock}, the log ${logged.stock}`;
    for (const place of PLACES)
      if (logged.counts[place] !== counts[place])
        return `${place} units of ${product}: the count has ${counts[place]}, the log ${logged.counts[place]}`;
    return null;
  }

  #differenceToHeld(product: string, { settled }: ProductStock): string | null {
    const { counts } = this.#recount.products.get(product) ?? NOTHING;
    for (const place of PLACES) {
      const kept = (this.#held.get(product)?.[place] ?? 0) + (place === "sold" ? settled : 0);
      if (kept !== counts[place])
        return `${place} units of ${product}: the log has ${counts[place]}, baskets and orders ${kept}`;
    }
    return null;
  }

  #differenceInLanes(product: string, { byLane }: ProductStock): string | null {
    for (const [lane, counts] of byLane)
      for (const place of ["reserved", "pending"] as const) {
        const kept = this.#inLanes.get(lane)?.get(product)?.[place] ?? 0;
        if (kept !== counts[place])
          return `${place} units of ${product} in the lane ${lane}: the count has ${counts[place]}, baskets ${kept}`;
      }
    return null;
  }
}

const NOTHING: Recounted = { stock: 0, counts: { reserved: 0, pending: 0, sold: 0 } };
