/** Where the line lives, as the settings say: in this process, kept in a directory if there is one, or in a Redis. */
import type { Settings } from "./config/schema.ts";
import type { Engine } from "./core/engine.ts";
import type { World } from "./core/world.ts";
import { type Data, openData } from "./data.ts";
import { MemoryEngine } from "./engines/memory/memory-engine.ts";

export interface OpenEngine {
  readonly engine: Engine;
  readonly data: Data;
  /** The world by the line's own clock. */
  readonly world: World;
  /** Closes the engine, then what it stands on. */
  close(): Promise<void>;
}

export async function openEngine(
  settings: Pick<Settings, "data" | "redis">,
  world: World,
): Promise<OpenEngine> {
  if (settings.redis) {
    // The client is some hundred files, which most starts have no use for.
    const { openRedis } = await import("./open-redis.ts");
    return openRedis(settings.redis, world);
  }
  const data = await openData(settings.data, world);
  const engine = new MemoryEngine(world, data.storageOf);
  return {
    ...{ engine, data, world },
    close: async () => {
      await engine.close();
      await data.close();
    },
  };
}
