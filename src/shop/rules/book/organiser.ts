/**
 * What the organiser changes: the catalogue, stock, and whether the shop is open. A catalogue is taken whole or not at all. Stock is
 * changed by deltas, also by a catalogue: by the difference to what the one before said. A change that leaves less than is
 * held is refused, or done and recorded as a shortfall.
 */

import type { Catalogue, Product } from "../catalogue.ts";
import { CATALOGUE_LIMITS } from "../catalogue-limits.ts";
import { type CatalogueProblem, checkCatalogue } from "../check-catalogue.ts";
import type { CatalogueAnswer, Shortfall, StockAnswer } from "../commands.ts";
import type { WrittenCatalogue } from "../written-catalogue.ts";
import { linesIn, unitPlaceOf } from "./baskets.ts";
import { editionName, isSameDefinition } from "./editions.ts";
import { linesOf, takenUnits, unitsOf } from "./holds.ts";
import type { UnitPlace } from "./movements.ts";
import { soldUnits, takenOfTickets } from "./orders.ts";
import type { ShopState } from "./shop-state.ts";
import { excess, NO_STOCK, noCounts, type ProductStock, type Units } from "./stock.ts";

export const CATALOGUE_PREFIX = "catalogue/";
export const CLOSED_KEY = "closed";
/** A record may have two megabytes, in an encoding with two bytes a character. */
const CATALOGUE_PART_LENGTH = 500_000;

export interface CatalogueChange {
  readonly ifVersion: number | null;
  readonly shortfall?: Shortfall;
  readonly now: number;
}

export function setCatalogue(
  shop: ShopState,
  written: WrittenCatalogue,
  { ifVersion, shortfall = "refuse", now }: CatalogueChange,
): CatalogueAnswer {
  const { version } = shop.catalogue;
  if (ifVersion !== null && ifVersion !== version)
    return { kind: "refused", code: "versionMismatch", version };
  const checked = checkCatalogue(written, version + 1);
  if (!checked.ok) return { kind: "refused", code: "invalidCatalogue", problems: checked.problems };
  const { catalogue } = checked;
  const stocks = new Map(
    [...catalogue.products.values()].map((product) => [product.id, stockAfter(shop, product)]),
  );
  const inOther = currencyProblems(shop, catalogue);
  if (inOther.length > 0) return { kind: "refused", code: "invalidCatalogue", problems: inOther };
  const problems = stockProblems(shop, catalogue, stocks, shortfall);
  if (problems.length > 0) return { kind: "refused", code: "belowHeld", problems };
  define(shop, { catalogue, written, stocks }, now);
  return { kind: "set", version: catalogue.version };
}

/** Changes the stock of one product. */
export function adjust(
  shop: ShopState,
  { product, delta, shortfall }: { product: string; delta: number; shortfall: Shortfall },
  now: number,
): StockAnswer {
  const state = shop.stock.find(product);
  const refused = (code: Extract<StockAnswer, { kind: "refused" }>["code"]): StockAnswer => ({
    kind: "refused",
    code,
    product,
  });
  if (!state) return refused("unknownProduct");
  if (state.stock === null) return refused("endless");
  const stock = state.stock + delta;
  if (!Number.isSafeInteger(delta) || stock > CATALOGUE_LIMITS.stock) return refused("invalid");
  if (stock < 0) return refused("belowZero");
  const definition = shop.stock.products.get(product)!;
  const missing = excess(definition, { ...state, stock });
  if (delta < 0 && missing > 0 && shortfall === "refuse") return refused("belowHeld");
  state.stock = stock;
  state.shortfall = missing;
  shop.stock.touch(product);
  shop.log.add(now, {
    ...{ cause: "adjust", about: product, lane: null, from: null },
    to: "stock",
    units: [[product, delta]],
  });
  return { kind: "stock", product, stock: shop.stock.view(product)! };
}

/** Sells a product again that stayed sold out. */
export function reopen(shop: ShopState, product: string, now: number): StockAnswer {
  if (!shop.catalogue.products.has(product)) return { kind: "refused", code: "unknownProduct", product };
  shop.shown.reopen(product);
  shop.log.note(now, "reopen", product);
  return { kind: "stock", product, stock: shop.stock.view(product)! };
}

export function setClosed(shop: ShopState, isClosed: boolean, now: number): void {
  if (shop.isClosed === isClosed) return;
  shop.isClosed = isClosed;
  shop.changes.put(CLOSED_KEY, () => JSON.stringify(isClosed));
  shop.shown.touchAll();
  shop.log.note(now, isClosed ? "close" : "open", "");
}

/** What a product's stock would be under another definition. */
function stockAfter(shop: ShopState, { id, stock }: Product): number | null {
  const state = shop.stock.find(id);
  if (!state || stock === null || state.stock === null || state.written === null) return stock;
  return state.stock + stock - state.written;
}

/** Holds have their prices in the currency in which they were taken. */
function currencyProblems(shop: ShopState, { currency }: Catalogue): CatalogueProblem[] {
  const isInUse = [...shop.baskets.all()].some(
    (basket) => unitPlaceOf(basket) !== null || basket.attempts.length > 0,
  );
  if (currency === shop.catalogue.currency || !isInUse) return [];
  const message = `cannot change from ${shop.catalogue.currency} to ${currency} while there are baskets`;
  return [{ path: "currency", message }];
}

function stockProblems(
  shop: ShopState,
  { products }: Catalogue,
  stocks: ReadonlyMap<string, number | null>,
  shortfall: Shortfall,
): CatalogueProblem[] {
  const problems: CatalogueProblem[] = [];
  for (const product of products.values()) {
    const stock = stocks.get(product.id)!;
    const counts = shop.stock.find(product.id)?.counts ?? noCounts();
    const missing = stock === null || stock >= 0 ? excess(product, { stock, counts }) : 0;
    const before = shop.stock.find(product.id)?.shortfall ?? 0;
    const path = `${product.isPool ? "pools" : "products"}.${product.id}.stock`;
    if (stock !== null && stock < 0)
      problems.push({ path, message: `would leave a stock of ${stock}, after what was changed since` });
    else if (missing > before && shortfall === "refuse")
      problems.push({ path, message: `is ${missing} less than what is held and sold` });
  }
  return problems;
}

interface NewCatalogue {
  readonly catalogue: Catalogue;
  readonly written: WrittenCatalogue;
  readonly stocks: ReadonlyMap<string, number | null>;
}

function define(shop: ShopState, { catalogue, written, stocks }: NewCatalogue, now: number): void {
  const { catalogue: before, written: writtenBefore } = shop;
  keepEditions(shop, catalogue);
  const removed = [...shop.stock.products.values()].filter(({ id }) => !catalogue.products.has(id));
  shop.stock.define(catalogue.products, removed);
  shop.catalogue = catalogue;
  shop.written = written;
  storeWritten(shop, writtenBefore);
  const changed = [...stocks].filter(([id, stock]) => shop.stock.find(id)?.stock !== stock);
  for (const product of catalogue.products.values()) defineStock(shop, product, stocks.get(product.id)!);
  for (const { id } of removed) {
    shop.stock.stateOf(id).isOffered = false;
    shop.stock.touch(id);
  }
  shop.log.add(now, {
    ...{ cause: "catalogue", about: String(catalogue.version), lane: null, from: null },
    to: "set",
    units: changed,
  });
  if (before.policies.isClosed !== catalogue.policies.isClosed)
    setClosed(shop, catalogue.policies.isClosed, now);
  for (const product of [...shop.lists.products()])
    if (!catalogue.products.has(product)) shop.lists.drop(product);
  recountLanes(shop);
  recountCustomers(shop);
  shop.shown.define(catalogue);
  planOpenings(shop, now);
}

function defineStock(shop: ShopState, product: Product, stock: number | null): void {
  const known = shop.stock.find(product.id);
  const state: ProductStock = known ?? {
    ...NO_STOCK,
    counts: noCounts(),
    byLane: new Map(),
    soldOutIn: new Set(),
  };
  state.stock = stock;
  state.written = product.stock;
  state.isOffered = true;
  state.shortfall = excess(product, state);
  shop.stock.put(product.id, state);
}

/** Keeps the definitions that are no longer in the catalogue but that something still needs, and numbers the new ones. */
function keepEditions(shop: ShopState, { products }: Catalogue): void {
  const needed = new Set<string>();
  for (const basket of shop.baskets.all())
    if (unitPlaceOf(basket) !== null)
      for (const root of linesIn(basket))
        for (const { product, edition } of linesOf(root)) needed.add(editionName(product, edition));
  for (const before of shop.stock.products.values()) {
    const state = shop.stock.stateOf(before.id);
    const name = editionName(before.id, state.edition);
    const after = products.get(before.id);
    if (after && isSameDefinition(before, after)) continue;
    if (!after) needed.add(name);
    if (needed.has(name)) shop.editions.keep(before, state.edition);
    if (after) state.edition++;
  }
  shop.editions.forgetAllBut(needed);
}

/** Hold-backs count the units of their lanes, whenever those were taken. */
function recountLanes(shop: ShopState): void {
  for (const [product, { byLane }] of shop.stock.all()) {
    byLane.clear();
    for (const { lane } of shop.stock.products.get(product)?.holdBacks ?? []) byLane.set(lane, noCounts());
  }
  const add = (lane: string, units: Units, place: UnitPlace) => {
    for (const [product, count] of units) {
      const counts = shop.stock.stateOf(product).byLane.get(lane);
      if (counts) counts[place] += count;
    }
  };
  for (const basket of shop.baskets.all()) {
    const place = unitPlaceOf(basket);
    if (place !== null) add(basket.lane, unitsOf(linesIn(basket)), place);
  }
  for (const { lane, tickets } of shop.orders.all()) add(lane, soldUnits(tickets), "sold");
}

/** What is counted for customers follows from baskets and orders. */
export function recountCustomers(shop: ShopState): void {
  shop.customers.clear();
  for (const basket of shop.baskets.all()) {
    shop.customers.joinAdditions(basket.customer, basket.additions);
    if (unitPlaceOf(basket) !== null)
      shop.customers.add(basket.customer, takenUnits(linesIn(basket)), shop.limits);
  }
  for (const { customer, tickets } of shop.orders.all())
    shop.customers.add(customer, takenOfTickets(tickets), shop.limits);
}

/** What is shown changes when the shop opens, and when the sale of a product begins. */
export function planOpenings({ catalogue, deadlines }: ShopState, now: number): void {
  const { opensAt } = catalogue.policies;
  if (opensAt !== null && opensAt > now) deadlines.add(opensAt, { what: "opening", id: "" });
  for (const { id, saleStart } of catalogue.products.values())
    if (saleStart !== null && saleStart > now) deadlines.add(saleStart, { what: "sale", id });
}

function storeWritten({ changes, catalogue, written }: ShopState, before: WrittenCatalogue | null): void {
  const parts = partsOf(JSON.stringify({ version: catalogue.version, written }));
  for (const [i, part] of parts.entries()) changes.put(partKey(i), () => part);
  const former =
    before === null ? 0 : partsOf(JSON.stringify({ version: catalogue.version, written: before })).length;
  for (let i = parts.length; i <= former; i++) changes.remove(partKey(i));
}

function partsOf(text: string): string[] {
  const count = Math.ceil(text.length / CATALOGUE_PART_LENGTH);
  return Array.from({ length: count }, (_, i) =>
    text.slice(i * CATALOGUE_PART_LENGTH, (i + 1) * CATALOGUE_PART_LENGTH),
  );
}

function partKey(i: number): string {
  return `${CATALOGUE_PREFIX}${String(i).padStart(4, "0")}`;
}
