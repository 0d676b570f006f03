/** The book as the model drives it: its records are kept in a map, from which it can be restored. */
import { ShopBook } from "../../shop/rules/shop-book.ts";
import type { RunningShop } from "./running-shop.ts";

export class StoredBook implements RunningShop {
  book: ShopBook;
  readonly #records = new Map<string, string>();

  constructor(book = new ShopBook()) {
    this.book = book;
  }

  store(): boolean {
    const changes = this.book.takeChanges();
    for (const [key, text] of changes)
      if (text === null) this.#records.delete(key);
      else this.#records.set(key, text);
    return changes.length > 0;
  }

  restart(): void {
    this.store();
    this.book = ShopBook.restore([...this.#records].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}
