/**
 * The stock of every product and where its units are. Units move only here, and every move is a line in the log. A product that
 * was taken out of the catalogue keeps its counts and its last definition: its holds go on.
 *
 * Moves are stored by the log alone. A product's own record follows at most `BEHIND_MAX` entries later and says which entry it
 * is as of; those after it are counted again at the start. So a move costs no record of its own, in a shop of one product and of
 * ten thousand.
 *
 *   free ──take──▶ reserved ──▶ pending ──▶ sold
 *     ▲               │            │          │
 *     └───────────────┴────────────┴──────────┘
 */
import type { StockShelf, StockState } from "../availability.ts";
import { cap, countedUnits, unitsLacking } from "../availability.ts";
import type { CountedBy, Product } from "../catalogue.ts";
import type { StockView, UnitCounts } from "../commands.ts";
import { Needs } from "../needs.ts";
import type { ChangedRecords } from "./changed-records.ts";
import type { LedgerEntry, MovementLog, UnitPlace } from "./movements.ts";
import { Queue } from "./queue.ts";
import { type RecordShape, readStored } from "./stored-records.ts";

export const COUNT_PREFIX = "count/";
/** How many entries of the log may be missing in a product's record: a start reads as many at most. */
export const BEHIND_MAX = 50_000;

/** Units by product. */
export type Units = ReadonlyMap<string, number>;

/** What a movement is about. */
export interface MoveCause {
  readonly at: number;
  readonly cause: string;
  readonly about: string;
  readonly lane: string;
}

type Counts = { -readonly [place in UnitPlace]: UnitCounts[place] };

/** What is kept of one product besides its definition. */
export interface ProductStock extends StockState {
  stock: number | null;
  readonly counts: Counts;
  readonly byLane: Map<string, Counts>;
  /** The stock as the catalogue has it: a new catalogue changes the stock by the difference. */
  written: number | null;
  /** How often its definition has changed. */
  edition: number;
  isOffered: boolean;
  shortfall: number;
  /** Lanes in which it stays sold out; "" stands for all lanes without a hold-back. */
  readonly soldOutIn: Set<string>;
  /** Sold units whose orders are forgotten. */
  settled: number;
  /** The last entry of the log that the stored record counts; null while the record is as of now. */
  storedAt: number | null;
}

export const NO_STOCK: Omit<ProductStock, "counts" | "byLane" | "soldOutIn"> = {
  stock: 0,
  written: 0,
  edition: 1,
  isOffered: false,
  shortfall: 0,
  settled: 0,
  storedAt: null,
};

export class Stock implements StockShelf {
  readonly #changes: ChangedRecords;
  readonly #log: MovementLog;
  /** Told of each product whose units have moved. */
  readonly #onTouch: (product: string) => void;
  readonly #behindMax: number;
  readonly #states = new Map<string, ProductStock>();
  #products = new Map<string, Product>();
  #needs = new Needs({ products: this.#products });
  /** Products whose records are behind, in the order of the first entry that these do not count. */
  readonly #behind = new Queue<{ readonly product: string; readonly storedAt: number }>();

  constructor(parts: {
    changes: ChangedRecords;
    log: MovementLog;
    onTouch: (product: string) => void;
    behindMax: number;
  }) {
    this.#changes = parts.changes;
    this.#log = parts.log;
    this.#onTouch = parts.onTouch;
    this.#behindMax = parts.behindMax;
  }

  /** The definitions that stock is counted by: the catalogue's, and the last ones of products that are not in it any more. */
  get products(): ReadonlyMap<string, Product> {
    return this.#products;
  }

  /** Of the products in the catalogue. */
  get needs(): Needs {
    return this.#needs;
  }

  /** A new catalogue. `past`: the definitions of products that are no longer in it. */
  define(products: ReadonlyMap<string, Product>, past: Iterable<Product>): void {
    this.#products = new Map(products);
    for (const product of past) this.#products.set(product.id, product);
    this.#needs = new Needs({ products });
  }

  stateOf(product: string): ProductStock {
    const state = this.#states.get(product);
    if (!state) throw new RangeError(`there is no stock of ${JSON.stringify(product)}`);
    return state;
  }

  find(product: string): ProductStock | undefined {
    return this.#states.get(product);
  }

  all(): IterableIterator<[string, ProductStock]> {
    return this.#states.entries();
  }

  /** Moves units from one place to another; null: free. All of them, since whether they can be had was asked before. */
  move(
    units: Units,
    { from, to }: { from: UnitPlace | null; to: UnitPlace | null },
    { at, cause, about, lane }: MoveCause,
  ): void {
    if (units.size === 0) return;
    for (const [product, count] of units) {
      const state = this.stateOf(product);
      this.#count(product, state, { count, from, to, lane });
      if (state.storedAt === null) {
        state.storedAt = this.#log.last;
        this.#behind.push({ product, storedAt: state.storedAt });
      }
      this.#onTouch(product);
    }
    this.#log.add(at, { cause, about, lane, from, to, units });
  }

  /** The product's record and what is shown of it have to be made anew. */
  touch(product: string): void {
    this.#store(product);
    this.#onTouch(product);
  }

  /** Stores records that are too far behind the log. */
  catchUp(): void {
    for (let one = this.#behind.oldest; one; one = this.#behind.oldest) {
      if (one.storedAt >= this.#log.last - this.#behindMax) return;
      this.#behind.removeOldest();
      if (this.stateOf(one.product).storedAt === one.storedAt) this.#store(one.product);
    }
  }

  put(product: string, state: ProductStock): void {
    this.#states.set(product, state);
    this.touch(product);
  }

  /** Why units that are `from` cannot move on to be counted by this place: the first that lacks; null: they can. */
  lackingAt(place: CountedBy, units: Units, lane: string): { product: string; left: number } | null {
    const wanted = [...units].filter(([product]) => this.#products.get(product)!.countedBy === place);
    return wanted.length === 0 ? null : unitsLacking(new Map(wanted), this, lane);
  }

  /** Whether the last `units` that were sold were the last there are. */
  soldOutWith(product: string, units: number): boolean {
    const { stock, counts } = this.stateOf(product);
    const most = cap(stock, this.#products.get(product)!.oversell);
    return most !== null && counts.sold >= most && counts.sold - units < most;
  }

  restore(key: string, text: string): void {
    this.#states.set(key.slice(COUNT_PREFIX.length), stockOfText(key, text));
  }

  /** Counts the entries of the log that the stored records do not. After all records, with the definitions. */
  replay(entries: Iterable<LedgerEntry>): void {
    const behind = new Set<string>();
    for (const entry of entries) this.#replayOne(entry, behind);
    for (const [product, state] of this.#states) if (!behind.has(product)) state.storedAt = null;
    const byAge = Array.from(behind, (product) => ({ product, storedAt: this.stateOf(product).storedAt! }));
    for (const one of byAge.sort((a, b) => a.storedAt - b.storedAt)) this.#behind.push(one);
  }

  view(product: string): StockView | null {
    const state = this.#states.get(product);
    if (!state) return null;
    const { stock, counts, shortfall, soldOutIn } = state;
    return { stock, counts: { ...counts }, shortfall, staysSoldOutIn: [...soldOutIn] };
  }

  #replayOne({ number, from, to, lane, units }: LedgerEntry, behind: Set<string>): void {
    for (const [product, count] of units) {
      const state = this.stateOf(product);
      if (number <= state.storedAt! || count === null) continue;
      if (to === "stock" || to === "set")
        throw new Error(`entry ${number} of the log changed the stock of ${product} and not its record`);
      this.#count(product, state, { count, from, to, lane: lane ?? "" });
      behind.add(product);
    }
  }

  #count(
    product: string,
    state: ProductStock,
    move: { count: number; from: UnitPlace | null; to: UnitPlace | null; lane: string },
  ): void {
    const { count, from, to, lane } = move;
    shift(state.counts, count, from, to);
    const ofLane = state.byLane.get(lane);
    if (ofLane) shift(ofLane, count, from, to);
    this.#shrinkShortfall(product, state);
  }

  #store(product: string): void {
    const state = this.stateOf(product);
    state.storedAt = null;
    this.#changes.put(COUNT_PREFIX + product, () => textOfStock({ ...state, storedAt: this.#log.last }));
  }

  /** A recorded shortfall is over as soon as fewer units count. */
  #shrinkShortfall(product: string, state: ProductStock): void {
    if (state.shortfall > 0)
      state.shortfall = Math.min(state.shortfall, excess(this.#products.get(product)!, state));
  }
}

/** Units that count beyond the cap. */
export function excess(
  { oversell, countedBy }: Pick<Product, "oversell" | "countedBy">,
  { stock, counts }: Pick<StockState, "stock" | "counts">,
): number {
  const most = cap(stock, oversell);
  return most === null ? 0 : Math.max(0, countedUnits(counts, countedBy) - most);
}

export function noCounts(): Counts {
  return { reserved: 0, pending: 0, sold: 0 };
}

function shift(counts: Counts, units: number, from: UnitPlace | null, to: UnitPlace | null): void {
  if (from !== null) {
    counts[from] -= units;
    if (counts[from] < 0) throw new Error(`${units} units left "${from}", where fewer were`);
  }
  if (to !== null) counts[to] += units;
}

const COUNTS_SHAPE: RecordShape = { fields: { reserved: "count", pending: "count", sold: "count" } };
const STOCK_SHAPE: RecordShape = {
  fields: {
    stock: { orNull: "count" },
    counts: COUNTS_SHAPE,
    byLane: { each: COUNTS_SHAPE },
    written: { orNull: "count" },
    edition: "count",
    isOffered: "flag",
    shortfall: "count",
    soldOutIn: { listOf: "text" },
    settled: "count",
    storedAt: "count",
  },
};

type StoredStock = Omit<ProductStock, "byLane" | "soldOutIn"> & {
  readonly byLane: Readonly<Record<string, Counts>>;
  readonly soldOutIn: readonly string[];
};

function textOfStock(state: ProductStock): string {
  const { byLane, soldOutIn, ...plain } = state;
  return JSON.stringify({
    ...plain,
    byLane: Object.fromEntries(byLane),
    soldOutIn: [...soldOutIn],
  } satisfies StoredStock);
}

/** A count record as it is stored. */
export function stockOfText(key: string, text: string): ProductStock {
  const stored = readStored<StoredStock>(key, text, STOCK_SHAPE);
  return {
    ...stored,
    byLane: new Map(Object.entries(stored.byLane)),
    soldOutIn: new Set(stored.soldOutIn),
  };
}
