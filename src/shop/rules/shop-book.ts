/**
 * The whole shop as a state machine (after Pluijmaekers 2020): a command and the time in, an answer and changed records out. It does
 * not wait, write or look at a clock; the ledger around it stores what `takeChanges` gives before anybody hears the answer.
 *
 * Three inequalities hold after every command, each for the products that count by it, unless the organiser recorded a shortfall:
 *
 *     op3  reserved + pending + sold ≤ cap        op2  pending + sold ≤ cap        op1  sold ≤ cap
 *
 * No command of a visitor looks at all products or all baskets. What ends by itself ends in `expire`, which is to be called at
 * `nextDeadline`; a late call gives nobody more time, since each command first ends what is over of its own visitor.
 */

import { isShownIn } from "./availability.ts";
import type { Basket } from "./book/baskets.ts";
import type { RecordChange } from "./book/changed-records.ts";
import { enterPayment, finish, leave, visitEnded } from "./book/checkout.ts";
import { type Contender, decideTogether, mayTie, scarceFor } from "./book/contests.ts";
import { expire, expireBasket, nextDeadline } from "./book/expiry.ts";
import { viewOf } from "./book/life.ts";
import { joinList, leaveList, offerReturned } from "./book/offers.ts";
import { ORGANISER, once, wrongKey } from "./book/once.ts";
import { cancelTickets } from "./book/order-changes.ts";
import { adjust, type CatalogueChange, reopen, setCatalogue, setClosed } from "./book/organiser.ts";
import { type OrderParts, pay, payment, ticketCount } from "./book/payments.ts";
import { type Request, reserve, undo } from "./book/reserve.ts";
import { ShopRestore, type StoredRecord } from "./book/restore.ts";
import { ShopState } from "./book/shop-state.ts";
import type { Catalogue } from "./catalogue.ts";
import type {
  BasketAnswer,
  BasketView,
  ListPlace,
  OrderAnswer,
  PayAnswer,
  PaymentEvent,
  PaymentReply,
  ProductView,
  ShopCalls,
  ShopFact,
  ShopFigures,
  ShopOrder,
  Shopper,
  ShopRefusal,
  Shortfall,
  StockAnswer,
  StockView,
  Wish,
} from "./commands.ts";
import type { WrittenCatalogue } from "./written-catalogue.ts";

/** What has changed for others than the asker, since this was asked the last time. */
export interface ShopNews {
  readonly version: number;
  /** As visitors in lanes without a hold-back see them. */
  readonly products: readonly ProductView[];
  /** Visitors whose baskets changed without their asking: an offer, an end, a payment. */
  readonly visitors: readonly string[];
}

export class ShopBook implements ShopCalls {
  readonly #shop: ShopState;
  #now = 0;

  constructor(shop = new ShopState()) {
    this.#shop = shop;
  }

  /** The book as it was stored; see `ShopRestore` for the order. Throws a `DamagedRecord` when one cannot be read. */
  static restore(records: Iterable<StoredRecord>): ShopBook {
    const restore = new ShopRestore();
    for (const [key, text] of records) restore.take(key, text);
    return new ShopBook(restore.finish());
  }

  setCatalogue(written: WrittenCatalogue, change: CatalogueChange) {
    return this.#do(change.now, (now) => setCatalogue(this.#shop, written, { ...change, now }));
  }

  catalogue(): { version: number; written: WrittenCatalogue } | null {
    const { written, catalogue } = this.#shop;
    return written && { version: catalogue.version, written };
  }

  /** The catalogue with every default; without products before there is one. */
  checkedCatalogue(): Catalogue {
    return this.#shop.catalogue;
  }

  products(room: string, lane: string | null, now: number) {
    const { catalogue, shown, log } = this.#shop;
    const views = shown.views(lane);
    const products: ProductView[] = [];
    for (const product of catalogue.products.values())
      if (isShownIn(product, room, now)) products.push(views.get(product.id)!);
    return { version: log.last, products };
  }

  basket(visitor: string, now: number): BasketView | null {
    return this.#do(now, (now) => {
      const basket = this.#current(visitor, now);
      return basket ? viewOf(this.#shop, basket) : null;
    });
  }

  hold(shopper: Shopper, wish: Wish, now: number, key?: string): BasketAnswer {
    return this.#do(now, (now) => this.#reserve({ shopper, wish, parent: null }, key, now));
  }

  extend(shopper: Shopper, parentHold: string, wish: Wish, now: number, key?: string): BasketAnswer {
    return this.#do(now, (now) => this.#reserve({ shopper, wish, parent: parentHold }, key, now));
  }

  undo(shopper: Shopper, hold: string, now: number, key?: string): BasketAnswer {
    return this.#ask({ shopper, command: ["undo", hold], key }, now, (now) =>
      undo(this.#shop, shopper, hold, now),
    );
  }

  finish(shopper: Shopper, now: number, key?: string): BasketAnswer {
    return this.#ask({ shopper, command: ["finish"], key }, now, (now) => finish(this.#shop, shopper, now));
  }

  enterPayment(shopper: Shopper, now: number, key?: string): BasketAnswer {
    return this.#ask({ shopper, command: ["enterPayment"], key }, now, (now) =>
      enterPayment(this.#shop, shopper, now),
    );
  }

  /** The attempt's id is no part of the command: it is fresh each time, and the first answer has the one that counts. */
  pay(shopper: Shopper, fresh: { readonly attempt: string }, now: number, key?: string): PayAnswer {
    return this.#ask({ shopper, command: ["pay"], key }, now, (now) => pay(this.#shop, shopper, fresh, now));
  }

  payment(event: PaymentEvent, parts: OrderParts, now: number): PaymentReply {
    return this.#do(now, (now) => payment(this.#shop, event, parts, now));
  }

  /** How many secrets `payment` needs for this attempt. */
  ticketCount(attempt: string): number {
    return ticketCount(this.#shop, attempt);
  }

  leave(shopper: Shopper, now: number, key?: string): BasketAnswer {
    return this.#ask({ shopper, command: ["leave"], key }, now, (now) => leave(this.#shop, shopper, now));
  }

  visitEnded(visitor: string, now: number): void {
    this.#do(now, (now) => visitEnded(this.#shop, visitor, now));
  }

  setPaymentDoor(isOpen: boolean, now: number): void {
    this.#do(now, (now) => this.#shop.door.setOpen(isOpen, now));
  }

  adjust(product: string, delta: number, shortfall: Shortfall, now: number, key?: string): StockAnswer {
    const asked = { scope: ORGANISER, command: ["adjust", product, delta, shortfall], key };
    const wrong = (): StockAnswer => ({ kind: "refused", code: "invalid", product });
    return this.#do(now, (now) => {
      const work = () => adjust(this.#shop, { product, delta, shortfall }, now);
      return once(this.#shop, asked, now, { work, wrong });
    });
  }

  reopen(product: string, now: number): StockAnswer {
    return this.#do(now, (now) => reopen(this.#shop, product, now));
  }

  close(now: number): void {
    this.#do(now, (now) => setClosed(this.#shop, true, now));
  }

  open(now: number): void {
    this.#do(now, (now) => setClosed(this.#shop, false, now));
  }

  orders(after: number, limit: number): readonly ShopOrder[] {
    return this.#shop.orders.after(after, limit);
  }

  order(id: string): ShopOrder | null {
    return this.#shop.orders.get(id) ?? null;
  }

  cancel(
    order: string,
    tickets: readonly string[] | null,
    kind: "cancelled" | "refunded",
    now: number,
    key?: string,
  ): OrderAnswer {
    const asked = { scope: ORGANISER, command: ["cancel", order, tickets, kind], key };
    const wrong = (): OrderAnswer => ({ kind: "refused", code: "invalid" });
    return this.#do(now, (now) => {
      const work = () => cancelTickets(this.#shop, order, { tickets, kind }, now);
      return once(this.#shop, asked, now, { work, wrong });
    });
  }

  joinList(shopper: Shopper, product: string, count: number, now: number, key?: string) {
    return this.#ask({ shopper, command: ["joinList", product, count], key }, now, (now) =>
      joinList(this.#shop, shopper, { product, count }, now),
    );
  }

  leaveList(shopper: Shopper, product: string, now: number, key?: string) {
    return this.#ask({ shopper, command: ["leaveList", product], key }, now, () =>
      leaveList(this.#shop, shopper, product),
    );
  }

  lists(visitor: string): readonly ListPlace[] {
    const { lists } = this.#shop;
    return Array.from(lists.productsOf(visitor), (product) => lists.unitPlaceOf(product, visitor)!);
  }

  stock(product: string): StockView | null {
    return this.#shop.stock.view(product);
  }

  figures(_now: number): ShopFigures {
    const { figures, lists, isClosed } = this.#shop;
    return { ...figures.all(lists.size), isClosed };
  }

  /** When `expire` should be called; null: nothing ends by itself. */
  nextDeadline(): number | null {
    return nextDeadline(this.#shop);
  }

  /** Ends what is over: a limited number at a time, so that more may be due at once. */
  expire(now: number): void {
    this.#do(now, (now) => expire(this.#shop, now));
  }

  /** Whether requests for this may have to be decided together. `open`: products that others wait for already. */
  mayTie(wish: Wish, open: ReadonlySet<string>): boolean {
    return mayTie(this.#shop, wish, open);
  }

  /** Those of these requests that want something of which they together want too much, or that is in `open`. */
  contests(requests: readonly Contender[], open: ReadonlySet<string>, now: number) {
    return scarceFor(this.#shop, requests, open, now);
  }

  /** Decides requests that waited together. The answers are in the order of the requests. */
  decide(requests: readonly Contender[], seed: string, now: number): BasketAnswer[] {
    return this.#do(now, (now) => {
      for (const { shopper } of requests) this.#current(shopper.visitor, now);
      const grant = (request: Contender) => this.#reserve(request, request.key, now);
      return decideTogether(this.#shop, requests, { seed, grant }, now);
    });
  }

  /** The records that the commands since the last call have changed; all of them are to be stored together. */
  takeChanges(): RecordChange[] {
    return this.#shop.changes.take();
  }

  /** What somebody outside has to be told, since the last call. It is to be stored together with the changes. */
  takeFacts(): ShopFact[] {
    const { facts } = this.#shop;
    if (facts.length > 0) this.#shop.facts = [];
    return facts;
  }

  /** The number of the last entry in the log: the version of all that is shown. */
  get version(): number {
    return this.#shop.log.last;
  }

  /** What visitors have to be shown anew; null: nothing. */
  takeNews(now: number): ShopNews | null {
    const { shown, unasked, log, catalogue } = this.#shop;
    const products = shown
      .takeUntold()
      .filter((id) => isShownIn(catalogue.products.get(id)!, null, now))
      .map((id) => shown.look(id, null));
    const visitors = [...unasked];
    unasked.clear();
    return products.length === 0 && visitors.length === 0 ? null : { version: log.last, products, visitors };
  }

  /** Does one command, and what follows from it. */
  #do<Answer>(now: number, work: (now: number) => Answer): Answer {
    this.#now = Math.max(this.#now, Math.floor(now));
    const answer = work(this.#now);
    const { shown, stock } = this.#shop;
    const touched = shown.settle(this.#now);
    if (touched.length > 0 && offerReturned(this.#shop, touched, this.#now)) shown.settle(this.#now);
    stock.catchUp();
    return answer;
  }

  #reserve(request: Request, key: string | undefined, now: number): BasketAnswer {
    const { shopper, wish, parent } = request;
    this.#current(shopper.visitor, now);
    const command = parent === null ? ["hold", wish] : ["extend", parent, wish];
    const work = () => reserve(this.#shop, request, now);
    return once(this.#shop, { scope: shopper.visitor, command, key }, now, { work, wrong: wrongKey });
  }

  /** Another write of a shopper. */
  #ask<Answer extends { readonly kind: string }>(
    { shopper, command, key }: { shopper: Shopper; command: readonly unknown[]; key: string | undefined },
    at: number,
    work: (now: number) => Answer | ShopRefusal,
  ): Answer | ShopRefusal {
    return this.#do(at, (now) => {
      this.#current(shopper.visitor, now);
      const asked = { scope: shopper.visitor, command, key };
      return once<Answer | ShopRefusal>(this.#shop, asked, now, { work: () => work(now), wrong: wrongKey });
    });
  }

  /** The visitor's basket, after the end of what is over of it. */
  #current(visitor: string, now: number): Basket | undefined {
    expireBasket(this.#shop, this.#shop.baskets.get(visitor), now);
    return this.#shop.baskets.get(visitor);
  }
}
