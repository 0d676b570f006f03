/**
 * A shop for tests: a book with a clock that the test moves. After every command the changed records are stored in a map, the
 * three inequalities are checked for every product, and all counts are recounted from the records.
 */
import assert from "node:assert/strict";
import { Verification } from "../../shop/ledger/verify.ts";
import { cap } from "../../shop/rules/availability.ts";
import type { OrderParts } from "../../shop/rules/book/payments.ts";
import type {
  BasketAnswer,
  BasketView,
  PaymentEvent,
  PaymentReply,
  ProductView,
  Shopper,
  ShopRefusal,
  Wish,
} from "../../shop/rules/commands.ts";
import { ShopBook } from "../../shop/rules/shop-book.ts";
import type {
  WrittenCatalogue,
  WrittenPolicies,
  WrittenProduct,
} from "../../shop/rules/written-catalogue.ts";

export const SHOP_OPENS_AT = Date.UTC(2026, 5, 1, 10);
const MINUTE_MS = 60_000;

/** A catalogue of these products. */
export function catalogueOf(
  products: Record<string, Partial<WrittenProduct>>,
  policies: WrittenPolicies = {},
): WrittenCatalogue {
  const complete = Object.entries(products).map(([id, product]) => [
    id,
    { stock: null, price: 100, ...product },
  ]);
  return { currency: "EUR", products: Object.fromEntries(complete), policies };
}

/** A wish for `count` of a product, with what is chosen: `{ cap: 2 }`, or whole wishes. */
export function wishFor(
  product: string,
  count = 1,
  chosen: Record<string, number> | readonly Wish[] = [],
): Wish {
  const list = Array.isArray(chosen)
    ? (chosen as readonly Wish[])
    : Object.entries(chosen as Record<string, number>).map(([one, times]) => wishFor(one, times));
  return { product, count, chosen: list };
}

export class PlainShop {
  now = SHOP_OPENS_AT;
  book = new ShopBook();
  readonly records = new Map<string, string>();
  #orders = 0;
  #events = 0;

  constructor(written?: WrittenCatalogue) {
    if (written) assert.equal(this.set(written).kind, "set");
  }

  set(written: WrittenCatalogue, change: { ifVersion?: number; shortfall?: "refuse" | "record" } = {}) {
    const { ifVersion = null, shortfall = "refuse" } = change;
    return this.kept(this.book.setCatalogue(written, { ifVersion, shortfall, now: this.now }));
  }

  /** A visitor who was admitted when first named, in the lane "main". */
  readonly #shoppers = new Map<string, Shopper>();
  shopper(visitor: string, as: Partial<Shopper> = {}): Shopper {
    const known = this.#shoppers.get(visitor);
    const base = { visitor, customer: visitor, room: "room", lane: "main", admittedAt: this.now };
    const shopper = { ...(known ?? base), ...as };
    this.#shoppers.set(visitor, shopper);
    return shopper;
  }

  hold(visitor: string, wish: Wish | string, key?: string): BasketAnswer {
    const whole = typeof wish === "string" ? wishFor(wish) : wish;
    return this.kept(this.book.hold(this.shopper(visitor), whole, this.now, key));
  }

  extend(visitor: string, parent: string, wish: Wish | string, key?: string): BasketAnswer {
    const whole = typeof wish === "string" ? wishFor(wish) : wish;
    return this.kept(this.book.extend(this.shopper(visitor), parent, whole, this.now, key));
  }

  undo(visitor: string, hold: string): BasketAnswer {
    return this.kept(this.book.undo(this.shopper(visitor), hold, this.now));
  }

  finish(visitor: string): BasketAnswer {
    return this.kept(this.book.finish(this.shopper(visitor), this.now));
  }

  enterPayment(visitor: string): BasketAnswer {
    return this.kept(this.book.enterPayment(this.shopper(visitor), this.now));
  }

  pay(visitor: string, attempt: string, key?: string) {
    return this.kept(this.book.pay(this.shopper(visitor), { attempt }, this.now, key));
  }

  leave(visitor: string): BasketAnswer {
    return this.kept(this.book.leave(this.shopper(visitor), this.now));
  }

  /** An event of the payment provider, with an id of its own unless one is given. */
  tell(attempt: string, kind: PaymentEvent["kind"], id = `event${++this.#events}`): PaymentReply["action"] {
    const reply = this.book.payment({ id, attempt, kind }, this.#parts(attempt), this.now);
    return this.kept(reply).action;
  }

  /** From a hold to an attempt that the provider has not answered yet. */
  buyUpTo(visitor: string, wish: Wish | string, attempt: string): void {
    for (const answer of [
      this.hold(visitor, wish),
      this.finish(visitor),
      this.enterPayment(visitor),
      this.pay(visitor, attempt),
    ])
      assert.notEqual(answer.kind, "refused", JSON.stringify(answer));
  }

  /** Buys it whole; returns the order's id. */
  buy(visitor: string, wish: Wish | string): string {
    this.buyUpTo(visitor, wish, `attempt of ${visitor}`);
    this.tell(`attempt of ${visitor}`, "succeeded");
    return this.basket(visitor).order!;
  }

  basket(visitor: string): BasketView {
    const basket = this.kept(this.book.basket(visitor, this.now));
    assert.ok(basket, `${visitor} has no basket`);
    return basket;
  }

  /** Lets time pass, and everything end that is over. */
  pass(ms: number): void {
    const until = this.now + ms;
    for (let at = this.book.nextDeadline(); at !== null && at <= until; at = this.book.nextDeadline()) {
      this.now = Math.max(this.now, at);
      this.kept(this.book.expire(this.now));
    }
    this.now = until;
  }

  passMinutes(minutes: number): void {
    this.pass(minutes * MINUTE_MS);
  }

  shown(product: string, lane: string | null = null): ProductView | undefined {
    return this.book.products("room", lane, this.now).products.find(({ id }) => id === product);
  }

  left(product: string, lane: string | null = null): number | null | undefined {
    return this.shown(product, lane)?.available;
  }

  /** Reserved, pending and sold units. */
  counts(product: string): [number, number, number] {
    const { reserved, pending, sold } = this.book.stock(product)!.counts;
    return [reserved, pending, sold];
  }

  /** Goes on with a book made from the stored records alone, which shows the same as the one before. */
  restart(): void {
    const before = this.#seen();
    this.book = ShopBook.restore([...this.records].sort(byKey));
    assert.deepEqual(this.#seen(), before);
  }

  /** What can be seen of the shop from outside, but for lists: who can have nothing more is taken off only when it is their turn. */
  #seen() {
    const { book, now } = this;
    const baskets = Array.from(this.#shoppers.keys(), (visitor) => this.kept(book.basket(visitor, now)));
    const lanes = [null, "members"].map((lane) => book.products("room", lane, now));
    const { total, rooms } = book.figures(now);
    return { baskets, lanes, orders: book.orders(0, 1_000), total, rooms };
  }

  /** Stores what a command changed, and checks everything. */
  kept<Answer>(answer: Answer): Answer {
    for (const [key, text] of this.book.takeChanges())
      if (text === null) this.records.delete(key);
      else this.records.set(key, text);
    this.#checkInequalities();
    const verified = verifyRecords(this.records);
    assert.equal(verified.kind, "clean", JSON.stringify(verified));
    return answer;
  }

  #checkInequalities(): void {
    for (const { id, countedBy, oversell } of this.book.checkedCatalogue().products.values()) {
      const { stock, counts, shortfall } = this.book.stock(id)!;
      const most = cap(stock, oversell);
      const { reserved, pending, sold } = counts;
      const counted = { sold, pending: pending + sold, reserved: reserved + pending + sold }[countedBy];
      assert.ok(most === null || counted <= most + shortfall, `${id}: ${counted} of ${most}`);
    }
  }

  #parts(attempt: string): OrderParts {
    const count = this.book.ticketCount(attempt);
    const orderId = `order${++this.#orders}`;
    return { orderId, secrets: Array.from({ length: count }, (_, i) => `secret ${orderId} ${i + 1}`) };
  }
}

/** Recounts all records of a shop. */
export function verifyRecords(records: ReadonlyMap<string, string>) {
  const verification = new Verification();
  for (const [key, text] of [...records].sort(byKey)) verification.read(key, text);
  return verification.finish();
}

/** The basket of an answer that must not be a refusal. */
export function granted(answer: BasketAnswer): Extract<BasketAnswer, { kind: "basket" }> {
  assert.equal(answer.kind, "basket", JSON.stringify(answer));
  return answer as Extract<BasketAnswer, { kind: "basket" }>;
}

/** The code of an answer that must be a refusal. */
export function codeOfRefusal(answer: { readonly kind: string }): ShopRefusal["code"] {
  assert.equal(answer.kind, "refused", JSON.stringify(answer));
  return (answer as ShopRefusal).code;
}

function byKey([a]: readonly [string, string], [b]: readonly [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
