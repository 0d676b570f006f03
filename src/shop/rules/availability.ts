/**
 * How many more of a product can be had, after Pluijmaekers 2020 (sec. 2.2.2). His formulas 2.37 to 2.41 take the minimum of
 * the *stocks* below a product and subtract the product's own sales, which contradicts his tables 1.1 to 1.5: there each
 * product below is reduced by its own units first. The tables decide:
 *
 *     cap(q)  = ⌊stock(q) · (10000 + oversell(q)) / 10000⌋                                   (op4)
 *     own(q)  = cap(q) − counted(q) − what is kept for other lanes       counted by op1, op2 or op3, as q says
 *     A(p)    = max(0, min over q of ⌊own(q) / need_p(q)⌋)
 *
 * and at most the largest number of p whose choice sets can all still be filled to their minimum. That last bound is exact where
 * the members of a set share nothing scarce, or share one scarce product; where they share several in different combinations
 * it may be too high, never too low. What can really be reserved is decided by `unitsLacking`, unit by unit.
 */
import type { CountedBy, OptionalPart, Product } from "./catalogue.ts";
import type { ShownState, UnitCounts } from "./commands.ts";
import type { Needs, SetBelow } from "./needs.ts";

/** One hundred percent, in the hundredths of a percent that `oversell` is in. */
const WHOLE = 10_000;
const NOTHING: UnitCounts = { reserved: 0, pending: 0, sold: 0 };

/** What the ledger knows of the units of one product. */
export interface StockState {
  /** After all changes; null: without end. */
  readonly stock: number | null;
  readonly counts: UnitCounts;
  /** Of these, the units of visitors in lanes that have a hold-back. */
  readonly byLane: ReadonlyMap<string, UnitCounts>;
}

/** What availability is computed from. */
export interface StockShelf {
  readonly products: ReadonlyMap<string, Product>;
  readonly needs: Needs;
  stateOf(product: string): StockState;
}

/** Whether nobody is to know of a product yet. */
export function isNotYetShown({ isHiddenBefore, saleStart }: Product, now: number): boolean {
  return isHiddenBefore && saleStart !== null && now < saleStart;
}

/** Whether a product is shown in a room, or at all where no room is named. */
export function isShownIn(product: Product, room: string | null, now: number): boolean {
  if (product.isPool || isNotYetShown(product, now)) return false;
  return room === null || product.rooms === null || product.rooms.includes(room);
}

/** The most units that may be sold; null: without end. Exact: no product of large numbers is made. */
export function cap(stock: number | null, oversell: number): number | null {
  if (stock === null) return null;
  const factor = WHOLE + oversell;
  return Math.floor(stock / WHOLE) * factor + Math.floor(((stock % WHOLE) * factor) / WHOLE);
}

/** The units that count against the cap. */
export function countedUnits({ reserved, pending, sold }: UnitCounts, countedBy: CountedBy): number {
  if (countedBy === "sold") return sold;
  return countedBy === "pending" ? sold + pending : sold + pending + reserved;
}

/** Units of this product alone that a visitor in this lane may still take; below zero after a shortfall; null: without end. */
export function own(product: Product, state: StockState, lane: string | null): number | null {
  const most = cap(state.stock, product.oversell);
  return most === null
    ? null
    : most - countedUnits(state.counts, product.countedBy) - keptFromLane(product, state, lane);
}

/** Units that hold-backs still keep for lanes other than this one. */
function keptFromLane(product: Product, { byLane }: StockState, lane: string | null): number {
  let units = 0;
  for (const kept of product.holdBacks) {
    if (kept.lane === lane) continue;
    units += Math.max(0, kept.count - countedUnits(byLane.get(kept.lane) ?? NOTHING, product.countedBy));
  }
  return units;
}

/** How many more of a product a visitor in this lane could have; null: without end. */
export function available(product: string, shelf: StockShelf, lane: string | null): number | null {
  return new Reckoning(shelf, lane).available(product);
}

/** The first of these units that a visitor in this lane cannot have, with what is left of that product; null: all can be had. */
export function unitsLacking(
  units: ReadonlyMap<string, number>,
  shelf: StockShelf,
  lane: string | null,
): { readonly product: string; readonly left: number } | null {
  for (const [id, wanted] of units) {
    const left = own(shelf.products.get(id)!, shelf.stateOf(id), lane);
    if (left !== null && left < wanted) return { product: id, left: Math.max(0, left) };
  }
  return null;
}

/** What everyone is shown: none left may come back from baskets, or only from failed payments, or not at all. */
export function shownState(product: string, shelf: StockShelf, lane: string | null): ShownState {
  const couldHave = (of: StockShelf) => available(product, of, lane) !== 0;
  if (couldHave(shelf)) return "available";
  const emptied = without(shelf, ({ pending, sold }) => ({ reserved: 0, pending, sold }));
  if (couldHave(emptied)) return "inBaskets";
  const failed = without(shelf, ({ sold }) => ({ reserved: 0, pending: 0, sold }));
  return couldHave(failed) ? "inPayment" : "soldOut";
}

/** The shelf as it would be with other counts. */
function without(shelf: StockShelf, change: (counts: UnitCounts) => UnitCounts): StockShelf {
  const stateOf = (product: string): StockState => {
    const { stock, counts, byLane } = shelf.stateOf(product);
    const lanes = Array.from(byLane, ([lane, counts]) => [lane, change(counts)] as const);
    return { stock, counts: change(counts), byLane: new Map(lanes) };
  };
  return { products: shelf.products, needs: shelf.needs, stateOf };
}

/** One computation: members of sets that are met again are not computed again. */
class Reckoning {
  readonly #shelf: StockShelf;
  readonly #lane: string | null;
  readonly #members = new Map<string, number | null>();

  constructor(shelf: StockShelf, lane: string | null) {
    this.#shelf = shelf;
    this.#lane = lane;
  }

  available(product: string): number | null {
    const { needs } = this.#shelf;
    let most = this.#times(needs.least(product));
    for (const below of needs.setsBelow(product)) {
      if (most === 0) break;
      most = this.#timesFilled(below, needs.of(product), most);
    }
    return most;
  }

  /** How often these units can be taken; null: without end. */
  #times(units: ReadonlyMap<string, number>, taken: ReadonlyMap<string, number> | null = null, often = 0) {
    let most: number | null = null;
    for (const [id, each] of units) {
      const left = this.#own(id);
      if (left === null) continue;
      const times = Math.max(0, Math.floor((left - often * (taken?.get(id) ?? 0)) / each));
      if (most === null || times < most) most = times;
    }
    return most;
  }

  /** The largest k, at most `most`, for which the set can be filled k times beside what k units of the product need. */
  #timesFilled({ set, parents }: SetBelow, needs: ReadonlyMap<string, number>, most: number | null) {
    const members = set.from.filter(({ product }) => this.#member(product) !== null);
    const endless = set.from.filter(({ product }) => this.#member(product) === null);
    const missing = (set.min - sum(endless.map(({ max }) => max))) * parents;
    if (missing <= 0) return most;
    const left = sum(members.map(({ product }) => this.#member(product)!));
    const highest = Math.floor(left / missing);
    const fills = (k: number) =>
      sum(members.map((member) => this.#chosen(member, { k, parents, needs }))) >= missing * k;
    return largest(most === null ? highest : Math.min(most, highest), fills);
  }

  /** Units of a member that k products could have chosen. */
  #chosen(
    { product, max }: OptionalPart,
    { k, parents, needs }: { k: number; parents: number; needs: ReadonlyMap<string, number> },
  ): number {
    const left = this.#times(this.#shelf.needs.least(product), needs, k)!;
    return Math.min(max * parents * k, left, this.#member(product)!);
  }

  #member(product: string): number | null {
    let answer = this.#members.get(product);
    if (answer === undefined) {
      answer = this.available(product);
      this.#members.set(product, answer);
    }
    return answer;
  }

  #own(id: string): number | null {
    return own(this.#shelf.products.get(id)!, this.#shelf.stateOf(id), this.#lane);
  }
}

/** The largest number up to `most` that is good, where all below a good one are good and 0 is. */
function largest(most: number, isGood: (k: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = low + Math.ceil((high - low) / 2);
    if (isGood(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
