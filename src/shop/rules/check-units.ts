/**
 * What follows from links and numbers together: how many units a product needs over all paths, and whether the limits for a
 * customer leave room for one of it.
 */
import type { Catalogue, Product } from "./catalogue.ts";
import { CATALOGUE_LIMITS as LIMITS } from "./catalogue-limits.ts";
import { pathOf, type Report } from "./catalogue-problems.ts";
import { Needs } from "./needs.ts";

/** The catalogue's values and links must be good. */
export function checkUnits(catalogue: Catalogue, lowestFirst: readonly string[], report: Report): void {
  const needs = new Needs(catalogue);
  const tooLarge = new Set<string>();
  for (const id of lowestFirst) {
    const product = catalogue.products.get(id)!;
    if (belowOf(product).some((below) => tooLarge.has(below))) tooLarge.add(id);
    else if (!checkNeeds(product, needs, report)) tooLarge.add(id);
    else if (product.isForSale) checkLimits(product, catalogue, needs, report);
  }
}

function belowOf({ parts, choices }: Product): string[] {
  return [...parts, ...choices.flatMap(({ from }) => from)].map(({ product }) => product);
}

function checkNeeds(product: Product, needs: Needs, report: Report): boolean {
  const least = needs.least(product.id);
  const path = pathOf(product);
  if (least.size > LIMITS.needs) {
    report(path, `needs ${least.size - 1} other products; at most ${LIMITS.needs - 1} are possible`);
    return false;
  }
  for (const [id, units] of least) {
    if (units <= LIMITS.unitsInOne) continue;
    report(path, `one takes ${units} units of ${id}; at most ${LIMITS.unitsInOne} are possible`);
    return false;
  }
  return true;
}

/** One of the product, with the fewest that must be chosen, has to be possible for a customer who has nothing yet. */
function checkLimits(
  product: Product,
  { products, policies }: Catalogue,
  needs: Needs,
  report: Report,
): void {
  if (policies.limitCounts === "tickets") return;
  const path = pathOf(product);
  let items = 0;
  for (const { set, parents } of needs.setsBelow(product.id)) items += set.min * parents;
  for (const [id, units] of needs.of(product.id)) {
    const { isPool, limitPerCustomer } = products.get(id)!;
    if (isPool) continue;
    items += units;
    if (limitPerCustomer !== null && units > limitPerCustomer)
      report(path, `one has ${units} units of ${id}, and a customer may have ${limitPerCustomer}`);
  }
  const { itemsMax, burst } = policies;
  if (itemsMax !== null && items > itemsMax)
    report(path, `one has ${items} items, and a customer may have ${itemsMax} (policies.itemsMax)`);
  if (burst !== null && items > burst.items)
    report(path, `one has ${items} items, and at most ${burst.items} are added at once (policies.burst)`);
}
