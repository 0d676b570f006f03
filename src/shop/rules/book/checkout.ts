/**
 * From browsing to paying, and away. `finish` moves the whole basket from reserved to pending, or leaves it as it is. The end of
 * browsing does the same for who did not: what is incomplete or cannot be had any more is released and named.
 */

import type { BasketAnswer, Shopper, ShopRefusal } from "../commands.ts";
import type { Basket } from "./baskets.ts";
import { isValid } from "./holds.ts";
import { answer, depart, endWithOffers, releaseHolds, toDone, toPaying } from "./life.ts";
import { lostHolds } from "./recheck.ts";
import { browsingBasket, invalid } from "./reserve.ts";
import type { ShopState } from "./shop-state.ts";

export function finish(shop: ShopState, shopper: Shopper, now: number): BasketAnswer {
  const basket = browsingBasket(shop, shopper);
  if ("code" in basket) return basket;
  if (basket.holds.length === 0) return invalid(null, "the basket is empty");
  const unfinished = basket.holds.find(({ line }) => !isValid(line, shop.editions.of));
  if (unfinished)
    return invalid(unfinished.line.product, `the hold ${unfinished.line.id} still lacks choices`);
  const lost = lostHolds(shop, basket.holds, "pending", basket.lane);
  if (lost.length > 0)
    return lostToOthers(
      shop,
      basket,
      lost.map(({ line }) => line),
    );
  toDone(shop, basket, now);
  return answer(shop, basket);
}

/** The visitor passed the payment door. */
export function enterPayment(shop: ShopState, shopper: Shopper, now: number): BasketAnswer {
  const basket = pendingBasket(shop, shopper);
  if ("code" in basket) return basket;
  if (basket.phase === "done") toPaying(shop, basket, now);
  return answer(shop, basket);
}

/** Ends a basket by its owner's wish. While a payment is under way, the provider's word decides, or the deadline. */
export function leave(shop: ShopState, shopper: Shopper, now: number): BasketAnswer {
  const basket = shop.baskets.get(shopper.visitor);
  if (!basket) return { kind: "refused", code: "noBasket" };
  if (basket.phase === "departed") return answer(shop, basket);
  if (hasOpenAttempt(basket)) {
    basket.isLeaving = true;
    shop.baskets.save(basket);
  } else depart(shop, basket, "leave", now);
  return answer(shop, basket);
}

/** The visit was ended by somebody's word: who was still browsing gives everything back. */
export function visitEnded(shop: ShopState, visitor: string, now: number): void {
  const basket = shop.baskets.get(visitor);
  if (basket?.phase !== "browsing") return;
  depart(shop, basket, "leave", now);
  shop.unasked.add(visitor);
}

/** What happens at the end of browsing, and of offers in the basket. */
export function endBrowsing(shop: ShopState, basket: Basket, now: number): void {
  const isOver = ({ offerEndsAt }: { offerEndsAt: number | null }) =>
    offerEndsAt !== null && offerEndsAt <= now;
  releaseHolds(shop, basket, basket.holds.filter(isOver), now);
  if (now < basket.windowEndsAt) return;
  if (basket.holds.some(({ offerEndsAt }) => offerEndsAt === null)) return finishForOwner(shop, basket, now);
  endWithOffers(shop, basket, now);
}

/** The basket of a visitor who has finished and not departed, or why there is none. */
export function pendingBasket(shop: ShopState, { visitor }: Shopper): Basket | ShopRefusal {
  const basket = shop.baskets.get(visitor);
  if (!basket) return { kind: "refused", code: "noBasket" };
  if (basket.phase === "departed") return { kind: "refused", code: "expired" };
  return basket.phase === "browsing" ? { kind: "refused", code: "wrongPhase" } : basket;
}

/** Whether the provider may still say something about money for this basket. */
export function hasOpenAttempt({ attempts }: Basket): boolean {
  return attempts.some(({ state }) => state === "open" || state === "authorised");
}

function finishForOwner(shop: ShopState, basket: Basket, now: number): void {
  releaseHolds(
    shop,
    basket,
    basket.holds.filter(({ line }) => !isValid(line, shop.editions.of)),
    now,
  );
  releaseHolds(shop, basket, lostHolds(shop, basket.holds, "pending", basket.lane), now);
  if (basket.holds.length === 0) return depart(shop, basket, "ended", now);
  toDone(shop, basket, now);
  shop.unasked.add(basket.visitor);
}

function lostToOthers(
  shop: ShopState,
  basket: Basket,
  lines: readonly { readonly id: string; readonly product: string }[],
): ShopRefusal {
  const { product } = lines[0]!;
  const left = shop.shown.look(product, basket.lane).available ?? 0;
  return { kind: "refused", code: "insufficientStock", product, left, holds: lines.map(({ id }) => id) };
}
