/**
 * A shop as the gateway is handed it: a visitor's call goes in, with who they are and what they sent; a status and JSON come out.
 * The gateway knows passes, cookies and claims, and nothing of what is sold.
 */
import type { ProductView, Shopper } from "../rules/commands.ts";

export type { ProductView, Shopper } from "../rules/commands.ts";

/** What a visitor may ask of a shop, but for its events. */
export type VisitorAction =
  | "hold"
  | "extend"
  | "undo"
  | "basket"
  | "finish"
  | "pay"
  | "leave"
  | "catalogue"
  | "joinList"
  | "leaveList";

export interface VisitorCall {
  readonly action: VisitorAction;
  readonly shopper: Shopper;
  /** The hold or the product that the address names; null: none. */
  readonly named: string | null;
  /** As it was sent; null where the action takes none. */
  readonly body: Uint8Array | null;
  /** The visitor's own. */
  readonly idempotencyKey: string | null;
  /** For `pay`: the visit behind the payment room's door; null where there is no such room. */
  readonly paymentVisit: string | null;
  readonly now: number;
}

export interface ShopReply {
  readonly status: number;
  /** JSON. */
  readonly body: string;
  readonly retryAfterSeconds: number | null;
  /** There is no basket of this shopper, or nothing more can become of it. */
  readonly isOver: boolean;
}

/** A provider's callback, as it was sent. */
export interface PaymentCallback {
  header(name: string): string | undefined;
  readonly body: Uint8Array;
  readonly now: number;
}

/** What everyone in one room and lane sees of the products. */
export interface ProductsShown {
  /** Rises with every change, also from one start to the next. */
  readonly version: number;
  /** Of the catalogue: names and prices. */
  readonly catalogueVersion: number;
  readonly products: readonly ProductView[];
}

export interface ProductFeed {
  /** The latest that is known; null before the first look. */
  readonly latest: ProductsShown | null;
  /** The products now, or as they were a moment ago. */
  read(): Promise<ProductsShown>;
  /** Calls `onNews` when `latest` has changed, until the function that is returned is called. */
  watch(onNews: () => void): () => void;
}

export interface VisitorShop {
  /** The room whose pass lets a visitor pay. Null: there is no second line. */
  readonly paymentRoom: string | null;
  /** Rejects when the shop cannot be asked. */
  call(call: VisitorCall): Promise<ShopReply>;
  /** Null: there is no payment provider. */
  readonly payment: ((callback: PaymentCallback) => Promise<ShopReply>) | null;
  /** The same object for the same room and lane. */
  feed(room: string, lane: string): ProductFeed;
}
