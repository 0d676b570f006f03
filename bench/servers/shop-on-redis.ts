/**
 * One of the gateways that share a shop on a Redis, without HTTP: asked with a number of milliseconds, it lets callers hold a hot
 * product for as long, each a new visitor's first hold, and answers how many were granted.
 *
 *     node bench/servers/shop-on-redis.ts URL
 */
import { randomBytes } from "node:crypto";
import { libraryWithLedgers, RedisShops } from "../../src/assembly/redis-shops.ts";
import { settingsFrom } from "../../src/config/load.ts";
import { openLink } from "../../src/engines/redis/link/link.ts";
import { nodeWorld } from "../../src/node.ts";
import { catalogueOf, wishFor } from "../../src/testing/shop/plain-shop.ts";

const [url = ""] = process.argv.slice(2);
const SHOP = "tickets";
const CALLERS = 256;
const ENOUGH = 900_000_000;
const TIMEOUT_MS = 10_000;

const result = settingsFrom(
  {
    ...{ secret: "bench-secret-0123456789-abcdefghij", redis: { url }, shops: { [SHOP]: {} } },
    rooms: { main: { totalActiveUsers: 1, shop: SHOP } },
  },
  { environment: {}, readFile: () => "", needsOrigin: false },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const world = nodeWorld({ level: "error" });
const link = await openLink({
  ...{ servers: result.settings.redis!, library: libraryWithLedgers(), world, timeoutMs: TIMEOUT_MS },
});
const shops = new RedisShops({
  ...{ link, world, machine: world, prefix: "bench", kept: { replicas: 0, timeoutMs: TIMEOUT_MS } },
  tell: () => {},
  learn: () => {},
});
const desk = shops.open(SHOP, result.settings);

async function open(): Promise<void> {
  const change = { ifVersion: null, now: world.clock.now() };
  // Another gateway may have set it.
  for (;;) {
    const isThere = await desk.catalogue().then(
      (kept) => kept !== null,
      () => false,
    );
    if (isThere) return;
    const written = catalogueOf({ seat: { stock: ENOUGH } }, { shoppingWindowMs: 86_400_000 });
    await desk.setCatalogue(written, change).catch(() => {});
  }
}

async function hold(): Promise<void> {
  const visitor = randomBytes(16).toString("hex");
  const now = world.clock.now();
  const shopper = { visitor, customer: visitor, room: "main", lane: "everybody", admittedAt: now };
  const answer = await desk.hold(shopper, wishFor("seat"), now);
  if (answer.kind === "refused") throw new Error(JSON.stringify(answer));
}

async function holdsFor(ms: number): Promise<number> {
  const endAt = performance.now() + ms;
  let granted = 0;
  const caller = async () => {
    for (; performance.now() < endAt; granted++) await hold();
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return granted;
}

await open();
process.on("disconnect", () => process.exit());
process.on("message", async (question: { readonly ms: number } | "verify") => {
  process.send!(question === "verify" ? (await desk.verify()).kind : await holdsFor(question.ms));
});
process.send!({});
