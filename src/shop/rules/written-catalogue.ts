/**
 * A catalogue as an organiser writes it, and how it is completed: what is left out gets its default, and a pool becomes a hidden
 * product that is a required part of those that draw on it. Nothing is checked here; `check-catalogue.ts` does that with what
 * comes out.
 */

import type {
  Catalogue,
  ChoiceSet,
  CountedBy,
  Part,
  PaymentPolicies,
  Product,
  ShopPolicies,
  TieBreak,
} from "./catalogue.ts";
import { depthFirst } from "./depth-first.ts";

const MINUTE_MS = 60_000;
const DEFAULT_TIE_WINDOW_MS = 50;
const DEFAULT_POLICIES: ShopPolicies = {
  opensAt: null,
  isClosed: false,
  itemsMax: null,
  burst: null,
  limitCounts: "tickets",
  shoppingWindowMs: 15 * MINUTE_MS,
  doneMs: 30 * MINUTE_MS,
  payingMs: 15 * MINUTE_MS,
  payment: { room: null, attemptsMax: 3, lateSuccess: "retake" },
  offerMs: null,
};

/** A catalogue as it is written. Instants are milliseconds since 1970; what is left out has a default. */
export interface WrittenCatalogue {
  /** ISO 4217. */
  readonly currency: string;
  readonly products: Readonly<Record<string, WrittenProduct>>;
  /** Quotas that several products draw on, by name. A pool becomes a hidden part of these products. */
  readonly pools?: Readonly<Record<string, WrittenPool>>;
  readonly policies?: WrittenPolicies;
}

export interface WrittenProduct {
  /** Default: its id. */
  readonly name?: string;
  /** In minor units of the currency. Default: 0. */
  readonly price?: number;
  /** Units; null: without end. */
  readonly stock: number | null;
  /** Default: true. */
  readonly forSale?: boolean;
  /** Default: every room of the shop. */
  readonly rooms?: readonly string[] | null;
  /** Required parts: units by product. */
  readonly parts?: Readonly<Record<string, number>>;
  /** Options: the most of each, by product. */
  readonly options?: Readonly<Record<string, number>>;
  /** Sets to choose from, by name. */
  readonly choices?: Readonly<Record<string, WrittenChoiceSet>>;
  readonly limitPerCustomer?: number | null;
  readonly saleStart?: number | null;
  readonly saleEnd?: number | null;
  readonly hiddenBefore?: boolean;
  /** Default: reserved. */
  readonly countedBy?: CountedBy;
  readonly oversell?: number;
  readonly staysSoldOut?: boolean;
  /** Units kept for visitors of a lane, by lane. */
  readonly holdBacks?: Readonly<Record<string, number>>;
  /** Default: first. */
  readonly tieBreak?: TieBreak;
  /** Default: 0 where the tie-break is `first`, else 50. */
  readonly tieWindowMs?: number;
}

export interface WrittenChoiceSet {
  /** The most of each, by product. */
  readonly from: Readonly<Record<string, number>>;
  /** Default: 0. */
  readonly min?: number;
  /** Default: all that can be chosen. */
  readonly max?: number;
}

export interface WrittenPool {
  readonly stock: number | null;
  /** What one unit of each product takes of the pool. */
  readonly products: Readonly<Record<string, number>>;
  readonly countedBy?: CountedBy;
  readonly oversell?: number;
  readonly holdBacks?: Readonly<Record<string, number>>;
}

export interface WrittenPolicies {
  readonly opensAt?: number | null;
  readonly closed?: boolean;
  readonly itemsMax?: number | null;
  readonly burst?: { readonly items: number; readonly everyMs: number } | null;
  readonly limitCounts?: "tickets" | "everything";
  readonly shoppingWindowMs?: number;
  readonly doneMs?: number;
  readonly payingMs?: number;
  readonly payment?: Partial<PaymentPolicies>;
  readonly offerMs?: number | null;
}

/** The catalogue that was meant, with every default. */
export function completeCatalogue(written: WrittenCatalogue, version: number): Catalogue {
  const pools = Object.entries(written.pools ?? {});
  const drawn = drawnBy(pools);
  const products = new Map<string, Product>();
  for (const [id, one] of Object.entries(written.products)) {
    const product = completeProduct(id, one);
    products.set(id, { ...product, parts: [...product.parts, ...(drawn.get(id) ?? [])] });
  }
  for (const [id, pool] of pools) if (!products.has(id)) products.set(id, completePool(id, pool));
  keepToRoomsOfParts(products);
  return { version, currency: written.currency, products, policies: completePolicies(written.policies) };
}

/**
 * A product is offered where all its required parts are too. A part that is in none of those rooms changes nothing here: the check
 * of catalogues says so.
 */
function keepToRoomsOfParts(products: Map<string, Product>): void {
  const partsOf = (id: string) => products.get(id)?.parts.map(({ product }) => product) ?? [];
  for (const id of depthFirst(products.keys(), partsOf).lowestFirst) {
    const product = products.get(id);
    if (!product) continue;
    let { rooms } = product;
    for (const part of partsOf(id)) {
      const both = roomsOfBoth(rooms, products.get(part)?.rooms ?? null);
      if (both?.length !== 0) rooms = both;
    }
    if (rooms !== product.rooms) products.set(id, { ...product, rooms });
  }
}

/** null: every room. */
export function roomsOfBoth(
  a: readonly string[] | null,
  b: readonly string[] | null,
): readonly string[] | null {
  if (a === null || b === null) return a ?? b;
  const others = new Set(b);
  return a.filter((room) => others.has(room));
}

/** By product: the pools it draws on, as parts. */
function drawnBy(pools: readonly (readonly [string, WrittenPool])[]): Map<string, Part[]> {
  const drawn = new Map<string, Part[]>();
  for (const [pool, { products }] of pools)
    for (const [id, count] of Object.entries(products))
      drawn.set(id, [...(drawn.get(id) ?? []), { product: pool, count }]);
  return drawn;
}

function completeProduct(id: string, written: WrittenProduct): Product {
  const tieBreak = written.tieBreak ?? "first";
  return {
    id,
    name: written.name ?? id,
    price: written.price ?? 0,
    stock: written.stock,
    isForSale: written.forSale ?? true,
    isPool: false,
    rooms: written.rooms ?? null,
    parts: Object.entries(written.parts ?? {}).map(([product, count]) => ({ product, count })),
    options: mostOf(written.options),
    choices: Object.entries(written.choices ?? {}).map(([name, set]) => completeSet(name, set)),
    limitPerCustomer: written.limitPerCustomer ?? null,
    saleStart: written.saleStart ?? null,
    saleEnd: written.saleEnd ?? null,
    isHiddenBefore: written.hiddenBefore ?? false,
    countedBy: written.countedBy ?? "reserved",
    oversell: written.oversell ?? 0,
    staysSoldOut: written.staysSoldOut ?? false,
    holdBacks: Object.entries(written.holdBacks ?? {}).map(([lane, count]) => ({ lane, count })),
    tieBreak,
    tieWindowMs: written.tieWindowMs ?? (tieBreak === "first" ? 0 : DEFAULT_TIE_WINDOW_MS),
  };
}

function completeSet(name: string, { from, min = 0, max }: WrittenChoiceSet): ChoiceSet {
  const members = mostOf(from);
  return { name, from: members, min, max: max ?? members.reduce((sum, member) => sum + member.max, 0) };
}

function mostOf(written: Readonly<Record<string, number>> = {}) {
  return Object.entries(written).map(([product, max]) => ({ product, max }));
}

function completePool(id: string, { products: _, ...pool }: WrittenPool): Product {
  return { ...completeProduct(id, { ...pool, forSale: false }), isPool: true };
}

function completePolicies({ closed, payment, ...written }: WrittenPolicies = {}): ShopPolicies {
  return {
    ...DEFAULT_POLICIES,
    ...written,
    isClosed: closed ?? false,
    payment: { ...DEFAULT_POLICIES.payment, ...payment },
  };
}
