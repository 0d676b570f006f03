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

interface Customer extends CustomerRecord {
  readonly units: Map<string, number>;
  additions: readonly Addition[];
}

const NOBODY: CustomerRecord = { units: new Map(), additions: [] };

export class Customers {
  readonly #customers = new Map<string, Customer>();

  get size(): number {
    return this.#customers.size;
  }

  of(customer: string): CustomerRecord {
    return this.#customers.get(customer) ?? NOBODY;
  }

  add(id: string, lines: readonly TakenUnits[], rules: LimitRules): void {
    const { units } = this.#make(id);
    for (const [product, count] of limitedUnits(lines, rules))
      units.set(product, (units.get(product) ?? 0) + count);
  }

  remove(id: string, lines: readonly TakenUnits[], rules: LimitRules): void {
    const { units } = this.#make(id);
    for (const [product, count] of limitedUnits(lines, rules)) {
      const left = (units.get(product) ?? 0) - count;
      if (left > 0) units.set(product, left);
      else units.delete(product);
    }
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
    if (!customer || customer.units.size > 0) return;
    if ((customer.additions.at(-1)?.at ?? Number.NEGATIVE_INFINITY) <= windowStart)
      this.#customers.delete(id);
  }

  clear(): void {
    this.#customers.clear();
  }

  #make(id: string): Customer {
    let customer = this.#customers.get(id);
    if (!customer) {
      customer = { units: new Map(), additions: [] };
      this.#customers.set(id, customer);
    }
    return customer;
  }
}
