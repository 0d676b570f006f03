/** The relaxed queue when consumers and servers die: at least once, nothing lost, nobody waits for the dead. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { RedisProblem, RelaxedProblem } from "../../../../relaxed.ts";
import { Child } from "../../../../testing/cli/child.ts";
import { eventually } from "../../../../testing/cli/eventually.ts";
import { Books, numbered, open, sortedIds } from "../../../../testing/redis/relaxed-stage.ts";
import { orRelaxedProblem, RelaxedTraffic } from "../../../../testing/redis/relaxed-traffic.ts";
import {
  type RedisServer,
  startCluster,
  startRedis,
  startSentinels,
} from "../../../../testing/redis/servers.ts";
import { shardOf } from "../item.ts";

/** What it takes that a server which is killed has all that it acknowledged when it comes back. */
const KEPT = ["--appendonly", "yes", "--appendfsync", "always"];
/** Nothing that is popped for so long comes back within a test. */
const NEVER_MS = 600_000;
const CONSUMER = fileURLToPath(new URL("../../../../testing/redis/relaxed-consumer.ts", import.meta.url));

/** Servers that know nothing of each other; gone with the test. */
async function startSeveral(count: number) {
  const servers = await Promise.all(Array.from({ length: count }, () => startRedis({ args: KEPT })));
  const stop = async () => {
    await Promise.all(servers.map((server) => server.stop()));
  };
  return { servers, urls: servers.map(({ url }) => url), [Symbol.asyncDispose]: stop };
}

describe("when something dies", { concurrency: true }, () => {
  test("what a killed consumer held goes to the others after the timeout, and nothing else does", async () => {
    await using server = await startRedis();
    const options = { name: "mail", redis: server.url, shards: 4 };
    await using queue = await open({ ...options, timeoutMs: NEVER_MS });
    const added = await queue.add(numbered(30));
    const args = [CONSUMER, JSON.stringify({ ...options, timeoutMs: 1_500 }), "10"];
    await using child = new Child(process.execPath, args);
    const [, printed = ""] = await child.prints(/popped (.*)\n/);
    const held = JSON.parse(printed) as string[];
    assert.equal(held.length, 10);
    await child.end("SIGKILL");
    const books = new Books();
    await eventually("all are popped", async () => {
      for (const item of await queue.popMany(30)) books.take(item);
      return books.held.size === 30;
    });
    assert.deepEqual(sortedIds(books.held), sortedIds(added.map(({ id }) => id)));
  });

  test("a server that is away is passed over, and comes back by itself with what it held", async () => {
    await using several = await startSeveral(3);
    const [dying] = several.servers;
    await using queue = await open({ redis: several.urls, shards: 6, peek: 2, timeoutMs: NEVER_MS });
    const added = (await queue.add(numbered(60))).map(({ id }) => id);
    // Shards are dealt out in turn: 0 and 3 are on the first server.
    const gone = added.filter((id) => shardOf(id, 6) % 3 === 0);
    await dying!.kill();
    const counts = await eventually("it is missed", async () => {
      const now = await queue.counts();
      return now.away.length > 0 && now;
    });
    assert.deepEqual(counts, { waiting: 60 - gone.length, taken: 0, away: [0, 3] });
    assert.equal((await queue.add(numbered(40, 100))).length, 40);
    await assert.rejects(
      queue.add([{ id: gone[0]!, priority: 0, payload: "" }, ...numbered(1)]),
      (thrown) => {
        assert.ok(thrown instanceof RelaxedProblem);
        assert.match(thrown.message, /Could not add 1 of 2 items: Redis at 127\.0\.0\.1:\d+ /);
        assert.deepEqual(thrown.items[0], { id: gone[0], outcome: "refused" });
        assert.equal(thrown.items[1]!.outcome, "done");
        return true;
      },
    );
    const living = await queue.popMany(200);
    assert.equal(living.length, 60 - gone.length + 40 + 1);
    assert.equal(await queue.pop(), null);
    await dying!.restart();
    const back: string[] = [];
    await eventually("what it held is popped", async () => {
      back.push(...(await queue.popMany(60)).map(({ id }) => id));
      return back.length >= gone.length;
    });
    assert.deepEqual(sortedIds(back), sortedIds(gone));
  });

  test("an add whose outcome is unknown can be done again, and there is one item", async () => {
    await using several = await startSeveral(2);
    const [silent] = several.servers;
    await using queue = await open({ redis: several.urls, shards: 2, peek: 2, callTimeoutMs: 5_000 });
    await queue.counts();
    silent!.pause();
    // Enough items that some belong to the silent server.
    const items = numbered(32);
    const problem = await queue.add(items).then(
      () => assert.fail("a server that is silent acknowledged"),
      (thrown: unknown) => thrown as RelaxedProblem,
    );
    assert.ok(problem instanceof RelaxedProblem, String(problem));
    const ofSilent = problem.items.filter(({ id }) => shardOf(id, 2) === 0);
    assert.ok(ofSilent.length > 0 && ofSilent.every(({ outcome }) => outcome === "unknown"));
    silent!.resume();
    const again = items.map((item, i) => ({ ...item, id: problem.items[i]!.id }));
    await eventually("it is added", () => orRelaxedProblem(queue.add(again)));
    assert.deepEqual(await queue.counts(), { waiting: 32, taken: 0, away: [] });
    assert.deepEqual(
      sortedIds((await queue.popMany(100)).map(({ id }) => id)),
      sortedIds(again.map(({ id }) => id)),
    );
  });

  test("with all servers down a pop fails and says why; it does not say that the queue is empty", async () => {
    await using several = await startSeveral(2);
    await using queue = await open({ redis: several.urls, shards: 4, peek: 2 });
    await queue.add(numbered(1));
    await Promise.all(several.servers.map((server) => server.kill()));
    for (const call of [() => queue.pop(), () => queue.peek(1), () => queue.counts()])
      await assert.rejects(call(), (thrown) => thrown instanceof RedisProblem && thrown.kind === "away");
    await assert.rejects(queue.add(numbered(3)), /Could not add 3 of 3 items/);
    await Promise.all(several.servers.map((server) => server.restart()));
    const popped = await eventually(
      "it is back",
      async () => (await orRelaxedProblem(queue.pop())) ?? undefined,
    );
    assert.equal(popped.payload, "item 0");
  });

  test("a shard that lacks replicas does not acknowledge what is added, and can be popped from", async () => {
    await using server = await startRedis();
    await using queue = await open({ redis: server.url, shards: 2, replicas: 1, replicaTimeoutMs: 50 });
    await assert.rejects(queue.add(numbered(1)), (thrown) => {
      assert.ok(thrown instanceof RelaxedProblem);
      return thrown.items[0]!.outcome === "unknown";
    });
    assert.equal((await queue.pop())?.payload, "item 0");
  });

  test("sentinels say who the primary is", async () => {
    await using watched = await startSentinels();
    const sentinels = watched.sentinelPorts.map((port) => `127.0.0.1:${port}`);
    await using queue = await open({ redis: { sentinels, masterName: watched.name }, replicas: 2 });
    await queue.add(numbered(3));
    const popped = await queue.popMany(3);
    assert.deepEqual(await queue.commit(popped.map(({ handle }) => handle)), Array(3).fill("committed"));
  });

  test("appendfsync always: nothing that was acknowledged is lost when servers are killed under load", async () => {
    await using several = await startSeveral(2);
    await using producer = await open({ redis: several.urls, shards: 4 });
    await using consumer = await open({ redis: several.urls, shards: 4, timeoutMs: 500 });
    await using traffic = new RelaxedTraffic(producer, consumer);
    for (const server of several.servers) {
      await traffic.flows("before a kill");
      await server.kill();
      await traffic.flows("without it");
      await server.restart();
    }
    await traffic.drain();
    // A commit that was acknowledged is kept too, so only what was added again can have been committed again.
    for (const [id, times] of traffic.committed)
      assert.ok(times === 1 || traffic.addedAgain.has(id), `${id} came back`);
  });

  test("cluster: shards are on different nodes, and nothing acknowledged is lost when a primary is killed", async () => {
    await using cluster = await startCluster();
    const addresses = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`);
    const options = { redis: { cluster: addresses }, shards: 6, peek: 2 } as const;
    const primaries = await Promise.all(
      [0, 1, 2, 3, 4, 5].map((shard) => cluster.primaryOf(`fairgate:{mail:${shard}}`)),
    );
    assert.equal(new Set(primaries).size, 3);
    // Each primary has one replica: once that has it too, what was added outlives the primary.
    await using producer = await open({ ...options, replicas: 1, replicaTimeoutMs: 200 });
    await using consumer = await open({ ...options, timeoutMs: 1_000 });
    await using traffic = new RelaxedTraffic(producer, consumer);
    await traffic.flows("at first");
    const [dying] = primaries;
    const sure = [...traffic.committed.keys()];
    await cluster.watchClosely();
    await replicated(dying!);
    await dying!.kill();
    await traffic.flows("without it");
    // Nobody has taken over its shards yet, so what is committed there was so before the kill.
    const atKill = new Set(traffic.committed.keys());
    await eventually(
      "its shards are back",
      async () => (await orRelaxedProblem(producer.counts()))?.away.length === 0,
    );
    assert.notEqual(await cluster.primaryOf("fairgate:{mail:0}"), dying);
    await traffic.flows("with its replica");
    await traffic.drain();
    // What the replica had heard of before the kill does not come back.
    for (const id of sure)
      assert.ok(traffic.committed.get(id) === 1 || traffic.addedAgain.has(id), `${id} came back`);
    // Others do only where the commit was lost with the primary, and then once.
    for (const [id, times] of traffic.committed) {
      if (times === 1 || traffic.addedAgain.has(id)) continue;
      assert.equal(primaries[shardOf(id, 6)], dying, `${id} came back on a node that lived`);
      assert.ok(atKill.has(id) && times === 2, `${id} was committed ${times} times`);
    }
  });
});

/** Waits until the replica has heard of all that the primary has done by now. */
async function replicated(primary: RedisServer): Promise<void> {
  const info = async () => String(await primary.command("INFO", "replication"));
  const until = Number(/master_repl_offset:(\d+)/.exec(await info())?.[1]);
  await eventually("the replica has it all", async () => {
    return Number(/slave0:.*offset=(\d+)/.exec(await info())?.[1]) >= until;
  });
}
