/**
 * A sale through `kill -9`: visitors buy from a real gateway with a real ledger, which is killed again and again while they do. They
 * repeat what got no answer, with the same idempotency key, as a page would. In the end nothing was sold twice, nothing that was
 * acknowledged is lost, and what nobody bought is there again.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { Control, fairgate, ownFolder, SECRET, startRun, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { ProcessShopper, type ShopAnswer } from "../../src/testing/shop/process-shopper.ts";
import { pause } from "./ask.ts";

const SEATS = 60;
const SHOPPERS = 90;
const AT_ONCE = 8;
const KILLS = 4;
/** Of those who take something, so many do not go on. */
const IDLE_EVERY = 6;
const PATIENCE_MS = 120_000;

interface Order {
  readonly id: string;
  readonly visitor: string;
  readonly total: number;
  readonly tickets: readonly { readonly id: string; readonly secret: string }[];
}

/** The gateway in one life after the other, on the same ports and directory. */
async function openGate(origin: string) {
  const [port, controlPort] = [await freePort(), await freePort()];
  const folder = ownFolder({
    "catalogue.yaml": `currency: EUR
products:
  seat: {price: 4500, stock: ${SEATS}}
  pair: {price: 8000, stock: null, parts: {seat: 2}}
policies: {shoppingWindow: 20s, doneWindow: 20s, payingWindow: 20s}
`,
    "fairgate.yaml": JSON.stringify({
      data: "./kept",
      listen: `127.0.0.1:${port}`,
      control: { listen: `127.0.0.1:${controlPort}` },
      limits: { newcomersPerAddressMax: null },
      origin: { addresses: [origin] },
      shops: { tickets: { catalogueFile: "catalogue.yaml", callsPerAddressMax: 1_000_000 } },
      rooms: {
        main: { totalActiveUsers: 1_000, newcomerDuration: "1h", sessionDuration: "1h", shop: "tickets" },
      },
    }),
  });
  const environment = { FAIRGATE_SECRET: SECRET, FAIRGATE_CONTROL_TOKEN: TOKEN };
  return {
    address: `http://127.0.0.1:${port}`,
    control: new Control(`http://127.0.0.1:${controlPort}`, TOKEN),
    environment,
    folder,
    start: () =>
      startRun(["--listen", `127.0.0.1:${port}`, "--control-listen", `127.0.0.1:${controlPort}`], {
        cwd: folder.path,
        environment,
      }),
  };
}

/** Repeats a call until it is answered. A shop that does not answer is no answer. */
async function insist(ask: () => Promise<ShopAnswer>): Promise<ShopAnswer> {
  const endAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask().catch(() => null);
    if (answer && answer.status !== 503) return answer;
    if (performance.now() > endAt) throw new Error("no answer");
    await pause(20);
  }
}

/** Buys one thing; null when there is none left. Returns the order that was acknowledged. */
async function buy(address: string, number: number): Promise<string | null> {
  const visitor = new ProcessShopper(address);
  await eventually("the shop is entered", async () => visitor.isIn().catch(() => false));
  const keyed = (step: string) => ({ "idempotency-key": `${number}-${step}` });
  const product = number % 5 === 0 ? "pair" : "seat";
  const held = await insist(() => visitor.shop("POST holds", { product }, keyed("hold")));
  if (held.status !== 201) return null;
  if (number % IDLE_EVERY === 0) return null;
  const done = await insist(() => visitor.shop("POST finish", undefined, keyed("finish")));
  if (done.status !== 200) return null;
  const paid = await insist(() => visitor.shop("POST pay", undefined, keyed("pay")));
  if (paid.status !== 200) return null;
  const basket = await insist(() => visitor.shop("GET basket"));
  return (basket.words.order as string | null) ?? assert.fail(JSON.stringify(basket));
}

test("a sale goes on through kill -9: nothing is sold twice, nothing acknowledged is lost, nothing leaks", async () => {
  await using origin = await TestOrigin.open();
  const gate = await openGate(origin.address);
  let run = await gate.start();
  try {
    const acknowledged: string[] = [];
    const state = { next: 0, isOver: false };
    const shopping = Array.from({ length: AT_ONCE }, async () => {
      while (state.next < SHOPPERS) {
        const order = await buy(gate.address, ++state.next);
        if (order !== null) acknowledged.push(order);
      }
    });
    const isDone = Promise.all(shopping).finally(() => {
      state.isOver = true;
    });
    for (let kill = 0; kill < KILLS && !state.isOver; kill++) {
      const from = state.next;
      await eventually("some have bought", async () => state.isOver || state.next >= from + 6);
      await run.child.end("SIGKILL");
      run = await gate.start();
    }
    await isDone;

    const { orders } = (
      await gate.control.ask<{ orders: Order[] }>("GET", "/shops/tickets/orders?limit=1000")
    ).body;
    const byId = new Map(orders.map((order) => [order.id, order]));
    assert.ok(acknowledged.length > SHOPPERS / 3, `only ${acknowledged.length} bought`);
    for (const id of acknowledged) assert.ok(byId.has(id), `${id} was acknowledged and is lost`);
    assert.equal(new Set(acknowledged).size, acknowledged.length);
    assert.equal(new Set(orders.map(({ visitor }) => visitor)).size, orders.length, "nobody bought twice");
    const secrets = orders.flatMap(({ tickets }) => tickets.map(({ secret }) => secret));
    assert.equal(new Set(secrets).size, secrets.length);

    const soldSeats = orders.reduce((sum, { total }) => sum + (total === 8_000 ? 2 : 1), 0);
    assert.ok(soldSeats <= SEATS, `${soldSeats} of ${SEATS} were sold`);
    const seats = await eventually("every basket has ended", async () => {
      const answer = await gate.control.ask<{ products: { id: string; counts: Record<string, number> }[] }>(
        "GET",
        "/shops/tickets/stock",
      );
      const { counts } = answer.body.products.find(({ id }) => id === "seat")!;
      return counts.reserved === 0 && counts.pending === 0 && counts;
    });
    assert.equal(seats.sold, soldSeats);
    const verified = await fairgate(["shop", "verify"], {
      cwd: gate.folder.path,
      environment: gate.environment,
    });
    assert.equal(verified.code, 0, verified.out + verified.err);
  } finally {
    await run[Symbol.asyncDispose]();
    gate.folder[Symbol.dispose]();
  }
});
