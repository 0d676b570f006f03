/** What those who wait are told of the stock, and the end of a line in front of what is sold. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Board } from "../../../core/board.ts";
import type { Visitor } from "../../../testing/gateway/visitor.ts";
import { openShopStage, type ShopStage, shop } from "../../../testing/shop/shopper.ts";
import { until } from "../../../testing/until.ts";

const CATALOGUE = {
  currency: "EUR",
  products: { seat: { stock: 2, price: 100 } },
  policies: { shoppingWindow: "10m" },
};

async function boardOf(visitor: Visitor): Promise<Board> {
  return JSON.parse((await visitor.ask("/.fairgate/main/board")).text) as Board;
}

async function buy(stage: ShopStage, count: number): Promise<void> {
  const buyer = await stage.shopper();
  assert.equal((await shop(buyer, "POST holds", { json: { product: "seat", count } })).status, 201);
  await shop(buyer, "POST finish");
  assert.equal((await shop(buyer, "POST pay")).status, 200);
}

/** Half a second passes, and whoever looks has looked. */
async function look(stage: ShopStage): Promise<void> {
  stage.world.pass(500);
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
}

test("when everything is sold, the board and the page say so within a second", async (t) => {
  const stage = await openShopStage(t, { room: { totalActiveUsers: 1 }, catalogue: CATALOGUE });
  const buyer = await stage.shopper();
  const waiting = stage.visitor();
  assert.match((await waiting.open()).text, /data-live="stock" hidden/);
  assert.deepEqual((await boardOf(waiting)).stock, { isSoldOut: false, reach: null });
  const events = await waiting.listen();
  await events.heard("board");
  await shop(buyer, "POST holds", { json: { product: "seat", count: 2 } });
  await look(stage);
  // In a basket is not sold.
  assert.deepEqual((await boardOf(waiting)).stock, { isSoldOut: false, reach: null });
  await shop(buyer, "POST finish");
  await shop(buyer, "POST pay");
  await look(stage);
  assert.deepEqual((await boardOf(waiting)).stock, { isSoldOut: true, reach: 0 });
  await until(() => events.events.some(({ data }) => data.includes('"isSoldOut":true')), "the event");
  assert.match((await waiting.open()).text, /Everything is sold out\./);
  // The line goes on: something may come back.
  assert.equal((await waiting.call("check-in")).status, "waiting");
  const [order] = await stage.desk.orders(0, 1);
  await stage.desk.cancel(order!.id, null, "cancelled", stage.world.clock.now());
  await look(stage);
  await look(stage);
  assert.equal((await boardOf(waiting)).stock?.isSoldOut, false);
});

test("by setting, the line ends with the last ticket", async (t) => {
  const stage = await openShopStage(t, { room: { whenSoldOut: "close" }, catalogue: CATALOGUE });
  await buy(stage, 1);
  await look(stage);
  assert.equal(await stage.visitor().isIn(), true);
  await buy(stage, 1);
  await look(stage);
  await until(() => stage.proxied.gateway.settings.rooms.main!.closed, "the room is closed");
  const late = await stage.visitor().open();
  assert.match(late.text, /This has ended/);
  // Once is enough: an operator who opens it again keeps it open.
  const { proxied } = stage;
  await proxied.configure(stage.settings());
  await look(stage);
  assert.equal(await stage.visitor().isIn(), true);
});

test("who probably cannot be reached by what is left is told so, once enough have left to tell", async (t) => {
  const stage = await openShopStage(t, {
    room: { totalActiveUsers: 30 },
    catalogue: { ...CATALOGUE, products: { seat: { stock: 50, price: 100 } } },
  });
  const waiting = stage.visitor();
  for (let buyer = 0; buyer < 19; buyer++) await buy(stage, 2);
  await look(stage);
  await look(stage);
  assert.deepEqual((await boardOf(waiting)).stock, { isSoldOut: false, reach: null });
  await buy(stage, 2);
  await look(stage);
  await look(stage);
  // Ten are left, and each who came took two; some more, to be sure.
  assert.deepEqual((await boardOf(waiting)).stock, { isSoldOut: false, reach: 8 });
});

test("a room without a shop has no word of stock on its board", async (t) => {
  const stage = await openShopStage(t, { rooms: { plain: { path: "/plain", totalActiveUsers: 1 } } });
  await look(stage);
  const visitor = stage.visitor();
  const board = JSON.parse((await visitor.ask("/.fairgate/plain/board")).text) as Board;
  assert.ok(!("stock" in board));
});
