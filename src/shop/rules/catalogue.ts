/**
 * What a shop sells, as the rules see it: checked, and complete with defaults. `check-catalogue.ts` makes it from what an
 * organiser wrote.
 *
 * A product may have required parts (they come with each unit), options (chosen freely, up to a maximum) and choices (a set from
 * which a minimum and a maximum is chosen), to any depth (Pluijmaekers 2020, sp2 to sp7). Parts never form a cycle. A shared pool
 * is written as such by the organiser and is a hidden product here, a required part of those that draw on it.
 */

/** Whose units count against the cap: only those sold (op1), also those in finished baskets (op2), or all in baskets too (op3). */
export type CountedBy = "sold" | "pending" | "reserved";

/** Who gets the last units when more are asked for than are left (tb1 to tb5). */
export type TieBreak = "first" | "random" | "earliestAdmitted" | "latestAdmitted" | "highestBasket";

export interface Catalogue {
  /** Rises by one with every change. */
  readonly version: number;
  /** ISO 4217. */
  readonly currency: string;
  readonly products: ReadonlyMap<string, Product>;
  readonly policies: ShopPolicies;
}

export interface Product {
  readonly id: string;
  readonly name: string;
  /** In minor units of the currency. Required parts are in the price of what needs them; options and choices add theirs. */
  readonly price: number;
  /** Units at the start; null: without end (sp1). Later changes are deltas in the ledger. */
  readonly stock: number | null;
  /** Sold by itself; a product that is not is only ever part of others. */
  readonly isForSale: boolean;
  /** A quota that products draw on: never for sale, never shown, never an item that limits count. */
  readonly isPool: boolean;
  /** Sold in these rooms only (mc1); null: in every room of the shop. */
  readonly rooms: readonly string[] | null;
  readonly parts: readonly Part[];
  readonly options: readonly OptionalPart[];
  readonly choices: readonly ChoiceSet[];
  /** Most units for each customer (cs4); null: no limit. */
  readonly limitPerCustomer: number | null;
  /** No hold before or after; null: always. Before its sale a product is not shown when `isHiddenBefore`. */
  readonly saleStart: number | null;
  readonly saleEnd: number | null;
  readonly isHiddenBefore: boolean;
  readonly countedBy: CountedBy;
  /** Over- or undersell in hundredths of a percent, from -10000 (op4). */
  readonly oversell: number;
  /** Once shown as sold out it stays so, until the organiser opens it again (cs6). */
  readonly staysSoldOut: boolean;
  /** Units kept for visitors of a lane. */
  readonly holdBacks: readonly HoldBack[];
  readonly tieBreak: TieBreak;
  /** How long requests are gathered when more is asked for than is left; 0: never. */
  readonly tieWindowMs: number;
}

/** Comes with each unit of its parent (sp3). */
export interface Part {
  readonly product: string;
  /** Units for each unit of the parent, from 1. */
  readonly count: number;
}

/** May be added (sp4). */
export interface OptionalPart {
  readonly product: string;
  /** Most units for each unit of the parent (sp7). */
  readonly max: number;
}

/** A set of sub-products from which some are chosen: at least `min` (sp5) and at most `max` (sp6) for each unit of the parent. */
export interface ChoiceSet {
  readonly name: string;
  readonly from: readonly OptionalPart[];
  readonly min: number;
  readonly max: number;
}

export interface HoldBack {
  readonly lane: string;
  readonly count: number;
}

export interface ShopPolicies {
  /** No hold before; null: open. */
  readonly opensAt: number | null;
  readonly isClosed: boolean;
  /** Most items of one customer, over all products (cs3); null: no limit. */
  readonly itemsMax: number | null;
  /** At most `items` added in any `everyMs`; releases give nothing back (cs2); null: no limit. */
  readonly burst: { readonly items: number; readonly everyMs: number } | null;
  /** What limits count: products sold by themselves, or their parts and options too. */
  readonly limitCounts: "tickets" | "everything";
  /** From the visitor's admission to the end of browsing (cs5). */
  readonly shoppingWindowMs: number;
  readonly doneMs: number;
  readonly payingMs: number;
  readonly payment: PaymentPolicies;
  /** How long someone on the waiting list has to take what they are offered; null: there is no waiting list. */
  readonly offerMs: number | null;
}

export interface PaymentPolicies {
  /** The room whose pass lets a visitor pay; null: there is no second line. */
  readonly room: string | null;
  /** mc2. */
  readonly attemptsMax: number;
  /** Payment that succeeds after the hold has ended: everything is taken again if it can be, or else refunded; or always refunded. */
  readonly lateSuccess: "retake" | "refund";
}
