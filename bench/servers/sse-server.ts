/** A gateway whose room is full, for visitors who only listen. Asked `memory` or `push`, it answers. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { settingsFrom } from "../../src/config/load.ts";
import { toRules } from "../../src/config/rules.ts";
import { MemoryEngine } from "../../src/engines/memory/memory-engine.ts";
import { ProxiedGateway } from "../../src/gateway/proxied-gateway.ts";
import { nodeWorld } from "../../src/node.ts";

const real = nodeWorld({ level: "error" });
/** No timers: a board goes out when the bench says so. */
const world = { ...real, timers: { every: () => () => {}, after: real.timers.after } };
const result = settingsFrom(
  { secret: "bench-secret-0123456789-abcdefghij", rooms: { main: { totalActiveUsers: 1 } } },
  { environment: {}, readFile: () => "", needsOrigin: false },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const rules = toRules(result.settings.rooms.main!);
const engine = new MemoryEngine(world);
const { handle } = await ProxiedGateway.open({ settings: result.settings, engine, world });
engine.join("main");

process.on("message", (question) => {
  if (question === "memory") {
    globalThis.gc?.();
    process.send?.(process.memoryUsage().rss);
  } else {
    const at = Number(process.hrtime.bigint());
    // A change of rules shows a new board to everyone at once.
    engine.configure("main", rules);
    process.send?.(at);
  }
});
const server = createServer({ keepAliveTimeout: 0 }, handle);
server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
);
