/**
 * A gateway with HTTP and tokens in front of a room, as `fairgate run` has it: a node of a cluster as with `--cluster`, or alone
 * with the line in memory, to compare with.
 */

import { openFairgate } from "../../src/assembly/open-fairgate.ts";
import { settingsFrom } from "../../src/config/load.ts";
import { ClusterEngine } from "../../src/engines/cluster/cluster-engine.ts";
import { nodeWorld } from "../../src/node.ts";
import { answerParent } from "./answer-parent.ts";
import { listenAndTell } from "./listen-and-tell.ts";

const [founder = "", slots = "", kind = "cluster"] = process.argv.slice(2);
const ROOM = "main";
const join = founder === "" ? [] : [founder];
const result = settingsFrom(
  {
    secret: "bench-secret-0123456789-abcdefghij",
    ...(kind === "cluster" && { cluster: { listen: "127.0.0.1:0", join } }),
    // Connections may wait for their first user for as long as the bench takes.
    limits: { headersTimeout: "5m", keepAliveTimeout: "5m", newcomersPerAddressMax: null },
    rooms: { [ROOM]: { totalActiveUsers: Number(slots) } },
  },
  { environment: {}, readFile: () => "", needsOrigin: false },
);
if (!result.ok) throw new Error(JSON.stringify(result.problems));
const { settings } = result;
const { engine, world, proxied, desk, joined } = await openFairgate(settings, nodeWorld({ level: "error" }));
await joined;
if (engine instanceof ClusterEngine) answerParent({ engine, room: ROOM, setSlots: () => {} });
await listenAndTell(settings, proxied, world, { address: desk.cluster?.report().address });
