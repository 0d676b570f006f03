/** What the payment provider says to the reference shop, and what becomes of the basket and the money. */
import type { PaymentEvent, PaymentReply } from "../../shop/rules/commands.ts";
import { answerOf, plainPrice } from "./reference-lines.ts";
import {
  isAwaited,
  isFinished,
  type PlainAttempt,
  type PlainBasket,
  type ReferenceState,
} from "./reference-state.ts";

/** For the order that may come of it. */
export interface NewOrder {
  readonly orderId: string;
  readonly secrets: readonly string[];
}

type Action = PaymentReply["action"];

/** Takes an event that was not seen before. */
export function plainPayment(shop: ReferenceState, event: PaymentEvent, order: NewOrder): Action {
  const basket = shop.baskets.find(({ attempts }) => attempts.some(({ id }) => id === event.attempt))!;
  const attempt = basket.attempts.find(({ id }) => id === event.attempt)!;
  const { state } = attempt;
  if (event.kind === "refunded") return refunded(shop, basket, attempt);
  if (state === "succeeded" || state === "refunding" || state === "refunded") return "none";
  if (event.kind === "failed") {
    if (state === "open" || state === "authorised") failed(shop, basket, attempt, "failed");
    return "none";
  }
  if (event.kind === "authorised" && state === "authorised") return "capture";
  if (!isItsPrice(shop, basket, event)) {
    const isPaid = event.kind === "succeeded";
    failed(shop, basket, attempt, isPaid ? "refunding" : "voided");
    return isPaid ? "refund" : "void";
  }
  return event.kind === "authorised" ? authorised(shop, basket, attempt) : paid(shop, basket, attempt, order);
}

function authorised(shop: ReferenceState, basket: PlainBasket, attempt: PlainAttempt): Action {
  const isPaid = basket.attempts.some(({ state }) => state === "authorised" || state === "succeeded");
  const isWelcome = isFinished(basket) && !isPaid && attempt.state !== "voided";
  const isLost = isWelcome && shop.lost(basket, "sold").length > 0;
  if (isLost) lose(shop, basket);
  attempt.state = isWelcome && !isLost ? "authorised" : "voided";
  return attempt.state === "authorised" ? "capture" : "void";
}

function paid(
  shop: ReferenceState,
  basket: PlainBasket,
  attempt: PlainAttempt,
  { orderId, secrets }: NewOrder,
): Action {
  const canHave = isFinished(basket) ? shop.lost(basket, "sold").length === 0 : canRetake(shop, basket);
  if (basket.order !== null || !canHave) {
    attempt.state = "refunding";
    if (isFinished(basket)) lose(shop, basket);
    return "refund";
  }
  attempt.state = "succeeded";
  const tickets = basket.tickets.map((line, i) => ({ line, secret: secrets[i]!, state: "sold" as const }));
  shop.orders.push({ id: orderId, basket, customer: basket.customer, tickets });
  basket.order = orderId;
  shop.depart(basket);
  return "none";
}

/** The attempt came to nothing. After the last one the goods are returned. */
function failed(
  shop: ReferenceState,
  basket: PlainBasket,
  attempt: PlainAttempt,
  state: "failed" | "voided" | "refunding",
): void {
  attempt.state = state;
  const isLast = basket.attempts.length >= shop.policies.payment.attemptsMax;
  if (isFinished(basket) && !isAwaited(basket) && (isLast || basket.isLeaving)) shop.depart(basket);
}

function refunded(shop: ReferenceState, { order }: PlainBasket, attempt: PlainAttempt): Action {
  const { tickets } = shop.orders.find(({ id }) => id === order) ?? { tickets: [] };
  if (attempt.state === "succeeded")
    for (const ticket of tickets) if (ticket.state === "sold") ticket.state = "refunded";
  if (attempt.state === "succeeded" || attempt.state === "refunding") attempt.state = "refunded";
  return "none";
}

function isItsPrice({ stock }: ReferenceState, { tickets }: PlainBasket, { payment }: PaymentEvent): boolean {
  if (payment === undefined) return true;
  return payment.amount === plainPrice(tickets) && payment.currency === stock.catalogue.currency;
}

/** Whether a basket whose hold has ended can be had again as it was. */
function canRetake(shop: ReferenceState, basket: PlainBasket): boolean {
  if (shop.policies.payment.lateSuccess === "refund") return false;
  const refusal = answerOf(() => {
    shop.checkLimits(basket, basket.customer, basket.tickets, { isHurried: false });
    shop.checkStock(basket.tickets, basket.shopper.lane);
  });
  return refusal === undefined;
}

/** Others have bought what this basket holds. */
function lose(shop: ReferenceState, basket: PlainBasket): void {
  for (const { product } of shop.lost(basket, "sold")) basket.released.add(product.id);
  shop.depart(basket);
}
