/** Opens the Redis engine and the shared data on one connection. */
import type { RedisSettings } from "../config/redis-settings.ts";
import type { World } from "../core/world.ts";
import { roomLibrary } from "../engines/redis/library.ts";
import { openLink } from "../engines/redis/link/link.ts";
import { RedisClock } from "../engines/redis/redis-clock.ts";
import { RedisEngine } from "../engines/redis/redis-engine.ts";
import type { OpenEngine } from "./engine-record.ts";
import { RedisData } from "./redis-data.ts";
import { libraryWithLedgers, RedisShops } from "./redis-shops.ts";

/** Opens the link, reads the line's clock, and makes the engine. */
export async function openRedis(settings: RedisSettings, world: World): Promise<OpenEngine> {
  const { prefix, replicas, timeoutMs } = settings;
  const link = await openLink({
    servers: settings,
    library: libraryWithLedgers(roomLibrary()),
    world,
    timeoutMs,
  });
  const clock = new RedisClock(link, world);
  await clock.look();
  const shared = { ...world, clock };
  const engine = new RedisEngine({ link, world: shared, prefix, replicas, timeoutMs });
  const keeps = new RedisData({ link, world, prefix });
  return {
    ...{ engine, keeps, world: shared, node: null },
    openLedgers: (parts) =>
      new RedisShops({ ...parts, machine: world, link, prefix, kept: { replicas, timeoutMs } }),
    close: async () => {
      clock.close();
      await engine.close();
      await keeps.close();
      await link.close();
    },
  };
}
