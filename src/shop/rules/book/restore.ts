/** A shop's state from its stored records. What follows from them (customers, deadlines, figures) is made anew. */

import { checkCatalogue } from "../check-catalogue.ts";
import type { WrittenCatalogue } from "../written-catalogue.ts";
import { BASKET_PREFIX, unitPlaceOf } from "./baskets.ts";
import { EDITION_PREFIX } from "./editions.ts";
import { FIGURES_PREFIX } from "./figures.ts";
import { LOG_PREFIX, logEntries } from "./movements.ts";
import { ORDER_PREFIX, ORDERS_KEY } from "./orders.ts";
import { CATALOGUE_PREFIX, CLOSED_KEY, planOpenings, recountCustomers } from "./organiser.ts";
import { DOOR_KEY } from "./payment-clock.ts";
import { EVENT_PREFIX, KEY_PREFIX, ShopState } from "./shop-state.ts";
import { COUNT_PREFIX } from "./stock.ts";
import { DamagedRecord, readStored } from "./stored-records.ts";
import { LIST_PREFIX } from "./waiting-lists.ts";

export type StoredRecord = readonly [key: string, text: string];

/** The prefixes of all records but the log, of which the last `BEHIND_MAX` entries are needed. */
export const STATE_PREFIXES = [
  ...[CATALOGUE_PREFIX, EDITION_PREFIX, COUNT_PREFIX, BASKET_PREFIX, ORDER_PREFIX, LIST_PREFIX],
  ...[KEY_PREFIX, EVENT_PREFIX, FIGURES_PREFIX, CLOSED_KEY, DOOR_KEY, ORDERS_KEY],
] as const;

/**
 * Takes up records one by one: each group in the order of its keys, groups in the order of `STATE_PREFIXES`, the log last. Throws a
 * `DamagedRecord` when one cannot be read.
 */
export class ShopRestore {
  readonly #shop = new ShopState();
  /** Of groups that are read together. */
  readonly #kept = new Map<string, StoredRecord[]>();

  take(key: string, text: string): void {
    const shop = this.#shop;
    const prefix = key.slice(0, key.indexOf("/") + 1);
    if (prefix === BASKET_PREFIX) restoreBasket(shop, key, text);
    else if (prefix === COUNT_PREFIX) shop.stock.restore(key, text);
    else if (prefix === EDITION_PREFIX) shop.editions.restore(key, text);
    else if (prefix === FIGURES_PREFIX) shop.figures.restore(key, text);
    else if (key === DOOR_KEY) shop.door.restore(key, text);
    else if (key === CLOSED_KEY) shop.isClosed = readStored(key, text, "flag");
    else this.#keep(prefix || key, [key, text]);
  }

  finish(): ShopState {
    const shop = this.#shop;
    restoreCatalogue(shop, this.#group(CATALOGUE_PREFIX));
    const [[, next] = [ORDERS_KEY, "1"]] = this.#group(ORDERS_KEY);
    shop.orders.restore(this.#group(ORDER_PREFIX), readStored(ORDERS_KEY, next, "count"));
    shop.lists.restore(this.#group(LIST_PREFIX));
    shop.keys.restore(this.#group(KEY_PREFIX));
    shop.events.restore(this.#group(EVENT_PREFIX));
    const log = this.#group(LOG_PREFIX);
    const last = log.at(-1);
    if (last) shop.log.restore(...last);
    shop.stock.replay(log.flatMap(([key, text]) => logEntries(key, text)));
    recountCustomers(shop);
    // Each opening leaves an entry, so those after the last one came while the shop was not running.
    planOpenings(shop, shop.log.lastAt);
    return shop;
  }

  #keep(group: string, record: StoredRecord): void {
    const records = this.#kept.get(group);
    if (records) records.push(record);
    else this.#kept.set(group, [record]);
  }

  #group(prefix: string): StoredRecord[] {
    return this.#kept.get(prefix) ?? [];
  }
}

function restoreCatalogue(shop: ShopState, parts: readonly StoredRecord[]): void {
  if (parts.length === 0) return;
  const shape = { fields: { version: "count", written: "anything" } } as const;
  const text = parts.map(([, part]) => part).join("");
  const { version, written } = readStored<{ version: number; written: WrittenCatalogue }>(
    CATALOGUE_PREFIX,
    text,
    shape,
  );
  const checked = checkCatalogue(written, version);
  if (!checked.ok)
    throw new DamagedRecord(
      CATALOGUE_PREFIX,
      checked.problems.map(({ path, message }) => `${path} ${message}`).join("; "),
    );
  shop.written = written;
  shop.catalogue = checked.catalogue;
  shop.stock.define(checked.catalogue.products, removedProducts(shop));
  shop.shown.define(checked.catalogue);
}

function* removedProducts(shop: ShopState) {
  for (const [id, { isOffered, edition }] of shop.stock.all()) {
    if (isOffered !== shop.catalogue.products.has(id))
      throw new DamagedRecord(COUNT_PREFIX + id, "it does not fit the catalogue");
    if (isOffered) continue;
    const past = shop.editions.past(id, edition);
    if (!past)
      throw new DamagedRecord(COUNT_PREFIX + id, "the definition of the removed product is not there");
    yield past;
  }
}

function restoreBasket(shop: ShopState, key: string, text: string): void {
  const basket = shop.baskets.restore(key, text);
  const { room, phase, holds, endsAt } = basket;
  shop.figures.movePhase(room, null, phase);
  const place = unitPlaceOf(basket);
  if (place !== null) shop.figures.moveTickets(room, holds.length, null, place);
  const due = { what: "basket", id: basket.key } as const;
  if (phase === "done" || phase === "paying") shop.deadlines.addInPayment(endsAt, due);
  else shop.deadlines.add(endsAt, due);
  if (phase === "browsing")
    for (const { offerEndsAt } of holds) if (offerEndsAt !== null) shop.deadlines.add(offerEndsAt, due);
}
