/**
 * The two functional tests of Pluijmaekers 2020 (sections 5.4 and 5.5) at a thousand times their load. The paper's system bore
 * nine arrivals a second, and one customer at a time against a stock.
 *
 *   admission   a million arrive in the paper's own shape, in the tunnel (`servers/paper-rush.ts`)
 *   stock       50,000 customers at once, for 40,000 of a product, over HTTP: each takes two, gives the second back and pays
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { Agent } from "undici";
import { ownFolder, startRun } from "../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../src/testing/cli/test-origin.ts";
import { type Row, row } from "./bench.ts";
import type { PaperRush } from "./servers/paper-rush.ts";

const SCALE = 1_000;
const SCALE_QUICK = 10;
const MEMORY_MB = 14_000;
const INSIDE_OF_SCALE = 20;
const CUSTOMERS_OF_SCALE = 50;
const STOCK_OF_SCALE = 40;
const CONNECTIONS = 256;
const LOOK_EVERY_MS = 100;
const NONE = { of: "value", atMost: 0 } as const;

export function admissionRows(isQuick: boolean): Row[] {
  const scale = isQuick ? SCALE_QUICK : SCALE;
  const script = fileURLToPath(new URL("./servers/paper-rush.ts", import.meta.url));
  const args = [`--max-old-space-size=${MEMORY_MB}`, script, `${scale}`];
  const rush: PaperRush = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" }));
  if (rush.failure) console.error(`  ${rush.failure}`);
  const value = (name: string, unit: string, number: number) => row({ name, unit, value: number });
  return [
    value("admission: customers, most of them in one second", "customers/s", rush.peakPerSecond),
    value("admission: let in", "customers", rush.letIn),
    row({
      name: "admission: customers who did not get in",
      unit: "customers",
      value: rush.customers - rush.letIn,
      goal: NONE,
    }),
    row({
      name: "admission: most inside at once",
      unit: "customers",
      value: rush.insideMax,
      goal: { of: "value", atMost: INSIDE_OF_SCALE * scale },
    }),
    value("admission: tau, between arriving and being let in", "", rush.tau),
    value("admission: furthest that anybody was from their place", "places", rush.displacement),
    row({
      name: "admission: rules broken (capacity, rate, once, one root)",
      unit: "",
      value: rush.failure ? 1 : 0,
      goal: NONE,
    }),
  ];
}

interface Stock {
  readonly stock: number;
  readonly counts: { readonly reserved: number; readonly pending: number; readonly sold: number };
}

export async function stockRows(isQuick: boolean, progress: (text: string) => void): Promise<Row[]> {
  const scale = isQuick ? SCALE_QUICK : SCALE;
  const [customers, stock] = [CUSTOMERS_OF_SCALE * scale, STOCK_OF_SCALE * scale];
  await using origin = await TestOrigin.open();
  using folder = ownFolder({
    "catalogue.yaml": `currency: EUR\nproducts:\n  seat: {price: 4500, stock: ${stock}}\n`,
    "fairgate.yaml": JSON.stringify({
      data: "./kept",
      limits: { newcomersPerAddressMax: null },
      origin: { addresses: [origin.address] },
      shops: { tickets: { catalogueFile: "catalogue.yaml", callsPerAddressMax: 1_000_000 } },
      rooms: { main: { totalActiveUsers: 10 * customers, newcomerDuration: "1h", shop: "tickets" } },
    }),
  });
  await using run = await startRun([], { cwd: folder.path });
  const pool = new Agent({ connections: CONNECTIONS });
  const counts = { calls: 0, refused: 0, bought: 0, over: 0, odd: 0 };
  const done = Promise.all(
    Array.from({ length: customers }, (_, i) => buyOne(new Customer(run.address, pool, i), counts)),
  );
  const look = async () => {
    const { body } = await run.control.ask<{ products: Stock[] }>("GET", "/shops/tickets/stock");
    const [seat] = body.products;
    const { reserved, pending, sold } = seat!.counts;
    if (reserved + pending + sold > stock) counts.over++;
    return seat!.counts;
  };
  let isDone = false;
  const looking = (async () => {
    for (; !isDone; await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))) {
      await look();
      progress(`stock: ${counts.calls} calls, ${counts.bought} bought`);
    }
  })();
  const startedAt = performance.now();
  await done;
  const seconds = (performance.now() - startedAt) / 1_000;
  isDone = true;
  await looking;
  const { sold, reserved, pending } = await look();
  const { body } = await run.control.ask<{ isClean: boolean }>("POST", "/shops/tickets/verify");
  await pool.close();
  return [
    row({
      name: "stock: customers at once, for so many of the product",
      unit: "customers",
      value: customers,
      baseline: stock,
    }),
    row({ name: "stock: calls over HTTP", unit: "calls/s", value: counts.calls / seconds }),
    row({ name: "stock: sold", unit: "seats", value: sold, goal: { of: "value", atMost: stock } }),
    row({
      name: "stock: looks at which more was reserved, pending and sold than there is",
      unit: "looks",
      value: counts.over,
      goal: NONE,
    }),
    row({
      name: "stock: purchases told of and not counted, or left over",
      unit: "seats",
      value: Math.abs(sold - counts.bought) + reserved + pending,
      goal: NONE,
    }),
    row({
      name: "stock: answers that should not be, and a recount that differs",
      unit: "",
      value: counts.odd + (body.isClean ? 0 : 1),
      goal: NONE,
    }),
  ];
}

interface Counts {
  calls: number;
  refused: number;
  bought: number;
  odd: number;
}

/** The paper's scenario. Someone who gets no seat leaves. */
async function buyOne(customer: Customer, counts: Counts): Promise<void> {
  const ask = async (what: string, json?: object): Promise<Answer> => {
    counts.calls++;
    const answer = await customer.shop(what, json);
    if (answer.status === 409) counts.refused++;
    else if (answer.status >= 300) counts.odd++;
    return answer;
  };
  counts.calls++;
  await customer.enter();
  const first = await ask("POST holds", { product: "seat" });
  if (first.status !== 201) return;
  const second = await ask("POST holds", { product: "seat" });
  if (second.status === 201) await ask(`DELETE holds/${second.words.made![0]}`);
  await ask("POST finish");
  const paid = await ask("POST pay");
  if (paid.status === 200) counts.bought++;
}

interface Answer {
  readonly status: number;
  readonly words: { readonly made?: readonly string[] };
}

/** A customer with a cookie jar of their own, on connections that all share. */
class Customer {
  readonly #origin: string;
  readonly #pool: Agent;
  readonly #number: number;
  readonly #cookies = new Map<string, string>();
  #writes = 0;

  constructor(origin: string, pool: Agent, number: number) {
    this.#origin = origin;
    this.#pool = pool;
    this.#number = number;
  }

  async enter(): Promise<void> {
    const { status } = await this.#ask("GET", "/", {});
    if (status !== 200) throw new Error(`a customer is not let in: ${status}`);
  }

  async shop(what: string, json?: object): Promise<Answer> {
    const [method, path] = what.split(" ") as [string, string];
    const headers = {
      "idempotency-key": `${this.#number}-${++this.#writes}`,
      ...(json && { "content-type": "application/json" }),
    };
    const { status, text } = await this.#ask(method, `/.fairgate/main/shop/${path}`, headers, json);
    return { status, words: text === "" ? {} : JSON.parse(text) };
  }

  async #ask(method: string, path: string, headers: Record<string, string>, json?: object) {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    const {
      statusCode,
      headers: told,
      body,
    } = await this.#pool.request({
      ...{ origin: this.#origin, path, method: method as "GET" },
      headers: { accept: "text/html,application/json", ...(cookie && { cookie }), ...headers },
      headersTimeout: 0,
      bodyTimeout: 0,
      ...(json && { body: JSON.stringify(json) }),
    });
    const text = await body.text();
    for (const line of [told["set-cookie"] ?? []].flat()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      this.#cookies.set(name!, value!);
    }
    return { status: statusCode, text };
  }
}
