/**
 * A Redis Cluster of six processes: three primaries that share the hash slots, and a replica of each. No node counts as dead
 * because the machine is busy. Once timeouts are short, a primary that dies is replaced by its replica after about two seconds.
 */
import { eventually } from "../cli/eventually.ts";
import { type RedisOptions, type RedisServer, startAll, stopAll } from "./redis-server.ts";

const PRIMARY_COUNT = 3;
const SLOT_COUNT = 16_384;
/** Timeout after which a node counts as gone: short, and otherwise. */
const CLOSE_TIMEOUT_MS = 1_000;
const CALM_TIMEOUT_MS = 60_000;

export type ClusterOptions = Pick<RedisOptions, "args" | "password">;

export interface RedisCluster extends AsyncDisposable {
  /** The first three began as primaries, the others as their replicas, in the same order. */
  readonly nodes: readonly RedisServer[];
  readonly urls: readonly string[];
  /** The node that holds the key now, by the newest view of the running nodes; a dead one until it is replaced. */
  primaryOf(key: string): Promise<RedisServer>;
  /** Call this before a node is to be found dead. */
  watchClosely(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the six, forms the cluster, and waits until every node knows all others. */
export async function startCluster(options: ClusterOptions = {}): Promise<RedisCluster> {
  // While they get to know each other, and after a restart, a short timeout makes them talk often.
  const own = ["--cluster-enabled", "yes", "--cluster-node-timeout", `${CLOSE_TIMEOUT_MS}`];
  // No node is replaced meanwhile; and later a replica takes over however long its primary has been dead.
  const takeover = ["--cluster-replica-no-failover", "yes", "--cluster-replica-validity-factor", "0"];
  const args = [...own, ...takeover, ...(options.args ?? [])];
  const nodes = await startAll(Array.from({ length: 2 * PRIMARY_COUNT }, () => ({ ...options, args })));
  const stop = () => stopAll(nodes);
  try {
    await form(nodes);
    await giveUpAfter(nodes, CALM_TIMEOUT_MS);
    await setAll(nodes, "cluster-replica-no-failover", "no");
  } catch (error) {
    await stop();
    throw error;
  }
  const urls = nodes.map((node) => node.url);
  return {
    nodes,
    urls,
    primaryOf: (key) => primaryOf(nodes, key),
    watchClosely: () => giveUpAfter(nodes, CLOSE_TIMEOUT_MS),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function giveUpAfter(nodes: readonly RedisServer[], timeoutMs: number): Promise<void> {
  return setAll(nodes, "cluster-node-timeout", String(timeoutMs));
}

async function setAll(nodes: readonly RedisServer[], name: string, value: string): Promise<void> {
  const running = nodes.filter(({ isRunning }) => isRunning);
  await Promise.all(running.map((node) => node.command("CONFIG", "SET", name, value)));
}

async function form(nodes: readonly RedisServer[]): Promise<void> {
  const primaries = nodes.slice(0, PRIMARY_COUNT);
  await Promise.all(
    nodes.map(async (node, i) => {
      // Different from the start, or the nodes would have to settle who is the newest.
      await node.command("CLUSTER", "SET-CONFIG-EPOCH", i + 1);
      if (i >= PRIMARY_COUNT) return;
      const first = (at: number) => Math.floor((at * SLOT_COUNT) / PRIMARY_COUNT);
      await node.command("CLUSTER", "ADDSLOTSRANGE", first(i), first(i + 1) - 1);
    }),
  );
  // All pairs meet directly: faster than gossip.
  await Promise.all(
    nodes.flatMap((node, i) =>
      nodes.slice(i + 1).map((other) => node.command("CLUSTER", "MEET", "127.0.0.1", other.port)),
    ),
  );
  const ids = await Promise.all(primaries.map((primary) => primary.command("CLUSTER", "MYID")));
  await Promise.all(
    nodes.slice(PRIMARY_COUNT).map((replica, i) => {
      const id = String(ids[i]);
      return eventually(`the node at port ${replica.port} follows a primary`, () =>
        // Refused while it has not heard of the primary.
        replica.command("CLUSTER", "REPLICATE", id).catch(() => undefined),
      );
    }),
  );
  await Promise.all(
    nodes.map((node) => eventually(`the node at port ${node.port} is ready`, () => isReady(node))),
  );
}

/** True when the node takes commands, is connected to its primary, and knows a replica of each primary. */
async function isReady(node: RedisServer): Promise<boolean> {
  const [cluster, replication] = [
    await node.command("CLUSTER", "INFO"),
    await node.command("INFO", "replication"),
  ];
  if (!/cluster_state:ok/.test(String(cluster)) || /master_link_status:down/.test(String(replication)))
    return false;
  const ranges = (await node.command("CLUSTER", "SLOTS")) as readonly (readonly unknown[])[];
  // First slot, last slot, primary, replica.
  return ranges.length === PRIMARY_COUNT && ranges.every((range) => range.length === 4);
}

async function primaryOf(nodes: readonly RedisServer[], key: string): Promise<RedisServer> {
  const running = nodes.filter((node) => node.isRunning);
  const slot = Number(await Promise.any(running.map((node) => node.command("CLUSTER", "KEYSLOT", key))));
  const views = await Promise.all(
    running.map((node) => node.command("CLUSTER", "NODES").then(String, () => "")),
  );
  const [newest] = views
    .flatMap((view) => view.split("\n"))
    .flatMap((line) => claimOf(line, slot) ?? [])
    .sort((a, b) => b.epoch - a.epoch);
  const holder = nodes.find((node) => node.port === newest?.port);
  if (!holder) throw new Error(`no node of the cluster knows who holds "${key}"`);
  return holder;
}

/** What a line of CLUSTER NODES says about a hash slot: `id ip:port@bus flags primary ping pong epoch link slots…`. */
function claimOf(line: string, slot: number): { readonly port: number; readonly epoch: number } | undefined {
  const [, address = "", , , , , epoch, , ...ranges] = line.trim().split(" ");
  const holds = ranges.some((range) => {
    const [first, last = first] = range.split("-");
    return slot >= Number(first) && slot <= Number(last);
  });
  return holds ? { port: Number(/:(\d+)/.exec(address)?.[1]), epoch: Number(epoch) } : undefined;
}
