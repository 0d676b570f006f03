/**
 * Where the line lives, as the settings say: in this process, kept in a directory if there is one, in a Redis, or in a
 * cluster of which this process is a node.
 */

import type { Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { MemoryEngine } from "../engines/memory/memory-engine.ts";
import { openData } from "./data.ts";
import type { OpenEngine } from "./opened-engine.ts";

export async function openEngine(
  settings: Pick<Settings, "data" | "redis" | "cluster" | "secret" | "rooms" | "budgets">,
  world: World,
): Promise<OpenEngine> {
  const { redis, cluster } = settings;
  // The others are some hundred files, which most starts have no use for.
  if (redis) return (await import("./open-redis.ts")).openRedis(redis, world);
  if (cluster) return (await import("./open-cluster.ts")).openCluster({ ...settings, cluster }, world);
  const data = await openData(settings.data, world);
  const engine = new MemoryEngine(world, data.storageOf);
  return {
    ...{ engine, data, world, cluster: null },
    close: async () => {
      await engine.close();
      await data.close();
    },
  };
}
