/**
 * What a check-in costs inside the gateway's own handler, without sockets or Node's HTTP: the handler is called with a
 * stand-in request whose cookie is a fresh string each time, and a stand-in response that throws the answer away.
 * Prints nanoseconds for a check-in the engine answers and for one that comes early, as JSON.
 */
import { settingsFrom } from "../../src/config/load.ts";
import type { Waiting } from "../../src/core/engine.ts";
import { renewTicket, type Ticket } from "../../src/core/ticket.ts";
import { MemoryEngine } from "../../src/engines/memory/memory-engine.ts";
import { ProxiedGateway } from "../../src/gateway/proxied-gateway.ts";
import { Keyring } from "../../src/gateway/tokens/keyring.ts";
import { NO_BADGE, ticketToken } from "../../src/gateway/tokens/token.ts";
import { nodeWorld } from "../../src/node.ts";
import { EagerEngine } from "./eager-engine.ts";

const SECRET = "bench-secret-0123456789-abcdefghij";
const WAITING = 10_000;
const VISITORS = 64;
const CALLS = 100_000;
const ROUNDS = 12;
const RESPONSE = { writeHead() {}, end() {} };

const world = nodeWorld({ level: "error" });
console.log(
  JSON.stringify({
    eagerNs: await cost(new EagerEngine(world)),
    earlyNs: await cost(new MemoryEngine(world)),
  }),
);
process.exit(0);

async function cost(engine: MemoryEngine): Promise<number> {
  const result = settingsFrom(
    { secret: SECRET, rooms: { main: { totalActiveUsers: 1, newUsersPerMinute: 600 } } },
    { environment: {}, readFile: () => "", needsOrigin: false },
  );
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  const { handle } = await ProxiedGateway.open({ settings: result.settings, engine, world });
  engine.join("main");
  const cookies = Array.from({ length: WAITING }, () => (engine.join("main") as Waiting).ticket)
    .slice(0, VISITORS)
    .map((ticket) => Buffer.from(`theme=dark; fairgate_main=${token(ticket)}`));
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS; round++)
    best = Math.min(best, run(cookies, call(handle)) - run(cookies, () => {}));
  return best;
}

function token(ticket: Ticket): string {
  const renewal = { now: Date.now() + 3_600_000, ttlMs: 86_400_000, aheadShown: 1_000_000 };
  return ticketToken(
    renewTicket(ticket, renewal),
    NO_BADGE,
    new Keyring({ secret: SECRET, previousSecrets: [] }),
  );
}

function call(handle: ProxiedGateway["handle"]): (cookie: string) => void {
  return (cookie) => {
    const headers = { host: "shop.example", cookie, "content-length": "0" };
    const rawHeaders = ["host", "shop.example", "cookie", cookie, "content-length", "0"];
    const request = {
      url: "/.fairgate/main/check-in",
      method: "POST",
      headers,
      rawHeaders,
      socket: {},
      httpVersionMajor: 1,
    };
    handle(request as never, RESPONSE as never);
  };
}

/** Nanoseconds a call, including the cookie's string. */
function run(cookies: readonly Buffer[], use: (cookie: string) => void): number {
  const from = process.hrtime.bigint();
  for (let i = 0; i < CALLS; i++) use(cookies[i % cookies.length]!.toString("latin1"));
  return Number(process.hrtime.bigint() - from) / CALLS;
}
