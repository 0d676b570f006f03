import assert from "node:assert/strict";
import { test } from "node:test";
import { DurableHost } from "../../durable/host.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { MemoryDisk } from "../../testing/memory-disk.ts";
import { catalogueOf, wishFor } from "../../testing/shop/plain-shop.ts";
import { LOG_PREFIX } from "../rules/book/movements.ts";
import type { StoredRecord } from "../rules/book/restore.ts";
import { ShopState } from "../rules/book/shop-state.ts";
import { ShopBook } from "../rules/shop-book.ts";
import { putRecords, readAll, readState, VERIFIED_PREFIXES } from "./ledger-records.ts";
import { LogFolding } from "./log-folding.ts";
import { Verification } from "./verify.ts";

test("the oldest entries become sums, and a recount still comes out", async () => {
  const { storage } = new DurableHost(new MemoryDisk(), { world: handWorld() }).state("shop");
  const verify = async () => {
    const verification = new Verification();
    for (const prefix of VERIFIED_PREFIXES)
      for await (const [key, text] of readAll(storage, prefix)) verification.read(key, text);
    return verification.finish();
  };
  const logRecords = async () => (await storage.list({ prefix: LOG_PREFIX })).size;
  let book = new ShopBook(new ShopState({ behindMax: 500 }));
  const keep = () => putRecords(storage, book.takeChanges());
  book.setCatalogue(catalogueOf({ seat: { stock: null }, cap: { stock: 90_000 } }), {
    ifVersion: null,
    now: 1,
  });
  let folding = new LogFolding(storage, 1_000);
  const trade = async (visits: number, from: number) => {
    for (let n = from; n < from + visits; n++) {
      const visitor = `visitor${n}`;
      const shopper = { visitor, customer: visitor, room: "r", lane: "l", admittedAt: 1 };
      book.hold(shopper, wishFor(n % 2 === 0 ? "seat" : "cap", 2), 1);
      if (n % 3 === 0) book.undo(shopper, "1", 1);
      keep();
      if (folding.isDue(book.version)) await folding.fold();
    }
  };
  await trade(8_000, 0);
  const records = await logRecords();
  assert.ok(records < book.version / 100, `${records} records for ${book.version} entries`);
  assert.ok((await storage.get<string>("folded"))! > "1000");
  assert.deepEqual(await verify(), { kind: "clean", products: 2, entries: book.version });
  const stored: StoredRecord[] = [];
  for await (const record of readState(storage)) stored.push(record);
  book = ShopBook.restore(stored);
  folding = new LogFolding(storage);
  await folding.load();
  await trade(1_000, 8_000);
  assert.deepEqual(await verify(), { kind: "clean", products: 2, entries: book.version });
});
