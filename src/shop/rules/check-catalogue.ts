/**
 * From what an organiser wrote to a catalogue, or to everything that is wrong with it. A catalogue is accepted whole or not at
 * all; problems are reported together, each with the path to what was written.
 */
import type { Catalogue, CountedBy, PaymentPolicies, TieBreak } from "./catalogue.ts";

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

/** One thing that is wrong, and where: `products.bundle.parts.seat`. */
export interface CatalogueProblem {
  readonly path: string;
  readonly message: string;
}

export type CheckedCatalogue =
  | { readonly ok: true; readonly catalogue: Catalogue }
  | { readonly ok: false; readonly problems: readonly CatalogueProblem[] };
