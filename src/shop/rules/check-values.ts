/**
 * The values of a catalogue, each by itself and beside its neighbours in the same product: numbers, texts, sale windows, sets,
 * hold-backs, policies.
 */
import { cap } from "./availability.ts";
import type { Catalogue, ChoiceSet, Product, ShopPolicies } from "./catalogue.ts";
import { CATALOGUE_LIMITS as LIMITS } from "./catalogue-limits.ts";
import { linksOf, pathOf, type Report } from "./catalogue-problems.ts";
import { CURRENCIES } from "./currencies.ts";

/** Ids, and the names of pools and sets. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;

export function checkCatalogueValues({ currency, products, policies }: Catalogue, report: Report): void {
  if (!CURRENCIES.has(currency))
    report("currency", `must be a code of ISO 4217 such as EUR, not ${JSON.stringify(currency)}`);
  checkPolicies(policies, new Values("policies", report));
  for (const product of products.values()) checkProduct(product, products, report);
}

function checkProduct(product: Product, products: ReadonlyMap<string, Product>, report: Report): void {
  const path = pathOf(product);
  const values = new Values(path, report);
  values.name("", product.id);
  values.text(".name", product.name);
  values.number(".price", product.price, 0, LIMITS.price);
  values.numberOrNull(".stock", product.stock, 0, LIMITS.stock);
  values.numberOrNull(".limitPerCustomer", product.limitPerCustomer, 1, LIMITS.items);
  values.number(".oversell", product.oversell, -10_000, LIMITS.oversell);
  values.number(".tieWindowMs", product.tieWindowMs, 0, LIMITS.tieWindowMs);
  for (const [i, room] of (product.rooms ?? []).entries()) values.text(`.rooms.${i}`, room);
  if (product.rooms?.length === 0) report(`${path}.rooms`, "names no room; leave it out for every room");
  checkCounts(product, products, report);
  for (const set of product.choices) checkSet(set, new Values(`${path}.choices.${set.name}`, report));
  checkSale(product, values);
  checkHoldBacks(product, values);
}

function checkCounts(product: Product, products: ReadonlyMap<string, Product>, report: Report): void {
  const counts = [
    ...product.parts.map(({ count }) => count),
    ...product.options.map(({ max }) => max),
    ...product.choices.flatMap(({ from }) => from.map(({ max }) => max)),
  ];
  for (const [i, { path }] of linksOf(product, products).entries())
    new Values(path, report).number("", counts[i]!, 1, LIMITS.unitsInOne);
}

function checkSet({ name, from, min, max }: ChoiceSet, values: Values): void {
  values.name("", name);
  if (from.length === 0) return values.report(".from", "has nothing to choose from");
  const areWhole = [
    values.number(".min", min, 0, LIMITS.unitsInOne),
    values.number(".max", max, 1, LIMITS.unitsInOne * from.length),
  ];
  const most = from.reduce((sum, member) => sum + member.max, 0);
  if (areWhole.includes(false)) return;
  if (min > max) values.report(".min", `must not be more than the maximum: ${min} is more than ${max}`);
  else if (min > most) values.report(".min", `is ${min}, but only ${most} can be chosen`);
}

function checkSale({ saleStart, saleEnd, isHiddenBefore }: Product, values: Values): void {
  const areInstants = [values.instant(".saleStart", saleStart), values.instant(".saleEnd", saleEnd)];
  if (!areInstants.includes(false) && saleStart !== null && saleEnd !== null && saleEnd <= saleStart)
    values.report(".saleEnd", "the sale must not end before it starts");
  if (isHiddenBefore && saleStart === null)
    values.report(".hiddenBefore", "needs a saleStart until which the product is hidden");
}

function checkHoldBacks({ stock, oversell, holdBacks }: Product, values: Values): void {
  if (holdBacks.length === 0) return;
  if (stock === null) return values.report(".holdBacks", "nothing can be kept back of a stock without end");
  let areWhole = true;
  for (const { lane, count } of holdBacks)
    areWhole = values.number(`.holdBacks.${lane}`, count, 0, LIMITS.stock) && areWhole;
  const kept = holdBacks.reduce((sum, { count }) => sum + count, 0);
  const most = cap(stock, oversell)!;
  if (areWhole && kept > most)
    values.report(".holdBacks", `keeps back ${kept}, but at most ${most} can be sold`);
}

function checkPolicies(policies: ShopPolicies, values: Values): void {
  const { burst, payment } = policies;
  values.instant(".opensAt", policies.opensAt);
  values.numberOrNull(".itemsMax", policies.itemsMax, 1, LIMITS.items);
  if (burst !== null) {
    values.number(".burst.items", burst.items, 1, LIMITS.items);
    values.number(".burst.everyMs", burst.everyMs, 1, LIMITS.durationMs);
  }
  for (const key of ["shoppingWindowMs", "doneMs", "payingMs"] as const)
    values.number(`.${key}`, policies[key], 1, LIMITS.durationMs);
  values.numberOrNull(".offerMs", policies.offerMs, 1, LIMITS.durationMs);
  values.number(".payment.attemptsMax", payment.attemptsMax, 1, LIMITS.attempts);
  if (payment.room !== null) values.text(".payment.room", payment.room);
}

/** Checks of values under one path; each says whether the value was good. */
class Values {
  readonly #path: string;
  readonly #report: Report;

  constructor(path: string, report: Report) {
    this.#path = path;
    this.#report = report;
  }

  report(key: string, message: string): void {
    this.#report(this.#path + key, message);
  }

  number(key: string, value: number, min: number, max: number): boolean {
    const isGood = Number.isSafeInteger(value) && value >= min && value <= max;
    if (!isGood) this.report(key, `must be a whole number from ${min} to ${max}, not ${value}`);
    return isGood;
  }

  numberOrNull(key: string, value: number | null, min: number, max: number): boolean {
    return value === null || this.number(key, value, min, max);
  }

  instant(key: string, value: number | null): boolean {
    return this.numberOrNull(key, value, 0, Number.MAX_SAFE_INTEGER);
  }

  text(key: string, value: string): void {
    if (value.length === 0 || value.length > LIMITS.textLength)
      this.report(key, `must have from 1 to ${LIMITS.textLength} characters`);
  }

  name(key: string, value: string): void {
    if (!NAME.test(value))
      this.report(
        key,
        `${JSON.stringify(value)} is no name: 1 to 64 letters, digits, "-" and "_", a letter or digit first`,
      );
  }
}
