/** The engines there are. What a record says, and how to add one, is in `engine-record.ts`. */
import { lineKindOf } from "../config/capability-check.ts";
import { CAPABILITIES, type EngineKind } from "../core/capabilities.ts";
import type { World } from "../core/world.ts";
import { MemoryEngine } from "../engines/memory/memory-engine.ts";
import { openData } from "./data.ts";
import type { EngineRecord, EngineSettings, OpenEngine } from "./engine-record.ts";

// Loaded on demand: these modules are about a hundred files that most starts do not need.
const openRedis: EngineRecord["open"] = async ({ redis }, world) =>
  (await import("./open-redis.ts")).openRedis(redis!, world);

const ENGINES: Readonly<Record<EngineKind, EngineRecord>> = {
  memory: { capabilities: CAPABILITIES.memory, open: openMemory },
  redis: { capabilities: CAPABILITIES.redis, open: openRedis },
  // Rooms with either kind of line live in one Redis side by side, so they have one engine.
  relaxed: { capabilities: CAPABILITIES.relaxed, open: openRedis },
  cluster: {
    capabilities: CAPABILITIES.cluster,
    open: async ({ cluster, ...settings }, world) =>
      (await import("./open-cluster.ts")).openCluster({ ...settings, cluster: cluster! }, world),
  },
};

/** Opens the engine that the settings choose. */
export function openEngine(settings: EngineSettings, world: World): Promise<OpenEngine> {
  return ENGINES[lineKindOf(settings)].open(settings, world);
}

async function openMemory({ data }: EngineSettings, world: World): Promise<OpenEngine> {
  const keeps = await openData(data, world);
  const engine = new MemoryEngine(world, keeps.storageOf);
  return {
    ...{ engine, keeps, world, node: null, openLedgers: null },
    close: async () => {
      await engine.close();
      await keeps.close();
    },
  };
}
