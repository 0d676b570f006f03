/** A shop as the office is handed it: what an organiser reads and changes. */
import type { CatalogueProblemShown } from "../../config/catalogue-form.ts";
import type { CatalogueInput } from "../../config/catalogue-schema.ts";
import type { Verified } from "../ledger/verify.ts";
import type {
  OrderAnswer,
  ShopFigures,
  ShopOrder,
  Shortfall,
  StockAnswer,
  StockView,
} from "../rules/commands.ts";

export type { CatalogueProblemShown } from "../../config/catalogue-form.ts";
export type { CatalogueInput } from "../../config/catalogue-schema.ts";
export type { Verified } from "../ledger/verify.ts";
export type {
  OrderAnswer,
  ShopFigures,
  ShopOrder,
  ShopRoomFigures,
  Shortfall,
  StockAnswer,
  StockView,
} from "../rules/commands.ts";

export interface ShownCatalogueVersion {
  /** Rises by one with every catalogue that is set. */
  readonly version: number;
  /** As an organiser would write it. */
  readonly catalogue: CatalogueInput;
}

/** What is left of a product, with its units by where they are. */
export interface ProductStockShown extends StockView {
  readonly id: string;
  readonly name: string;
  readonly isForSale: boolean;
  readonly isPool: boolean;
  /** As visitors in lanes without a hold-back see it. Null: a pool, or not shown yet. */
  readonly available: number | null;
  readonly state: "available" | "inBaskets" | "inPayment" | "soldOut" | null;
}

export interface CatalogueWish {
  /** The version that is replaced. Null: whichever there is. 0: there is none yet. */
  readonly ifVersion: number | null;
  readonly shortfall: Shortfall;
}

export type CatalogueSetAnswer =
  | { readonly kind: "set"; readonly version: number; readonly cautions: readonly CatalogueProblemShown[] }
  | { readonly kind: "versionMismatch"; readonly version: number }
  /** Nothing was changed. */
  | { readonly kind: "problems"; readonly problems: readonly CatalogueProblemShown[] };

export interface OrganiserShop {
  readonly name: string;
  /** Null: it has none yet. */
  catalogue(): Promise<ShownCatalogueVersion | null>;
  /** Sets the whole catalogue, or changes nothing. */
  setCatalogue(input: unknown, wish: CatalogueWish): Promise<CatalogueSetAnswer>;
  stock(): Promise<readonly ProductStockShown[]>;
  adjust(
    product: string,
    change: { delta: number; shortfall: Shortfall; key: string | null },
  ): Promise<StockAnswer>;
  reopen(product: string): Promise<StockAnswer>;
  /** Nobody takes anything more; what is in baskets stays. */
  close(): Promise<void>;
  open(): Promise<void>;
  /** Orders with a number above `after`, in their order. */
  orders(after: number, limit: number): Promise<readonly ShopOrder[]>;
  order(id: string): Promise<ShopOrder | null>;
  /** All orders as text, part by part. */
  export(form: "csv" | "json"): AsyncIterable<string>;
  /** `tickets`: null: all of the order. */
  cancel(
    order: string,
    change: { tickets: readonly string[] | null; kind: "cancelled" | "refunded" },
  ): Promise<OrderAnswer>;
  figures(): Promise<ShopFigures>;
  /** Recounts everything from what is stored. */
  verify(): Promise<Verified>;
}
