/**
 * What limits know of each customer: units reserved, pending and sold over all their visits, and their latest additions. Nothing
 * of it is stored: it follows from baskets and orders, so it cannot differ from them, and goes when they go.
 */
import type { Catalogue } from "../catalogue.ts";
import { type Addition, type CustomerRecord, limitedUnits, type TakenUnits } from "../limits.ts";

type LimitRules = Pick<Catalogue, "products" | "policies">;

/** The additions of two, the oldest first. */
export function joinedAdditions(some: readonly Addition[], more: readonly Addition[]): Addition[] {
  return [...some, ...more].sort((a, b) => a.at - b.at);
}

/** Most have one product: two lists take a fraction of what a map takes. */
interface Customer {
  readonly products: string[];
  readonly counts: number[];
  additions: readonly Addition[];
}

const NOBODY: CustomerRecord = { units: new Map(), additions: [] };
const NO_ADDITIONS: readonly Addition[] = [];

export class Customers {
  readonly #customers = new Map<string, Customer>();

  get size(): number {
    return this.#customers.size;
  }

  of(id: string): CustomerRecord {
    const customer = this.#customers.get(id);
    if (!customer) return NOBODY;
    const { products, counts, additions } = customer;
    return { units: new Map(products.map((product, i) => [product, counts[i]!])), additions };
  }

  add(id: string, lines: readonly TakenUnits[], rules: LimitRules): void {
    const customer = this.#make(id);
    for (const [product, count] of limitedUnits(lines, rules)) change(customer, product, count);
  }

  remove(id: string, lines: readonly TakenUnits[], rules: LimitRules): void {
    const customer = this.#make(id);
    for (const [product, count] of limitedUnits(lines, rules)) change(customer, product, -count);
  }

  setAdditions(id: string, additions: readonly Addition[]): void {
    this.#make(id).additions = additions;
  }

  /** Adds additions from a basket to those from the customer's others. */
  joinAdditions(id: string, additions: readonly Addition[]): void {
    if (additions.length === 0) return;
    const customer = this.#make(id);
    customer.additions = joinedAdditions(customer.additions, additions);
  }

  /** Forgets a customer who has nothing, and whose last addition was at or before `windowStart`. */
  forgetIdle(id: string, windowStart: number): void {
    const customer = this.#customers.get(id);
    if (!customer || customer.products.length > 0) return;
    if ((customer.additions.at(-1)?.at ?? Number.NEGATIVE_INFINITY) <= windowStart)
      this.#customers.delete(id);
  }

  clear(): void {
    this.#customers.clear();
  }

  #make(id: string): Customer {
    let customer = this.#customers.get(id);
    if (!customer) {
      customer = { products: [], counts: [], additions: NO_ADDITIONS };
      this.#customers.set(id, customer);
    }
    return customer;
  }
}

function change({ products, counts }: Customer, product: string, units: number): void {
  const at = products.indexOf(product);
  if (at < 0) {
    if (units <= 0) return;
    products.push(product);
    counts.push(units);
  } else if (counts[at]! + units > 0) counts[at]! += units;
  else {
    products.splice(at, 1);
    counts.splice(at, 1);
  }
}
