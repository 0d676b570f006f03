/**
 * How many units of each product one unit of another takes, over all paths of required parts: `need_p(q)`, with
 * `need_p(p) = 1`. A bundle of two seats and a meal, where each seat needs a cushion and the meal none, needs two cushions.
 *
 * Parts are shared: a product may be reached over thousands of paths through few products, so paths are never walked. The
 * products below one are put in an order in which each comes before its parts, and counts are handed down along it, which takes
 * time in proportion to the links. Each answer is kept.
 *
 * `least` also counts what the minima of choices will take in any case: a bundle with any two of three drinks that all draw
 * on one bar takes two units of the bar, whichever are chosen.
 */
import type { Catalogue, ChoiceSet, Product } from "./catalogue.ts";

/** A set with a minimum, below some product. */
export interface SetBelow {
  readonly set: ChoiceSet;
  /** Units of the set's own product in one unit of the product above. */
  readonly parents: number;
}

export class Needs {
  readonly #products: ReadonlyMap<string, Product>;
  readonly #of = new Map<string, ReadonlyMap<string, number>>();
  readonly #least = new Map<string, ReadonlyMap<string, number>>();
  readonly #sets = new Map<string, readonly SetBelow[]>();
  readonly #affected = new Map<string, ReadonlySet<string>>();
  /** By product: those that have it as a part, or in a set with a minimum. */
  readonly #above = new Map<string, string[]>();

  constructor({ products }: Pick<Catalogue, "products">) {
    this.#products = products;
    for (const product of products.values())
      for (const below of dependsOn(product))
        this.#above.set(below, [...(this.#above.get(below) ?? []), product.id]);
  }

  /** Units of each product in one unit of this one, itself first. */
  of(product: string): ReadonlyMap<string, number> {
    return kept(this.#of, product, () => this.#countNeeds(product));
  }

  /** Units of each product that one valid unit of this one takes at least, whatever is chosen. */
  least(product: string): ReadonlyMap<string, number> {
    if (this.setsBelow(product).length === 0) return this.of(product);
    return kept(this.#least, product, () => this.#countLeast(this.#get(product)));
  }

  /** The sets with a minimum of this product and of all its required parts. */
  setsBelow(product: string): readonly SetBelow[] {
    return kept(this.#sets, product, () =>
      [...this.of(product)].flatMap(([id, parents]) =>
        this.#get(id)
          .choices.filter(({ min }) => min > 0)
          .map((set) => ({ set, parents })),
      ),
    );
  }

  /** The products whose availability may change with the units of this one, itself included. */
  affectedBy(product: string): ReadonlySet<string> {
    return kept(this.#affected, product, () => {
      const found = new Set([product]);
      for (const id of found) for (const above of this.#above.get(id) ?? []) found.add(above);
      return found;
    });
  }

  #get(id: string): Product {
    const product = this.#products.get(id);
    if (!product) throw new RangeError(`there is no product ${JSON.stringify(id)} in the catalogue`);
    return product;
  }

  #countNeeds(product: string): Map<string, number> {
    const needs = new Map([[product, 1]]);
    for (const id of this.#partsLast(product))
      for (const part of this.#get(id).parts) add(needs, part.product, needs.get(id)! * part.count);
    return needs;
  }

  /** The product and all its required parts, each before its own parts. */
  #partsLast(product: string): string[] {
    const order: string[] = [];
    const seen = new Set<string>();
    const visit = (id: string) => {
      if (seen.has(id)) return;
      seen.add(id);
      for (const part of this.#get(id).parts) visit(part.product);
      order.push(id);
    };
    visit(product);
    return order.reverse();
  }

  #countLeast(product: Product): Map<string, number> {
    const least = new Map([[product.id, 1]]);
    for (const part of product.parts)
      for (const [id, units] of this.least(part.product)) add(least, id, units * part.count);
    for (const set of product.choices) for (const [id, units] of this.#leastOfSet(set)) add(least, id, units);
    return least;
  }

  /** Units of each product that the set's minimum takes when the members that take fewest of that product are chosen. */
  #leastOfSet({ from, min }: ChoiceSet): Map<string, number> {
    const found = new Map<string, number>();
    const members = from.map(({ product, max }) => ({ takes: this.least(product), max }));
    for (const id of new Set(members.flatMap(({ takes }) => [...takes.keys()]))) {
      const cheapestFirst = members
        .map(({ takes, max }) => ({ units: takes.get(id) ?? 0, max }))
        .sort((a, b) => a.units - b.units);
      let missing = min;
      for (const { units, max } of cheapestFirst) {
        const chosen = Math.min(missing, max);
        if (units * chosen > 0) add(found, id, units * chosen);
        missing -= chosen;
      }
    }
    return found;
  }
}

/** The products on whose units this one's availability depends directly, besides its own. */
function dependsOn({ parts, choices }: Product): Set<string> {
  const members = choices.filter(({ min }) => min > 0).flatMap(({ from }) => from);
  return new Set([...parts, ...members].map(({ product }) => product));
}

function add(counts: Map<string, number>, id: string, units: number): void {
  counts.set(id, (counts.get(id) ?? 0) + units);
}

function kept<T>(answers: Map<string, T>, id: string, compute: () => T): T {
  let answer = answers.get(id);
  if (answer === undefined) {
    answer = compute();
    answers.set(id, answer);
  }
  return answer;
}
