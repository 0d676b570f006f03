/**
 * How fast items are popped and committed over real Redis processes: consumers in a tight loop of pop and commit, as in
 * the paper's section 6, all in this process, with a queue that never runs empty. The servers share one core and this
 * process has another, as in `child.ts`; on a machine with more, more servers would be faster than one.
 */
import { spawnSync } from "node:child_process";
import { openRelaxedQueue, RedisProblem, type RelaxedQueue } from "../src/relaxed.ts";
import { eventually } from "../src/testing/cli/eventually.ts";
import { type RedisServer, startRedis } from "../src/testing/redis/servers.ts";

export interface Stand extends AsyncDisposable {
  /** Pops and commits for this long. */
  run(scene: { readonly consumers: number; readonly runMs: number }): Promise<Speed>;
}

export interface Speed {
  /** Popped and committed in a second. */
  readonly perSecond: number;
  /** Latencies of pop and commit together, sorted. */
  readonly latenciesMs: readonly number[];
}

const SERVER_CORE = "0";
const BATCH = 250;
/** Number of items added at the start, and whenever none are left. */
const ITEMS = 5_000;
const PAYLOAD = "x".repeat(100);
const QUIET = { debug() {}, info() {}, warn() {}, error() {} };

/** A queue of as many shards as it has processes, filled. `args` are the servers', as on the command line. */
export async function openStand(processes: number, args: readonly string[] = []): Promise<Stand> {
  const servers = await Promise.all(Array.from({ length: processes }, () => startRedis({ args })));
  // Otherwise they inherit this process's core. Where cores cannot be assigned, the system shares them.
  for (const { pid } of servers) spawnSync("taskset", ["-a", "-c", "-p", SERVER_CORE, String(pid)]);
  const queue = await openQueue(servers);
  await fill(queue);
  return {
    run: (scene) => consume(queue, scene),
    [Symbol.asyncDispose]: async () => {
      await queue.close();
      await Promise.all(servers.map((server) => server.stop()));
    },
  };
}

async function openQueue(servers: readonly RedisServer[]): Promise<RelaxedQueue> {
  const redis = servers.map(({ url }) => url);
  const queue = await openRelaxedQueue({ name: "bench", redis, shards: servers.length, log: QUIET });
  await eventually("all servers answer", async () => {
    try {
      return (await queue.counts()).away.length === 0;
    } catch (thrown) {
      if (thrown instanceof RedisProblem) return false;
      throw thrown;
    }
  });
  return queue;
}

async function fill(queue: RelaxedQueue): Promise<void> {
  for (let added = 0; added < ITEMS; added += BATCH)
    await queue.add(Array.from({ length: BATCH }, () => ({ priority: Math.random(), payload: PAYLOAD })));
}

async function consume(
  queue: RelaxedQueue,
  { consumers, runMs }: { readonly consumers: number; readonly runMs: number },
): Promise<Speed> {
  const latenciesMs: number[] = [];
  const startAt = performance.now();
  const run = async () => {
    while (performance.now() < startAt + runMs) {
      const latencyMs = await popOne(queue);
      if (latencyMs === null) await fill(queue);
      else latenciesMs.push(latencyMs);
    }
  };
  await Promise.all(Array.from({ length: consumers }, run));
  const seconds = (performance.now() - startAt) / 1_000;
  return { perSecond: latenciesMs.length / seconds, latenciesMs: latenciesMs.sort((a, b) => a - b) };
}

/** How long it took; null when there was nothing to pop. */
async function popOne(queue: RelaxedQueue): Promise<number | null> {
  const startAt = performance.now();
  const popped = await queue.pop();
  if (!popped) return null;
  const [answer] = await queue.commit([popped.handle]);
  if (answer !== "committed") throw new Error(`an item was ${answer} in a bench that runs alone`);
  return performance.now() - startAt;
}
