/** Shops that several gateways share, in a real Redis. */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import type { Settings } from "../config/schema.ts";
import type { ShopDesk } from "../shop/api/shop-desk.ts";
import { sharedBase } from "../shop/ledger/shared/shared-ledger.ts";
import type { BasketAnswer, Shopper } from "../shop/rules/commands.ts";
import { eventually } from "../testing/cli/eventually.ts";
import { STAGE_SECRET } from "../testing/gateway/stage.ts";
import { realWorld } from "../testing/real-world.ts";
import { openTestLink, type TestLink } from "../testing/redis/open-link.ts";
import { type RedisServer, startRedis } from "../testing/redis/servers.ts";
import { catalogueOf, wishFor } from "../testing/shop/plain-shop.ts";
import { OTHER_CHECKS } from "./other-checks.ts";
import { libraryWithLedgers, RedisShops } from "./redis-shops.ts";

const PREFIX = "fairgate";
const LEASE_MS = 1_500;
const CALL_TIMEOUT_MS = 60_000;

let redis: RedisServer;
/** Closed at the end, also after a failure. */
const opened: { close(): Promise<void> }[] = [];
before(async () => {
  redis = await ownRedis();
});
after(async () => {
  for (const one of opened.reverse()) await one.close();
});

async function ownRedis(): Promise<RedisServer> {
  const server = await startRedis();
  opened.push({ close: () => server.stop() });
  return server;
}

function settingsOf(shop: string, webhook: string | null): Settings {
  const orders = webhook && { orders: { webhook, secretVariable: "ORDERS" } };
  const given = {
    ...{ secret: STAGE_SECRET, redis: { url: `redis://127.0.0.1:${redis.port}` } },
    origin: { addresses: ["http://127.0.0.1:1"] },
    shops: { [shop]: { ...orders } },
    rooms: { main: { totalActiveUsers: 1, shop } },
  };
  const environment = { ORDERS: `whsec_${Buffer.alloc(32).toString("base64")}` };
  const result = settingsFrom(given, { environment, readFile: () => "", ...OTHER_CHECKS });
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.settings;
}

interface GatewayOfShop {
  readonly desk: ShopDesk;
  readonly shops: RedisShops;
  readonly heard: string[];
  readonly link: TestLink;
  /** As if the process had been killed. */
  die(): Promise<void>;
  close(): Promise<void>;
}

async function openGateway(
  shop: string,
  {
    leaseMs = LEASE_MS,
    callTimeoutMs = CALL_TIMEOUT_MS,
    server = redis,
    clock = { now: () => Date.now() },
    webhook = null as string | null,
  } = {},
): Promise<GatewayOfShop> {
  const link = await openTestLink([server.port], { library: libraryWithLedgers() });
  const heard: string[] = [];
  const machine = realWorld();
  const shops = new RedisShops({
    ...{ link, world: { ...machine, clock }, machine, prefix: PREFIX, leaseMs, callTimeoutMs },
    kept: { replicas: 0, timeoutMs: 1_000 },
    tell: (_, { visitors, products }) => heard.push(...visitors, ...products.map(({ id }) => id)),
    learn: () => heard.push("learn"),
  });
  const desk = shops.open(shop, settingsOf(shop, webhook));
  const die = () => link.close();
  const gateway = { desk, shops, heard, link, die, close: () => shops.close().finally(() => link.close()) };
  opened.push(gateway);
  return gateway;
}

function shopper(visitor: string): Shopper {
  return { visitor, customer: visitor, room: "main", lane: "everybody", admittedAt: Date.now() };
}

const hold = (desk: ShopDesk, visitor: string, count = 1) =>
  desk.hold(shopper(visitor), wishFor("seat", count), Date.now());
const sell = (desk: ShopDesk, stock: number) =>
  desk.setCatalogue(catalogueOf({ seat: { stock } }), { ifVersion: null, now: Date.now() });

/** Waits until every gateway has heard what was published so far, and forgets it. */
async function untilAllIsTold(shop: string, gateways: readonly GatewayOfShop[]): Promise<void> {
  const marker = JSON.stringify({ version: 0, products: [], visitors: ["marker"] });
  const news = `${sharedBase(PREFIX, shop)}:news`;
  for (const { link } of gateways) await link.command(null, ["PUBLISH", news, marker]);
  const isTold = ({ heard }: GatewayOfShop) =>
    heard.filter((one) => one === "marker").length === gateways.length;
  await eventually("all is told", () => gateways.every(isTold));
  for (const { heard } of gateways) heard.length = 0;
}

function granted(answers: readonly BasketAnswer[]): number {
  return answers.filter(({ kind }) => kind === "basket").length;
}

async function seatsOf(desk: ShopDesk, visitor: string): Promise<number> {
  return (await desk.basket(visitor, Date.now()))?.holds.length ?? 0;
}

describe("shops in Redis", { concurrency: 4 }, () => {
  test("visitors of two gateways buy from one stock, and each gateway hears of the other's", async () => {
    const [one, two] = [await openGateway("both"), await openGateway("both")];
    assert.deepEqual(await sell(two.desk, 25), { kind: "set", version: 1 });
    const asked = Array.from({ length: 60 }, (_, i) => hold([one, two][i % 2]!.desk, `visitor${i}`));
    const answers = await Promise.all(asked);
    assert.equal(granted(answers), 25);
    const winner = answers.findIndex(({ kind }) => kind === "basket");
    for (const { desk } of [one, two]) assert.equal(await seatsOf(desk, `visitor${winner}`), 1);
    assert.equal((await two.desk.verify()).kind, "clean");
    await eventually("both heard of it", () => [one, two].every(({ heard }) => heard.includes("seat")));
    await eventually("both read the catalogue", () =>
      [one, two].every(({ heard }) => heard.includes("learn")),
    );
    await Promise.all([one.close(), two.close()]);
  });

  test("a gateway that ends hands the ledger on, with every basket, order and key", async () => {
    const [one, two] = [await openGateway("handed"), await openGateway("handed")];
    await sell(one.desk, 3);
    const first = await one.desk.hold(shopper("ann"), wishFor("seat"), Date.now(), "once");
    await one.close();
    assert.deepEqual(await two.desk.hold(shopper("ann"), wishFor("seat"), Date.now(), "once"), first);
    assert.equal(await seatsOf(two.desk, "ann"), 1);
    await two.close();
    const three = await openGateway("handed");
    assert.equal(await seatsOf(three.desk, "ann"), 1);
    assert.equal((await three.desk.verify()).kind, "clean");
    await three.close();
  });

  test("when the gateway that keeps it dies, another takes over, and what was confirmed is there", async () => {
    const one = await openGateway("dies");
    await sell(one.desk, 100);
    const two = await openGateway("dies");
    assert.equal(granted([await hold(two.desk, "before")]), 1);
    const asked = Array.from({ length: 20 }, (_, i) => hold(two.desk, `during${i}`));
    await one.die();
    assert.equal(
      granted(await Promise.all(asked)),
      20,
      "what was asked is done once, by the one or the other",
    );
    assert.equal(granted([await hold(two.desk, "after")]), 1);
    const { counts } = (await two.desk.stock("seat"))!;
    assert.deepEqual(counts, { reserved: 22, pending: 0, sold: 0 });
    assert.equal((await two.desk.verify()).kind, "clean");
    await two.close();
  });

  test("a gateway that lost the ledger without knowing changes nothing any more, and its visitors are served by the new one", async () => {
    const [one, two] = [await openGateway("lost"), await openGateway("lost")];
    await sell(one.desk, 10);
    assert.equal(granted([await hold(one.desk, "ann")]), 1);
    const base = sharedBase(PREFIX, "lost");
    const owner = await redis.command("HGET", `${base}:state`, "owner");
    // As if the owner had stood still for longer than its lease.
    await redis.command("HSET", `${base}:state`, "isFree", "1");
    await redis.command("SET", `${base}:live`, "nobody", "PX", "1");
    await eventually("another owns it", async () => {
      await redis.command("SET", `${base}:live`, "nobody", "XX", "PX", "1");
      return (await redis.command("HGET", `${base}:state`, "owner")) !== owner;
    });
    for (const [visitor, { desk }] of Object.entries({ bob: one, cid: two }))
      assert.equal(granted([await hold(desk, visitor)]), 1);
    for (const { desk } of [one, two])
      assert.deepEqual((await desk.stock("seat"))!.counts, { reserved: 3, pending: 0, sold: 0 });
    assert.equal((await two.desk.verify()).kind, "clean");
    await two.close();
    assert.equal(granted([await hold(one.desk, "dan")]), 1, "it takes the ledger over again");
    await one.close();
  });

  test("a Redis restored from before the gateway took the ledger gets everything back from it", async () => {
    const [one, two] = [await openGateway("restored"), await openGateway("restored")];
    await sell(one.desk, 10);
    const base = sharedBase(PREFIX, "restored");
    const copy = async (from: string, to: string) => {
      for (const part of ["state", "records"])
        await redis.command("COPY", `${base}:${part}${from}`, `${base}:${part}${to}`, "REPLACE");
    };
    assert.equal(granted([await hold(one.desk, "ann")]), 1);
    await copy("", "-old");
    assert.equal(granted([await hold(one.desk, "bob")]), 1);
    await one.close();
    assert.equal(granted([await hold(two.desk, "cid")]), 1);
    await redis.command("DEL", `${base}:live`);
    await copy("-old", "");
    assert.equal(granted([await hold(two.desk, "dan")]), 1);
    await two.die();
    const three = await openGateway("restored");
    assert.deepEqual((await three.desk.stock("seat"))!.counts, { reserved: 4, pending: 0, sold: 0 });
    assert.equal((await three.desk.verify()).kind, "clean");
    await three.close();
  });

  test("whoever takes over has every gateway read everything anew: the one before may not have told all", async () => {
    const [one, two, three] = [
      await openGateway("anew"),
      await openGateway("anew"),
      await openGateway("anew"),
    ];
    await sell(one.desk, 10);
    await untilAllIsTold("anew", [one, two, three]);
    await one.die();
    assert.equal(granted([await hold(two.desk, "ann")]), 1);
    await eventually("both read it", () => [two, three].every(({ heard }) => heard.includes("learn")));
    await Promise.all([two.close(), three.close()]);
  });

  test("news that cannot be published are made up for", async () => {
    const one = await openGateway("news");
    await sell(one.desk, 10);
    await untilAllIsTold("news", [one]);
    const command = one.link.command.bind(one.link);
    let lost = 0;
    one.link.command = (key, words) =>
      words[1]?.endsWith(":news") && lost++ < 2 ? Promise.reject(new Error("away")) : command(key, words);
    assert.equal(granted([await hold(one.desk, "ann")]), 1);
    await eventually("everything is read anew", () => one.heard.includes("learn"));
    await one.close();
  });

  test("time to shop is over in time though the gateway that kept the ledger dies, and nobody asks", async () => {
    const [one, two] = [await openGateway("alarm"), await openGateway("alarm")];
    const catalogue = catalogueOf({ seat: { stock: 1 } }, { shoppingWindowMs: 3_000 });
    await one.desk.setCatalogue(catalogue, { ifVersion: null, now: Date.now() });
    assert.equal(granted([await hold(one.desk, "ann")]), 1);
    await one.die();
    await eventually("it is over", () => two.heard.includes("ann"));
    assert.deepEqual((await two.desk.stock("seat"))!.counts, { reserved: 0, pending: 1, sold: 0 });
    await two.close();
  });

  test("a gateway that ends while it takes the ledger gives it back", async () => {
    const one = await openGateway("ends");
    await sell(one.desk, 10);
    await one.close();
    const two = await openGateway("ends");
    await two.close();
    const base = sharedBase(PREFIX, "ends");
    assert.equal(await redis.command("EXISTS", `${base}:live`), 0);
    assert.equal(await redis.command("HGET", `${base}:state`, "isFree"), "1");
    await assert.rejects(hold(two.desk, "ann"), { name: "ShopAway" });
  });

  test("a gateway that ends does not wait for long for a webhook that is not answered: the next one sends it again", async () => {
    const ids: unknown[] = [];
    let isGivenUp = false;
    const organiser = createServer((asked, answer) => {
      answer.on("close", () => {
        isGivenUp = true;
      });
      // The first gets no answer.
      if (ids.push(asked.headers["webhook-id"]) > 1) answer.end();
    });
    await new Promise<void>((resolve) => organiser.listen(0, "127.0.0.1", resolve));
    opened.push({ close: async () => void organiser.close().closeAllConnections() });
    const webhook = `http://127.0.0.1:${(organiser.address() as AddressInfo).port}/`;
    const one = await openGateway("webhook", { webhook });
    await sell(one.desk, 10);
    const two = await openGateway("webhook", { webhook });
    await hold(one.desk, "ann");
    await one.desk.finish(shopper("ann"), Date.now());
    await one.desk.pay(shopper("ann"), { attempt: "a1" }, Date.now());
    const event = { id: "e1", attempt: "a1", kind: "succeeded" } as const;
    const parts = { orderId: "o1", secrets: Array(await one.desk.ticketCount("a1")).fill("s") };
    assert.equal((await one.desk.payment(event, parts, Date.now())).action, "none");
    await eventually("it is sent", () => ids.length === 1);
    await one.close();
    assert.equal(isGivenUp, false, "it did not wait for the webhook's end");
    assert.equal((await two.desk.orders(0, 10)).length, 1);
    await eventually("it is sent again", () => ids.length === 2);
    assert.equal(ids[0], ids[1]);
    await two.close();
  });

  test("a ledger does not go by the line's clock, which may stand still or be set forward", async () => {
    const clock = { now: () => 1_000_000 };
    const one = await openGateway("clock", { clock, callTimeoutMs: 1_000 });
    const two = await openGateway("clock", { clock });
    await sell(two.desk, 10);
    assert.equal(granted([await hold(two.desk, "ann")]), 1);
    await one.die();
    assert.equal(granted([await hold(two.desk, "bob")]), 1);
    await assert.rejects(hold(one.desk, "cid"), { name: "ShopAway" });
    await two.close();
  });

  test("writes that Redis loses in a failover are written anew by the gateway that keeps the ledger", async () => {
    const one = await openGateway("behind");
    await sell(one.desk, 10);
    for (const visitor of ["ann", "bob"]) assert.equal(granted([await hold(one.desk, visitor)]), 1);
    const base = sharedBase(PREFIX, "behind");
    const seq = Number(await redis.command("HGET", `${base}:state`, "seq"));
    const keys = (await redis.command("HKEYS", `${base}:records`)) as string[];
    await redis.command("HDEL", `${base}:records`, ...keys.filter((key) => key.startsWith("basket/")));
    await redis.command("HSET", `${base}:state`, "seq", seq - 1);
    assert.equal(granted([await hold(one.desk, "cid")]), 1);
    await one.die();
    const two = await openGateway("behind");
    for (const visitor of ["ann", "bob", "cid"]) assert.equal(await seatsOf(two.desk, visitor), 1, visitor);
    assert.equal((await two.desk.verify()).kind, "clean");
    await two.close();
  });

  test("a Redis that has lost everything gets it back from the gateway that keeps the ledger, though others look too", async () => {
    const own = await ownRedis();
    const [one, two] = [
      await openGateway("wiped", { server: own }),
      await openGateway("wiped", { server: own }),
    ];
    await sell(one.desk, 10);
    assert.equal(granted([await hold(one.desk, "ann"), await hold(two.desk, "bob")]), 2);
    await own.kill();
    await own.restart();
    await eventually("both are served", async () => {
      const seats = await Promise.all([seatsOf(two.desk, "ann"), seatsOf(one.desk, "bob")]).catch(() => []);
      return seats.join() === "1,1";
    });
    await one.close();
    assert.equal(await seatsOf(two.desk, "ann"), 1);
    assert.equal((await two.desk.verify()).kind, "clean");
    await two.close();
  });

  test("while Redis is away callers are told so in time, and what they asked is done when it is back", async () => {
    const own = await ownRedis();
    const one = await openGateway("away", { server: own, callTimeoutMs: 500 });
    await eventually("a catalogue is set", () =>
      sell(one.desk, 10).then(
        ({ kind }) => kind === "set",
        () => false,
      ),
    );
    own.pause();
    await assert.rejects(hold(one.desk, "ann"), { name: "ShopAway" });
    own.resume();
    await eventually("it is done", async () => (await seatsOf(one.desk, "ann").catch(() => 0)) === 1);
    await one.close();
  });
});
