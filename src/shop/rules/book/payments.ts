/**
 * Payment attempts and what the provider says about them. Its events come at least once, late and in any order; each is answered
 * with what is to be done with the money, and the same event is always answered the same.
 *
 *   authorised   the goods are still held        capture, else void
 *   succeeded    the goods are still held        sold
 *                the hold has ended              taken again whole, or refunded, as the shop has it
 *                another attempt was paid        refunded
 *   failed       attempts are left               the goods stay held
 *                it was the last, or its owner   the goods are returned
 *                has left
 *   refunded     its order was sold              the order is refunded
 *
 * A payment over another amount or in another currency is one that failed: it is voided or refunded.
 *
 * Money is refunded at most once for each attempt: after the first answer `refund` no event of the attempt leads to another.
 */
import { unitsLacking } from "../availability.ts";
import type { PayAnswer, PaymentEvent, PaymentReply, Shopper } from "../commands.ts";
import { limitedUnits, limitReached } from "../limits.ts";
import { type Basket, linesIn, type PayAttempt } from "./baskets.ts";
import { hasOpenAttempt, pendingBasket } from "./checkout.ts";
import { priceOf, takenUnits, unitsOf } from "./holds.ts";
import { depart, sell, toPaying, viewOf } from "./life.ts";
import { cancelTickets } from "./order-changes.ts";
import { lostHolds } from "./recheck.ts";
import type { ShopState } from "./shop-state.ts";

/** For the order that may come of an event: secrets for as many tickets as the basket has, or more. */
export interface OrderParts {
  readonly orderId: string;
  readonly secrets: readonly string[];
}

type Action = PaymentReply["action"];

/** Begins an attempt, unless the money of another is on its way. Without a payment room nobody needs to pass a door first. */
export function pay(
  shop: ShopState,
  shopper: Shopper,
  { attempt }: { readonly attempt: string },
  now: number,
): PayAnswer {
  const basket = pendingBasket(shop, shopper);
  if ("code" in basket) return basket;
  const { room, attemptsMax } = shop.catalogue.policies.payment;
  const isCapturing = basket.attempts.some(({ state }) => state === "authorised");
  if (basket.isLeaving || isCapturing || (basket.phase === "done" && room !== null))
    return { kind: "refused", code: "wrongPhase" };
  if (basket.attempts.length >= attemptsMax) return { kind: "refused", code: "attemptsUsed" };
  if (shop.baskets.ofAttempt(attempt))
    throw new Error(`the attempt ${JSON.stringify(attempt)} has begun before`);
  if (basket.phase === "done") toPaying(shop, basket, now);
  shop.baskets.addAttempt(basket, attempt);
  const view = viewOf(shop, basket);
  return { kind: "attempt", attempt, total: view.total, currency: view.currency, basket: view };
}

/** What the provider said, and what it is to do. */
export function payment(shop: ShopState, event: PaymentEvent, parts: OrderParts, now: number): PaymentReply {
  const asked = `${event.attempt} ${event.kind}`;
  const seen = shop.events.get(event.id, now);
  if (seen) return { kind: "reply", action: seen.answer as Action };
  const basket = shop.baskets.ofAttempt(event.attempt);
  if (!basket) return { kind: "reply", action: "none" };
  const attempt = basket.attempts.find(({ id }) => id === event.attempt)!;
  const action = HANDLERS[event.kind](shop, { basket, attempt, parts, event }, now);
  if (action !== "none") shop.facts.push({ type: "payment.asked", at: now, action, event });
  shop.events.keep(event.id, { asked, answer: action, at: now });
  shop.baskets.save(basket);
  shop.unasked.add(basket.visitor);
  return { kind: "reply", action };
}

interface Told {
  readonly basket: Basket;
  readonly attempt: PayAttempt;
  readonly parts: OrderParts;
  readonly event: PaymentEvent;
}

type Handler = (shop: ShopState, told: Told, now: number) => Action;

const HANDLERS: Readonly<Record<PaymentEvent["kind"], Handler>> = {
  authorised(shop, { basket, attempt, event }, now) {
    const { state } = attempt;
    if (state === "succeeded" || state === "refunding" || state === "refunded") return "none";
    if (state === "authorised") return "capture";
    if (!isItsPrice(shop, basket, event)) return endAttempt(shop, basket, { attempt, state: "voided" }, now);
    if (state === "voided" || !isPending(basket) || isRivalled(basket, attempt)) return refuseMoney(attempt);
    if (lostHolds(shop, basket.holds, "sold", basket.lane).length > 0) {
      refuseMoney(attempt);
      loseGoods(shop, basket, now);
      return "void";
    }
    attempt.state = "authorised";
    return "capture";
  },

  succeeded(shop, { basket, attempt, parts, event }, now) {
    const { state } = attempt;
    if (state === "succeeded" || state === "refunding" || state === "refunded") return "none";
    if (!isItsPrice(shop, basket, event))
      return endAttempt(shop, basket, { attempt, state: "refunding" }, now);
    if (basket.order !== null || !canHave(shop, basket, now)) {
      attempt.state = "refunding";
      if (isPending(basket)) loseGoods(shop, basket, now);
      return "refund";
    }
    attempt.state = "succeeded";
    sell(shop, basket, { attempt: attempt.id, ...parts }, now);
    return "none";
  },

  failed(shop, { basket, attempt }, now) {
    if (attempt.state !== "open" && attempt.state !== "authorised") return "none";
    return endAttempt(shop, basket, { attempt, state: "failed" }, now);
  },

  refunded(shop, { basket, attempt }, now) {
    if (attempt.state === "succeeded" && basket.order !== null)
      cancelTickets(shop, basket.order, { tickets: null, kind: "refunded" }, now);
    if (attempt.state === "succeeded" || attempt.state === "refunding") attempt.state = "refunded";
    return "none";
  },
};

function isPending({ phase }: Basket): boolean {
  return phase === "done" || phase === "paying";
}

/** Another attempt has the money already. */
function isRivalled({ attempts }: Basket, attempt: PayAttempt): boolean {
  return attempts.some((one) => one !== attempt && (one.state === "authorised" || one.state === "succeeded"));
}

function isItsPrice(shop: ShopState, basket: Basket, { payment: paid }: PaymentEvent): boolean {
  return (
    paid === undefined ||
    (paid.amount === priceOf(linesIn(basket)) && paid.currency === shop.catalogue.currency)
  );
}

const ACTIONS = { failed: "none", voided: "void", refunding: "refund" } as const;

/** An attempt came to nothing. If it was the last, or the owner has left, the goods are returned. */
function endAttempt(
  shop: ShopState,
  basket: Basket,
  { attempt, state }: { attempt: PayAttempt; state: keyof typeof ACTIONS },
  now: number,
): Action {
  attempt.state = state;
  const isLast = basket.attempts.length >= shop.catalogue.policies.payment.attemptsMax;
  if (isPending(basket) && !hasOpenAttempt(basket) && (isLast || basket.isLeaving))
    depart(shop, basket, "unpaid", now);
  return ACTIONS[state];
}

function refuseMoney(attempt: PayAttempt): Action {
  attempt.state = "voided";
  return "void";
}

/** Whether a basket that is paid for can be sold: what it still holds, or all of it taken again. */
function canHave(shop: ShopState, basket: Basket, now: number): boolean {
  if (isPending(basket)) return lostHolds(shop, basket.holds, "sold", basket.lane).length === 0;
  if (shop.catalogue.policies.payment.lateSuccess === "refund") return false;
  const lines = linesIn(basket);
  const { limits } = shop;
  const unhurried = { ...limits, policies: { ...limits.policies, burst: null } };
  const added = limitedUnits(takenUnits(lines), limits);
  return (
    unitsLacking(unitsOf(lines), shop.stock, basket.lane) === null &&
    limitReached(shop.customers.of(basket.customer), added, unhurried, now) === null
  );
}

/** Others have bought what this basket holds (op1): it is returned whole, and what cannot be had is named. */
function loseGoods(shop: ShopState, basket: Basket, now: number): void {
  const lost = lostHolds(shop, basket.holds, "sold", basket.lane);
  basket.released = [...new Set([...basket.released, ...lost.map(({ line }) => line.product)])];
  depart(shop, basket, "lost", now);
}

/** How many tickets, and so secrets, the order of an attempt would have. */
export function ticketCount(shop: ShopState, attempt: string): number {
  return shop.baskets.ofAttempt(attempt)?.holds.length ?? 0;
}
