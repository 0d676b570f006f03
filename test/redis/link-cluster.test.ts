/** The link to a cluster: each key at its node, through the loss of a node and the moving of a slot. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { keySlot } from "../../src/engines/redis/key-slot.ts";
import type { RedisProblem } from "../../src/engines/redis/problem.ts";
import { eventually } from "../cli/eventually.ts";
import { openTestLink, problemFrom, untilAnswered, untilProblem } from "./open-link.ts";
import { type RedisCluster, type RedisServer, startCluster, startRedis } from "./servers.ts";

const KEYS = Array.from({ length: 30 }, (_, i) => `room:{${i}}:list`);

/** A key of each of the three primaries. */
async function keyOfEach(cluster: RedisCluster): Promise<Map<RedisServer, string>> {
  const keys = new Map<RedisServer, string>();
  for (const key of KEYS) keys.set(await cluster.primaryOf(key), key);
  assert.equal(keys.size, 3);
  return keys;
}

const ports = (cluster: RedisCluster) => cluster.nodes.slice(0, 2).map((node) => node.port);

describe("a cluster", { concurrency: true }, () => {
  test("each call goes to the node of its key, and a slot that moves takes its calls along, in order", async () => {
    await using cluster = await startCluster();
    await using link = await openTestLink(ports(cluster), { mode: "cluster" });
    const keys = await keyOfEach(cluster);
    for (const key of ["plain", "{tag}rest", "a{}b", "{}", "x{a}{b}", "{ü}€", "", "{open"])
      assert.equal(keySlot(key), await link.command(null, ["CLUSTER", "KEYSLOT", key]), key);
    await Promise.all(KEYS.map((key) => link.call("add", key, ["1"])));
    for (const key of KEYS) assert.deepEqual(await link.call("read", key, []), ["1"]);
    for (const [node, key] of keys) {
      assert.deepEqual(await node.command("LRANGE", key, 0, -1), ["1"]);
      assert.equal((await link.callKept("add", key, ["2"], 1, 2_000)).length, 2);
    }

    const [[from, key], [to]] = [...keys] as [[RedisServer, string], [RedisServer, string]];
    await move(key, from, to, async (step) => {
      // Ordered whatever happens: what is in the list is what succeeded, in the order of calling.
      const before = (await to.command("LRANGE", key, 0, -1).catch(() => [])) as string[];
      assert.ok(before.length >= 0, step);
    }, link);
  });
});
