/**
 * Reserving: `hold` takes new tickets with all they need and all that is chosen with them, or nothing; `extend` likewise adds options and
 * choices to a hold; `undo` releases one again. All three only while browsing.
 */

import { isVisitName } from "../../../core/visit-name.ts";
import { unitsLacking } from "../availability.ts";
import type { BasketAnswer, Shopper, ShopRefusal, Wish } from "../commands.ts";
import { limitedUnits, limitReached, withAddition } from "../limits.ts";
import type { Basket } from "./baskets.ts";
import { linesIn } from "./baskets.ts";
import { joinedAdditions } from "./customers.ts";
import { countLines, findLine, type HeldLine, linesOf, takenUnits, unitsOf } from "./holds.ts";
import { answer, beginBasket, endWithOffers, releaseLines, takeLines } from "./life.ts";
import { LINES_MAX, type PlanContext, type Planned, planChosen, planTickets } from "./plan.ts";
import type { ShopState } from "./shop-state.ts";

/** What a shopper asks for: new tickets, or something below a line of theirs. */
export interface Request {
  readonly shopper: Shopper;
  readonly wish: Wish;
  /** The line to extend; null: new tickets. */
  readonly parent: string | null;
}

/** A request that can be granted. */
interface Granted {
  readonly basket: Basket | undefined;
  readonly planned: Planned;
  readonly parent: HeldLine | null;
}

/** Grants a request whole, or refuses it. */
export function reserve(shop: ShopState, request: Request, now: number): BasketAnswer {
  const granted = look(shop, request, now);
  if ("code" in granted) return granted;
  const { planned, parent } = granted;
  const { shopper } = request;
  const basket = granted.basket ?? beginBasket(shop, shopper, {}, now);
  adopt(shop, basket, shopper.customer);
  basket.nextLine = planned.nextLine;
  if (parent) parent.children.push(...planned.lines);
  else for (const line of planned.lines) basket.holds.push({ line, offerEndsAt: null });
  takeLines(shop, basket, planned.lines, now);
  noteAddition(shop, basket, planned.lines, now);
  shop.baskets.save(basket);
  return answer(
    shop,
    basket,
    planned.lines.map(({ id }) => id),
  );
}

/** Why a request would be refused now; null: it would be granted. */
export function whyRefused(shop: ShopState, request: Request, now: number): ShopRefusal | null {
  const granted = look(shop, request, now);
  return "code" in granted ? granted : null;
}

export function undo(shop: ShopState, shopper: Shopper, id: string, now: number): BasketAnswer {
  const basket = browsingBasket(shop, shopper);
  if ("code" in basket) return basket;
  const found = findLine(linesIn(basket), id);
  if (!found) return invalid(null, `the basket has no hold ${JSON.stringify(id)}`);
  const { line, parent } = found;
  if (line.kind === "part") return invalid(line.product, "a required part is released with what needs it");
  if (parent) parent.children.splice(parent.children.indexOf(line), 1);
  else basket.holds = basket.holds.filter((hold) => hold.line !== line);
  releaseLines(shop, basket, { lines: [line], cause: "undo" }, now);
  shop.baskets.save(basket);
  if (now >= basket.windowEndsAt) endWithOffers(shop, basket, now);
  return answer(shop, basket);
}

/** The basket of a visitor who is browsing, or why there is none. */
export function browsingBasket(shop: ShopState, { visitor }: Shopper): Basket | ShopRefusal {
  const basket = shop.baskets.get(visitor);
  if (!basket) return { kind: "refused", code: "noBasket" };
  return basket.phase === "browsing" ? basket : refusedBy(basket);
}

/** Why stock forbids these lines; null: it does not. */
export function whyNotInStock(shop: ShopState, lines: readonly HeldLine[], lane: string): ShopRefusal | null {
  const short = unitsLacking(unitsOf(lines), shop.stock, lane);
  return short && outOf(shop, lines, lane, short);
}

/**
 * Why limits forbid these lines; null: they do not. What is in the basket counts too when its owner only now said who they are.
 */
export function whyNotAllowed(
  shop: ShopState,
  basket: Basket | undefined,
  { customer, lines }: { readonly customer: string; readonly lines: readonly HeldLine[] },
  now: number,
): ShopRefusal | null {
  const { limits, customers } = shop;
  const record = customers.of(customer);
  const added = limitedUnits(takenUnits(lines), limits);
  if (!basket || customer === basket.customer) return limitReached(record, added, limits, now);
  const all = limitedUnits(takenUnits([...linesIn(basket), ...lines]), limits);
  const unhurried = { ...limits, policies: { ...limits.policies, burst: null } };
  const joined = { ...record, additions: joinedAdditions(record.additions, basket.additions) };
  return limitReached(record, all, unhurried, now) ?? limitReached(joined, added, limits, now);
}

/** Counts an addition in the window of `burst`. */
export function noteAddition(shop: ShopState, basket: Basket, lines: readonly HeldLine[], now: number): void {
  const { burst } = shop.catalogue.policies;
  if (burst === null && basket.additions.length === 0) return;
  let items = 0;
  for (const units of limitedUnits(takenUnits(lines), shop.limits).values()) items += units;
  const { additions } = shop.customers.of(basket.customer);
  shop.customers.setAdditions(basket.customer, withAddition(additions, items, burst, now));
  basket.additions = withAddition(basket.additions, items, burst, now);
}

function look(shop: ShopState, { shopper, wish, parent }: Request, now: number): Granted | ShopRefusal {
  const { opensAt } = shop.catalogue.policies;
  if (shop.isClosed || shop.written === null || (opensAt !== null && now < opensAt))
    return { kind: "refused", code: "notOpen", product: null, reason: "the shop is not open" };
  const basket = shop.baskets.get(shopper.visitor);
  if (basket && basket.phase !== "browsing") return refusedBy(basket);
  if (parent === null && now >= (basket?.windowEndsAt ?? windowEndOf(shop, shopper)))
    return { kind: "refused", code: "expired" };
  const context = contextOf(shop, shopper, basket, now);
  const above = parent === null ? null : ((basket && findLine(linesIn(basket), parent)?.line) ?? undefined);
  if (above === undefined)
    return basket
      ? invalid(null, `the basket has no hold ${JSON.stringify(parent)}`)
      : { kind: "refused", code: "noBasket" };
  const planned = above ? planChosen(context, above, wish) : planTickets(context, wish);
  if ("code" in planned) return planned;
  const { lines } = planned;
  const refusal =
    whyNotAllowed(shop, basket, { customer: customerOf(basket, shopper.customer), lines }, now) ??
    whyNotInStock(shop, lines, context.lane);
  return refusal ?? { basket, planned, parent: above };
}

export function contextOf(
  shop: ShopState,
  shopper: Shopper,
  basket: Basket | undefined,
  now: number,
): PlanContext {
  return {
    shop,
    room: basket?.room ?? shopper.room,
    lane: basket?.lane ?? shopper.lane,
    now,
    firstLine: basket?.nextLine ?? 1,
    linesLeft: LINES_MAX - (basket ? countLines(linesIn(basket)) : 0),
  };
}

function windowEndOf(shop: ShopState, { admittedAt }: Shopper): number {
  return admittedAt + shop.catalogue.policies.shoppingWindowMs;
}

/** Whom limits count for once a visitor with this basket has shown who they are. Nobody becomes nameless again. */
function customerOf(basket: Basket | undefined, customer: string): string {
  const isNameless = customer === basket?.visitor || isVisitName(customer);
  return basket && isNameless ? basket.customer : customer;
}

/** Counts a basket for the customer who its owner turned out to be. */
function adopt(shop: ShopState, basket: Basket, shown: string): void {
  const customer = customerOf(basket, shown);
  if (customer === basket.customer) return;
  const lines = takenUnits(linesIn(basket));
  shop.customers.remove(basket.customer, lines, shop.limits);
  shop.customers.add(customer, lines, shop.limits);
  shop.customers.joinAdditions(customer, basket.additions);
  basket.customer = customer;
}

/** Names the wished product of which there is not enough, not a pool or part that nobody knows. */
function outOf(
  shop: ShopState,
  lines: readonly HeldLine[],
  lane: string,
  short: { readonly product: string; readonly left: number },
): ShopRefusal {
  const wished = lines.flatMap((line) => [...linesOf(line)]).filter(({ kind }) => kind !== "part");
  const isIn = ({ product }: HeldLine) => shop.stock.needs.of(product).has(short.product);
  const { product } = wished.find(({ product }) => product === short.product) ?? wished.find(isIn)!;
  const { state, available } = shop.shown.look(product, lane);
  if (state === "soldOut") return { kind: "refused", code: "soldOut", product };
  return { kind: "refused", code: "insufficientStock", product, left: available ?? short.left, holds: [] };
}

function refusedBy({ phase }: Basket): ShopRefusal {
  return { kind: "refused", code: phase === "departed" ? "expired" : "frozen" };
}

export function invalid(product: string | null, reason: string): ShopRefusal {
  return { kind: "refused", code: "invalid", product, reason };
}
