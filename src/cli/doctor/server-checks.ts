/** What a server is and how it is configured, compared with what the engine needs. Each check only reads facts. */
import type { RedisSettings } from "../../config/redis-settings.ts";
import { OLDEST_VERSION, RedisProblem } from "../../engines/redis/link/problem.ts";
import { configOf, numberIn, type ServerFacts } from "./facts.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

/** The link sends PING over each connection every second. */
const IDLE_MIN_S = 10;
const BUSY_MIN_MS = 1_000;
const CLIENTS_SHARE_MAX = 0.8;

/** Redis, or Valkey, which gives a Redis version too. */
export function checkVersion({ info, where }: ServerFacts): DoctorVerdict {
  const version = info.get("redis_version") ?? "of no known version";
  const valkey = info.get("valkey_version");
  const is = valkey ? `Valkey ${valkey}.` : `Redis ${version}.`;
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = OLDEST_VERSION.split(".").map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor))
    return about("version", where).ok(is);
  return about("version", where).problem(is, `Use Redis ${OLDEST_VERSION} or later, or Valkey.`);
}

/** Whether the server is of the kind that the settings name. */
export function checkKind({ info, where }: ServerFacts, { mode }: RedisSettings): DoctorVerdict[] {
  const kind = about("kind", where);
  const found = info.get("redis_mode");
  if (found === "sentinel")
    return [kind.problem("This is a sentinel, not a server.", "Write its address under redis.sentinels.")];
  if (found === "cluster" && mode !== "cluster")
    return [kind.problem("This is a node of a cluster.", "Write its address under redis.cluster instead.")];
  if (mode === "standalone" && info.get("role") === "slave")
    return [
      kind.problem(
        "This is a replica, which takes no writes.",
        "Give the address of its primary, or use redis.sentinels.",
      ),
    ];
  return [];
}

/** A Redis that is still loading its files answers nothing else. */
export function checkLoading({ info, where }: ServerFacts): DoctorVerdict[] {
  if (info.get("loading") !== "1") return [];
  return [about("loading", where).problem("It is still reading its data from the disk.", "Wait.")];
}

/** Settings of Redis whose defaults suit us, and which do harm when changed. */
export function checkConfig(facts: ServerFacts): DoctorVerdict[] {
  const { config, where } = facts;
  if (config instanceof RedisProblem)
    return [
      about("config", where).caution(
        "Its own settings cannot be seen (CONFIG GET is not allowed): timeout, appendfsync and others are not checked.",
        "Look at them yourself, or allow this user +config|get.",
      ),
    ];
  return [...checkIdle(facts), ...checkBusy(facts)];
}

function checkIdle(facts: ServerFacts): DoctorVerdict[] {
  const idleS = Number(configOf(facts, "timeout") ?? 0);
  if (idleS === 0 || idleS >= IDLE_MIN_S) return [];
  const is = `timeout is ${idleS}: connections that are quiet for ${idleS} s are closed.`;
  return [about("config", facts.where).caution(is, "Set timeout to 0.")];
}

function checkBusy(facts: ServerFacts): DoctorVerdict[] {
  const busyMs = Number(configOf(facts, "lua-time-limit") ?? 0);
  if (busyMs === 0 || busyMs >= BUSY_MIN_MS) return [];
  const is = `lua-time-limit is ${busyMs}: a draw among very many may make others fail.`;
  return [about("config", facts.where).caution(is, "Set lua-time-limit to 5000.")];
}

/** Whether more gateways can connect. */
export function checkClients({ info, where }: ServerFacts): DoctorVerdict[] {
  const clients = numberIn(info, "connected_clients");
  const max = numberIn(info, "maxclients");
  if (max === 0 || clients < CLIENTS_SHARE_MAX * max) return [];
  return [
    about("clients", where).caution(`${clients} of ${max} connections are in use.`, "Raise maxclients."),
  ];
}
