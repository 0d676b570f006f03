/** A shop's state from its stored records. What follows from them (customers, deadlines, figures) is made anew. */

import { checkCatalogue } from "../check-catalogue.ts";
import type { WrittenCatalogue } from "../written-catalogue.ts";
import { BASKET_PREFIX, unitPlaceOf } from "./baskets.ts";
import { EDITION_PREFIX } from "./editions.ts";
import { FIGURES_PREFIX } from "./figures.ts";
import { LOG_PREFIX } from "./movements.ts";
import { ORDER_PREFIX, ORDERS_KEY } from "./orders.ts";
import { CATALOGUE_PREFIX, CLOSED_KEY, planOpenings, recountCustomers } from "./organiser.ts";
import { DOOR_KEY } from "./payment-clock.ts";
import { EVENT_PREFIX, KEY_PREFIX, ShopState } from "./shop-state.ts";
import { COUNT_PREFIX } from "./stock.ts";
import { DamagedRecord, readStored } from "./stored-records.ts";
import { LIST_PREFIX } from "./waiting-lists.ts";

export type StoredRecord = readonly [key: string, text: string];

/** The prefixes of all records but the log, of which only the last record is needed. */
export const STATE_PREFIXES = [
  ...[CATALOGUE_PREFIX, EDITION_PREFIX, COUNT_PREFIX, BASKET_PREFIX, ORDER_PREFIX, LIST_PREFIX],
  ...[KEY_PREFIX, EVENT_PREFIX, FIGURES_PREFIX, CLOSED_KEY, DOOR_KEY, ORDERS_KEY],
] as const;

/** `records`: in the order of their keys. Throws a `DamagedRecord` when one cannot be read. */
export function restoreShop(records: Iterable<StoredRecord>): ShopState {
  const shop = new ShopState();
  const found = sorted(records);
  restoreCatalogue(shop, found);
  for (const [key, text] of found.of(BASKET_PREFIX)) restoreBasket(shop, key, text);
  const [[, next] = [ORDERS_KEY, "1"]] = found.of(ORDERS_KEY);
  shop.orders.restore(found.of(ORDER_PREFIX), readStored(ORDERS_KEY, next, "count"));
  shop.lists.restore(found.of(LIST_PREFIX));
  shop.keys.restore(found.of(KEY_PREFIX));
  shop.events.restore(found.of(EVENT_PREFIX));
  for (const [key, text] of found.of(FIGURES_PREFIX)) shop.figures.restore(key, text);
  for (const [key, text] of found.of(DOOR_KEY)) shop.door.restore(key, text);
  for (const [key, text] of found.of(CLOSED_KEY)) shop.isClosed = readStored(key, text, "flag");
  const last = found.of(LOG_PREFIX).at(-1);
  if (last) shop.log.restore(...last);
  recountCustomers(shop);
  // Each opening leaves an entry, so those after the last one came while the shop was not running.
  planOpenings(shop, shop.log.lastAt);
  return shop;
}

function restoreCatalogue(shop: ShopState, found: Sorted): void {
  const parts = found.of(CATALOGUE_PREFIX);
  for (const [key, text] of found.of(EDITION_PREFIX)) shop.editions.restore(key, text);
  for (const [key, text] of found.of(COUNT_PREFIX)) shop.stock.restore(key, text);
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

type Sorted = { readonly of: (prefix: string) => StoredRecord[] };

function sorted(records: Iterable<StoredRecord>): Sorted {
  const byPrefix = new Map<string, StoredRecord[]>();
  for (const record of records) {
    const prefix = record[0].slice(0, record[0].indexOf("/") + 1) || record[0];
    const same = byPrefix.get(prefix);
    if (same) same.push(record);
    else byPrefix.set(prefix, [record]);
  }
  return { of: (prefix) => byPrefix.get(prefix) ?? [] };
}
