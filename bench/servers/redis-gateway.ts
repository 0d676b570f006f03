/**
 * A gateway whose line is in a Redis, as `fairgate run --redis` has it, with every slot taken until the parent says
 * otherwise. Every check-in is answered by the engine: nobody comes early, since everyone is asked back at once.
 */

import { openEngine } from "../../src/assembly/engines.ts";
import { settingsFrom } from "../../src/config/load.ts";
import type { Engine, Entered } from "../../src/core/engine.ts";
import type { Ticket } from "../../src/core/ticket.ts";
import { ProxiedGateway } from "../../src/gateway/proxied-gateway.ts";
import { nodeWorld } from "../../src/node.ts";
import { listenAndTell } from "./listen-and-tell.ts";

const [url = "", slots = "1", origin = ""] = process.argv.slice(2);

const result = settingsFrom(
  {
    secret: "bench-secret-0123456789-abcdefghij",
    redis: { url },
    ...(origin && { origin: { addresses: [origin] } }),
    // All of them come from one address.
    limits: { newcomersPerAddressMax: null },
    // Nobody lapses during the measurement.
    rooms: { main: { totalActiveUsers: Number(slots), jsonResponseEnabled: true, lapseAfter: "1h" } },
  },
  { environment: {}, readFile: () => "", needsOrigin: origin !== "" },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const { engine, world } = await openEngine(result.settings, nodeWorld({ level: "error" }));
const gateway = await ProxiedGateway.open({ settings: result.settings, engine: eager(engine), world });
const answers = await Promise.all(Array.from({ length: Number(slots) }, () => engine.join("main")));
const passes = answers.map((answer) => (answer as Entered).pass);

process.on("disconnect", () => process.exit());
process.on("message", async (question: "letIn" | "spent") => {
  if (question === "letIn") await Promise.all(passes.map((pass) => engine.leave(pass)));
  process.send?.(process.cpuUsage());
});
await listenAndTell(result.settings, gateway, world);

function eager(asked: Engine): Engine {
  const checkIn = asked.checkIn.bind(asked);
  return Object.assign(asked, {
    checkIn: async (ticket: Ticket) => {
      const answer = await checkIn(ticket);
      return answer.kind === "waiting" ? { ...answer, nextCheckInMs: 0 } : answer;
    },
  });
}
