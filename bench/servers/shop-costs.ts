/**
 * What a durable reservation costs, measured in a process of its own: calls of `hold` through a ledger's stub, each answered once
 * it is on disk, and the same rows written directly with one synced transaction a call. Prints one line of JSON.
 */
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DurableHost } from "../../src/durable/host.ts";
import type { Stub } from "../../src/durable/object-namespace.ts";
import { Ledger, ledgerEnv } from "../../src/shop/ledger/ledger.ts";
import type { Shopper } from "../../src/shop/rules/commands.ts";
import { realWorld } from "../../src/testing/real-world.ts";
import { catalogueOf, wishFor } from "../../src/testing/shop/plain-shop.ts";
import type { ShopCosts } from "../shop.ts";

const CALLERS = 256;
const SLICE_MS = 500;
const WARM_UP_ROUNDS = 2;
const ENOUGH = 900_000_000;
const DEPTHS = [1, 3, 10] as const;
const MANY_PRODUCTS = 10_000;
const MANY_BASKETS = 100_000;

const [rounds = 3] = process.argv.slice(2).map(Number);
const root = mkdtempSync(join(tmpdir(), "shop-bench-"));
const world = realWorld();
const host = await DurableHost.open({ directory: join(root, "store"), world });
const ledgers = host.objects("Ledger", Ledger, ledgerEnv(world, { tell: () => {} }));

/** A shop in which callers hold things, again and again. */
interface Scene {
  readonly ledger: Stub<Ledger>;
  /** One caller's next hold, and what undoes it where the number of baskets is to stay. */
  hold(caller: number): Promise<void>;
}

function newShopper(): Shopper {
  const visitor = randomBytes(16).toString("hex");
  return { visitor, customer: visitor, room: "sale", lane: "main", admittedAt: world.clock.now() };
}

async function must(answer: Promise<{ readonly kind: string }>): Promise<void> {
  const given = await answer;
  if (given.kind === "refused") throw new Error(JSON.stringify(given));
}

/** Every hold is a new visitor's first, of a product that `pick` names. */
async function newcomers(
  name: string,
  products: Parameters<typeof catalogueOf>[0],
  pick: (n: number) => string,
): Promise<Scene> {
  const ledger = ledgers.get(name);
  await must(
    ledger.setCatalogue(catalogueOf(products, { shoppingWindowMs: 86_400_000 }), {
      ifVersion: null,
      now: world.clock.now(),
    }),
  );
  let n = 0;
  const hold = () => must(ledger.hold(newShopper(), wishFor(pick(n++)), world.clock.now()));
  return { ledger, hold };
}

/** Each caller has one basket, holds a seat and undoes it, beside so many baskets of others. */
async function regulars(name: string, others: number): Promise<Scene> {
  const { ledger, hold } = await newcomers(name, { seat: { stock: ENOUGH } }, () => "seat");
  for (let n = 0; n < others; n += 1_000)
    await Promise.all(Array.from({ length: Math.min(1_000, others - n) }, () => hold(0)));
  const shoppers = Array.from({ length: CALLERS }, newShopper);
  return {
    ledger,
    async hold(caller) {
      const shopper = shoppers[caller]!;
      const answer = await ledger.hold(shopper, wishFor("seat"), world.clock.now());
      if (answer.kind !== "basket") throw new Error(JSON.stringify(answer));
      await must(ledger.undo(shopper, answer.made[0]!, world.clock.now()));
    },
  };
}

function productsOf(count: number): Parameters<typeof catalogueOf>[0] {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, { stock: ENOUGH }]));
}

/** A chain of required parts. */
function chainOf(depth: number): Parameters<typeof catalogueOf>[0] {
  return Object.fromEntries(
    Array.from({ length: depth }, (_, i) => [
      `p${i}`,
      { stock: ENOUGH, ...(i + 1 < depth && { parts: { [`p${i + 1}`]: 1 } }) },
    ]),
  );
}

interface Measured {
  readonly perSecond: number;
  readonly cpuUs: number;
}

async function measureHolds(hold: (caller: number) => Promise<void>): Promise<Measured> {
  const cpuBefore = process.cpuUsage();
  const startAt = performance.now();
  const endAt = startAt + SLICE_MS;
  let calls = 0;
  const caller = async (_: unknown, i: number) => {
    while (performance.now() < endAt) {
      await hold(i);
      calls++;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  const { user, system } = process.cpuUsage(cpuBefore);
  return { perSecond: calls / ((performance.now() - startAt) / 1_000), cpuUs: (user + system) / calls };
}

async function perSecond(hold: (caller: number) => Promise<void>): Promise<number> {
  return (await measureHolds(hold)).perSecond;
}

/** A count, a basket and a line of the log in one transaction a call, each synced by SQLite. */
function directStore(): { perSecond(): number; close(): void } {
  const database = new DatabaseSync(join(root, "direct.db"));
  database.exec(`
    PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE products (id TEXT PRIMARY KEY, stock INTEGER NOT NULL, reserved INTEGER NOT NULL) STRICT;
    CREATE TABLE baskets (visitor TEXT PRIMARY KEY, holds TEXT NOT NULL) STRICT;
    CREATE TABLE log (number INTEGER PRIMARY KEY, entry TEXT NOT NULL) STRICT;
    INSERT INTO products VALUES ('seat', ${ENOUGH}, 0)`);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const left = database.prepare("SELECT stock - reserved AS n FROM products WHERE id = ?");
  const reserve = database.prepare("UPDATE products SET reserved = reserved + 1 WHERE id = ?");
  const basket = database.prepare("INSERT INTO baskets VALUES (?, ?)");
  const log = database.prepare("INSERT INTO log (entry) VALUES (?)");
  return {
    perSecond() {
      const startAt = performance.now();
      let calls = 0;
      for (; performance.now() < startAt + SLICE_MS; calls++) {
        const { visitor } = newShopper();
        begin.run();
        if ((left.get("seat") as { n: number }).n < 1) throw new Error("sold out");
        reserve.run("seat");
        basket.run(visitor, JSON.stringify([{ product: "seat", units: 1 }]));
        log.run(JSON.stringify(["hold", visitor, "seat", 1]));
        commit.run();
      }
      return calls / ((performance.now() - startAt) / 1_000);
    },
    close: () => database.close(),
  };
}

const direct = directStore();
const hot = await newcomers("hot", { seat: { stock: ENOUGH } }, () => "seat");
const many = await newcomers("many", productsOf(MANY_PRODUCTS), (n) => `p${(n * 7_919) % MANY_PRODUCTS}`);
const few = await regulars("few", 0);
const crowded = await regulars("crowded", MANY_BASKETS);
const chains = await Promise.all(
  DEPTHS.map((depth) => newcomers(`chain${depth}`, chainOf(depth), () => "p0")),
);

const costs: ShopCosts = {
  samples: [],
  depths: DEPTHS,
  products: MANY_PRODUCTS,
  baskets: MANY_BASKETS,
  verified: [],
};
for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
  const { perSecond: hotPerSecond, cpuUs: hotCpuUs } = await measureHolds(hot.hold);
  const sample = {
    hot: hotPerSecond,
    hotCpuUs,
    direct: direct.perSecond(),
    manyProducts: await perSecond(many.hold),
    oneProduct: await perSecond(hot.hold),
    manyBaskets: await perSecond(crowded.hold),
    fewBaskets: await perSecond(few.hold),
    chains: [] as number[],
  };
  for (const { hold } of chains) sample.chains.push(await perSecond(hold));
  if (round >= 0) costs.samples.push(sample);
}
for (const { ledger } of [hot, many, crowded, ...chains]) costs.verified.push((await ledger.verify()).kind);
await host.close();
direct.close();
rmSync(root, { recursive: true, force: true });
console.log(JSON.stringify(costs));
