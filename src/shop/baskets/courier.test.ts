import assert from "node:assert/strict";
import { test } from "node:test";
import { DurableHost } from "../../durable/host.ts";
import { handWorld, seededFraction } from "../../sim/hand-world.ts";
import { MemoryDisk } from "../../testing/memory-disk.ts";
import { catalogueOf, wishFor } from "../../testing/shop/plain-shop.ts";
import { type CourierParts, Ledger, ledgerEnv } from "../ledger/ledger.ts";
import type { Shopper } from "../rules/commands.ts";
import { type Courier, openCourier } from "./courier.ts";
import { PretendProvider } from "./providers/pretend.ts";
import { HONEST, type Mischief, PretendBank } from "./providers/pretend-bank.ts";
import type { OutgoingAnswer, OutgoingRequest } from "./send.ts";
import { verifyWebhook, type WebhookKeys } from "./standard-webhooks.ts";

const KEYS: WebhookKeys = [Buffer.alloc(32, 1)];
const HOOK_KEYS: WebhookKeys = [Buffer.alloc(32, 2)];
const BANK = "http://127.0.0.1:1";
const HOOK = "https://shop.example/hook";
const MINUTE_MS = 60_000;

async function settle(): Promise<void> {
  for (let turn = 0; turn < 40; turn++) await new Promise((resolve) => setImmediate(resolve));
}

interface StageOptions {
  readonly seed?: number;
  readonly mischief?: (dice: () => number) => Mischief;
  readonly loss?: number;
}

/** A ledger on a memory disk, with the pretend bank and an organiser's webhook around it. */
async function stage({ seed = 1, mischief = () => HONEST, loss = 0 }: StageOptions = {}) {
  const dice = seededFraction(seed);
  const world = handWorld({ seed });
  const disk = new MemoryDisk();
  const provider = new PretendProvider({ url: BANK, keys: KEYS });
  const heard: { id: string; type: string; data: { order?: { id: string } } }[] = [];
  const couriers: Courier[] = [];
  const net = { isDown: false };
  let attempts = 0;

  async function send({ url, headers, body }: OutgoingRequest): Promise<OutgoingAnswer> {
    if (net.isDown || dice() < loss) throw new Error("ECONNRESET");
    const message = { header: (name: string) => headers[name], body: Buffer.from(body) };
    let status = 204;
    if (url === HOOK) {
      const verified = verifyWebhook({ ...message, now: world.clock.now() }, HOOK_KEYS);
      assert.ok(verified.kind === "verified");
      heard.push({ id: verified.id, ...JSON.parse(body) });
    } else status = bank.serve({ ...message, path: url.slice(BANK.length) });
    if (dice() < loss) throw new Error("ECONNRESET");
    return { status, retryAfterMs: null, body: "" };
  }
  const endpoints = [{ name: "orders", url: HOOK, keys: HOOK_KEYS }];
  const open = async (parts: CourierParts) => {
    const courier = await openCourier({ endpoints, provider, world, send }, parts);
    couriers.push(courier);
    return courier;
  };
  let host: DurableHost;
  const start = () => {
    host = new DurableHost(disk, { world });
    const env = ledgerEnv(world, { tell: () => {}, openCourier: open });
    return host.objects("Ledger", Ledger, env).get("tickets");
  };
  let ledger = start();
  const now = () => world.clock.now();
  const bank = new PretendBank({
    keys: KEYS,
    world,
    mischief: mischief(dice),
    send: async ({ headers, body }) => {
      if (dice() < loss) throw new Error("lost");
      const reading = provider.read({ header: (name) => headers[name], body: Buffer.from(body), now: now() });
      if (reading.kind !== "event") return 400;
      const { event } = reading;
      const count = await ledger.ticketCount(event.attempt);
      const secrets = Array.from({ length: count }, (_, n) => `${event.attempt}-${n}`);
      await ledger.payment(event, { orderId: `order_${event.id.slice(4)}`, secrets }, now());
      if (dice() < loss) throw new Error("lost");
      return 200;
    },
  });
  await ledger.setCatalogue(
    catalogueOf(
      { seat: { stock: 20, price: 100 } },
      { payment: { attemptsMax: 2, lateSuccess: "refund" }, payingMs: MINUTE_MS },
    ),
    { ifVersion: null, now: now() },
  );
  const pass = async (ms: number) => {
    for (let left = ms; left > 0; left -= 500) {
      world.pass(Math.min(500, left));
      await settle();
    }
  };
  /** A visitor with a seat in a finished basket begins to pay. */
  const paying = async (visitor: string, amount = 100) => {
    const shopper: Shopper = { visitor, customer: visitor, room: "room", lane: "main", admittedAt: now() };
    assert.equal((await ledger.hold(shopper, wishFor("seat", 1), now())).kind, "basket");
    await ledger.finish(shopper, now());
    const attempt = `attempt_${++attempts}`;
    const answer = await ledger.pay(shopper, { attempt }, now());
    assert.equal(answer.kind, "attempt");
    const { id } = bank.open({ attempt, amount, currency: "EUR", isCapturedAtOnce: false });
    return { id, attempt, shopper };
  };
  return {
    ...{ world, net, bank, heard, couriers, pass, paying, now },
    get ledger() {
      return ledger;
    },
    /** The same disk, another process. What the one before had under way is cut off. */
    restart: async () => {
      await host.close();
      ledger = start();
      await ledger.figures(now());
      await settle();
    },
  };
}

const kindsHeard = (heard: readonly { id: string; type: string }[]) => [
  ...new Set(heard.map(({ id, type }) => `${type} ${id.split("-")[0]}`)),
];

test("an authorised payment is captured, then sold, and the organiser hears of the order once", async () => {
  const { bank, ledger, heard, paying, pass, now, couriers } = await stage();
  const { id } = await paying("ann");
  bank.pay(id);
  await pass(5_000);
  assert.equal(bank.payments[0]?.state, "captured");
  const [order] = await ledger.orders(0, 10);
  assert.equal(order?.total, 100);
  assert.deepEqual(
    heard.map(({ type, data }) => [type, data.order?.id]),
    [["order.made", order!.id]],
  );
  await ledger.cancel(order!.id, null, "refunded", now());
  await pass(2_000);
  assert.deepEqual(kindsHeard(heard), ["order.made made", "order.refunded refunded"]);
  const [courier] = couriers;
  assert.deepEqual(courier?.webhooks.counts, { orders: { waiting: 0, dead: 0 } });
  assert.deepEqual(courier?.asks?.counts, { waiting: 0, dead: 0 });
});

test("a payment over another amount than the basket's is voided, and nothing is sold", async () => {
  const { bank, ledger, heard, paying, pass } = await stage();
  const { id } = await paying("ann", 1);
  bank.pay(id);
  await pass(5_000);
  assert.equal(bank.payments[0]?.state, "voided");
  assert.deepEqual(await ledger.orders(0, 10), []);
  assert.deepEqual(heard, []);
});

test("a payment that comes after the basket has ended is voided", async () => {
  const { bank, ledger, paying, pass } = await stage();
  const { id } = await paying("ann");
  await pass(2 * MINUTE_MS);
  bank.pay(id);
  await pass(5_000);
  assert.equal(bank.payments[0]?.state, "voided");
  assert.deepEqual(await ledger.orders(0, 10), []);
});

test("what was to be told when the process ended is told by the next one", async () => {
  const one = await stage();
  const { id } = await one.paying("ann");
  one.net.isDown = true;
  one.bank.pay(id);
  await one.pass(1_000);
  assert.deepEqual(one.couriers.at(-1)!.asks?.counts, { waiting: 1, dead: 0 });
  await one.restart();
  one.net.isDown = false;
  await one.pass(10_000);
  assert.equal(one.bank.payments[0]?.state, "captured");
  assert.deepEqual(kindsHeard(one.heard), ["order.made made"]);
});

test("through loss, repetition, disorder and crashes money and orders agree in the end", async () => {
  const mischief = (dice: () => number): Mischief => ({
    delaysMs: () => Array.from({ length: 1 + Math.floor(dice() * 3) }, () => Math.floor(dice() * 5_000)),
    skewMs: () => (dice() < 0.2 ? -3_600_000 : 0),
  });
  for (let seed = 1; seed <= 4; seed++) {
    const one = await stage({ seed, mischief, loss: 0.2 });
    for (let n = 0; n < 6; n++) {
      const { id } = await one.paying(`visitor${n}`, n === 5 ? 7 : 100);
      if (n === 3) one.bank.decline(id);
      else one.bank.pay(id);
      if (n === 2) await one.restart();
    }
    for (let round = 0; round < 200; round++) {
      await one.pass(1_000);
      const { webhooks, asks } = one.couriers.at(-1)!;
      const isQuiet = webhooks.counts.orders!.waiting === 0 && asks!.counts.waiting === 0;
      if (round > 12 && isQuiet && one.bank.unacknowledged === 0) break;
      if (round === 6) await one.restart();
    }
    const orders = await one.ledger.orders(0, 100);
    const captured = one.bank.payments.filter(({ state }) => state === "captured");
    assert.deepEqual(
      orders.map(({ attempt }) => attempt).sort(),
      captured.map(({ attempt }) => attempt).sort(),
      `seed ${seed}`,
    );
    assert.deepEqual(
      one.bank.payments.map(({ state }) => state),
      ["captured", "captured", "captured", "failed", "captured", "voided"],
      `seed ${seed}`,
    );
    const told = new Set(one.heard.map(({ data }) => data.order?.id));
    assert.deepEqual([...told].sort(), orders.map(({ id }) => id).sort(), `seed ${seed}`);
  }
});
