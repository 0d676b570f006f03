/** A gateway in front of an origin, with a room small enough that everyone has to wait. */
import { settingsFrom } from "../../src/config/load.ts";
import { MemoryEngine } from "../../src/engines/memory/memory-engine.ts";
import { ProxiedGateway } from "../../src/gateway/proxied-gateway.ts";
import { nodeWorld } from "../../src/node.ts";
import { listenAndTell } from "./listen-and-tell.ts";

const [origin = "", capacity = ""] = process.argv.slice(2);
const world = nodeWorld({ level: "error" });
const result = settingsFrom(
  {
    secret: "bench-secret-0123456789-abcdefghij",
    origin: { addresses: [origin] },
    // All of them come from one address.
    limits: { newcomersPerAddressMax: null },
    rooms: { main: { totalActiveUsers: Number(capacity) } },
  },
  { environment: {}, readFile: () => "" },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const engine = new MemoryEngine(world);
const gateway = await ProxiedGateway.open({ settings: result.settings, engine, world });
// Fills the room, so that nobody goes straight through; these visitors leave when the first ones have queued up.
const joined = await Promise.all(Array.from({ length: Number(capacity) }, () => engine.join("main")));
const held = joined.flatMap((answer) => (answer.kind === "entered" ? [answer.pass] : []));
process.on("message", (question) => {
  if (question === "open") for (const pass of held) engine.leave(pass, true);
  process.send?.(engine.counts("main"));
});
await listenAndTell(result.settings, gateway, world);
