/** Checks between the settings of Redis, and of what does not go with it. */
import { formatHostPort } from "./kinds.ts";
import { type Finding, formatPath } from "./problem.ts";
import type { RedisInFile } from "./redis-schema.ts";
import { REDIS_URL_VARIABLE } from "./redis-settings.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings } from "./schema.ts";

type KnownRedis = Known<RedisInFile>;

const PLACES = ["url", "sentinels", "cluster"] as const;
const FOR_SENTINELS = ["masterName", "sentinelUsername", "sentinelPassword", "sentinelPasswordFile"] as const;

/** Problems between the settings of Redis and others. Passwords are looked for in `redis-settings.ts`. */
export function checkRedis({ redis, data }: Known<FileSettings>): Finding[] {
  if (!redis) return [];
  return [
    ...checkData(data),
    ...checkPlaces(redis),
    ...checkSentinels(redis),
    ...checkTwice(redis, "sentinels"),
    ...checkTwice(redis, "cluster"),
    ...checkUrl(redis),
    ...checkDatabase(redis),
  ];
}

function checkData(data: string | null | undefined): Finding[] {
  if (data == null) return [];
  const message = "data and redis are both set, and a line can only live in one place";
  const hint =
    "Take data out to share the line with other gateways through Redis, or redis to keep it in the directory.";
  return [{ code: "conflict", path: ["data"], at: "key", message, hint }];
}

/** Exactly one way to find it. */
function checkPlaces(redis: KnownRedis): Finding[] {
  // What is wrong by itself has its own problem, and may be the one that is meant.
  if (PLACES.some((key) => redis[key] === undefined)) return [];
  const [first, second] = PLACES.filter((key) => isThere(redis[key]));
  if (first === undefined) {
    const message = "redis names no server";
    const hint = "Set one of url, sentinels and cluster.";
    return [{ code: "missing", path: ["redis"], at: "key", message, hint }];
  }
  if (second === undefined) return [];
  const message = `redis.${first} and redis.${second} are both set`;
  const hint = `Keep one of them. ${REDIS_URL_VARIABLE} and --redis count as url.`;
  return [{ code: "conflict", path: ["redis", second], at: "key", message, hint }];
}

function isThere(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value != null;
}

function checkSentinels(redis: KnownRedis): Finding[] {
  const { sentinels, masterName } = redis;
  if (sentinels === undefined) return [];
  if (sentinels.length > 0) {
    if (masterName !== null) return [];
    const message = "redis.masterName is missing";
    const hint = "It should be the name under which the sentinels watch the primary, often mymaster.";
    return [{ code: "missing", path: ["redis", "sentinels"], at: "key", message, hint }];
  }
  return FOR_SENTINELS.filter((key) => redis[key] != null).map((key) => ({
    code: "conflict",
    path: ["redis", key],
    at: "key",
    message: `redis.${key} is set, and there are no sentinels`,
    hint: "Name them under sentinels, or take it out.",
  }));
}

function checkTwice(redis: KnownRedis, key: "sentinels" | "cluster"): Finding[] {
  const addresses = (redis[key] ?? []).map(formatHostPort);
  return addresses.flatMap((address, index): Finding[] => {
    if (addresses.indexOf(address) === index) return [];
    const path = ["redis", key, index];
    const message = `${formatPath(path)} is ${address}, which is in the list already`;
    return [{ code: "conflict", path, at: "value", message, hint: "Keep one of them." }];
  });
}

/** What an address has in it is not said once more beside it. */
function checkUrl(redis: KnownRedis): Finding[] {
  const { url } = redis;
  if (!url) return [];
  const twice = (key: "username" | "password" | "passwordFile", what: string): Finding => ({
    code: "conflict",
    path: ["redis", key],
    at: "key",
    message: `redis.${key} is set, and redis.url has a ${what} in it`,
    hint: "Keep one of them.",
  });
  return [
    ...(url.username != null && redis.username != null ? [twice("username", "user name")] : []),
    ...(url.password != null && redis.password != null ? [twice("password", "password")] : []),
    ...(url.password != null && redis.passwordFile != null ? [twice("passwordFile", "password")] : []),
  ];
}

function checkDatabase({ url, cluster, database }: KnownRedis): Finding[] {
  if (!database) return [];
  const problem = { code: "conflict", path: ["redis", "database"], at: "value" } as const;
  if (cluster && cluster.length > 0) {
    const message = `redis.database is ${database}, and a cluster has only 0`;
    return [{ ...problem, message, hint: "Take it out." }];
  }
  if (url?.database == null || url.database === database) return [];
  const message = `redis.database is ${database}, and redis.url ends with ${url.database}`;
  return [{ ...problem, message, hint: "Keep one of them." }];
}
