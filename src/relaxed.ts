/**
 * The relaxed priority queue as a library: a queue over many Redis nodes, for producers and consumers.
 *
 *   const queue = await openRelaxedQueue({ name: "mail", redis: "redis://127.0.0.1:6379" });
 *   await queue.add([{ priority: 5, payload: "to Ada" }]);
 *   const popped = await queue.pop();
 *   if (popped) await queue.commit([popped.handle]);
 */
import { readRedisAddress, readRedisUrl } from "./config/redis-schema.ts";
import type { Log } from "./core/world.ts";
import { openLink } from "./engines/redis/link/link.ts";
import type { RedisPlace } from "./engines/redis/link/place.ts";
import { relaxedLibrary } from "./engines/redis/relaxed/library.ts";
import { RelaxedQueue } from "./engines/redis/relaxed/queue.ts";
import { type QueueOptions, withDefaults } from "./engines/redis/relaxed/queue-options.ts";
import { nodeWorld } from "./node.ts";

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

/** How to be let in, where it is not in the URL. */
export interface RedisLogin {
  readonly username?: string;
  readonly password?: string;
  /** `ca` is PEM text; null: those that Node trusts. */
  readonly tls?: { readonly ca?: string | null; readonly servername?: string | null };
}

/** Some nodes of a cluster, as `host:port`. */
export interface RedisClusterPlace extends RedisLogin {
  readonly cluster: readonly string[];
}

/** Some sentinels, as `host:port`, and the name under which they watch the primary. */
export interface RedisSentinelPlace extends RedisLogin {
  readonly sentinels: readonly string[];
  readonly masterName: string;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly database?: number;
}

export interface RelaxedQueueOptions extends QueueOptions {
  /**
   * A server by its URL; several that know nothing of each other, to which the shards are dealt out in this order; a
   * cluster; or sentinels.
   */
  readonly redis: string | readonly string[] | RedisClusterPlace | RedisSentinelPlace;
  /** How long an answer of Redis may take. */
  readonly callTimeoutMs?: number;
  /** A logger with debug, info, warn and error, such as pino. Lines of JSON on standard output when left out. */
  readonly log?: Log;
}

const CALL_TIMEOUT_MS = 1_500;
const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;

/** Opens a queue, also when Redis is away: calls then fail at once, and it comes back by itself. */
export async function openRelaxedQueue(options: RelaxedQueueOptions): Promise<RelaxedQueue> {
  const { redis, callTimeoutMs: timeoutMs = CALL_TIMEOUT_MS, log, ...own } = options;
  withDefaults(own);
  const places = placesOf(redis);
  const world = nodeWorld(log ? { log } : {});
  const library = relaxedLibrary();
  const links = await Promise.all(places.map((place) => openLink({ place, library, world, timeoutMs })));
  return new RelaxedQueue(own, links, world);
}

const NO_LOGIN = {
  masterName: null,
  username: null,
  password: null,
  sentinelUsername: null,
  sentinelPassword: null,
  database: 0,
  tls: null,
} as const;

function placesOf(redis: RelaxedQueueOptions["redis"]): RedisPlace[] {
  if (typeof redis === "string") return [serverPlace(redis)];
  if ("cluster" in redis) return [clusterPlace(redis)];
  if ("sentinels" in redis) return [sentinelPlace(redis)];
  if (redis.length === 0) throw new RangeError("redis names no server; give at least one address");
  return redis.map(serverPlace);
}

function serverPlace(written: string): RedisPlace {
  const read = readRedisUrl(written);
  // Not quoted: it may have a password in it.
  if ("wrong" in read) throw new RangeError(`redis ${read.wrong}; such as redis://10.0.0.1:6379/0`);
  const { host, port, isTls, username, password, database } = read.value;
  return {
    ...NO_LOGIN,
    mode: "standalone",
    addresses: [{ host, port }],
    username,
    password,
    database: database ?? 0,
    tls: isTls ? { ca: null, servername: null } : null,
  };
}

function clusterPlace({ cluster, ...login }: RedisClusterPlace): RedisPlace {
  return { ...NO_LOGIN, ...loginOf(login), mode: "cluster", addresses: addressesIn(cluster, REDIS_PORT) };
}

function sentinelPlace({ sentinels, masterName, database = 0, ...login }: RedisSentinelPlace): RedisPlace {
  const addresses = addressesIn(sentinels, SENTINEL_PORT);
  const { sentinelUsername = null, sentinelPassword = null } = login;
  return {
    ...loginOf(login),
    mode: "sentinel",
    addresses,
    masterName,
    sentinelUsername,
    sentinelPassword,
    database,
  };
}

function loginOf({ username = null, password = null, tls }: Unset<RedisLogin>) {
  return {
    username,
    password,
    tls: tls ? { ca: tls.ca ?? null, servername: tls.servername ?? null } : null,
  };
}

/** The same, where null says as well that it is not set. */
type Unset<T> = { readonly [K in keyof T]: T[K] | null };

function addressesIn(written: readonly string[], port: number): RedisPlace["addresses"] {
  if (written.length === 0) throw new RangeError("redis has an empty list of addresses; give at least one");
  return written.map((one) => {
    const read = readRedisAddress(one, port);
    if ("wrong" in read) throw new RangeError(`redis address "${one}" ${read.wrong}`);
    return read.value;
  });
}
