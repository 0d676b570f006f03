/**
 * Contests: requests that wait at the same time and together want more of something than is left of it. They are decided together,
 * in the order that the shop has chosen for it (`ties.ts`), where requests one by one would be served as they arrive.
 *
 * A product's own tie-break counts where it has one; for a pool or another that has none, that of the first wished product that
 * has one. Everyone who wants what is contested is in the contest. Several requests of one visitor have one lot among them,
 * so asking often gains nothing.
 */
import { own } from "../availability.ts";
import type { Product, TieBreak } from "../catalogue.ts";
import type { BasketAnswer, Wish } from "../commands.ts";
import { decideTie, type TieRequest } from "../ties.ts";
import { linesIn } from "./baskets.ts";
import { priceOf } from "./holds.ts";
import { type Request, whyRefused } from "./reserve.ts";
import type { ShopState } from "./shop-state.ts";

/** A request among others. */
export interface Contender extends Request {
  /** Rises from request to request. */
  readonly arrival: number;
  /** Its idempotency key. */
  readonly key?: string;
}

interface Contest {
  readonly product: string;
  readonly tieBreak: TieBreak;
  readonly windowMs: number;
}

const NONE: ReadonlySet<string> = new Set();
/** Ids in one entry of the log. */
const NOTED_AT_ONCE = 1_000;

/** Whether a wish is for anything that is decided by more than the order of arrival, or is in `open`. */
export function mayTie(shop: ShopState, wish: Wish, open: ReadonlySet<string>): boolean {
  for (const product of wishedUnits(shop, wish).keys())
    if (open.has(product) || gathers(shop.catalogue.products.get(product))) return true;
  return false;
}

/** Something of which requests want more than is left. */
export interface ScarceProduct {
  readonly product: string;
  /** How long more requests for it are gathered. */
  readonly windowMs: number;
}

/** Those of the requests that want something scarce. `open`: products that are contested already, however much is left. */
export function scarceFor(
  shop: ShopState,
  requests: readonly Contender[],
  open: ReadonlySet<string>,
  now: number,
): Map<Contender, ScarceProduct> {
  const scarce = new Map<Contender, ScarceProduct>();
  for (const [request, { product, windowMs }] of contestsOf(shop, requests, { open, now }))
    scarce.set(request, { product, windowMs });
  return scarce;
}

/** Decides all requests, and returns their answers in the order of the requests. Contests are logged with the seed. */
export function decideTogether(
  shop: ShopState,
  requests: readonly Contender[],
  { seed, grant }: { readonly seed: string; readonly grant: (request: Contender) => BasketAnswer },
  now: number,
): BasketAnswer[] {
  const answers = new Map<Contender, BasketAnswer>();
  const serve = (request: Contender) => {
    const answer = grant(request);
    answers.set(request, answer);
    return answer.kind === "basket";
  };
  const contests = contestsOf(shop, requests, { open: NONE, now });
  for (const request of requests) if (!contests.has(request)) serve(request);
  for (const contest of new Set(contests.values())) {
    const among = requests.filter((request) => contests.get(request) === contest);
    const ties = among.map((request) => tieRequest(shop, request));
    noteContest(shop, contest, { seed, ids: ties.map(({ id }) => id) }, now);
    decideTie(ties, ({ request }) => serve(request), contest.tieBreak, seed);
  }
  return requests.map((request) => answers.get(request)!);
}

/** With the seed and all ids, anybody can repeat it. */
function noteContest(
  shop: ShopState,
  { product, tieBreak }: Contest,
  { seed, ids }: { seed: string; ids: readonly string[] },
  now: number,
): void {
  for (let from = 0; from < ids.length; from += NOTED_AT_ONCE) {
    const among = ids.slice(from, from + NOTED_AT_ONCE);
    shop.log.note(now, "tie", JSON.stringify({ seed, product, tieBreak, among }));
  }
}

function tieRequest(shop: ShopState, request: Contender): TieRequest & { readonly request: Contender } {
  const { visitor, admittedAt } = request.shopper;
  const basket = shop.baskets.get(visitor);
  const basketValue = basket ? priceOf(linesIn(basket)) : 0;
  return { id: visitor, arrival: request.arrival, admittedAt, basketValue, request };
}

/** Those of the requests that want something of which together they want too much, each with the first such thing. */
function contestsOf(
  shop: ShopState,
  requests: readonly Contender[],
  { open, now }: { open: ReadonlySet<string>; now: number },
): Map<Contender, Contest> {
  const wanted = new Map<string, number>();
  const serious = requests
    .filter((request) => whyRefused(shop, request, now) === null)
    .map((request) => ({ request, units: wishedUnits(shop, request.wish) }));
  for (const { units } of serious)
    for (const [product, count] of units) wanted.set(product, (wanted.get(product) ?? 0) + count);
  const contests = new Map<string, Contest | null>();
  const contestOver = (product: string): Contest | null => {
    const isScarce = open.has(product) || isShort(shop, product, wanted.get(product)!);
    const rule = isScarce ? ruleFor(shop, product, serious) : null;
    return rule && { product, tieBreak: rule.tieBreak, windowMs: rule.tieWindowMs };
  };
  const found = new Map<Contender, Contest>();
  for (const { request, units } of serious)
    for (const product of units.keys()) {
      if (!contests.has(product)) contests.set(product, contestOver(product));
      const contest = contests.get(product);
      if (!contest) continue;
      found.set(request, contest);
      break;
    }
  return found;
}

/** Whether fewer are left than wanted, for visitors without a hold-back. */
function isShort({ stock }: ShopState, product: string, wanted: number): boolean {
  const left = own(stock.products.get(product)!, stock.stateOf(product), null);
  return left !== null && left < wanted;
}

/** Whose tie-break decides about a product; null: nobody's. */
function ruleFor(
  { catalogue }: ShopState,
  product: string,
  serious: readonly { readonly request: Contender; readonly units: ReadonlyMap<string, number> }[],
): Product | null {
  const own = catalogue.products.get(product)!;
  if (gathers(own)) return own;
  const wishing = serious
    .filter(({ units }) => units.has(product))
    .map(({ request }) => catalogue.products.get(request.wish.product)!);
  return wishing.find(gathers) ?? null;
}

function gathers(product: Product | undefined): boolean {
  return product !== undefined && product.tieBreak !== "first" && product.tieWindowMs > 0;
}

/** Units by product that a wish would take. Unknown products take none. */
function wishedUnits(
  shop: ShopState,
  wish: Wish,
  times = 1,
  units = new Map<string, number>(),
): Map<string, number> {
  if (!shop.catalogue.products.has(wish.product)) return units;
  const count = wish.count * times;
  for (const [product, each] of shop.stock.needs.of(wish.product))
    units.set(product, (units.get(product) ?? 0) + each * count);
  for (const chosen of wish.chosen) wishedUnits(shop, chosen, count, units);
  return units;
}
