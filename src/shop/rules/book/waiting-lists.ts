/** Who waits for which product, in the order in which they came. What they are offered, and when, is in `offers.ts`. */

import type { ListPlace, Shopper } from "../commands.ts";
import type { ChangedRecords } from "./changed-records.ts";
import { NUMBER_DIGITS } from "./movements.ts";
import { Queue } from "./queue.ts";
import { type RecordShape, readStored } from "./stored-records.ts";

export const LIST_PREFIX = "list/";
/** On the list of one product. */
export const LISTED_MAX = 100_000;
/** Lists that one visitor may be on. */
export const LISTS_EACH_MAX = 10;

export interface ListEntry {
  readonly product: string;
  readonly shopper: Shopper;
  readonly count: number;
  /** Rises from entry to entry. */
  readonly number: number;
}

interface Listed {
  readonly entry: ListEntry;
  readonly position: number;
}

interface WaitingList {
  readonly queue: Queue<ListEntry>;
  readonly byVisitor: Map<string, Listed>;
}

export class WaitingLists {
  readonly #changes: ChangedRecords;
  readonly #lists = new Map<string, WaitingList>();
  readonly #byVisitor = new Map<string, Set<string>>();
  #nextNumber = 1;

  constructor(changes: ChangedRecords) {
    this.#changes = changes;
  }

  /** People on all lists. */
  get size(): number {
    let size = 0;
    for (const { byVisitor } of this.#lists.values()) size += byVisitor.size;
    return size;
  }

  get isEmpty(): boolean {
    return this.#lists.size === 0;
  }

  lengthOf(product: string): number {
    return this.#lists.get(product)?.byVisitor.size ?? 0;
  }

  /** The entries for a product, the oldest first. */
  entries(product: string): Iterable<ListEntry> {
    return this.#lists.get(product)?.queue ?? [];
  }

  productsOf(visitor: string): ReadonlySet<string> {
    return this.#byVisitor.get(visitor) ?? new Set();
  }

  /** Null: the visitor is not on this list. */
  unitPlaceOf(product: string, visitor: string): ListPlace | null {
    const list = this.#lists.get(product);
    const listed = list?.byVisitor.get(visitor);
    if (!list || !listed) return null;
    return { product, count: listed.entry.count, ahead: list.queue.before(listed.position) };
  }

  add(product: string, shopper: Shopper, count: number): void {
    const entry = { product, shopper, count, number: this.#nextNumber };
    this.#index(entry);
    this.#changes.put(keyOf(entry), () => JSON.stringify(entry));
  }

  remove(product: string, visitor: string): void {
    const list = this.#lists.get(product);
    const listed = list?.byVisitor.get(visitor);
    if (!list || !listed) return;
    list.queue.remove(listed.position);
    list.byVisitor.delete(visitor);
    if (list.byVisitor.size === 0) this.#lists.delete(product);
    const products = this.#byVisitor.get(visitor)!;
    products.delete(product);
    if (products.size === 0) this.#byVisitor.delete(visitor);
    this.#changes.remove(keyOf(listed.entry));
  }

  /** Nobody waits for this product any more. */
  drop(product: string): void {
    for (const { shopper } of [...this.entries(product)]) this.remove(product, shopper.visitor);
  }

  products(): IterableIterator<string> {
    return this.#lists.keys();
  }

  /** Takes up stored entries. */
  restore(records: readonly (readonly [key: string, text: string])[]): void {
    const entries = records.map(([key, text]) => readStored<ListEntry>(key, text, ENTRY_SHAPE));
    for (const entry of entries.sort((a, b) => a.number - b.number)) this.#index(entry);
  }

  #index(entry: ListEntry): void {
    const { product, shopper, number } = entry;
    let list = this.#lists.get(product);
    if (!list) {
      list = { queue: new Queue(), byVisitor: new Map() };
      this.#lists.set(product, list);
    }
    list.byVisitor.set(shopper.visitor, { entry, position: list.queue.push(entry) });
    const products = this.#byVisitor.get(shopper.visitor) ?? new Set();
    this.#byVisitor.set(shopper.visitor, products.add(product));
    this.#nextNumber = Math.max(this.#nextNumber, number + 1);
  }
}

function keyOf({ product, number }: ListEntry): string {
  return `${LIST_PREFIX}${product}/${String(number).padStart(NUMBER_DIGITS, "0")}`;
}

const ENTRY_SHAPE: RecordShape = {
  fields: {
    product: "text",
    shopper: {
      fields: { visitor: "text", customer: "text", room: "text", lane: "text", admittedAt: "count" },
    },
    count: "count",
    number: "count",
  },
};
