import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../../sim/hand-world.ts";
import type { ProductView } from "../rules/commands.ts";
import { ProductFeeds, QUICK_MS, SLOW_MS } from "./product-feeds.ts";

const settle = async () => {
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
};

function stage() {
  const world = handWorld();
  const asked: string[] = [];
  const shelf = {
    products: [{ id: "seat", state: "available", available: 3 }] as ProductView[],
    isBroken: false,
  };
  const failures: unknown[] = [];
  const feeds = new ProductFeeds({
    world,
    desk: {
      products: async (room, lane) => {
        asked.push(`${room} ${lane}`);
        if (shelf.isBroken) throw new Error("away");
        return { version: 1, products: shelf.products };
      },
    },
    catalogueVersion: () => 7,
    onFailure: (cause) => failures.push(cause),
  });
  const leave = (available: number) => {
    shelf.products = [{ id: "seat", state: "available", available }];
  };
  return { world, feeds, asked, shelf, failures, leave };
}

test("the ledger is asked once for all who want to know at the same time, and again a second later", async () => {
  const { feeds, world, asked } = stage();
  const feed = feeds.feed("main", "everybody");
  assert.equal(feed.latest, null);
  const [one, two] = await Promise.all([feed.read(), feed.read()]);
  assert.equal(one, two);
  assert.deepEqual([one.catalogueVersion, one.products[0]?.available], [7, 3]);
  assert.equal(await feed.read(), one);
  assert.equal(asked.length, 1);
  world.pass(SLOW_MS);
  assert.equal(await feed.read(), one);
  assert.equal(asked.length, 2);
});

test("news come within a quarter of a second of a command, and within a second without", async () => {
  const { feeds, world, leave } = stage();
  const feed = feeds.feed("main", "everybody");
  await feed.read();
  let news = 0;
  const stop = feed.watch(() => news++);
  leave(2);
  feeds.touch();
  world.pass(QUICK_MS);
  await settle();
  assert.deepEqual([news, feed.latest?.products[0]?.available], [1, 2]);
  leave(1);
  world.pass(SLOW_MS - QUICK_MS);
  await settle();
  assert.equal(news, 1);
  world.pass(QUICK_MS);
  await settle();
  assert.equal(news, 2);
  stop();
  leave(0);
  world.pass(5 * SLOW_MS);
  await settle();
  assert.equal(news, 2);
});

test("versions rise with every change, and are the same while nothing changes", async () => {
  const { feeds, world, leave } = stage();
  const feed = feeds.feed("main", "everybody");
  const versions: number[] = [];
  for (const left of [3, 3, 2, 1]) {
    leave(left);
    world.pass(SLOW_MS);
    versions.push((await feed.read()).version);
  }
  const [first, second, third, fourth] = versions as [number, number, number, number];
  assert.ok(first === second && second < third && third < fourth);
});

test("a room and lane that nobody reads is not asked about, and forgotten", async () => {
  const { feeds, world, asked } = stage();
  const feed = feeds.feed("main", "members");
  await feed.read();
  feeds.touch();
  world.pass(30_000);
  assert.equal(feeds.feed("main", "members"), feed);
  assert.equal(asked.length, 1);
  world.pass(61_000);
  assert.notEqual(feeds.feed("main", "members"), feed);
});

test("a ledger that does not answer is told of, and asked again", async () => {
  const { feeds, world, shelf, failures, leave } = stage();
  const feed = feeds.feed("main", "everybody");
  await feed.read();
  feed.watch(() => {});
  shelf.isBroken = true;
  feeds.touch();
  world.pass(QUICK_MS);
  await settle();
  assert.equal(failures.length, 1);
  await assert.rejects(async () => {
    feeds.touch();
    await feed.read();
  });
  shelf.isBroken = false;
  leave(1);
  world.pass(SLOW_MS);
  await settle();
  assert.equal(feed.latest?.products[0]?.available, 1);
});
