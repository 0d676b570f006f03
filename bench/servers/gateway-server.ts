/**
 * A gateway with a full room and some waiting visitors, with a data directory if one is named: it answers board and check-ins.
 * Tickets are signed here and handed to the client through the parent.
 */

import { openData } from "../../src/assembly/data.ts";
import { settingsFrom } from "../../src/config/load.ts";
import type { Waiting } from "../../src/core/engine.ts";
import { renewTicket, type Ticket } from "../../src/core/ticket.ts";
import { MemoryEngine } from "../../src/engines/memory/memory-engine.ts";
import { ProxiedGateway } from "../../src/gateway/proxied-gateway.ts";
import { Keyring } from "../../src/gateway/tokens/keyring.ts";
import { NO_BADGE, ticketToken } from "../../src/gateway/tokens/token.ts";
import { nodeWorld } from "../../src/node.ts";
import { EagerEngine } from "./eager-engine.ts";
import { listenAndTell } from "./listen-and-tell.ts";

const [kind = "", waitingText = "10000", directory = null] = process.argv.slice(2);
const SECRET = "bench-secret-0123456789-abcdefghij";
const TICKETS = 64;
/** Different tokens for one place, so that none is in the cache: the cost of verifying each time. */
const COLD_TOKENS = kind === "cold" ? 300_000 : 0;

const world = nodeWorld({ level: "error" });
const { storageOf } = await openData(directory, world);
const engine = kind === "early" ? new MemoryEngine(world, storageOf) : new EagerEngine(world, storageOf);
const result = settingsFrom(
  { secret: SECRET, rooms: { main: { totalActiveUsers: 1, newUsersPerMinute: 600 } } },
  { environment: {}, readFile: () => "", needsOrigin: false },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const gateway = await ProxiedGateway.open({ settings: result.settings, engine, world });
await engine.join("main");
const tickets: Ticket[] = [];
for (let i = 0; i < Number(waitingText); i++) tickets.push(((await engine.join("main")) as Waiting).ticket);
const keyring = new Keyring({ secret: SECRET, previousSecrets: [] });
const spaced = (n: number) => tickets[Math.floor((n / TICKETS) * tickets.length) % tickets.length]!;
const fresh = (ticket: Ticket, shown: number) =>
  ticketToken(
    renewTicket(ticket, { now: Date.now() + 3_600_000, ttlMs: 86_400_000, aheadShown: shown }),
    NO_BADGE,
    keyring,
  );
const tokens = COLD_TOKENS
  ? Array.from({ length: COLD_TOKENS }, (_, n) => fresh(spaced(n % TICKETS), 1_000_000 + n))
  : Array.from({ length: TICKETS }, (_, n) => fresh(spaced(n), 1_000_000));

await listenAndTell(result.settings, gateway, world, { tokens });
