/** What is left of each product, live: a list at first, changes after that, and no more readers than there is room for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { EventReader, type Visitor } from "../../../testing/gateway/visitor.ts";
import { openShopStage, type ShopStage, shop, TEN_SEATS } from "../../../testing/shop/shopper.ts";
import { until } from "../../../testing/until.ts";

const SEAT = { json: { product: "seat" } };

interface Heard {
  readonly version: number;
  readonly products: readonly { id: string; state: string; available: number | null }[];
}

async function listen(t: Parameters<typeof openShopStage>[0], visitor: Visitor): Promise<EventReader> {
  const reader = new EventReader();
  const hangUp = new AbortController();
  t.after(() => hangUp.abort());
  reader.hangUp = () => hangUp.abort();
  const response = await visitor.begin("/.fairgate/main/shop/events", { signal: hangUp.signal });
  reader.status = response.statusCode!;
  reader.headers = response.headers;
  response.setEncoding("utf8");
  response.on("data", (text: string) => reader.read(text)).on("error", () => {});
  response.on("close", () => {
    reader.isOver = true;
  });
  return reader;
}

const heardIn = (reader: EventReader): Heard[] => reader.events.map(({ data }) => JSON.parse(data) as Heard);

/** Lets time pass until the shop was looked at again. */
async function look(stage: ShopStage, isSeen: () => boolean): Promise<void> {
  await until(() => {
    stage.world.pass(250);
    return isSeen();
  }, "the change");
}

test("everyone in the shop hears what is left, at once as a list and then what changed", async (t) => {
  const stage = await openShopStage(t);
  const [one, two] = [await stage.shopper(), await stage.shopper()];
  const reader = await listen(t, one);
  assert.equal(reader.status, 200);
  assert.equal(reader.headers["content-type"], "text/event-stream; charset=utf-8");
  await reader.heard("products");
  await shop(two, "POST holds", SEAT);
  await look(stage, () => reader.count("changes") > 0);
  const [first, second] = heardIn(reader) as [Heard, Heard];
  assert.deepEqual(
    first.products.map(({ id, available }) => [id, available]),
    [
      ["seat", 10],
      ["pair", 5],
      ["parking", null],
    ],
  );
  assert.deepEqual(second.products, [
    { id: "seat", state: "available", available: 9 },
    { id: "pair", state: "available", available: 4 },
  ]);
  assert.ok(second.version > first.version);
});

test("what ends by itself is heard within a second, though nobody asked for anything", async (t) => {
  const stage = await openShopStage(t, { room: { sessionDuration: "1h" } });
  const [one, two] = [await stage.shopper(), await stage.shopper()];
  await shop(two, "POST holds", SEAT);
  await shop(two, "POST finish");
  const reader = await listen(t, one);
  await reader.heard("products");
  assert.equal(heardIn(reader)[0]?.products[0]?.available, 9);
  stage.world.pass(20 * 60_000 - 1_000);
  await until(() => reader.isOver, "the stream says bye in time");
  const again = await listen(t, one);
  await again.heard("products");
  await look(stage, () => again.count("changes") > 0);
  assert.equal(heardIn(again)[1]?.products[0]?.available, 10);
});

test("another catalogue is heard as a whole list", async (t) => {
  const stage = await openShopStage(t);
  const reader = await listen(t, await stage.shopper());
  await reader.heard("products");
  await stage.setCatalogue({
    ...TEN_SEATS,
    products: { seat: TEN_SEATS.products.seat!, parking: { stock: null } },
  });
  await look(stage, () => reader.count("products") > 1);
  assert.deepEqual(
    heardIn(reader)
      .at(-1)
      ?.products.map(({ id }) => id),
    ["seat", "parking"],
  );
});

test("streams take the seats of all streams, and one visitor has a few of them", async (t) => {
  const stage = await openShopStage(t);
  const visitor = await stage.shopper();
  const readers = [];
  for (let tab = 0; tab < 5; tab++) readers.push(await listen(t, visitor));
  await Promise.all(readers.map((reader) => reader.heard("products")));
  const { traffic } = stage.proxied.gateway;
  assert.equal(traffic.sseConnections, 5);
  const refused = await shop(visitor, "GET events");
  assert.deepEqual([refused.status, refused.words.reason], [429, "tooManyStreams"]);
  readers[0]!.hangUp();
  await until(() => traffic.sseConnections === 4, "the seat is free");
  await (await listen(t, visitor)).heard("products");
});

test("one look at the shop does for all who listen", async (t) => {
  const stage = await openShopStage(t);
  for (let i = 0; i < 10; i++) await (await listen(t, await stage.shopper())).heard("products");
  const before = stage.desk.calls.products!;
  for (let second = 0; second < 10; second++) {
    stage.world.pass(1_000);
    await new Promise(setImmediate);
  }
  const looks = stage.desk.calls.products! - before;
  assert.ok(looks >= 8 && looks <= 11, `${looks} looks in ten seconds`);
});
