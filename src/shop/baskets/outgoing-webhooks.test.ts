import assert from "node:assert/strict";
import { test } from "node:test";
import { DurableHost } from "../../durable/host.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { MemoryDisk } from "../../testing/memory-disk.ts";
import type { ShopOrder } from "../rules/commands.ts";
import { OutgoingWebhooks, type ToldFact, type WebhookEndpoint } from "./outgoing-webhooks.ts";
import type { OutgoingAnswer, OutgoingRequest } from "./send.ts";
import { verifyWebhook, type WebhookKeys } from "./standard-webhooks.ts";

const KEYS: WebhookKeys = [Buffer.alloc(32, 1)];
const OTHER_KEYS: WebhookKeys = [Buffer.alloc(32, 2)];
const ORDERS: WebhookEndpoint = { name: "orders", url: "https://shop.example/hooks?key=hidden", keys: KEYS };
const COUNTER: WebhookEndpoint = { name: "counter", url: "http://127.0.0.1:4000/", keys: OTHER_KEYS };

const order = (id: string): ShopOrder => ({
  ...{ id, number: 1, visitor: "v".repeat(32), customer: "ada", room: "main", lane: "", at: 1_000 },
  ...{ total: 9_500, currency: "EUR", attempt: "attempt_1" },
  tickets: [
    {
      id: `${id}-1`,
      product: "seat",
      secret: "the-secret-of-a-ticket",
      lines: [{ product: "seat", units: 1, price: 9_500 }],
      state: "sold",
    },
  ],
});

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
}

async function stage(
  answer: (request: OutgoingRequest) => Partial<OutgoingAnswer> | Promise<Partial<OutgoingAnswer>>,
  endpoints: readonly WebhookEndpoint[] = [ORDERS],
) {
  const world = handWorld({ now: Date.UTC(2026, 5, 1, 10), dice: () => 1 });
  const { storage } = new DurableHost(new MemoryDisk(), { world }).state("shop");
  const requests: OutgoingRequest[] = [];
  const open = () =>
    OutgoingWebhooks.open({
      ...{ shop: "tickets", endpoints, storage, world },
      send: async (request) => {
        requests.push(request);
        return { status: 204, retryAfterMs: null, body: "", ...(await answer(request)) };
      },
      wakeAt: () => {},
    });
  const webhooks = await open();
  const tell = async (event: ToldFact) => {
    const records = webhooks.records(event);
    await storage.put({ "order/1": "…", ...records });
    webhooks.take(records);
    await quiet();
  };
  const pass = async (ms: number) => {
    world.pass(ms);
    webhooks.run();
    await quiet();
  };
  return { world, storage, requests, webhooks, tell, pass, open };
}

const made = (id = "o1"): ToldFact => ({ type: "order.made", at: 1_000, order: order(id) });
const idsOf = (requests: readonly OutgoingRequest[]) => requests.map(({ headers }) => headers["webhook-id"]);

test("an order is told in the form of Standard Webhooks, signed for its endpoint", async () => {
  const { requests, tell, world, webhooks } = await stage(() => ({}));
  await tell(made());
  const [{ url, headers, body }] = requests as [OutgoingRequest];
  assert.equal(url, ORDERS.url);
  assert.deepEqual(JSON.parse(body), {
    type: "order.made",
    timestamp: "1970-01-01T00:00:01.000Z",
    data: { shop: "tickets", order: order("o1") },
  });
  const message = {
    header: (name: string) => headers[name],
    body: Buffer.from(body),
    now: world.clock.now(),
  };
  assert.equal(verifyWebhook(message, KEYS).kind, "verified");
  assert.equal(headers["content-type"], "application/json");
  assert.deepEqual(webhooks.counts, { orders: { waiting: 0, dead: 0 } });
});

test("each kind of event has its type, and an id of its own that stays the same", async () => {
  const { requests, tell } = await stage(() => ({}));
  await tell(made());
  await tell({ type: "order.cancelled", at: 2_000, order: order("o1"), tickets: ["o1-1"] });
  await tell({ type: "order.refunded", at: 3_000, order: order("o1"), tickets: ["o1-1"] });
  await tell({ type: "product.sold_out", at: 4_000, product: "seat" });
  await tell({ type: "product.sold_out", at: 4_000, product: "Rang 2. – Loge 7".repeat(10) });
  assert.deepEqual(idsOf(requests), [
    "made-o1",
    "cancelled-o1-1",
    "refunded-o1-1",
    "sold_out-5d2c13d6f9fa4211-4000",
    "sold_out-c9cd5b48e4f2ccd6-4000",
  ]);
  assert.deepEqual(
    requests.map(({ body }) => JSON.parse(body).type),
    ["order.made", "order.cancelled", "order.refunded", "product.sold_out", "product.sold_out"],
  );
  assert.deepEqual(JSON.parse(requests[1]!.body).data.tickets, ["o1-1"]);
});

test("a repetition has the same id and body, and a new time with a new signature", async () => {
  let tries = 0;
  const { requests, tell, pass } = await stage(() => ({ status: tries++ === 0 ? 503 : 200 }));
  await tell(made());
  await pass(5_000);
  const [first, second] = requests as [OutgoingRequest, OutgoingRequest];
  assert.equal(second.headers["webhook-id"], first.headers["webhook-id"]);
  assert.equal(second.body, first.body);
  assert.equal(Number(second.headers["webhook-timestamp"]) - Number(first.headers["webhook-timestamp"]), 5);
  assert.notEqual(second.headers["webhook-signature"], first.headers["webhook-signature"]);
});

test("every status but 200 to 299 is a failure, redirects too, and the other side may ask for time", async () => {
  for (const status of [100, 301, 302, 307, 400, 404, 429, 500, 502]) {
    const { tell, webhooks } = await stage(() => ({ status }));
    await tell(made());
    assert.deepEqual(webhooks.counts, { orders: { waiting: 1, dead: 0 } }, String(status));
  }
  const { tell, pass, requests } = await stage(() => ({ status: 429, retryAfterMs: 60_000 }));
  await tell(made());
  await pass(59_999);
  assert.equal(requests.length, 1);
  await pass(1);
  assert.equal(requests.length, 2);
});

test("an endpoint is tried for more than two days and less than a week, and can then be tried again", async () => {
  let isUp = false;
  const { tell, pass, webhooks, world, requests } = await stage(() => ({ status: isUp ? 200 : 500 }));
  const startedAt = world.clock.now();
  await tell(made());
  while (webhooks.counts.orders!.waiting > 0) await pass(1_800_000);
  const days = (world.clock.now() - startedAt) / 86_400_000;
  assert.ok(days > 2 && days < 7, `${days} days`);
  assert.equal(requests.length, 20);
  const [letter] = await webhooks.dead("orders", 10);
  assert.deepEqual([letter?.id, letter?.problem], ["made-o1", "HTTP 500"]);
  isUp = true;
  assert.equal(await webhooks.again("orders", "made-o1"), true);
  assert.equal(await webhooks.again("nobody", "made-o1"), false);
  await quiet();
  assert.deepEqual(webhooks.counts, { orders: { waiting: 0, dead: 0 } });
  assert.deepEqual(await webhooks.dead("nobody", 10), []);
});

test("an endpoint that is gone is sent nothing more, until one is sent again by hand", async () => {
  let status = 410;
  const { tell, requests, webhooks } = await stage(() => ({ status }));
  await tell(made("o1"));
  await tell(made("o2"));
  assert.deepEqual(idsOf(requests), ["made-o1"]);
  assert.deepEqual(
    (await webhooks.dead("orders", 9)).map(({ problem }) => problem),
    ["HTTP 410", "the endpoint wants no more"],
  );
  status = 200;
  assert.equal(await webhooks.again("orders", "made-o2"), true);
  await tell(made("o3"));
  assert.deepEqual(idsOf(requests), ["made-o1", "made-o2", "made-o3"]);
});

test("every endpoint is told by itself: one that hangs holds up no other", async () => {
  const { tell, requests, webhooks } = await stage(
    ({ url }) => (url === ORDERS.url ? new Promise(() => {}) : { status: 200 }),
    [ORDERS, COUNTER],
  );
  for (let n = 1; n <= 10; n++) await tell(made(`o${n}`));
  assert.deepEqual(webhooks.counts, { orders: { waiting: 10, dead: 0 }, counter: { waiting: 0, dead: 0 } });
  assert.equal(requests.filter(({ url }) => url === ORDERS.url).length, 4, "four at a time");
  const counters = requests.filter(({ url }) => url === COUNTER.url);
  assert.equal(counters.length, 10);
  const { headers, body } = counters[0]!;
  const message = {
    header: (name: string) => headers[name],
    body: Buffer.from(body),
    now: Date.UTC(2026, 5, 1, 10),
  };
  assert.equal(verifyWebhook(message, OTHER_KEYS).kind, "verified");
  assert.equal(verifyWebhook(message, KEYS).kind, "refused");
});

test("what was stored before a crash is sent after it", async () => {
  const { storage, requests, webhooks, open } = await stage(() => ({}));
  await storage.put(webhooks.records(made()));
  assert.equal(requests.length, 0);
  const next = await open();
  await quiet();
  assert.deepEqual(idsOf(requests), ["made-o1"]);
  assert.deepEqual(next.counts, { orders: { waiting: 0, dead: 0 } });
});

test("the log has neither addresses nor secrets of tickets", async () => {
  const { tell, world } = await stage(() => ({ status: 410 }));
  await tell(made("o1"));
  await tell(made("o2"));
  const shown = JSON.stringify(world.logged);
  assert.match(shown, /CALL_GIVEN_UP/);
  assert.doesNotMatch(shown, /hidden|shop\.example|the-secret-of-a-ticket/);
});

test("an address over plain http to another machine is refused before anything is sent", async () => {
  const wrong = { ...ORDERS, url: "http://shop.example/hooks" };
  await assert.rejects(
    stage(() => ({}), [wrong]),
    /"orders" is neither https nor this machine itself\./,
  );
});
