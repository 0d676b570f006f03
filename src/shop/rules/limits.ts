/**
 * What one customer may have: items in all (cs3), units of one product (cs4), and items added in any window of a length (cs2), after
 * Pluijmaekers 2020. Limits count what is in baskets, in payment and sold, over all visits of the customer. A release makes
 * room for another item, but gives nothing back to the window: otherwise taking and releasing in turn would be without limit.
 *
 * The window is half open, as in formula 2.32: at `now`, additions after `now - everyMs` count.
 */
import type { Catalogue, ShopPolicies } from "./catalogue.ts";
import type { ShopRefusal } from "./commands.ts";

/** What limits know of one customer. */
export interface CustomerRecord {
  /** Units by product that limits count: reserved, pending and sold. */
  readonly units: ReadonlyMap<string, number>;
  /** The latest additions, the oldest first: never more than the window can hold. */
  readonly additions: readonly Addition[];
}

export interface Addition {
  readonly at: number;
  readonly items: number;
}

/** Units of a product about to be taken. */
export interface TakenUnits {
  readonly product: string;
  readonly units: number;
  /** The product of a hold, not a part of it or chosen with it. */
  readonly isTicket: boolean;
}

export const NEW_CUSTOMER: CustomerRecord = { units: new Map(), additions: [] };

/** The units by product that limits count among these: tickets only, or everything except pools. */
export function limitedUnits(
  lines: Iterable<TakenUnits>,
  { products, policies }: Pick<Catalogue, "products" | "policies">,
): Map<string, number> {
  const found = new Map<string, number>();
  for (const { product, units, isTicket } of lines) {
    if (policies.limitCounts === "tickets" ? !isTicket : products.get(product)?.isPool) continue;
    found.set(product, (found.get(product) ?? 0) + units);
  }
  return found;
}

/** Why a customer may not have these units now (as `limitedUnits` gives them); null: they may. */
export function limitReached(
  customer: CustomerRecord,
  added: ReadonlyMap<string, number>,
  { products, policies }: Pick<Catalogue, "products" | "policies">,
  now: number,
): ShopRefusal | null {
  const items = total(added);
  const { itemsMax } = policies;
  if (itemsMax !== null && items > 0 && total(customer.units) + items > itemsMax)
    return { kind: "refused", code: "limitReached", limit: "items", product: null, max: itemsMax };
  for (const [product, units] of added) {
    const max = products.get(product)?.limitPerCustomer ?? null;
    if (max !== null && (customer.units.get(product) ?? 0) + units > max)
      return { kind: "refused", code: "limitReached", limit: "product", product, max };
  }
  return tooFast(customer.additions, items, policies.burst, now);
}

/** The additions to remember once `items` have been added. */
export function withAddition(
  additions: readonly Addition[],
  items: number,
  burst: ShopPolicies["burst"],
  now: number,
): readonly Addition[] {
  if (burst === null) return [];
  const within = additions.filter(({ at }) => at > now - burst.everyMs);
  return items === 0 ? within : [...within, { at: now, items }];
}

function tooFast(
  additions: readonly Addition[],
  items: number,
  burst: ShopPolicies["burst"],
  now: number,
): ShopRefusal | null {
  if (burst === null || items === 0) return null;
  if (items > burst.items)
    return { kind: "refused", code: "limitReached", limit: "items", product: null, max: burst.items };
  const within = additions.filter(({ at }) => at > now - burst.everyMs);
  let surplus = within.reduce((sum, one) => sum + one.items, items) - burst.items;
  if (surplus <= 0) return null;
  for (const { at, items: leaving } of within) {
    surplus -= leaving;
    if (surplus <= 0) return { kind: "refused", code: "tooFast", retryAt: at + burst.everyMs };
  }
  throw new Error("a window without additions has room for its own number of items");
}

function total(units: ReadonlyMap<string, number>): number {
  let sum = 0;
  for (const count of units.values()) sum += count;
  return sum;
}
