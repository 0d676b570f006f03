/**
 * The relaxed priority queue as a library: a queue over many Redis nodes, for producers and consumers.
 *
 *   const queue = await openRelaxedQueue({ name: "mail", redis: "redis://127.0.0.1:6379" });
 *   await queue.add([{ priority: 5, payload: "to Ada" }]);
 *   const popped = await queue.pop();
 *   if (popped) await queue.commit([popped.handle]);
 */
import "./needs-node.ts";
import type { Log } from "./core/world.ts";
import type { RelaxedQueue } from "./engines/redis/relaxed/queue.ts";
import type { QueueOptions } from "./engines/redis/relaxed/queue-options.ts";
import type { GivenServers } from "./relaxed-servers.ts";

export type { ConcurrencyPolicy } from "./core/relaxed.ts";
export type { Log } from "./core/world.ts";
export { RedisProblem, type RedisProblemKind } from "./engines/redis/link/problem.ts";
export type { Added } from "./engines/redis/relaxed/adding.ts";
export type { NewItem, RelaxedItem } from "./engines/redis/relaxed/item.ts";
export type { Popped } from "./engines/redis/relaxed/popping.ts";
export type { QueueCounts, RelaxedQueue } from "./engines/redis/relaxed/queue.ts";
export type { QueueOptions } from "./engines/redis/relaxed/queue-options.ts";
export {
  type ItemOutcome,
  type Outcome,
  RelaxedProblem,
  ShardsMismatch,
} from "./engines/redis/relaxed/relaxed-problem.ts";
export type { CommitAnswer } from "./engines/redis/relaxed/shard.ts";
export type { RedisClusterAddresses, RedisLogin, RedisSentinelAddresses } from "./relaxed-servers.ts";

export interface RelaxedQueueOptions extends QueueOptions {
  /**
   * A server by its URL; several that know nothing of each other, to which the shards are dealt out in this order; a
   * cluster; or sentinels.
   */
  readonly redis: GivenServers;
  /** How long an answer of Redis may take. */
  readonly callTimeoutMs?: number;
  /** A logger with debug, info, warn and error, such as pino. Lines of JSON on standard output when left out. */
  readonly log?: Log;
}

const CALL_TIMEOUT_MS = 1_500;

/** Opens a queue, also when Redis is away: calls then fail at once, and it comes back by itself. */
export async function openRelaxedQueue(options: RelaxedQueueOptions): Promise<RelaxedQueue> {
  const { openLink } = await import("./engines/redis/link/link.ts");
  const { relaxedLibrary } = await import("./engines/redis/relaxed/library.ts");
  const { RelaxedQueue } = await import("./engines/redis/relaxed/queue.ts");
  const { withDefaults } = await import("./engines/redis/relaxed/queue-options.ts");
  const { nodeWorld } = await import("./node.ts");
  const { redisServers } = await import("./relaxed-servers.ts");
  const { redis, callTimeoutMs: timeoutMs = CALL_TIMEOUT_MS, log, ...own } = options;
  withDefaults(own);
  const all = redisServers(redis);
  const world = nodeWorld(log ? { log } : {});
  const library = relaxedLibrary();
  const links = await Promise.all(all.map((servers) => openLink({ servers, library, world, timeoutMs })));
  return new RelaxedQueue(own, links, world);
}
