/**
 * How a basket lives: it begins, takes and releases lines, goes from phase to phase, and departs. Here are the single steps, each
 * with all its counts; when they are taken is decided by the commands (`reserve.ts`, `checkout.ts`, `payments.ts`) and by
 * deadlines (`expiry.ts`).
 *
 *   begin ─▶ browsing ── toDone ─▶ done ── toPaying ─▶ paying ── sell ─▶ departed, with an order
 *               └───────────────────┴───────────────────┴── depart ──▶ departed, goods returned
 */

import type { BasketAnswer, BasketPhase, BasketView, Shopper } from "../commands.ts";
import { type Basket, linesIn, unitPlaceOf } from "./baskets.ts";
import { type HeldLine, type Hold, isValid, priceOf, takenUnits, unitsOf, viewOfHold } from "./holds.ts";
import type { UnitPlace } from "./movements.ts";
import { ticketsOf } from "./orders.ts";
import type { ShopState } from "./shop-state.ts";

/** How long a departed basket can still be seen. */
export const DEPARTED_KEPT_MS = 3_600_000;
/** How long it is kept when there may still be word from the payment provider. */
export const ATTEMPTS_KEPT_MS = 30 * 86_400_000;

/** A new, empty basket. `offerEndsAt`: of the offer that it is for, since the window of the visit may be over. */
export function beginBasket(
  shop: ShopState,
  shopper: Shopper,
  { offerEndsAt, nextLine = 1 }: { offerEndsAt?: number; nextLine?: number },
  now: number,
): Basket {
  const { visitor, customer, room, lane } = shopper;
  const admittedAt = Math.floor(shopper.admittedAt);
  const windowEndsAt = admittedAt + shop.catalogue.policies.shoppingWindowMs;
  const endsAt = now < windowEndsAt ? windowEndsAt : (offerEndsAt ?? now);
  const basket: Basket = {
    number: shop.baskets.nextNumber,
    key: visitor,
    ...{ visitor, customer, room, lane, admittedAt, windowEndsAt },
    phase: "browsing",
    endsAt,
    nextLine,
    holds: [],
    attempts: [],
    isLeaving: false,
    order: null,
    released: [],
    additions: [],
  };
  shop.baskets.add(basket);
  shop.figures.movePhase(room, null, "browsing");
  shop.figures.count(room, "arrived");
  shop.deadlines.add(endsAt, { what: "basket", id: visitor });
  return basket;
}

/** Counts new lines of a browsing basket as reserved. Where they stand in the basket is the caller's to say. */
export function takeLines(shop: ShopState, basket: Basket, lines: readonly HeldLine[], now: number): void {
  count(shop, basket, { lines, from: null, to: "reserved", cause: "hold" }, now);
  shop.customers.add(basket.customer, takenUnits(lines), shop.limits);
}

/** Returns lines to the stock. They are taken out of the basket by the caller. */
export function releaseLines(
  shop: ShopState,
  basket: Basket,
  { lines, cause }: { lines: readonly HeldLine[]; cause: string },
  now: number,
): void {
  count(shop, basket, { lines, from: unitPlaceOf(basket), to: null, cause }, now);
  shop.customers.remove(basket.customer, takenUnits(lines), shop.limits);
  forgetIdleCustomer(shop, basket.customer, now);
}

/** Releases whole holds, and names their products to the owner. */
export function releaseHolds(shop: ShopState, basket: Basket, holds: readonly Hold[], now: number): void {
  if (holds.length === 0) return;
  releaseLines(shop, basket, { lines: holds.map(({ line }) => line), cause: "ended" }, now);
  basket.holds = basket.holds.filter((hold) => !holds.includes(hold));
  basket.released = [...new Set([...basket.released, ...holds.map(({ line }) => line.product)])];
  shop.baskets.save(basket);
  shop.unasked.add(basket.visitor);
}

export function toDone(shop: ShopState, basket: Basket, now: number): void {
  count(shop, basket, { lines: linesIn(basket), from: "reserved", to: "pending", cause: "finish" }, now);
  basket.holds = basket.holds.map((hold) =>
    hold.offerEndsAt === null ? hold : { ...hold, offerEndsAt: null },
  );
  movePhase(shop, basket, "done");
  endInPayment(shop, basket, shop.catalogue.policies.doneMs, now);
}

export function toPaying(shop: ShopState, basket: Basket, now: number): void {
  movePhase(shop, basket, "paying");
  endInPayment(shop, basket, shop.catalogue.policies.payingMs, now);
}

/** The end without an order. Whatever it holds is returned, and what it held is remembered for a late payment. */
export function depart(shop: ShopState, basket: Basket, cause: string, now: number): void {
  releaseLines(shop, basket, { lines: linesIn(basket), cause }, now);
  if (basket.attempts.length === 0) basket.holds = [];
  end(shop, basket, now);
}

/** Beyond the window a basket lasts as long as the offers in it. */
export function endWithOffers(shop: ShopState, basket: Basket, now: number): void {
  if (basket.holds.length === 0) return depart(shop, basket, "ended", now);
  const endsAt = Math.max(...basket.holds.map(({ offerEndsAt }) => offerEndsAt!));
  if (endsAt === basket.endsAt) return;
  basket.endsAt = endsAt;
  shop.baskets.save(basket);
}

/** The end with an order. `from`: where its units are; null where the hold had ended and they are taken anew. */
export function sell(
  shop: ShopState,
  basket: Basket,
  { attempt, orderId, secrets }: { attempt: string; orderId: string; secrets: readonly string[] },
  now: number,
): void {
  const from = unitPlaceOf(basket);
  const lines = linesIn(basket);
  if (secrets.length < lines.length)
    throw new RangeError(`the order needs a secret for each of its ${lines.length} tickets`);
  if (from === null) shop.customers.add(basket.customer, takenUnits(lines), shop.limits);
  count(shop, basket, { lines, from, to: "sold", cause: "sale" }, now);
  const { visitor, customer, room, lane } = basket;
  const order = {
    id: orderId,
    number: shop.orders.nextNumber,
    ...{ visitor, customer, room, lane },
    at: now,
    total: priceOf(lines),
    currency: shop.catalogue.currency,
    attempt,
    tickets: ticketsOf(basket, orderId, secrets),
  };
  shop.orders.put(order);
  shop.facts.push({ type: "order.made", at: now, order });
  for (const [product, units] of unitsOf(lines))
    if (shop.stock.soldOutWith(product, units))
      shop.facts.push({ type: "product.sold_out", at: now, product });
  basket.order = orderId;
  shop.figures.count(room, "bought");
  end(shop, basket, now);
}

/** The basket as its owner sees it. */
export function viewOf(shop: ShopState, basket: Basket): BasketView {
  const { phase, order, released, attempts } = basket;
  const isOver = phase === "departed";
  const holds = isOver && order === null ? [] : basket.holds;
  const { attemptsMax } = shop.catalogue.policies.payment;
  return {
    phase,
    expiresAt: isOver ? null : phase === "browsing" ? basket.endsAt : shop.door.instantOf(basket.endsAt),
    holds: holds.map((hold) => viewOfHold(hold, isOver ? null : shop.editions.of, phase === "browsing")),
    total: priceOf(holds.map(({ line }) => line)),
    currency: shop.catalogue.currency,
    isValid: isOver || holds.every(({ line }) => isValid(line, shop.editions.of)),
    attemptsLeft: isOver ? 0 : Math.max(0, attemptsMax - attempts.length),
    order,
    released,
  };
}

export function answer(shop: ShopState, basket: Basket, made: readonly string[] = []): BasketAnswer {
  return { kind: "basket", basket: viewOf(shop, basket), made };
}

/** Moves the units of lines, with everything that counts them but customers. */
function count(
  shop: ShopState,
  basket: Basket,
  parts: { lines: readonly HeldLine[]; from: UnitPlace | null; to: UnitPlace | null; cause: string },
  now: number,
): void {
  const { lines, from, to, cause } = parts;
  const { key, lane, room } = basket;
  shop.stock.move(unitsOf(lines), { from, to }, { at: now, cause, about: key, lane });
  const tickets = lines.filter(({ kind }) => kind === "ticket").length;
  if (tickets > 0) shop.figures.moveTickets(room, tickets, from, to);
}

function movePhase(shop: ShopState, basket: Basket, phase: BasketPhase): void {
  shop.figures.movePhase(basket.room, basket.phase, phase);
  basket.phase = phase;
  shop.baskets.save(basket);
}

function endInPayment(shop: ShopState, basket: Basket, afterMs: number, now: number): void {
  basket.endsAt = shop.door.at(now) + afterMs;
  shop.deadlines.addInPayment(basket.endsAt, { what: "basket", id: basket.key });
}

/** The basket is over, and forgotten after a while. */
function end(shop: ShopState, basket: Basket, now: number): void {
  if (basket.phase !== "departed") {
    movePhase(shop, basket, "departed");
    shop.figures.count(basket.room, "departed");
  }
  basket.isLeaving = false;
  basket.endsAt = hasUnpaidAttempts(basket)
    ? now + ATTEMPTS_KEPT_MS
    : Math.max(now + DEPARTED_KEPT_MS, basket.windowEndsAt);
  shop.deadlines.add(basket.endsAt, { what: "basket", id: basket.key });
  shop.baskets.save(basket);
  shop.unasked.add(basket.visitor);
  // What the visitor waits for could not be offered to them before.
  for (const product of shop.lists.productsOf(basket.visitor)) shop.shown.touch(product);
}

/** What it held may still be paid for. */
function hasUnpaidAttempts({ attempts, order }: Basket): boolean {
  return attempts.length > 0 && order === null;
}

/** The time of a departed basket is over. Of one that was sold the attempts are kept: what it held is in the order. */
export function forgetBasket(shop: ShopState, basket: Basket): void {
  if (basket.order === null || basket.holds.length === 0) return shop.baskets.forget(basket);
  basket.holds = [];
  basket.endsAt += ATTEMPTS_KEPT_MS;
  shop.deadlines.add(basket.endsAt, { what: "basket", id: basket.key });
  shop.baskets.save(basket);
}

/** Forgets a customer who has nothing any more, as soon as the window of `burst` is over. */
export function forgetIdleCustomer(shop: ShopState, customer: string, now: number): void {
  const everyMs = shop.catalogue.policies.burst?.everyMs ?? 0;
  shop.customers.forgetIdle(customer, now - everyMs);
  const last = shop.customers.of(customer).additions.at(-1);
  if (last && shop.customers.of(customer).units.size === 0)
    shop.deadlines.add(last.at + everyMs, { what: "customer", id: customer });
}
