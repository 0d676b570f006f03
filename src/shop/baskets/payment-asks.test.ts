import assert from "node:assert/strict";
import { test } from "node:test";
import { DurableHost } from "../../durable/host.ts";
import { handWorld, seededFraction } from "../../sim/hand-world.ts";
import { MemoryDisk } from "../../testing/memory-disk.ts";
import { askRecords, openPaymentAsks, type PaymentAsks } from "./payment-asks.ts";
import { PretendProvider } from "./providers/pretend.ts";
import { type Mischief, PretendBank } from "./providers/pretend-bank.ts";
import type { PaymentAsk } from "./providers/provider.ts";
import { StripeProvider } from "./providers/stripe.ts";
import type { OutgoingAnswer, OutgoingRequest, OutgoingSend } from "./send.ts";
import type { WebhookKeys } from "./standard-webhooks.ts";

const KEYS: WebhookKeys = [Buffer.alloc(32, 3)];
const URL_OF_BANK = "http://127.0.0.1:1";
const OK: OutgoingAnswer = { status: 200, retryAfterMs: null, body: "" };

async function quiet(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
}

/** The shop's side alone, with a provider that answers as the test says. */
async function asking(
  answer: (request: OutgoingRequest) => OutgoingAnswer,
  provider = new StripeProvider({ apiKey: "sk_secret", signingSecrets: ["whsec_a"] }),
) {
  const world = handWorld({ dice: () => 1 });
  const { storage } = new DurableHost(new MemoryDisk(), { world }).state("shop");
  const requests: OutgoingRequest[] = [];
  const send: OutgoingSend = async (request) => {
    requests.push(request);
    return answer(request);
  };
  const asks = await openPaymentAsks({ provider, storage, world, send, wakeAt: () => {} });
  const ask = async (action: PaymentAsk["action"]) => {
    const records = askRecords(asks, { action, attempt: "attempt_1", payment: "pi_1" });
    await storage.put(records);
    asks.take(records);
    await quiet();
  };
  const pass = async (ms: number) => {
    world.pass(ms);
    asks.run();
    await quiet();
  };
  return { asks, ask, pass, requests, storage, world };
}

const keysOf = (requests: readonly OutgoingRequest[]) =>
  requests.map(({ headers }) => headers["idempotency-key"]);

test("a capture that gets no answer is repeated with the same key, until there is one", async () => {
  let tries = 0;
  const { ask, pass, requests, asks } = await asking(() => {
    if (++tries < 3) throw new Error("ECONNRESET");
    return OK;
  });
  await ask("capture");
  await pass(1_000);
  await pass(2_000);
  assert.deepEqual(keysOf(requests), Array(3).fill("capture-attempt_1"));
  assert.deepEqual(asks.counts, { waiting: 0, dead: 0 });
});

test("a refund that failed at the provider is asked for with a new key, and one done meanwhile is done", async () => {
  const answers = [
    { ...OK, status: 500 },
    { ...OK, status: 400, body: '{"error":{"code":"charge_already_refunded"}}' },
  ];
  const { ask, pass, requests, asks } = await asking(() => answers.shift()!);
  await ask("refund");
  await pass(1_000);
  assert.deepEqual(keysOf(requests), ["refund-attempt_1", "refund-attempt_1-1"]);
  assert.deepEqual(asks.counts, { waiting: 0, dead: 0 });
});

test("the provider is given the time it asks for", async () => {
  let tries = 0;
  const { ask, pass, requests } = await asking(() =>
    tries++ === 0 ? { status: 429, retryAfterMs: 30_000, body: "" } : OK,
  );
  await ask("capture");
  await pass(29_999);
  assert.equal(requests.length, 1);
  await pass(1);
  assert.equal(requests.length, 2);
});

test("two events that say the same ask once", async () => {
  const { ask, requests } = await asking(() => ({ ...OK, status: 503 }));
  await ask("refund");
  await ask("refund");
  assert.equal(requests.length, 1);
});

test("what is asked for is tried for more than a day before it is given up", async () => {
  const { ask, pass, world, asks } = await asking(() => ({ ...OK, status: 503 }));
  const startedAt = world.clock.now();
  await ask("capture");
  while (asks.counts.waiting > 0) await pass(600_000);
  const hours = (world.clock.now() - startedAt) / 3_600_000;
  assert.ok(hours > 24 && hours < 72, `${hours} hours`);
  assert.equal(asks.counts.dead, 1);
});

test("neither what is stored nor what is logged has the provider's key", async () => {
  const { ask, storage, world } = await asking(() => ({ ...OK, status: 400 }));
  await ask("capture");
  const shown = JSON.stringify([[...(await storage.list())], world.logged]);
  assert.match(shown, /capture-attempt_1/);
  assert.doesNotMatch(shown, /sk_secret|whsec_a/);
});

/** What a shop remembers of one attempt, in its plainest form: enough to see that repetitions do not matter. */
interface Remembered {
  readonly events: Set<string>;
  readonly told: string[];
}

/** A shop and a bank that are as bad to each other as networks are. */
async function bothSides(seed: number) {
  const dice = seededFraction(seed);
  const world = handWorld({ seed });
  const { storage } = new DurableHost(new MemoryDisk(), { world }).state("shop");
  const provider = new PretendProvider({ url: URL_OF_BANK, keys: KEYS });
  const attempts = new Map<string, Remembered>();
  const mischief: Mischief = {
    delaysMs: () => Array.from({ length: 1 + Math.floor(dice() * 3) }, () => Math.floor(dice() * 20_000)),
    skewMs: () => (dice() < 0.3 ? (dice() < 0.5 ? -1 : 1) * 3_600_000 : 0),
  };
  const refusals = new Set<string>();
  let asks: PaymentAsks;
  const bank = new PretendBank({
    keys: KEYS,
    world,
    mischief,
    send: async ({ headers, body }) => {
      if (dice() < 0.2) throw new Error("lost on the way");
      const now = world.clock.now();
      const reading = provider.read({ header: (name) => headers[name], body: Buffer.from(body), now });
      if (reading.kind !== "event") {
        refusals.add(reading.reason);
        return 400;
      }
      const { id, attempt, kind } = reading.event;
      const known = attempts.get(attempt)!;
      if (!known.events.has(id)) {
        known.events.add(id);
        known.told.push(kind);
        // Every second attempt came too late.
        const isLate = Number(attempt.split("-")[1]) % 2 === 1;
        const action =
          kind === "authorised"
            ? isLate
              ? "void"
              : "capture"
            : kind === "succeeded" && isLate
              ? "refund"
              : null;
        if (action) {
          const records = askRecords(asks, { action, attempt, payment: reading.event.payment.id });
          await storage.put(records);
          asks.take(records);
        }
      }
      if (dice() < 0.2) throw new Error("the answer was lost");
      return 204;
    },
  });
  const send: OutgoingSend = async ({ url, headers, body }) => {
    if (dice() < 0.2) throw new Error("ECONNRESET");
    const path = url.slice(URL_OF_BANK.length);
    const status = bank.serve({ path, header: (name) => headers[name], body: Buffer.from(body) });
    if (dice() < 0.2) throw new Error("ECONNRESET");
    return { status, retryAfterMs: null, body: "" };
  };
  asks = await openPaymentAsks({ provider, storage, world, send, wakeAt: () => {} });
  return { world, bank, asks: () => asks, attempts, refusals };
}

test("through loss, repetition, disorder and wrong clocks every payment ends as the shop decided, once", async () => {
  const refused = new Set<string>();
  for (let seed = 1; seed <= 12; seed++) {
    const { world, bank, asks, attempts, refusals } = await bothSides(seed);
    for (let n = 0; n < 8; n++) {
      const attempt = `attempt-${n}`;
      attempts.set(attempt, { events: new Set(), told: [] });
      const isCapturedAtOnce = n % 4 >= 2;
      const { id } = bank.open({ attempt, amount: 100, currency: "EUR", isCapturedAtOnce });
      if (n >= 6) bank.decline(id);
      else bank.pay(id);
    }
    for (let round = 0; round < 400; round++) {
      world.pass(1_000);
      asks().run();
      await quiet();
      if (round > 25 && bank.unacknowledged === 0 && asks().counts.waiting === 0) break;
    }
    assert.equal(bank.unacknowledged, 0, `seed ${seed}`);
    assert.deepEqual(asks().counts, { waiting: 0, dead: 0 }, `seed ${seed}`);
    assert.deepEqual(
      bank.payments.map(({ state }) => state),
      ["captured", "voided", "captured", "refunded", "captured", "voided", "failed", "failed"],
      `seed ${seed}`,
    );
    for (const { told } of attempts.values())
      assert.equal(new Set(told).size, told.length, `seed ${seed}: ${told}`);
    for (const reason of refusals) refused.add(reason);
  }
  assert.deepEqual([...refused].sort(), ["tooNew", "tooOld"], "the wrong clocks were noticed");
});

test("the bank does only what is signed, and only what the payment's state allows", () => {
  const world = handWorld();
  const bank = new PretendBank({ keys: KEYS, world, send: async () => 204 });
  const provider = new PretendProvider({ url: URL_OF_BANK, keys: KEYS });
  const strange = new PretendProvider({ url: URL_OF_BANK, keys: [Buffer.alloc(32, 4)] });
  const { id: payment } = bank.open({ attempt: "a", amount: 100, currency: "EUR", isCapturedAtOnce: false });
  const asked = (action: PaymentAsk["action"], attempt = "a", by = provider) => {
    const { url, headers, body } = by.request({ action, attempt, payment, round: 0 }, world.clock.now());
    const path = url.slice(URL_OF_BANK.length);
    return bank.serve({ path, header: (name) => headers[name], body: Buffer.from(body) });
  };
  assert.equal(asked("capture"), 409, "nobody has paid yet");
  bank.pay(payment);
  assert.throws(() => bank.pay(payment), /not open/);
  assert.throws(() => bank.decline(payment), /not open/);
  assert.equal(asked("capture", "a", strange), 401);
  assert.equal(asked("capture", "b"), 404);
  assert.equal(asked("refund"), 409);
  assert.deepEqual([asked("capture"), asked("capture")], [200, 200]);
  assert.equal(asked("void"), 409);
  assert.deepEqual([asked("refund"), asked("refund")], [200, 200]);
});
