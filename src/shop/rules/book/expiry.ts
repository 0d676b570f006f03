/** What ends by itself: phases and offers, the memory of customers, and what is kept for a time only. */

import type { Basket } from "./baskets.ts";
import { endBrowsing } from "./checkout.ts";
import { earliest } from "./due.ts";
import { depart, forgetBasket, forgetIdleCustomer } from "./life.ts";
import { soldUnits } from "./orders.ts";
import type { ShopState } from "./shop-state.ts";

/** What ends in one call; the rest is still due and ends in the next. */
export const EXPIRED_AT_ONCE_MAX = 2_000;

export function expire(shop: ShopState, now: number): void {
  let left = EXPIRED_AT_ONCE_MAX;
  for (; left > 0; left--) {
    const due = shop.deadlines.take(now);
    if (!due) break;
    if (due.what === "basket") expireBasket(shop, shop.baskets.get(due.id), now);
    else if (due.what === "customer") forgetIdleCustomer(shop, due.id, now);
    else if (due.what === "list") shop.shown.touch(due.id);
    else if (due.what === "opening") beginAll(shop, now);
    else beginSale(shop, due.id, now);
  }
  while (left-- > 0 && (shop.keys.forgetOne(now) || shop.events.forgetOne(now) || forgetOrder(shop, now)));
}

/** When something ends next; null: nothing does by itself. */
export function nextDeadline(shop: ShopState): number | null {
  const { deadlines, keys, events, orders } = shop;
  return earliest(deadlines.soonestAt, keys.nextEndAt, events.nextEndAt, orders.nextEndAt);
}

/** Ends a basket's phase, or its offers, if they are over. */
export function expireBasket(shop: ShopState, basket: Basket | undefined, now: number): void {
  if (!basket) return;
  if (basket.phase === "browsing") endBrowsing(shop, basket, now);
  else if (basket.phase === "departed") {
    if (basket.endsAt <= now) forgetBasket(shop, basket);
  } else if (basket.endsAt <= shop.door.at(now)) depart(shop, basket, "ended", now);
}

/** Openings change what is shown, so they have a number of their own in the log. */
function beginAll(shop: ShopState, now: number): void {
  shop.shown.touchAll();
  shop.log.note(now, "opening", "");
}

function beginSale(shop: ShopState, product: string, now: number): void {
  if (!shop.catalogue.products.has(product)) return;
  shop.shown.begin(product);
  shop.log.note(now, "sale", product);
}

/** What a forgotten order sold stays sold. */
function forgetOrder(shop: ShopState, now: number): boolean {
  const order = shop.orders.forgetOne(now);
  if (!order) return false;
  for (const [product, units] of soldUnits(order.tickets)) {
    shop.stock.stateOf(product).settled += units;
    shop.stock.touch(product);
  }
  return true;
}
