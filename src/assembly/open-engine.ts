/**
 * Where the line lives, as the settings say: in this process, kept in a directory if there is one, in a Redis, or in a
 * cluster of which this process is a node.
 */

import type { Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import { MemoryEngine } from "../engines/memory/memory-engine.ts";
import type { NodeDesk } from "./cluster-desk.ts";
import { type Data, openData } from "./data.ts";

export interface OpenEngine {
  readonly engine: Engine;
  /** Changes made at run time and the ring of keys. */
  readonly keeps: Data;
  /** The world by the line's own clock. */
  readonly world: World;
  /** What a node of a cluster has besides; no visitors may be taken before it has joined. */
  readonly node: Pick<NodeDesk, "joined" | "isJoined" | "note" | "report" | "forget"> | null;
  /** Closes the engine, then what it stands on. */
  close(): Promise<void>;
}

export async function openEngine(
  settings: Pick<Settings, "data" | "redis" | "cluster" | "secret" | "rooms" | "budgets">,
  world: World,
): Promise<OpenEngine> {
  const { redis, cluster } = settings;
  // The others are some hundred files, which most starts have no use for.
  if (redis) return (await import("./open-redis.ts")).openRedis(redis, world);
  if (cluster) return (await import("./open-cluster.ts")).openCluster({ ...settings, cluster }, world);
  const keeps = await openData(settings.data, world);
  const engine = new MemoryEngine(world, keeps.storageOf);
  return {
    ...{ engine, keeps, world, node: null },
    close: async () => {
      await engine.close();
      await keeps.close();
    },
  };
}
