/**
 * Former definitions of products. A hold is judged by the definition it was taken under, so that of a product that was changed or
 * removed is kept for as long as a basket holds units of it; the last definition of a removed product always.
 */
import type { Product } from "../catalogue.ts";
import type { ChangedRecords } from "./changed-records.ts";
import type { HeldLine } from "./holds.ts";
import type { Stock } from "./stock.ts";
import { type RecordShape, readStored } from "./stored-records.ts";

export const EDITION_PREFIX = "edition/";

export class Editions {
  readonly #changes: ChangedRecords;
  readonly #stock: Stock;
  /** By product and edition. */
  readonly #past = new Map<string, Product>();

  constructor(changes: ChangedRecords, stock: Stock) {
    this.#changes = changes;
    this.#stock = stock;
  }

  /** The definition under which a line was taken. */
  readonly of = ({ product, edition }: Pick<HeldLine, "product" | "edition">): Product => {
    const definition =
      this.#stock.find(product)?.edition === edition
        ? this.#stock.products.get(product)
        : this.#past.get(editionName(product, edition));
    if (!definition) throw new Error(`edition ${edition} of ${JSON.stringify(product)} is gone`);
    return definition;
  };

  /** A definition that is in the catalogue no more. */
  keep(product: Product, edition: number): void {
    const name = editionName(product.id, edition);
    this.#past.set(name, product);
    this.#changes.put(EDITION_PREFIX + name, () => JSON.stringify(product));
  }

  /** Forgets the definitions that are not among these names (`editionName`). */
  forgetAllBut(names: ReadonlySet<string>): void {
    for (const name of this.#past.keys()) {
      if (names.has(name)) continue;
      this.#past.delete(name);
      this.#changes.remove(EDITION_PREFIX + name);
    }
  }

  /** The last definition of a removed product. */
  past(product: string, edition: number): Product | undefined {
    return this.#past.get(editionName(product, edition));
  }

  restore(key: string, text: string): void {
    this.#past.set(
      key.slice(EDITION_PREFIX.length),
      readStored(key, text, { fields: PRODUCT_SHAPE }) as Product,
    );
  }
}

export function editionName(product: string, edition: number): string {
  return `${product}/${edition}`;
}

/** Whether two definitions are the same but for the stock, whose changes are deltas. */
export function isSameDefinition(a: Product, b: Product): boolean {
  return JSON.stringify({ ...a, stock: 0 }) === JSON.stringify({ ...b, stock: 0 });
}

const MEMBER_SHAPE: RecordShape = { fields: { product: "text", max: "count" } };

/** What the rules read of a past definition. */
const PRODUCT_SHAPE: Readonly<Record<string, RecordShape>> = {
  id: "text",
  parts: { listOf: { fields: { product: "text", count: "count" } } },
  options: { listOf: MEMBER_SHAPE },
  choices: {
    listOf: { fields: { name: "text", from: { listOf: MEMBER_SHAPE }, min: "count", max: "count" } },
  },
  countedBy: "text",
  oversell: "integer",
  holdBacks: { listOf: { fields: { lane: "text", count: "count" } } },
};
