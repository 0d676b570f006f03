/** A shop as the model test drives it. */
import type { Eventually } from "../../core/engine.ts";
import type { ShopBook } from "../../shop/rules/shop-book.ts";

type BookCalls = Pick<
  ShopBook,
  | (
      | "setCatalogue"
      | "adjust"
      | "reopen"
      | "close"
      | "open"
      | "setPaymentDoor"
      | "orders"
      | "cancel"
      | "stock"
    )
  | (
      | "hold"
      | "extend"
      | "undo"
      | "finish"
      | "enterPayment"
      | "pay"
      | "leave"
      | "visitEnded"
      | "joinList"
      | "leaveList"
      | "decide"
    )
  | ("payment" | "products" | "basket" | "nextDeadline" | "expire" | "takeNews")
>;

/** A shop as the model drives it. A ledger answers later than a book. */
export interface RunningShop {
  readonly book: {
    [Name in keyof BookCalls]: (
      ...asked: Parameters<BookCalls[Name]>
    ) => Eventually<ReturnType<BookCalls[Name]>>;
  };
  /** Stores what has changed, and says whether anything has. */
  store(): Eventually<boolean>;
  /** Goes on with only what was stored. */
  restart(): Eventually<void>;
}

export interface ShopUnderTest {
  readonly name: string;
  open(): Eventually<RunningShop>;
}
