/**
 * Stock written to be read: paths are walked one by one, what is available is found by counting up until nothing more fits, and
 * where units are is asked anew each time. It says the same as `needs.ts` and `availability.ts`, slowly.
 */
import type { Catalogue, ChoiceSet, CountedBy, Product } from "../../shop/rules/catalogue.ts";
import type { ShownState, UnitCounts } from "../../shop/rules/commands.ts";
import { completeCatalogue } from "../../shop/rules/written-catalogue.ts";

type Products = ReadonlyMap<string, Product>;
type Units = ReadonlyMap<string, number>;
/** Units that are left of each product alone; null: without end. */
type Left = ReadonlyMap<string, number | null>;
/** Units of a product by where they are: those of one lane, or with null all. */
export type CountsOf = (product: string, lane: string | null) => UnitCounts;

/** What can be counted up to; more than any stock in the tests. */
const MANY = 400;

/** Units of each product in one p, over all paths of required parts. */
export const needsOf = remembered((products: Products, p: string): Units => {
  const found = new Map([[p, 1]]);
  for (const part of products.get(p)!.parts)
    for (const [q, units] of needsOf(products, part.product)) addTo(found, q, part.count * units);
  return found;
});

/** Units of each product that one valid p takes at least: minima are filled with the members that take fewest of it. */
const leastOf = remembered((products: Products, p: string): Units => {
  const found = new Map([[p, 1]]);
  const { parts, choices } = products.get(p)!;
  for (const part of parts)
    for (const [q, units] of leastOf(products, part.product)) addTo(found, q, part.count * units);
  for (const { from, min } of choices)
    for (const q of products.keys()) {
      const each = from.flatMap(({ product, max }) => {
        const units = leastOf(products, product).get(q) ?? 0;
        return Array<number>(Math.min(max, min)).fill(units);
      });
      const units = sumOfAll(each.sort((a, b) => a - b).slice(0, min));
      if (units > 0) addTo(found, q, units);
    }
  return found;
});

/** The same function, which computes each answer once for a catalogue: only that makes a thousand lives take less than minutes. */
function remembered<Answer>(compute: (products: Products, p: string) => Answer): typeof compute {
  const answers = new WeakMap<Products, Map<string, Answer>>();
  return (products, p) => {
    const known = answers.get(products) ?? new Map<string, Answer>();
    answers.set(products, known);
    const answer = known.get(p) ?? compute(products, p);
    known.set(p, answer);
    return answer;
  };
}

function addTo(counts: Map<string, number>, id: string, units: number): void {
  counts.set(id, (counts.get(id) ?? 0) + units);
}

/** The stock of every product, and what is left of it. */
export class ReferenceStock {
  catalogue: Catalogue = completeCatalogue({ currency: "EUR", products: {} }, 0);
  /** The last definition of every product there ever was. */
  readonly known = new Map<string, Product>();
  readonly stocks = new Map<string, number | null>();
  readonly shortfalls = new Map<string, number>();
  /** "product lane": stays sold out. */
  readonly shut = new Set<string>();
  readonly #countsOf: CountsOf;

  constructor(countsOf: CountsOf) {
    this.#countsOf = countsOf;
  }

  get products(): Products {
    return this.catalogue.products;
  }

  define(catalogue: Catalogue, stocks: ReadonlyMap<string, number | null>): void {
    this.catalogue = catalogue;
    for (const product of catalogue.products.values()) {
      this.known.set(product.id, product);
      this.setStock(product.id, stocks.get(product.id)!);
    }
  }

  setStock(id: string, stock: number | null): void {
    this.stocks.set(id, stock);
    this.shortfalls.set(id, this.excess(this.known.get(id)!, stock));
  }

  /** What a product's stock would be under a new definition: changed by as much as what is written. */
  stockUnder({ id, stock }: Product): number | null {
    const before = this.stocks.get(id) ?? null;
    const written = this.known.get(id)?.stock ?? null;
    return stock === null || before === null || written === null ? stock : before + stock - written;
  }

  /** Units that count beyond the cap. */
  excess({ id, oversell, countedBy }: Product, stock: number | null): number {
    if (stock === null) return 0;
    return Math.max(0, countedOf(this.#countsOf(id, null), countedBy) - capOf(stock, oversell));
  }

  /** A shortfall is over as soon as fewer units count. */
  shrinkShortfalls(): void {
    for (const [id, shortfall] of this.shortfalls) {
      const excess = this.excess(this.known.get(id)!, this.stocks.get(id)!);
      this.shortfalls.set(id, Math.min(shortfall, excess));
    }
  }

  /** Units of a product alone that this lane may still take; null: without end. */
  own(id: string, lane: string | null, countsOf = this.#countsOf): number | null {
    const { oversell, countedBy, holdBacks } = this.known.get(id)!;
    const stock = this.stocks.get(id)!;
    if (stock === null) return null;
    const kept = holdBacks
      .filter((one) => one.lane !== lane)
      .map(({ lane, count }) => Math.max(0, count - countedOf(countsOf(id, lane), countedBy)));
    return capOf(stock, oversell) - countedOf(countsOf(id, null), countedBy) - sumOfAll(kept);
  }

  available(id: string, lane: string | null, countsOf = this.#countsOf): number | null {
    const left = new Map(Array.from(this.products.keys(), (q) => [q, this.own(q, lane, countsOf)]));
    return plainlyAvailable(this.products, left, id);
  }

  stateOf(id: string, lane: string | null): ShownState {
    const couldHave = (...without: readonly (keyof UnitCounts)[]) => {
      const zeros = Object.fromEntries(without.map((place) => [place, 0]));
      return this.available(id, lane, (q, of) => ({ ...this.#countsOf(q, of), ...zeros })) !== 0;
    };
    if (this.isShut(id, lane)) return "soldOut";
    if (couldHave()) return "available";
    if (couldHave("reserved")) return "inBaskets";
    return couldHave("reserved", "pending") ? "inPayment" : "soldOut";
  }

  isShut(id: string, lane: string | null): boolean {
    return this.shut.has(`${id} ${lane !== null && this.laneClasses().includes(lane) ? lane : ""}`);
  }

  /** Each lane with a hold-back, and "" for all others. */
  laneClasses(): string[] {
    const lanes = [...this.products.values()].flatMap(({ holdBacks }) => holdBacks.map(({ lane }) => lane));
    return ["", ...new Set(lanes)];
  }

  /** Products that have run out stay so, where the organiser wants that (cs6). */
  latch(isOnSale: (product: Product) => boolean): void {
    for (const product of this.products.values())
      if (product.staysSoldOut && isOnSale(product))
        for (const lane of this.laneClasses())
          if (this.available(product.id, lane === "" ? null : lane) === 0)
            this.shut.add(`${product.id} ${lane}`);
  }

  reopen(id: string): void {
    for (const lane of this.shutIn(id)) this.shut.delete(`${id} ${lane}`);
  }

  shutIn(id: string): string[] {
    return [...this.shut]
      .filter((shut) => shut.startsWith(`${id} `))
      .map((shut) => shut.slice(id.length + 1));
  }
}

/** Sets with a minimum, of this product and its required parts, each with how many of the set's product there are in one p. */
const setsIn = remembered((products, p): { readonly set: ChoiceSet; readonly parents: number }[] =>
  Array.from(needsOf(products, p), ([id, parents]) =>
    products
      .get(id)!
      .choices.filter(({ min }) => min > 0)
      .map((set) => ({ set, parents })),
  ).flat(),
);

/** How many p can be had with the units that are left; null: without end. */
function plainlyAvailable(products: Products, units: Left, p: string): number | null {
  if (fits(products, units, p, MANY)) return null;
  let k = 0;
  while (fits(products, units, p, k + 1)) k++;
  return k;
}

function fits(products: Products, units: Left, p: string, k: number): boolean {
  for (const [q, least] of leastOf(products, p)) {
    const left = units.get(q)!;
    if (left !== null && left < k * least) return false;
  }
  return setsIn(products, p).every(({ set, parents }) => {
    const chosen = set.from.map(({ product, max }) => {
      const besides = besideOf(products, units, { member: product, p, k });
      return Math.min(max * parents * k, besides);
    });
    return sumOfAll(chosen) >= set.min * parents * k;
  });
}

/** How many of a member of a set there can be beside what k of p need. */
function besideOf(
  products: Products,
  units: Left,
  { member, p, k }: { member: string; p: string; k: number },
) {
  let most = plainlyAvailable(products, units, member) ?? Number.POSITIVE_INFINITY;
  for (const [q, each] of leastOf(products, member)) {
    const left = units.get(q)!;
    const needed = k * (needsOf(products, p).get(q) ?? 0);
    if (left !== null) most = Math.min(most, Math.max(0, Math.floor((left - needed) / each)));
  }
  return most;
}

function capOf(stock: number, oversell: number): number {
  return Number((BigInt(stock) * BigInt(10_000 + oversell)) / 10_000n);
}

function countedOf({ reserved, pending, sold }: UnitCounts, countedBy: CountedBy): number {
  return { sold, pending: pending + sold, reserved: reserved + pending + sold }[countedBy];
}

function sumOfAll(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
