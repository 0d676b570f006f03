/**
 * How the products of a catalogue are linked: every link leads to a product, none is below itself, nothing is too deep, and what
 * belongs together is offered in the same rooms.
 */
import type { Catalogue, Product } from "./catalogue.ts";
import { CATALOGUE_LIMITS as LIMITS } from "./catalogue-limits.ts";
import { linksOf, pathOf, type Report } from "./catalogue-problems.ts";
import { depthFirst } from "./depth-first.ts";
import { roomsOfBoth } from "./written-catalogue.ts";

/** Products of a cycle that a message names. */
const CYCLE_SHOWN_MAX = 20;

/** The products, each after all those below it; null: the links are not good. */
export function checkLinks({ products }: Catalogue, report: Report): readonly string[] | null {
  let areGood = true;
  const bad: Report = (path, message) => {
    areGood = false;
    report(path, message);
  };
  for (const product of products.values()) {
    for (const link of linksOf(product, products))
      if (!products.has(link.product)) bad(link.path, `there is no product ${JSON.stringify(link.product)}`);
    checkOffers(product, bad);
  }
  const { lowestFirst, cycles } = depthFirst(products.keys(), (id) => idsBelow(id, products));
  for (const cycle of cycles) bad(pathOf(products.get(cycle[0]!)!), `is below itself: ${cycleText(cycle)}`);
  if (areGood) checkDepth(lowestFirst, products, bad);
  if (areGood) checkRooms(products, report);
  return areGood ? lowestFirst : null;
}

/** What is chosen is named by its product alone, so that a product can only be chosen in one place of its parent. */
function checkOffers(product: Product, report: Report): void {
  const path = pathOf(product);
  const offered = new Map(product.options.map(({ product: id }) => [id, "the options"]));
  for (const { name, from } of product.choices)
    for (const { product: id } of from) {
      const other = offered.get(id);
      if (other !== undefined) report(`${path}.choices.${name}.from.${id}`, `is also one of ${other}`);
      else offered.set(id, `the choices ${name}`);
    }
}

function idsBelow(id: string, products: ReadonlyMap<string, Product>): string[] {
  return linksOf(products.get(id)!, products)
    .map(({ product }) => product)
    .filter((below) => products.has(below));
}

/** "a → b → a", with what is too long left out. */
function cycleText(cycle: readonly string[]): string {
  const left = cycle.length - CYCLE_SHOWN_MAX;
  const shown = left > 1 ? [...cycle.slice(0, CYCLE_SHOWN_MAX), `${left} more`] : cycle;
  return [...shown, cycle[0]].join(" → ");
}

/** Reports the lowest products that have too many levels below them. */
function checkDepth(
  lowestFirst: readonly string[],
  products: ReadonlyMap<string, Product>,
  report: Report,
): void {
  const levels = new Map<string, number>();
  for (const id of lowestFirst) {
    const level = Math.max(0, ...idsBelow(id, products).map((below) => levels.get(below)! + 1));
    levels.set(id, level);
    if (level === LIMITS.depth + 1)
      report(pathOf(products.get(id)!), `has more than ${LIMITS.depth} levels of products below it`);
  }
}

/** A completed product is offered where its required parts are: what is left to be said is that there is no such room. */
function checkRooms(products: ReadonlyMap<string, Product>, report: Report): void {
  for (const product of products.values())
    for (const { product: below, path } of linksOf(product, products))
      if (roomsOfBoth(product.rooms, products.get(below)!.rooms)?.length === 0)
        report(path, `is never offered: there is no room that has both ${product.id} and all of ${below}`);
}
