/**
 * A Redis watched by sentinels: a primary, two replicas, and three sentinels with a quorum of two. No server counts as dead
 * because the machine is busy. Once the sentinels' timeouts are short, a primary that dies is replaced by one of its replicas
 * after about two seconds.
 */
import { eventually } from "../cli/eventually.ts";
import { type RedisOptions, type RedisServer, startAll, stopAll } from "./redis-server.ts";

const NAME = "fairgate";
const SENTINEL_COUNT = 3;
const REPLICA_COUNT = 2;
const QUORUM = 2;
/** Timeout after which a server counts as gone: short, and otherwise. */
const CLOSE_DOWN_AFTER_MS = 1_000;
const CALM_DOWN_AFTER_MS = 60_000;
const FAILOVER_TIMEOUT_MS = 3_000;
/** How often sentinels announce themselves and check the servers. Their defaults of two and ten seconds are slow for tests. */
const NEWS_EVERY_MS = 100;

export type SentinelsOptions = Pick<RedisOptions, "args" | "password">;

export interface RedisSentinels extends AsyncDisposable {
  /** The name under which the sentinels know the primary. */
  readonly name: string;
  readonly sentinelPorts: readonly number[];
  readonly sentinels: readonly RedisServer[];
  /** The first began as the primary. */
  readonly servers: readonly RedisServer[];
  /** The primary now, by the newest view of the running sentinels; a dead one until it is replaced. */
  primary(): Promise<RedisServer>;
  /** Call this before a server or sentinel is to be found dead. */
  watchClosely(): Promise<void>;
  /** From now on a server that is only slow counts as alive again. */
  watchCalmly(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the six, and waits until all sentinels know the replicas and each other. Options are for the servers. */
export async function startSentinels(options: SentinelsOptions = {}): Promise<RedisSentinels> {
  const all = await startAll([
    ...Array.from({ length: 1 + REPLICA_COUNT }, () => options),
    ...Array.from({ length: SENTINEL_COUNT }, () => ({ args: ["--sentinel"] })),
  ]);
  const [servers, sentinels] = [all.slice(0, 1 + REPLICA_COUNT), all.slice(1 + REPLICA_COUNT)];
  const stop = () => stopAll(all);
  try {
    await follow(servers);
    await Promise.all(sentinels.map((sentinel) => watch(sentinel, servers[0]!, options.password)));
    await Promise.all(
      sentinels.map((one) => eventually(`the sentinel at port ${one.port} knows all`, () => knowsAll(one))),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  const sentinelPorts = sentinels.map((sentinel) => sentinel.port);
  const primary = () => newestPrimary(servers, sentinels);
  const downAfter = async (ms: number) => {
    const running = sentinels.filter(({ isRunning }) => isRunning);
    const words = ["SENTINEL", "SET", NAME, "down-after-milliseconds", ms] as const;
    await Promise.all(running.map((sentinel) => sentinel.command(...words)));
  };
  const watchClosely = () => downAfter(CLOSE_DOWN_AFTER_MS);
  const watchCalmly = () => downAfter(CALM_DOWN_AFTER_MS);
  const whole = { name: NAME, sentinelPorts, sentinels, servers, primary, watchClosely, watchCalmly, stop };
  return { ...whole, [Symbol.asyncDispose]: stop };
}

async function follow([primary, ...replicas]: readonly RedisServer[]): Promise<void> {
  await Promise.all(replicas.map((replica) => replica.command("REPLICAOF", "127.0.0.1", primary!.port)));
  // A replica that has its first copy is sent nothing more until the primary has heard from it, and that shows late.
  await eventually(`the primary at port ${primary!.port} has its replicas`, async () => {
    const info = String(await primary!.command("INFO", "replication"));
    return info.match(/state=online,offset=[1-9]/g)?.length === replicas.length;
  });
}

async function watch(sentinel: RedisServer, primary: RedisServer, password?: string): Promise<void> {
  await sentinel.command("SENTINEL", "DEBUG", "PUBLISH-PERIOD", NEWS_EVERY_MS, "INFO-PERIOD", NEWS_EVERY_MS);
  await sentinel.command("SENTINEL", "MONITOR", NAME, "127.0.0.1", primary.port, QUORUM);
  const secret = password === undefined ? [] : ["auth-pass", password];
  const patience = ["down-after-milliseconds", CALM_DOWN_AFTER_MS, "failover-timeout", FAILOVER_TIMEOUT_MS];
  await sentinel.command("SENTINEL", "SET", NAME, ...patience, ...secret);
}

async function knowsAll(sentinel: RedisServer): Promise<boolean> {
  const primary = fields(await sentinel.command("SENTINEL", "MASTER", NAME));
  const replicas = ((await sentinel.command("SENTINEL", "REPLICAS", NAME)) as unknown[]).map(fields);
  const others = ((await sentinel.command("SENTINEL", "SENTINELS", NAME)) as unknown[]).map(fields);
  return (
    primary.get("flags") === "master" &&
    replicas.length === REPLICA_COUNT &&
    replicas.every((one) => one.get("flags") === "slave" && one.get("master-link-status") === "ok") &&
    others.length === SENTINEL_COUNT - 1 &&
    others.every((one) => one.get("flags") === "sentinel")
  );
}

async function newestPrimary(
  servers: readonly RedisServer[],
  sentinels: readonly RedisServer[],
): Promise<RedisServer> {
  const running = sentinels.filter((sentinel) => sentinel.isRunning);
  const views = await Promise.all(running.map((one) => viewOf(one).catch(() => undefined)));
  const [newest] = views.filter((view) => view !== undefined).sort((a, b) => b.epoch - a.epoch);
  const primary = servers.find((server) => server.port === newest?.port);
  if (!primary) throw new Error("no sentinel knows the primary");
  return primary;
}

async function viewOf(sentinel: RedisServer): Promise<{ readonly epoch: number; readonly port: number }> {
  const epoch = Number(fields(await sentinel.command("SENTINEL", "MASTER", NAME)).get("config-epoch"));
  // Not from the same answer: the sentinel that leads a failover has the old address there until its end.
  const address = await sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME);
  return { epoch, port: Number((address as readonly unknown[])[1]) };
}

/** A flat list of names and values as a map. */
function fields(answer: unknown): ReadonlyMap<string, string> {
  const words = (answer as readonly unknown[]).map(String);
  return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? ""] as const] : [])));
}
