/**
 * Everything that can be seen of a shop, compared with the reference, and what has to hold whatever the reference says: the three
 * inequalities for every product there ever was, by the shop's own counts; who is told only the news knows what is shown; and
 * what is shown never changes under the same version.
 */
import assert from "node:assert/strict";
import type { Product } from "../../shop/rules/catalogue.ts";
import type { Shopper } from "../../shop/rules/commands.ts";
import { comparable } from "./comparable.ts";
import type { ReferenceShop } from "./reference.ts";
import type { RunningShop } from "./running-shop.ts";

/** Each way in which products are shown. */
const SHOWN_TO = [
  ["main", "default"],
  ["main", "members"],
  ["side", "default"],
] as const;
const ORDERS_MAX = 1_000;

export class ShopComparison {
  readonly #shop: RunningShop;
  readonly #reference: ReferenceShop;
  readonly #shoppers: readonly Shopper[];
  /** What someone knows who hears only the news. */
  readonly #told = new Map<string, unknown>();
  readonly #seen = new Map<string, { readonly version: number; readonly products: string }>();

  constructor(shop: RunningShop, reference: ReferenceShop, shoppers: readonly Shopper[]) {
    this.#shop = shop;
    this.#reference = reference;
    this.#shoppers = shoppers;
  }

  /** `known`: the last definition of every product there ever was. */
  async compare(known: ReadonlyMap<string, Product>, now: number): Promise<void> {
    for (const { visitor } of this.#shoppers) {
      const basket = await this.#shop.book.basket(visitor, now);
      assert.deepEqual(
        comparable(basket),
        comparable(this.#reference.basket(visitor)),
        `the basket of ${visitor}`,
      );
    }
    for (const [id, product] of known) await this.#compareStock(id, product);
    await this.#compareShown(now);
    await this.#compareOrders();
  }

  /** After a restart whoever followed the shop looks at everything again. */
  async lookAgain(now: number): Promise<void> {
    this.#told.clear();
    for (const [room, lane] of SHOWN_TO)
      if (lane === "default") this.#hear((await this.#shop.book.products(room, lane, now)).products);
  }

  async #compareStock(id: string, { countedBy, oversell }: Product): Promise<void> {
    const view = (await this.#shop.book.stock(id))!;
    assert.deepEqual(comparable(view), comparable(this.#reference.stock(id)), `the stock of ${id}`);
    if (view.stock === null) return;
    const { reserved, pending, sold } = view.counts;
    const counted = { sold, pending: pending + sold, reserved: reserved + pending + sold }[countedBy];
    const most = Math.floor((view.stock * (10_000 + oversell)) / 10_000);
    assert.ok(Math.min(reserved, pending, sold) >= 0, `fewer than no units of ${id}`);
    assert.ok(counted <= most + view.shortfall, `${counted} of ${most} units of ${id}`);
  }

  async #compareShown(now: number): Promise<void> {
    this.#hear((await this.#shop.book.takeNews(now))?.products ?? []);
    for (const [room, lane] of SHOWN_TO) {
      const { version, products } = await this.#shop.book.products(room, lane, now);
      const expected = this.#reference.products(room, lane, now);
      assert.deepEqual(products, expected, `shown in ${room} to ${lane}`);
      const text = JSON.stringify(products);
      const before = this.#seen.get(`${room} ${lane}`);
      assert.ok(before?.version !== version || before.products === text, "a change has a version of its own");
      this.#seen.set(`${room} ${lane}`, { version, products: text });
      if (lane === "default")
        for (const product of products)
          assert.deepEqual(this.#told.get(product.id), product, `${product.id} as it was told`);
    }
  }

  #hear(products: readonly { readonly id: string }[]): void {
    for (const product of products) this.#told.set(product.id, product);
  }

  async #compareOrders(): Promise<void> {
    const orders = (await this.#shop.book.orders(0, ORDERS_MAX)).map(({ id, visitor, total, tickets }) => ({
      id,
      visitor,
      total,
      tickets: tickets.map(({ product, secret, state }) => ({ product, secret, state })),
    }));
    assert.deepEqual(orders, this.#reference.orders(), "the orders");
  }
}
