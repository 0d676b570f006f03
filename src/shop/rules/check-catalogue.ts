/**
 * From what an organiser wrote to a catalogue, or to everything that is wrong with it. A catalogue is accepted whole or not at
 * all; problems are reported together, each with the path to what was written.
 *
 * Values and links are checked apart. What follows from both, such as the units needed over all paths, is looked at only where
 * both are good: one mistake is then one problem.
 */
import type { Catalogue } from "./catalogue.ts";
import { CATALOGUE_LIMITS as LIMITS } from "./catalogue-limits.ts";
import type { CatalogueProblem, Report } from "./catalogue-problems.ts";
import { checkLinks } from "./check-links.ts";
import { checkUnits } from "./check-units.ts";
import { checkCatalogueValues } from "./check-values.ts";
import { completeCatalogue, type WrittenCatalogue } from "./written-catalogue.ts";

export type { CatalogueProblem } from "./catalogue-problems.ts";
export type { WrittenCatalogue } from "./written-catalogue.ts";

/** Problems that are reported one by one. */
const PROBLEMS_MAX = 100;

export type CheckedCatalogue =
  | { readonly ok: true; readonly catalogue: Catalogue }
  | { readonly ok: false; readonly problems: readonly CatalogueProblem[] };

/** The written catalogue, complete and checked, as the given version. */
export function checkCatalogue(written: WrittenCatalogue, version: number): CheckedCatalogue {
  const problems: CatalogueProblem[] = [];
  check(written, version, (path, message) => void problems.push({ path, message }));
  if (problems.length === 0) return { ok: true, catalogue: completeCatalogue(written, version) };
  const more = problems.splice(PROBLEMS_MAX).length;
  if (more > 0) problems.push({ path: "", message: `and ${more} more problems` });
  return { ok: false, problems };
}

function check(written: WrittenCatalogue, version: number, report: Report): void {
  if (!isSmallEnough(written, report)) return;
  let areGood = true;
  const bad: Report = (path, message) => {
    areGood = false;
    report(path, message);
  };
  checkPools(written, bad);
  const catalogue = completeCatalogue(written, version);
  checkCatalogueValues(catalogue, bad);
  const lowestFirst = checkLinks(catalogue, bad);
  if (areGood && lowestFirst) checkUnits(catalogue, lowestFirst, report);
}

function isSmallEnough({ products, pools = {} }: WrittenCatalogue, report: Report): boolean {
  const count = Object.keys(products).length + Object.keys(pools).length;
  if (count > LIMITS.products)
    report("products", `there are ${count} products and pools; at most ${LIMITS.products} are possible`);
  const sizes = Object.values(products).map(linksWritten);
  const drawn = Object.values(pools).map(({ products }) => Object.keys(products).length);
  const links = [...sizes, ...drawn].reduce((sum, size) => sum + size, 0);
  if (links > LIMITS.links)
    report(
      "products",
      `have ${links} parts, options and choices in all; at most ${LIMITS.links} are possible`,
    );
  return count <= LIMITS.products && links <= LIMITS.links;
}

function linksWritten(product: WrittenCatalogue["products"][string]): number {
  return idsWritten(product).length;
}

/** Every product that this one names. */
function idsWritten({ parts = {}, options = {}, choices = {} }: WrittenCatalogue["products"][string]) {
  const linked = [parts, options, ...Object.values(choices).map(({ from }) => from)];
  return linked.flatMap((ids) => Object.keys(ids));
}

/** Pools have names of their own, products draw on them, and nothing else is linked to them. */
function checkPools({ products, pools = {} }: WrittenCatalogue, report: Report): void {
  for (const [pool, { products: drawing }] of Object.entries(pools)) {
    if (Object.hasOwn(products, pool)) report(`pools.${pool}`, "has the name of a product");
    for (const id of Object.keys(drawing))
      if (!Object.hasOwn(products, id))
        report(`pools.${pool}.products.${id}`, `there is no product ${JSON.stringify(id)}`);
  }
  for (const [id, product] of Object.entries(products))
    for (const named of idsWritten(product))
      if (Object.hasOwn(pools, named) && !Object.hasOwn(products, named))
        report(`products.${id}`, `${named} is a pool: write ${id} under pools.${named}.products instead`);
}
