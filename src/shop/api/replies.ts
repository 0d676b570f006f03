/**
 * A ledger's answers as a visitor gets them: a status and JSON. Refusals are `{"status":"refused","reason":…}` with what goes with
 * the reason, as everywhere under `/.fairgate/`.
 *
 *   404 noBasket, notListed   409 what stands against it now   410 expired   422 the call itself is not right
 */
import type {
  BasketAnswer,
  BasketView,
  ListAnswer,
  ListPlace,
  PayAnswer,
  ShopRefusal,
} from "../rules/commands.ts";
import type { ShopReply } from "./visitor-shop.ts";

const STATUSES: Readonly<Record<ShopRefusal["code"], number>> = {
  insufficientStock: 409,
  soldOut: 409,
  limitReached: 409,
  tooFast: 409,
  frozen: 409,
  notOpen: 409,
  notOffered: 409,
  attemptsUsed: 409,
  wrongPhase: 409,
  expired: 410,
  noBasket: 404,
  invalid: 422,
};
/** Nothing more can become of such a basket. */
const OVER: ReadonlySet<string> = new Set(["expired", "noBasket"]);

/** What became of a basket. `status`: when it is good. */
export function basketReply(answer: BasketAnswer, now: number, status = 200): ShopReply {
  if (answer.kind === "refused") return refusalReply(answer, now);
  const { basket, made } = answer;
  return reply(status, { status: "basket", made, ...shownBasket(basket, now) });
}

/** The basket that somebody asked to see, and the waiting lists that they are on. */
export function seenReply(basket: BasketView | null, lists: readonly ListPlace[], now: number): ShopReply {
  if (basket === null) return { ...reply(200, { status: "noBasket", lists }), isOver: true };
  const seen = reply(200, { status: "basket", ...shownBasket(basket, now), lists });
  return { ...seen, isOver: basket.phase === "departed" };
}

export function payReply(answer: PayAnswer, now: number): ShopReply {
  if (answer.kind === "refused") return refusalReply(answer, now);
  const { attempt, total, currency, basket } = answer;
  return reply(200, { status: "paying", attempt, amount: total, currency, basket: shownBasket(basket, now) });
}

export function listReply(answer: ListAnswer, now: number): ShopReply {
  if (answer.kind === "refused") return refusalReply(answer, now);
  const { kind: status, ...fields } = answer;
  return reply(200, { status, ...fields });
}

export function refusalReply(refusal: ShopRefusal, now: number): ShopReply {
  const { kind: _, code, ...told } = refusal;
  const { reason: why, ...fields } = { reason: undefined, ...told };
  const retryAt = "retryAt" in refusal ? refusal.retryAt : null;
  const answer = reply(STATUSES[code], { status: "refused", reason: code, ...fields, why });
  const retryAfterSeconds = retryAt === null ? null : Math.max(1, Math.ceil((retryAt - now) / 1_000));
  return { ...answer, retryAfterSeconds, isOver: OVER.has(code) };
}

/** The call itself is not right. */
export function invalidReply(why: string): ShopReply {
  return reply(422, { status: "refused", reason: "invalid", why });
}

export function reply(status: number, fields: object): ShopReply {
  return { status, body: JSON.stringify(fields), retryAfterSeconds: null, isOver: false };
}

/** With the time that is left, since the visitor's clock may show another. */
function shownBasket(basket: BasketView, now: number): object {
  const { expiresAt } = basket;
  return { ...basket, expiresInMs: expiresAt === null ? null : Math.max(0, expiresAt - now) };
}
