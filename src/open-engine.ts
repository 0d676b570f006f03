/** Where the line lives, as the settings say: in this process, kept in a directory if there is one, or in a Redis. */
import type { RedisSettings } from "./config/redis-settings.ts";
import type { Settings } from "./config/schema.ts";
import type { Engine } from "./core/engine.ts";
import type { World } from "./core/world.ts";
import { type Data, openData } from "./data.ts";
import { MemoryEngine } from "./engines/memory/memory-engine.ts";
import { roomLibrary } from "./engines/redis/library.ts";
import { openLink } from "./engines/redis/link/link.ts";
import { RedisClock } from "./engines/redis/redis-clock.ts";
import { RedisEngine } from "./engines/redis/redis-engine.ts";
import { RedisData } from "./redis-data.ts";

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
  if (settings.redis) return openRedis(settings.redis, world);
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

async function openRedis(settings: RedisSettings, world: World): Promise<OpenEngine> {
  const { prefix, replicas, timeoutMs } = settings;
  const link = await openLink({ place: settings, library: roomLibrary(), world, timeoutMs });
  const clock = new RedisClock(link, world);
  await clock.look();
  const shared = { ...world, clock };
  const engine = new RedisEngine({ link, world: shared, prefix, replicas, timeoutMs });
  const data = new RedisData({ link, world, prefix });
  return {
    ...{ engine, data, world: shared },
    close: async () => {
      clock.close();
      await engine.close();
      await data.close();
      await link.close();
    },
  };
}
