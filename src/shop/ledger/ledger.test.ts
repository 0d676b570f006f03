import assert from "node:assert/strict";
import { test } from "node:test";
import { DurableHost } from "../../durable/host.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { MemoryDisk } from "../../testing/memory-disk.ts";
import { proves } from "../../testing/requirements/proves.ts";
import { catalogueOf, wishFor } from "../../testing/shop/plain-shop.ts";
import type { BasketAnswer, ShopFact, Shopper } from "../rules/commands.ts";
import type { ShopNews } from "../rules/shop-book.ts";
import type { WrittenCatalogue } from "../rules/written-catalogue.ts";
import { Ledger, type LedgerCourier, LedgerDamaged, ledgerEnv } from "./ledger.ts";

const MINUTE_MS = 60_000;
const OBJECT = { className: "Ledger", name: "tickets" };

async function settle(): Promise<void> {
  for (let n = 0; n < 10; n++) await new Promise((resolve) => setImmediate(resolve));
}

/** Tells nobody that anything is on disk until it is let go. */
class SlowDisk extends MemoryDisk {
  isHeld = false;
  #waiting: (() => void)[] = [];
  override sync(done: (failure: Error | null) => void): void {
    if (this.isHeld) this.#waiting.push(() => done(null));
    else done(null);
  }
  letGo(): void {
    this.isHeld = false;
    for (const done of this.#waiting.splice(0)) done();
  }
}

function stage({
  disk = new SlowDisk(),
  world = handWorld(),
  courier = null as LedgerCourier | null,
  breathe = undefined as (() => Promise<void>) | undefined,
} = {}) {
  const told: ShopNews[] = [];
  const host = new DurableHost(disk, { world });
  const tell = (_shop: string, news: ShopNews) => void told.push(news);
  const openCourier = async () => courier!;
  const outside = { tell, ...(breathe && { breathe }) };
  const env = ledgerEnv(world, courier ? { ...outside, openCourier } : outside);
  const ledger = host.objects("Ledger", Ledger, env).get("tickets");
  const now = () => world.clock.now();
  const shopper = (visitor: string): Shopper => ({
    ...{ visitor, customer: visitor, room: "room", lane: "main" },
    admittedAt: now(),
  });
  const hold = (visitor: string, product = "seat", count = 1) =>
    ledger.hold(shopper(visitor), wishFor(product, count), now());
  const set = (written: WrittenCatalogue) => ledger.setCatalogue(written, { ifVersion: null, now: now() });
  const pass = async (ms: number) => {
    world.pass(ms);
    await settle();
  };
  /** The same disk after the process has ended. */
  const restart = () => stage({ disk, world, courier });
  return { disk, world, host, ledger, told, now, shopper, hold, set, pass, restart };
}

function winners(answers: readonly BasketAnswer[]): number[] {
  return answers.flatMap(({ kind }, i) => (kind === "basket" ? [i] : []));
}

test("a call is answered when what it changed is on disk, and not before", async () => {
  const { disk, set, hold } = stage();
  await set(catalogueOf({ seat: { stock: 1 } }));
  disk.isHeld = true;
  let answer: BasketAnswer | null = null;
  void hold("ann").then((one) => {
    answer = one;
  });
  await settle();
  assert.equal(answer, null);
  disk.letGo();
  await settle();
  assert.equal((answer as BasketAnswer | null)?.kind, "basket");
});

test("a new process finds every basket, deadline, list and key as it was", async () => {
  const first = stage();
  await first.set(catalogueOf({ seat: { stock: 2 } }, { offerMs: MINUTE_MS }));
  const ann = first.shopper("ann");
  const answer = await first.ledger.hold(ann, wishFor("seat", 2), first.now(), "key");
  await first.ledger.joinList(first.shopper("bob"), "seat", 1, first.now());
  await first.host.close();
  const { ledger, now, pass } = first.restart();
  assert.deepEqual(await ledger.hold(ann, wishFor("seat", 2), now(), "key"), answer);
  assert.deepEqual(await ledger.lists("bob"), [{ product: "seat", count: 1, ahead: 0 }]);
  await pass(15 * MINUTE_MS);
  assert.equal((await ledger.basket("ann", now()))!.phase, "done");
  assert.equal((await ledger.verify()).kind, "clean");
});

test("deadlines ring as alarms, also in a process that nobody has called yet", async () => {
  const first = stage();
  await first.set(catalogueOf({ seat: { stock: 2 } }, { shoppingWindowMs: MINUTE_MS, doneMs: MINUTE_MS }));
  await first.hold("ann");
  await first.host.close();
  const { told, pass, ledger } = first.restart();
  await pass(MINUTE_MS);
  assert.deepEqual(told.at(-1)!.visitors, ["ann"]);
  assert.deepEqual((await ledger.stock("seat"))!.counts, { reserved: 0, pending: 1, sold: 0 });
  await pass(MINUTE_MS);
  assert.deepEqual((await ledger.stock("seat"))!.counts, { reserved: 0, pending: 0, sold: 0 });
});

test("news are told after the disk has them, at once in quiet times and together in busy ones", async () => {
  const { disk, set, hold, told, pass } = stage();
  await set(catalogueOf({ seat: { stock: 100 } }));
  await settle();
  await pass(1_000);
  told.length = 0;
  disk.isHeld = true;
  void hold("ann");
  await settle();
  assert.equal(told.length, 0);
  disk.letGo();
  await settle();
  assert.deepEqual(
    told.map(({ products }) => products),
    [[{ id: "seat", state: "available", available: 99 }]],
  );
  for (let n = 0; n < 20; n++) await hold(`visitor ${n}`);
  assert.equal(told.length, 1);
  await pass(1_000);
  assert.equal(told.length, 2);
  assert.deepEqual(told[1]!.products, [{ id: "seat", state: "available", available: 79 }]);
  assert.ok(told[1]!.version > told[0]!.version);
});

const TIE = catalogueOf({
  seat: { stock: 2, tieBreak: "latestAdmitted", tieWindowMs: 50 },
  cap: { stock: 99 },
});

test(
  proves(["sp8", "tb4"], "requests that arrive together and want more than is left are decided together"),
  async () => {
    const { ledger, set, now, shopper, pass } = stage();
    await set(TIE);
    const people = ["ann", "bob", "cem", "dan"].map((visitor, i) => ({
      ...shopper(visitor),
      admittedAt: now() - i,
    }));
    const asked = people.map((one) => ledger.hold(one, wishFor("seat"), now()));
    let isAnswered = false;
    void Promise.race(asked).then(() => {
      isAnswered = true;
    });
    await settle();
    assert.ok(!isAnswered, "nobody hears before all are decided");
    const late = ledger.hold({ ...shopper("eve"), admittedAt: now() + 1 }, wishFor("seat"), now());
    await settle();
    await pass(50);
    assert.deepEqual(winners(await Promise.all([...asked, late])), [0, 4]);
    assert.equal((await ledger.verify()).kind, "clean");
  },
);

test("quiet times are not delayed: without a tie, requests are answered at once, others even during one", async () => {
  const { ledger, set, hold, now, shopper, pass } = stage();
  await set(TIE);
  assert.equal((await hold("ann")).kind, "basket");
  const tied = ["bob", "cem"].map((visitor) => ledger.hold(shopper(visitor), wishFor("seat"), now()));
  await settle();
  assert.equal((await hold("dan", "cap")).kind, "basket");
  await pass(50);
  assert.equal(winners(await Promise.all(tied)).length, 1);
});

test("where the first is served first nobody waits for a window", async () => {
  const { set, hold } = stage();
  await set(catalogueOf({ seat: { stock: 1 } }));
  const answers = await Promise.all([hold("ann"), hold("bob"), hold("cem")]);
  assert.deepEqual(winners(answers), [0]);
});

test("a contested request with a key is done once", async () => {
  const { ledger, set, now, shopper, pass } = stage();
  await set(TIE);
  const ask = (visitor: string) => ledger.hold(shopper(visitor), wishFor("seat", 2), now(), "key");
  const answers = Promise.all([ask("ann"), ask("ann"), ask("bob")]);
  await settle();
  await pass(50);
  const [first, second] = await answers;
  assert.deepEqual(first, second);
  assert.deepEqual((await ledger.stock("seat"))!.counts.reserved, 2);
});

test("a damaged record refuses every call with what is wrong, and no process ends or tries again", async () => {
  const first = stage();
  await first.set(catalogueOf({ seat: { stock: 2 } }, { shoppingWindowMs: MINUTE_MS }));
  await first.hold("ann");
  await first.host.close();
  const damage = { object: OBJECT, isWiped: false, alarmAt: undefined };
  first.disk.commit([{ ...damage, values: [["basket/000000000000001", '{"key":"ann"']] }]);
  const { ledger, hold, pass, world } = first.restart();
  for (const call of [hold("bob"), ledger.basket("ann", 0)])
    await assert.rejects(call, (error: Error) => {
      assert.ok(error instanceof LedgerDamaged);
      assert.match(error.message, /"tickets".*"basket\/0*1".*is not JSON/);
      return true;
    });
  for (let minute = 0; minute < 30; minute++) await pass(MINUTE_MS);
  const logged = world.logged.filter(({ level }) => level === "error");
  assert.ok(logged.length <= 2, "when it was called, and at the alarm that was set before");
  const verified = await ledger.verify();
  assert.ok(verified.kind === "different" && /basket\/0*1/.test(verified.difference));
});

test("verify names the first difference", async () => {
  const first = stage();
  await first.set(catalogueOf({ seat: { stock: 2 } }));
  await first.hold("ann");
  await first.host.close();
  const key = "count/seat";
  const count = JSON.parse(first.disk.read(OBJECT, key) as string);
  const put = (value: object) =>
    first.disk.commit([
      { object: OBJECT, isWiped: false, alarmAt: undefined, values: [[key, JSON.stringify(value)]] },
    ]);
  put({ ...count, counts: { reserved: 2, pending: 0, sold: 0 } });
  const verified = await first.restart().ledger.verify();
  assert.deepEqual(verified, {
    kind: "different",
    difference: "reserved units of seat: the count has 2, the log 0",
  });
  put({ ...count, stock: 3 });
  const other = await first.restart().ledger.verify();
  assert.ok(other.kind === "different" && /stock of seat: the count has 3, the log 2/.test(other.difference));
});

test("after a mistake in the rules the next call begins with what is stored", async () => {
  const { ledger, set, hold, now, shopper } = stage();
  await set(catalogueOf({ seat: { stock: 2 } }));
  await hold("ann");
  await assert.rejects(ledger.hold(shopper("bob"), null as never, now()));
  const paying = shopper("ann");
  await ledger.finish(paying, now());
  await ledger.pay(paying, { attempt: "a1" }, now());
  const event = { id: "e1", attempt: "a1", kind: "succeeded" } as const;
  await assert.rejects(ledger.payment(event, { orderId: "o1", secrets: [] }, now()), /secret/);
  assert.deepEqual((await ledger.stock("seat"))!.counts, { reserved: 0, pending: 1, sold: 0 });
  const reply = await ledger.payment(event, { orderId: "o1", secrets: ["s"] }, now());
  assert.equal(reply.action, "none");
  assert.equal((await ledger.order("o1"))!.tickets[0]!.secret, "s");
});

test("facts are stored with their change, and carried when both are on disk", async () => {
  const taken: Record<string, unknown>[] = [];
  const courier: LedgerCourier = {
    records: (facts: readonly ShopFact[]) =>
      Object.fromEntries(facts.map((fact, i) => [`outbox/${fact.type}/${i}`, fact.at])),
    take: (records) => void taken.push(records),
    run: () => {},
  };
  const { ledger, disk, set, hold, now, shopper } = stage({ courier });
  await set(catalogueOf({ seat: { stock: 2 } }));
  await hold("ann");
  await ledger.finish(shopper("ann"), now());
  await ledger.pay(shopper("ann"), { attempt: "a1" }, now());
  disk.isHeld = true;
  const event = { id: "e1", attempt: "a1", kind: "succeeded" } as const;
  void ledger.payment(event, { orderId: "o1", secrets: ["s"] }, now());
  await settle();
  assert.deepEqual(taken, []);
  assert.equal(disk.read(OBJECT, "outbox/order.made/0"), now());
  disk.letGo();
  await settle();
  assert.deepEqual(taken, [{ "outbox/order.made/0": now() }]);
});

test("the whole life of a purchase goes through the stub", async () => {
  const { ledger, set, hold, now, shopper } = stage();
  await set(catalogueOf({ seat: { stock: 2 } }, { payment: { room: "till" } }));
  await hold("ann");
  const ann = shopper("ann");
  await ledger.finish(ann, now());
  await ledger.enterPayment(ann, now());
  await ledger.pay(ann, { attempt: "a1" }, now());
  assert.equal(await ledger.ticketCount("a1"), 1);
  await ledger.payment(
    { id: "e1", attempt: "a1", kind: "succeeded" },
    { orderId: "o1", secrets: ["s"] },
    now(),
  );
  const [order] = await ledger.orders(0, 10);
  assert.equal(order!.id, "o1");
  const { total } = await ledger.figures(now());
  assert.deepEqual([total.arrived, total.departed, total.bought, total.tickets.sold], [1, 1, 1, 1]);
  assert.equal((await ledger.verify()).kind, "clean");
});

test("a ledger that breathes reads a piece at a time, and verifies what was there when it was asked", async () => {
  const disk = new SlowDisk();
  const { set, hold } = stage({ disk });
  await set(catalogueOf({ seat: { stock: 5_000 } }));
  await Promise.all(Array.from({ length: 2_500 }, (_, i) => hold(`visitor${i}`)));
  let breaths = 0;
  const breathe = async () => {
    breaths++;
    await new Promise((resolve) => setImmediate(resolve));
  };
  const again = stage({ disk, breathe });
  assert.deepEqual((await again.ledger.stock("seat"))!.counts, { reserved: 2_500, pending: 0, sold: 0 });
  assert.ok(breaths >= 2);
  breaths = 0;
  const verified = again.ledger.verify();
  await settle();
  const held = Array.from({ length: 500 }, (_, i) => again.hold(`late${i}`));
  assert.equal((await verified).kind, "clean");
  assert.ok(breaths >= 2);
  await Promise.all(held);
  assert.equal((await again.ledger.verify()).kind, "clean");
});
