/**
 * What can be asked of a shop, and what it answers: the interface of `ShopBook`, and so of every ledger. Everything here is plain
 * data that can be stored and sent. Instants are milliseconds since 1970.
 */
import type { WrittenCatalogue } from "./written-catalogue.ts";

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
      /** At `finish`: the holds that cannot be had any more. Empty for a new hold. */
      readonly holds: readonly string[];
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
  /** Offered from the waiting list: released at this instant unless the basket is finished before. Null for any other hold. */
  readonly offerEndsAt: number | null;
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
  /** The payment as the provider has it. One over another amount than the basket's is never captured, or is refunded. */
  readonly payment?: { readonly id: string; readonly amount: number; readonly currency: string };
}

/** What the provider is to do with the money. */
export type PaymentReply = {
  readonly kind: "reply";
  readonly action: "none" | "capture" | "void" | "refund";
};

export interface ShopOrder {
  readonly id: string;
  /** 1 for the shop's first order, and one more for each. */
  readonly number: number;
  readonly visitor: string;
  readonly customer: string;
  readonly room: string;
  readonly lane: string;
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
  /** The product of the hold first, then its parts and what was chosen with it. */
  readonly lines: readonly { readonly product: string; readonly units: number; readonly price: number }[];
  readonly state: "sold" | "cancelled" | "refunded";
}

/** What happened that somebody outside has to be told, at least once: the organiser, or the payment provider. */
export type ShopFact =
  | { readonly type: "order.made"; readonly at: number; readonly order: ShopOrder }
  | {
      readonly type: "order.cancelled" | "order.refunded";
      readonly at: number;
      readonly order: ShopOrder;
      /** Those that changed. */
      readonly tickets: readonly string[];
    }
  /** All its units are sold, or it stays sold out from now on for visitors without a hold-back. */
  | { readonly type: "product.sold_out"; readonly at: number; readonly product: string }
  /** The provider is to capture, void or refund, after this event of its own. */
  | {
      readonly type: "payment.asked";
      readonly at: number;
      readonly action: Exclude<PaymentReply["action"], "none">;
      readonly event: PaymentEvent;
    };

/** What a shopper's command leads to. `made`: the ids of the holds it made. */
export type BasketAnswer =
  | { readonly kind: "basket"; readonly basket: BasketView; readonly made: readonly string[] }
  | ShopRefusal;

/** A payment attempt has begun: the provider is to be asked for `total`. */
export type PayAnswer =
  | {
      readonly kind: "attempt";
      readonly attempt: string;
      readonly total: number;
      readonly currency: string;
      readonly basket: BasketView;
    }
  | ShopRefusal;

/** Someone's place on the waiting list of a product. `ahead`: people before them. */
export interface ListPlace {
  readonly product: string;
  readonly count: number;
  readonly ahead: number;
}

export type ListAnswer =
  | { readonly kind: "listed"; readonly place: ListPlace }
  | { readonly kind: "left"; readonly product: string }
  | ShopRefusal;

/** What becomes of a change that leaves less than is held: it is refused, or done and recorded as a shortfall. */
export type Shortfall = "refuse" | "record";

export type CatalogueAnswer =
  | { readonly kind: "set"; readonly version: number }
  /** `ifVersion` was not the version of the catalogue; this is. */
  | { readonly kind: "refused"; readonly code: "versionMismatch"; readonly version: number }
  | {
      readonly kind: "refused";
      readonly code: "invalidCatalogue" | "belowHeld";
      readonly problems: readonly { readonly path: string; readonly message: string }[];
    };

export type StockAnswer =
  | { readonly kind: "stock"; readonly product: string; readonly stock: StockView }
  | {
      readonly kind: "refused";
      readonly code: "unknownProduct" | "belowZero" | "belowHeld" | "endless" | "invalid";
      readonly product: string;
    };

/** A product's stock as the organiser sees it. */
export interface StockView {
  readonly stock: number | null;
  readonly counts: UnitCounts;
  /** Units that count beyond the cap since the organiser said so. */
  readonly shortfall: number;
  /** The lanes in which it stays sold out; "" stands for visitors of all lanes without a hold-back. */
  readonly staysSoldOutIn: readonly string[];
}

export type OrderAnswer =
  | { readonly kind: "order"; readonly order: ShopOrder; readonly changed: readonly string[] }
  | { readonly kind: "refused"; readonly code: "unknownOrder" | "unknownTicket" | "invalid" };

/** Customers and their tickets by phase, and how many came and went since the shop began (me2 to me8). */
export interface ShopFigures {
  readonly total: ShopRoomFigures;
  readonly rooms: Readonly<Record<string, ShopRoomFigures>>;
  /** People on waiting lists. */
  readonly waiting: number;
  /** The organiser has closed it: nobody takes anything more. */
  readonly isClosed: boolean;
}

export interface ShopRoomFigures {
  readonly customers: { readonly browsing: number; readonly done: number; readonly paying: number };
  /** Holds, by where their units are. */
  readonly tickets: UnitCounts;
  /** Baskets that were begun. */
  readonly arrived: number;
  readonly departed: number;
  /** Of those who departed: with an order. */
  readonly bought: number;
}

/**
 * What every ledger answers. `now` never goes back. `key`: the write's idempotency key; the same key with the same command gives
 * the first answer again for a day, with another command it is `invalid`. A refusal changes nothing and is not kept, so the same
 * key may be tried again after one.
 */
export interface ShopCalls {
  setCatalogue(
    written: WrittenCatalogue,
    change: { readonly ifVersion: number | null; readonly shortfall?: Shortfall; readonly now: number },
  ): CatalogueAnswer;
  /** As it was written; null before there is one. */
  catalogue(): { readonly version: number; readonly written: WrittenCatalogue } | null;
  products(
    room: string,
    lane: string | null,
    now: number,
  ): { readonly version: number; readonly products: readonly ProductView[] };
  /** Null: the visitor has none, or it is long gone. */
  basket(visitor: string, now: number): BasketView | null;
  hold(shopper: Shopper, wish: Wish, now: number, key?: string): BasketAnswer;
  extend(shopper: Shopper, parentHold: string, wish: Wish, now: number, key?: string): BasketAnswer;
  undo(shopper: Shopper, hold: string, now: number, key?: string): BasketAnswer;
  finish(shopper: Shopper, now: number, key?: string): BasketAnswer;
  /** From done to paying: the visitor passed the payment door. */
  enterPayment(shopper: Shopper, now: number, key?: string): BasketAnswer;
  /** Begins an attempt; its id is handed in. */
  pay(shopper: Shopper, fresh: { readonly attempt: string }, now: number, key?: string): PayAnswer;
  leave(shopper: Shopper, now: number, key?: string): BasketAnswer;
  /** The visit was ended by its holder, the origin or the operator: a basket that is not finished gives everything back. */
  visitEnded(visitor: string, now: number): void;
  setPaymentDoor(isOpen: boolean, now: number): void;
  /** Changes a product's stock by `delta`. */
  adjust(product: string, delta: number, shortfall: Shortfall, now: number, key?: string): StockAnswer;
  /** Ends "sold out" of a product that stays so (cs6). */
  reopen(product: string, now: number): StockAnswer;
  close(now: number): void;
  open(now: number): void;
  /** Orders with a number above `after`, in their order. */
  orders(after: number, limit: number): readonly ShopOrder[];
  order(id: string): ShopOrder | null;
  /** Returns the stock of these tickets, once; null: of all. */
  cancel(
    order: string,
    tickets: readonly string[] | null,
    kind: "cancelled" | "refunded",
    now: number,
    key?: string,
  ): OrderAnswer;
  joinList(shopper: Shopper, product: string, count: number, now: number, key?: string): ListAnswer;
  leaveList(shopper: Shopper, product: string, now: number, key?: string): ListAnswer;
  /** The waiting lists that a visitor is on. */
  lists(visitor: string): readonly ListPlace[];
  stock(product: string): StockView | null;
  figures(now: number): ShopFigures;
}
