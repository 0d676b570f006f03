/**
 * Everything that a shop's book knows, in its parts. The commands are functions over it, each in the file of its subject; this file has no
 * rules of its own.
 */

import type { Catalogue } from "../catalogue.ts";
import type { ShopFact } from "../commands.ts";
import { completeCatalogue, type WrittenCatalogue } from "../written-catalogue.ts";
import { Baskets } from "./baskets.ts";
import { ChangedRecords } from "./changed-records.ts";
import { Customers } from "./customers.ts";
import { ShopDeadlines } from "./due.ts";
import { Editions } from "./editions.ts";
import { FigureCounts } from "./figures.ts";
import { KeptAnswers } from "./kept-answers.ts";
import { MovementLog } from "./movements.ts";
import { Orders } from "./orders.ts";
import { PaymentClock } from "./payment-clock.ts";
import { ShownProducts } from "./shown.ts";
import { BEHIND_MAX, Stock } from "./stock.ts";
import { WaitingLists } from "./waiting-lists.ts";

/** How long a write's idempotency key is kept. */
export const KEYS_KEPT_MS = 86_400_000;
/** How long an event of the payment provider is known again. */
export const EVENTS_KEPT_MS = 30 * 86_400_000;
export const KEY_PREFIX = "key/";
export const EVENT_PREFIX = "event/";

const NO_CATALOGUE: Catalogue = completeCatalogue({ currency: "", products: {} }, 0);

export class ShopState {
  readonly changes = new ChangedRecords();
  readonly log = new MovementLog(this.changes);
  catalogue: Catalogue = NO_CATALOGUE;
  /** The catalogue as the organiser wrote it. */
  written: WrittenCatalogue | null = null;
  /** No new holds. */
  isClosed = false;
  readonly shown: ShownProducts;
  readonly stock: Stock;
  readonly editions: Editions;
  readonly baskets = new Baskets(this.changes);
  readonly customers = new Customers();
  readonly orders = new Orders(this.changes);
  readonly lists = new WaitingLists(this.changes);
  readonly figures = new FigureCounts(this.changes);
  readonly door = new PaymentClock(this.changes);
  readonly deadlines = new ShopDeadlines(this.door);
  readonly keys = new KeptAnswers(this.changes, { prefix: KEY_PREFIX, keptMs: KEYS_KEPT_MS });
  readonly events = new KeptAnswers(this.changes, { prefix: EVENT_PREFIX, keptMs: EVENTS_KEPT_MS });
  /** What somebody outside has to be told. */
  facts: ShopFact[] = [];
  /** Visitors whose baskets have changed without their asking. */
  readonly unasked = new Set<string>();

  /** `behindMax`: how many entries the records of counts may be behind the log, no more than `BEHIND_MAX`. */
  constructor({ behindMax = BEHIND_MAX }: { behindMax?: number } = {}) {
    const { changes, log } = this;
    const onSoldOut = (product: string, at: number) =>
      void this.facts.push({ type: "product.sold_out", at, product });
    this.shown = new ShownProducts(() => this.stock, NO_CATALOGUE, onSoldOut);
    this.stock = new Stock({ changes, log, onTouch: this.shown.touch, behindMax });
    this.editions = new Editions(changes, this.stock);
  }

  /** What limits are counted by: products that were removed are still known. */
  get limits(): Pick<Catalogue, "products" | "policies"> {
    return { products: this.stock.products, policies: this.catalogue.policies };
  }
}
