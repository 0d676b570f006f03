/**
 * The second look at the stock: of products that count only pending units (op2) when a basket is finished, and of those that
 * count only sold ones (op1) when it is paid. It is made for the whole basket at once, in the same step in which the units move.
 */
import type { CountedBy } from "../catalogue.ts";
import { type Hold, unitsOf } from "./holds.ts";
import type { ShopState } from "./shop-state.ts";

/** The holds that cannot be had any more when their units come to count at `place`: the later ones where not all can. */
export function lostHolds(shop: ShopState, holds: readonly Hold[], place: CountedBy, lane: string): Hold[] {
  const all = unitsOf(holds.map(({ line }) => line));
  if (shop.stock.lackingAt(place, all, lane) === null) return [];
  const had = new Map<string, number>();
  return holds.filter(({ line }) => {
    const with_ = unitsOf([line], new Map(had));
    if (shop.stock.lackingAt(place, with_, lane) !== null) return true;
    for (const [product, units] of with_) had.set(product, units);
    return false;
  });
}
