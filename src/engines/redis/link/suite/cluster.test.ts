/** The link to a cluster: each key at its node, through the moving of slots and the loss of a node. */
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { eventually } from "../../../../testing/cli/eventually.ts";
import {
  openTestLink,
  problemFrom,
  refusedAtOnce,
  untilAnswered,
  untilProblem,
} from "../../../../testing/redis/open-link.ts";
import {
  type RedisCluster,
  type RedisServer,
  startCluster,
  startRedis,
} from "../../../../testing/redis/servers.ts";
import { keySlot } from "../key-slot.ts";
import type { RedisProblem } from "../problem.ts";

const KEYS = Array.from({ length: 30 }, (_, i) => `room:{${i}}:list`);
/** Far longer than a replica takes to confirm. */
const KEPT_MS = 30_000;
const numbers = (count: number) => Array.from({ length: count }, (_, i) => `${i}`);
const turn = () => new Promise((resolve) => setImmediate(resolve));

let cluster: RedisCluster;
/** Not all nodes: the others are found. */
const open = () =>
  openTestLink(
    cluster.nodes.slice(0, 2).map((node) => node.port),
    { mode: "cluster" },
  );

/** A key at each of the primaries. */
async function keyOfEach(): Promise<Map<RedisServer, string>> {
  const keys = new Map<RedisServer, string>();
  for (const key of KEYS) keys.set(await cluster.primaryOf(key), key);
  assert.equal(keys.size, 3);
  return keys;
}

/** Two primaries, and a key that only this test uses, which is at the first. */
async function twoNodes(name: string): Promise<{ from: RedisServer; to: RedisServer; key: string }> {
  const [from, to] = [...(await keyOfEach()).keys()] as [RedisServer, RedisServer];
  for (let i = 0; ; i++) {
    const key = `{${name}-${i}}`;
    if ((await cluster.primaryOf(key)) === from) return { from, to, key };
  }
}

const idOf = async (node: RedisServer) => String(await node.command("CLUSTER", "MYID"));

async function give(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
  for (const node of [to, from]) await node.command("CLUSTER", "SETSLOT", slot, "NODE", await idOf(to));
}

describe("a cluster", () => {
  before(async () => {
    cluster = await startCluster();
  });
  after(() => cluster.stop());

  test("each call goes to the node of its key", async () => {
    await using link = await open();
    for (const key of ["plain", "{tag}rest", "a{}b", "{}", "x{a}{b}", "{ü}€", "", "{open", "}{a}"])
      assert.equal(keySlot(key), await link.command(null, ["CLUSTER", "KEYSLOT", key]), key);
    await Promise.all(KEYS.map((key) => link.call("add", key, ["1"])));
    for (const key of KEYS) assert.deepEqual(await link.call("read", key, []), ["1"]);
    for (const [node, key] of await keyOfEach()) {
      assert.deepEqual(await node.command("LRANGE", key, 0, -1), ["1"]);
      assert.deepEqual(await link.call("add", key, ["2"], { replicas: 1, timeoutMs: KEPT_MS }), [2, "2"]);
    }
    assert.deepEqual(link.told, []);
  });

  test("a node that lost our functions is given them again", async () => {
    await using link = await open();
    for (const [node, key] of await keyOfEach()) {
      await node.command("FUNCTION", "FLUSH");
      assert.deepEqual(await link.call("number", key, []), [7]);
    }
  });

  test("calls find a slot that has moved, in the order of calling", async () => {
    await using link = await open();
    const { from, to, key } = await twoNodes("moved");
    await give(keySlot(key), from, to);
    const calls: Promise<unknown>[] = [];
    for (const n of numbers(500)) {
      calls.push(link.call("add", key, [n]));
      // Some are called while the others are on their way.
      if (Number(n) % 9 === 0) await turn();
    }
    await Promise.all(calls);
    assert.deepEqual(await to.command("LRANGE", key, 0, -1), numbers(500));
    assert.match(String(await from.command("INFO", "errorstats")), /errorstat_MOVED:count=\d/);
    assert.deepEqual(link.told, []);
  });

  test("while a slot is being moved, each call is carried out once, in order, or refused", async () => {
    await using link = await open();
    const { from, to, key } = await twoNodes("moving");
    const slot = keySlot(key);
    const done: string[] = [];
    const doubtful: RedisProblem[] = [];
    let isOver = false;
    const calling = (async () => {
      const calls: Promise<unknown>[] = [];
      for (let n = 0; !isOver; n++) {
        const [each, pause] = [`${n}`, n % 10 === 0];
        const call = link.call("add", key, [each]).then(
          () => done.push(each),
          (problem: RedisProblem) => problem.wasRefused || doubtful.push(problem),
        );
        calls.push(call);
        if (pause) await call;
      }
      await Promise.all(calls);
    })();
    await eventually("it has begun", () => done.length > 100);
    await to.command("CLUSTER", "SETSLOT", slot, "IMPORTING", await idOf(from));
    await from.command("CLUSTER", "SETSLOT", slot, "MIGRATING", await idOf(to));
    await from.command("MIGRATE", "127.0.0.1", to.port, key, 0, KEPT_MS);
    await give(slot, from, to);
    const soFar = done.length;
    await eventually("it goes on at the new node", () => done.length > soFar + 100);
    isOver = true;
    await calling;
    assert.deepEqual(doubtful, []);
    assert.deepEqual(await to.command("LRANGE", key, 0, -1), done);
    await untilProblem(link, null);
  });

  test("a mode that is not the one Redis runs in is said", async () => {
    await using alone = await startRedis();
    await using asCluster = await openTestLink([alone.port], { mode: "cluster", problem: "other" });
    assert.match(asCluster.problem?.message ?? "", /is not a node of a cluster/);
    assert.equal((await refusedAtOnce(asCluster.call("number", "k", []))).kind, "other");
    const [[first], [, key]] = [...(await keyOfEach())] as [[RedisServer, string], [RedisServer, string]];
    await using asOne = await openTestLink([first.port]);
    const refused = await problemFrom(asOne.call("number", key, []));
    assert.deepEqual([refused.kind, refused.wasRefused], ["other", true]);
    assert.match(refused.message, /as a cluster's/);
    assert.equal(asOne.problem?.message, refused.message);
  });

  test("after a primary is killed its replica takes over, and other nodes are not disturbed", async () => {
    await using link = await open();
    const heard: string[] = [];
    link.hear("news", { onMessage: (text) => heard.push(text), onGap: () => heard.push("(gap)") });
    const lost = await eventually("one of the nodes is heard", async () => {
      for (const node of cluster.nodes)
        if (String(await node.command("CLIENT", "LIST", "TYPE", "pubsub")) !== "") return node;
      return undefined;
    });
    const keys = await keyOfEach();
    const key = keys.get(lost)!;
    const others = [...keys.values()].filter((each) => each !== key);
    await link.call("add", key, ["kept"], { replicas: 1, timeoutMs: KEPT_MS });
    const before = await link.call("read", key, []);

    // Nobody takes over yet: until then calls to this node are refused, and others are not disturbed.
    await lost.kill();
    await eventually(
      "it is noticed",
      async () => (await problemFrom(link.call("add", key, ["lost"]))).wasRefused,
    );
    assert.notEqual(link.problem, null);
    await refusedAtOnce(link.call("add", key, ["lost"]));
    for (const other of others) await link.call("add", other, ["3"]);
    await cluster.watchClosely();
    const after = await untilAnswered(link, "add", key, ["after"]);
    assert.deepEqual(after, [before.length + 1, "after"]);
    await untilProblem(link, null);
    assert.notEqual(await cluster.primaryOf(key), lost);
    await eventually("the gap is told", () => heard.includes("(gap)"));
    await link.command(null, ["PUBLISH", "news", "after"]);
    await eventually("news are heard", () => heard.includes("after"));

    // The one that is back is a replica, and nobody is disturbed by it.
    await lost.restart();
    assert.deepEqual(await link.call("add", key, ["again"], { replicas: 1, timeoutMs: KEPT_MS }), [
      before.length + 2,
      "again",
    ]);
  });

  test("a cluster that is away as a whole is found again when it is back", async () => {
    await using link = await open();
    await Promise.all(cluster.nodes.map((node) => node.kill()));
    await eventually(
      "calls are refused",
      async () => (await problemFrom(link.call("number", "k", []))).wasRefused,
    );
    await using late = await openTestLink([cluster.nodes[0]!.port], { mode: "cluster", problem: "away" });
    await refusedAtOnce(late.call("number", "k", []));
    await Promise.all(cluster.nodes.map((node) => node.restart()));
    for (const each of [link, late]) {
      await untilProblem(each, null);
      for (const key of KEYS) await untilAnswered(each, "add", key, ["back"]);
    }
  });
});
