/** Opens a stored room and prints how long that took and how many wait in it, after a number of further joins. */

import { openData } from "../../src/assembly/data.ts";
import { DEFAULT_RULES } from "../../src/core/rules.ts";
import { MemoryEngine } from "../../src/engines/memory/memory-engine.ts";
import { nodeWorld } from "../../src/node.ts";

const [directory = "", joining = "0"] = process.argv.slice(2);
const world = nodeWorld({ level: "error" });
const from = process.hrtime.bigint();
const data = await openData(directory, world);
const engine = new MemoryEngine(world, data.storageOf);
await engine.configure("main", { ...DEFAULT_RULES, totalActiveUsers: 1, lapseAfterMs: 3_600_000 });
const seconds = Number(process.hrtime.bigint() - from) / 1e9;
for (let i = 0; i <= Number(joining) && joining !== "0"; i++) engine.join("main");
// A gated call: when it is answered, everything before it is on disk.
await engine.revoke("main", "nobody");
process.send?.({ seconds, waiting: engine.counts("main").waiting });
