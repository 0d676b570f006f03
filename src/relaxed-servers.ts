/** Where a relaxed queue's Redis is, as a program writes it, and as connections to it need it. */
import { readRedisUrl } from "./config/redis-schema.ts";
import { readHostPort } from "./config/route.ts";
import type { RedisServers } from "./engines/redis/link/servers.ts";

/** How to be let in, where it is not in the URL. */
export interface RedisLogin {
  readonly username?: string;
  readonly password?: string;
  /** `ca` is PEM text; null: those that Node trusts. */
  readonly tls?: { readonly ca?: string | null; readonly servername?: string | null };
}

/** Some nodes of a cluster, as `host:port`. */
export interface RedisClusterAddresses extends RedisLogin {
  readonly cluster: readonly string[];
}

/** Some sentinels, as `host:port`, and the name under which they watch the primary. */
export interface RedisSentinelAddresses extends RedisLogin {
  readonly sentinels: readonly string[];
  readonly masterName: string;
  readonly sentinelUsername?: string;
  readonly sentinelPassword?: string;
  readonly database?: number;
}

export type GivenServers = string | readonly string[] | RedisClusterAddresses | RedisSentinelAddresses;

const REDIS_PORT = 6_379;
const SENTINEL_PORT = 26_379;

const NO_LOGIN = {
  masterName: null,
  username: null,
  password: null,
  sentinelUsername: null,
  sentinelPassword: null,
  database: 0,
  tls: null,
} as const;

/** Throws a `RangeError` that says what is wrong with an address. */
export function redisServers(redis: GivenServers): RedisServers[] {
  if (typeof redis === "string") return [standaloneIn(redis)];
  if ("cluster" in redis) return [clusterIn(redis)];
  if ("sentinels" in redis) return [sentinelsIn(redis)];
  if (redis.length === 0) throw new RangeError("redis names no server; give at least one address");
  return redis.map(standaloneIn);
}

function standaloneIn(written: string): RedisServers {
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

function clusterIn({ cluster, ...login }: RedisClusterAddresses): RedisServers {
  return { ...NO_LOGIN, ...loginOf(login), mode: "cluster", addresses: addressesIn(cluster, REDIS_PORT) };
}

function sentinelsIn({
  sentinels,
  masterName,
  database = 0,
  ...login
}: RedisSentinelAddresses): RedisServers {
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

function addressesIn(written: readonly string[], port: number): RedisServers["addresses"] {
  if (written.length === 0) throw new RangeError("redis has an empty list of addresses; give at least one");
  return written.map((one) => {
    const read = readHostPort(one, port);
    if ("wrong" in read) throw new RangeError(`redis address "${one}" ${read.wrong}`);
    return read.value;
  });
}
