/**
 * The proxy in front of an origin: `bare`, the proxy code alone with no waiting room, or `room`, the whole gateway with
 * a visitor who has a pass; with the name of a file, also with an access log. All listen on a plain `node:http` server.
 */

import { openAccessLog } from "../../src/assembly/open-access-log.ts";
import { settingsFrom } from "../../src/config/load.ts";
import type { Entered } from "../../src/core/engine.ts";
import { MemoryEngine } from "../../src/engines/memory/memory-engine.ts";
import { ProxiedGateway } from "../../src/gateway/proxied-gateway.ts";
import type { Trust } from "../../src/gateway/proxy/trust.ts";
import { Keyring } from "../../src/gateway/tokens/keyring.ts";
import { NO_BADGE, passToken } from "../../src/gateway/tokens/token.ts";
import { nodeWorld } from "../../src/node.ts";
import { bareProxy } from "./bare-proxy.ts";
import { listenAndTell } from "./listen-and-tell.ts";

const [kind = "", origin = "", accessFile = null] = process.argv.slice(2);
const SECRET = "bench-secret-0123456789-abcdefghij";
const world = nodeWorld({ level: "error" });
const result = settingsFrom(
  { secret: SECRET, origin: { addresses: [origin] }, rooms: { main: { totalActiveUsers: 10_000 } } },
  { environment: {}, readFile: () => "" },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const { settings } = result;
const engine = new MemoryEngine(world);
const accessSettings = accessFile === null ? null : ({ to: accessFile, format: "combined" } as const);
const trust = (): Trust => gateway.gateway.trust;
const { log: accessLog } = await openAccessLog(accessSettings, { world, trust });
const gateway: ProxiedGateway = await ProxiedGateway.open({ settings, engine, world, accessLog });
const keyring = new Keyring({ secret: SECRET, previousSecrets: [] });
const tokens = Array.from({ length: 64 }, () =>
  passToken((engine.join("main") as Entered).pass, NO_BADGE, keyring),
);

await listenAndTell(
  settings,
  kind === "bare" ? bareProxy(settings, world) : gateway,
  world,
  { tokens },
  accessLog,
);
