/**
 * Contests: requests that wait at the same time and together want more of something than is left of it. They are decided together,
 * in the order that the shop has chosen for it (`ties.ts`), where requests one by one would be served as they arrive.
 *
 * A product's own tie-break counts where it has one; for a pool or another that has none, that of the product that is wished
 * for. Several requests of one visitor have one lot among them, so asking often gains nothing.
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
  readonly product: Product;
  readonly tieBreak: TieBreak;
  readonly windowMs: number;
}

const NONE: ReadonlySet<string> = new Set();

/** Whether a wish is for anything that is decided by more than the order of arrival. */
export function mayTie(shop: ShopState, wish: Wish): boolean {
  for (const product of wishedUnits(shop, wish).keys())
    if (gathers(shop.catalogue.products.get(product))) return true;
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
    scarce.set(request, { product: product.id, windowMs });
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
  const byContest = new Map<string, { contest: Contest; among: Contender[] }>();
  for (const [request, contest] of contestsOf(shop, requests, { open: NONE, now })) {
    const group = byContest.get(contest.product.id) ?? { contest, among: [] };
    group.among.push(request);
    byContest.set(contest.product.id, group);
  }
  const contested = new Set([...byContest.values()].flatMap(({ among }) => among));
  for (const request of requests) if (!contested.has(request)) serve(request);
  for (const { contest, among } of byContest.values()) {
    const ties = among.map((request) => tieRequest(shop, request));
    shop.log.note(
      now,
      "tie",
      JSON.stringify({ seed, ...contestNote(contest), among: ties.map(({ id }) => id) }),
    );
    decideTie(ties, ({ request }) => serve(request), contest.tieBreak, seed);
  }
  return requests.map((request) => answers.get(request)!);
}

function contestNote({ product, tieBreak }: Contest) {
  return { product: product.id, tieBreak };
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
  const contests = new Map<Contender, Contest>();
  for (const { request, units } of serious)
    for (const product of units.keys()) {
      const isScarce = open.has(product) || isShort(shop, product, wanted.get(product)!);
      const contest = isScarce ? contestOver(shop, product, request) : null;
      if (!contest) continue;
      contests.set(request, contest);
      break;
    }
  return contests;
}

/** Whether fewer are left than wanted, for visitors without a hold-back. */
function isShort({ stock }: ShopState, product: string, wanted: number): boolean {
  const left = own(stock.products.get(product)!, stock.stateOf(product), null);
  return left !== null && left < wanted;
}

function contestOver({ catalogue }: ShopState, scarce: string, { wish }: Contender): Contest | null {
  const product = catalogue.products.get(scarce)!;
  const rule = gathers(product) ? product : catalogue.products.get(wish.product);
  if (!rule || !gathers(rule)) return null;
  return { product, tieBreak: rule.tieBreak, windowMs: rule.tieWindowMs };
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
