/**
 * What can be asked of a shop, and what it answers: the interface of `ShopBook`, and so of every ledger. Everything here is plain
 * data that can be stored and sent. Instants are milliseconds since 1970.
 */

/** Who asks: told by the gateway from their pass, never by the visitor. */
export interface Shopper {
  /** The id of their visit: one basket for each. */
  readonly visitor: string;
  /** Whom limits count for: a verified claim, else the visit. */
  readonly customer: string;
  readonly room: string;
  readonly lane: string;
  readonly admittedAt: number;
}

export type BasketPhase = "browsing" | "done" | "paying" | "departed";

/** A wish: a product and what is chosen with it, whole. */
export interface Wish {
  readonly product: string;
  /** How many of it, each a hold of its own. */
  readonly count: number;
  /** Options and choices, by the product they are of, for each of the count. */
  readonly chosen: readonly Wish[];
}

export type ShopRefusal =
  | {
      readonly kind: "refused";
      readonly code: "insufficientStock";
      readonly product: string;
      readonly left: number;
    }
  | { readonly kind: "refused"; readonly code: "soldOut"; readonly product: string }
  | {
      readonly kind: "refused";
      readonly code: "limitReached";
      readonly limit: "items" | "product" | "choice" | "option";
      readonly product: string | null;
      readonly max: number;
    }
  | { readonly kind: "refused"; readonly code: "tooFast"; readonly retryAt: number }
  /** The basket's phase has ended, or it is not there any more. */
  | { readonly kind: "refused"; readonly code: "expired" | "frozen" | "noBasket" }
  /** Not offered: unknown, hidden, in another room, before or after its sale; or the wish does not fit the product. */
  | {
      readonly kind: "refused";
      readonly code: "notOffered" | "notOpen" | "invalid";
      readonly product: string | null;
      readonly reason: string;
    }
  | { readonly kind: "refused"; readonly code: "attemptsUsed" | "wrongPhase" };

/** A basket as its owner sees it. */
export interface BasketView {
  readonly phase: BasketPhase;
  /** When the phase ends by itself; null: it stands still, or never. */
  readonly expiresAt: number | null;
  readonly holds: readonly HoldView[];
  readonly total: number;
  readonly currency: string;
  /** Every hold is valid. */
  readonly isValid: boolean;
  readonly attemptsLeft: number;
  /** The order that came of it; null before. */
  readonly order: string | null;
  /** Products whose incomplete holds were released at the end of browsing. */
  readonly released: readonly string[];
}

export interface HoldView {
  readonly id: string;
  readonly product: string;
  readonly parent: string | null;
  readonly units: number;
  readonly price: number;
  /** Minima of its choices hold, and those of everything below. */
  readonly isValid: boolean;
  /** While browsing. Required parts are never modifiable. */
  readonly isModifiable: boolean;
  readonly children: readonly HoldView[];
}

export type ShownState = "available" | "inBaskets" | "inPayment" | "soldOut";

/** A product as everyone in the shop sees it. */
export interface ProductView {
  readonly id: string;
  readonly state: ShownState;
  /** How many more of it could be had; null: without end. */
  readonly available: number | null;
}

/** Units of a product by where they are. */
export interface UnitCounts {
  readonly reserved: number;
  readonly pending: number;
  readonly sold: number;
}

/** The provider's word on one payment attempt; it comes at least once, late, and in any order. */
export interface PaymentEvent {
  /** The provider's id of the event: one that was seen changes nothing. */
  readonly id: string;
  /** The attempt, as `pay` gave it. */
  readonly attempt: string;
  readonly kind: "authorised" | "succeeded" | "failed" | "refunded";
}

/** What the provider is to do with the money. */
export type PaymentReply = {
  readonly kind: "reply";
  readonly action: "none" | "capture" | "void" | "refund";
};

export interface ShopOrder {
  readonly id: string;
  readonly visitor: string;
  readonly customer: string;
  readonly room: string;
  readonly at: number;
  readonly total: number;
  readonly currency: string;
  readonly attempt: string;
  readonly tickets: readonly SoldTicket[];
}

/** One hold that was sold. */
export interface SoldTicket {
  readonly id: string;
  readonly product: string;
  /** What opens the door on the day: 128 random bits, handed in by the caller. */
  readonly secret: string;
  readonly lines: readonly { readonly product: string; readonly units: number; readonly price: number }[];
  readonly state: "sold" | "cancelled" | "refunded";
}
