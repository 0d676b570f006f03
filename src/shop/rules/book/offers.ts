/**
 * The waiting list: who waits for what is sold out is offered what comes back, in the order in which they came. An offer is a hold
 * in the visitor's basket with a deadline of its own, also when they have departed meanwhile; it is taken by finishing the basket.
 * Someone who wants more than has come back is passed over, as in a tie. Nobody is offered anything while they pay.
 */

import { isShownIn, own } from "../availability.ts";
import type { ListAnswer, Shopper } from "../commands.ts";
import type { Basket } from "./baskets.ts";
import { beginBasket, takeLines } from "./life.ts";
import { planTickets } from "./plan.ts";
import { contextOf, invalid, noteAddition, whyNotAllowed, whyNotInStock } from "./reserve.ts";
import type { ShopState } from "./shop-state.ts";
import { LISTED_MAX, LISTS_EACH_MAX, type ListEntry } from "./waiting-lists.ts";

/** How many entries of one list are looked at when something has come back, and as many again of those it would do for. */
const LOOKED_AT_MAX = 100;
/** Beyond those, how many are passed over that want more: a few who want everything do not keep it from the others. */
const PASSED_OVER_MAX = 10_000;

export function joinList(
  shop: ShopState,
  shopper: Shopper,
  { product, count }: { readonly product: string; readonly count: number },
  now: number,
): ListAnswer {
  const { offerMs } = shop.catalogue.policies;
  const sold = shop.catalogue.products.get(product);
  if (offerMs === null) return invalid(product, "the shop has no waiting list");
  if (!sold?.isForSale || !isShownIn(sold, shopper.room, now))
    return { kind: "refused", code: "notOffered", product, reason: "there is no such product" };
  if (!Number.isSafeInteger(count) || count < 1)
    return invalid(product, `the count must be a whole number from 1, not ${String(count)}`);
  const place = shop.lists.unitPlaceOf(product, shopper.visitor);
  if (place) return { kind: "listed", place };
  const { available } = shop.shown.look(product, shopper.lane);
  if (available === null || available >= count) return invalid(product, "it is not sold out");
  if (shop.lists.lengthOf(product) >= LISTED_MAX) return invalid(product, "its waiting list is full");
  if (shop.lists.productsOf(shopper.visitor).size >= LISTS_EACH_MAX)
    return invalid(product, `one visitor may be on ${LISTS_EACH_MAX} waiting lists`);
  const ahead = shop.lists.lengthOf(product);
  shop.lists.add(product, { ...shopper, admittedAt: Math.floor(shopper.admittedAt) }, count);
  // What stays sold out for everyone may have come back before.
  shop.shown.touch(product);
  return { kind: "listed", place: { product, count, ahead } };
}

export function leaveList(shop: ShopState, { visitor }: Shopper, product: string): ListAnswer {
  shop.lists.remove(product, visitor);
  return { kind: "left", product };
}

/** Offers what may have come back of these products and of those above them. True: something was offered. */
export function offerReturned(shop: ShopState, touched: readonly string[], now: number): boolean {
  const { offerMs, opensAt } = shop.catalogue.policies;
  if (shop.lists.isEmpty || offerMs === null || shop.isClosed || (opensAt !== null && now < opensAt))
    return false;
  const listed = new Set<string>();
  for (const product of touched)
    for (const above of shop.stock.needs.affectedBy(product))
      if (shop.lists.lengthOf(above) > 0) listed.add(above);
  let hasOffered = false;
  for (const product of listed) hasOffered = offerInOrder(shop, product, { offerMs, now }) || hasOffered;
  return hasOffered;
}

function offerInOrder(shop: ShopState, product: string, when: { offerMs: number; now: number }): boolean {
  let passedOver = 0;
  let looked = 0;
  let hasOffered = false;
  let left = new Map<string, number>();
  for (const entry of shop.lists.entries(product)) {
    const { lane, visitor } = entry.shopper;
    if (looked >= 2 * LOOKED_AT_MAX || passedOver >= PASSED_OVER_MAX) break;
    if (!left.has(lane)) left.set(lane, unitsLeft(shop, product, lane));
    if (looked >= LOOKED_AT_MAX && entry.count > left.get(lane)!) {
      passedOver++;
      continue;
    }
    looked++;
    const outcome = offer(shop, entry, when);
    if (outcome !== "later") shop.lists.remove(product, visitor);
    if (outcome !== "offered") continue;
    hasOffered = true;
    left = new Map();
  }
  return hasOffered;
}

/** How many of a product there are for a lane, with its parts. */
function unitsLeft({ stock }: ShopState, product: string, lane: string): number {
  let most = Number.POSITIVE_INFINITY;
  for (const [part, units] of stock.needs.of(product)) {
    const left = own(stock.products.get(part)!, stock.stateOf(part), lane);
    if (left !== null) most = Math.min(most, Math.floor(left / units));
  }
  return most;
}

/** `never`: this visitor cannot have it, so they are on the list no more. */
function offer(
  shop: ShopState,
  { product, count, shopper }: ListEntry,
  { offerMs, now }: { offerMs: number; now: number },
): "offered" | "later" | "never" {
  const before = shop.baskets.get(shopper.visitor);
  if (before?.phase === "done" || before?.phase === "paying") return "later";
  const current = before?.phase === "browsing" ? before : undefined;
  const context = { ...contextOf(shop, shopper, current, now), isOffer: true };
  const firstLine = before?.nextLine ?? 1;
  const planned = planTickets({ ...context, firstLine }, { product, count, chosen: [] });
  if ("code" in planned) return planned.code === "notOpen" ? "later" : "never";
  const { lines, nextLine } = planned;
  const customer = before?.customer ?? shopper.customer;
  const refusal = whyNotAllowed(shop, current, { customer, lines }, now);
  if (refusal?.code === "tooFast") shop.deadlines.add(refusal.retryAt, { what: "list", id: product });
  if (refusal) return refusal.code === "tooFast" ? "later" : "never";
  if (whyNotInStock(shop, lines, context.lane)) return "later";
  const offerEndsAt = now + offerMs;
  const basket = current ?? anew(shop, { ...shopper, customer }, before, { offerEndsAt, nextLine, now });
  basket.nextLine = nextLine;
  for (const line of lines) basket.holds.push({ line, offerEndsAt });
  takeLines(shop, basket, lines, now);
  noteAddition(shop, basket, lines, now);
  shop.baskets.save(basket);
  shop.deadlines.add(offerEndsAt, { what: "basket", id: basket.key });
  shop.unasked.add(basket.visitor);
  return "offered";
}

/** Another basket for a visitor who has departed. */
function anew(
  shop: ShopState,
  shopper: Shopper,
  before: Basket | undefined,
  { now, ...parts }: { offerEndsAt: number; nextLine: number; now: number },
): Basket {
  if (before) {
    if (before.attempts.length === 0) shop.baskets.forget(before);
    else {
      shop.baskets.archive(before);
      shop.deadlines.add(before.endsAt, { what: "basket", id: before.key });
    }
  }
  return beginBasket(shop, shopper, parts, now);
}
