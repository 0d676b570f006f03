/** A gateway with a full room, for visitors who only listen. It answers the commands `memory` and `push`. */
import { settingsFrom } from "../../src/config/load.ts";
import { toRules } from "../../src/config/rules.ts";
import { MemoryEngine } from "../../src/engines/memory/memory-engine.ts";
import { ProxiedGateway } from "../../src/gateway/proxied-gateway.ts";
import { nodeWorld } from "../../src/node.ts";
import { listenAndTell } from "./listen-and-tell.ts";

const real = nodeWorld({ level: "error" });
/** No timers: a board is sent on command. */
const world = { ...real, timers: { every: () => () => {}, after: real.timers.after } };
const result = settingsFrom(
  {
    secret: "bench-secret-0123456789-abcdefghij",
    limits: { streamsPerAddressMax: 20_000 },
    rooms: { main: { totalActiveUsers: 1 } },
  },
  { environment: {}, readFile: () => "", needsOrigin: false },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const rules = toRules("main", result.settings.rooms.main!, { budgets: {}, seedOf: () => "" });
const engine = new MemoryEngine(world);
const gateway = await ProxiedGateway.open({ settings: result.settings, engine, world });
engine.join("main");

process.on("message", (question) => {
  if (question === "memory") {
    globalThis.gc?.();
    process.send?.(process.memoryUsage().rss);
  } else {
    const at = Number(process.hrtime.bigint());
    // A change of rules sends a new board to everyone at once.
    engine.configure("main", rules);
    process.send?.(at);
  }
});
await listenAndTell(result.settings, gateway, real);
