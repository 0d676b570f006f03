/**
 * Whatever dies, is suspended or is cut off between visitors and their line in Redis: nobody loses their place, nobody is
 * admitted twice, and there are never more on the site than the capacity. A failover may put less than one pair in two thousand
 * in the wrong order. Where visitors do not learn of their turn for seconds, turns go loose and their holders get one of the
 * next; that may put less than one pair in a hundred in the wrong order.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { createClient } from "@redis/client";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ProcessVisitor } from "../../src/testing/cli/visitor.ts";
import {
  type RedisServer,
  startCluster,
  startRedis,
  startSentinels,
} from "../../src/testing/redis/servers.ts";
import { Wire } from "../../src/testing/redis/wire.ts";
import { pause } from "../crash/ask.ts";
import { assertKept, type FaultOutcome, type FaultPlan, faultPlay, type Scene, TERMS } from "./fault-play.ts";
import { LeaseWatch } from "./lease-watch.ts";
import { Regular } from "./regular.ts";

const AT_A_TIME = 4;
const KEPT_ON_DISK = ["--appendonly", "yes", "--appendfsync", "always"];
/** One pair in two thousand may be in the wrong order after a failover. */
const FAILOVER = { tauBelow: 0.0005, mayBeOvertaken: false };
/** Visitors who ask a gateway that does not answer learn of their turn seconds late, and may have to take another. */
const UNHEARD = { tauBelow: 0.01, mayBeOvertaken: true };
const ROOM_KEY = "fairgate:{main}:main";
const AHEAD_MS = 600;
const SLEEP_MS = 10_000;

async function play(
  t: TestContext,
  plan: Omit<FaultPlan, "seed">,
  fault: (scene: Scene) => Promise<void>,
): Promise<FaultOutcome> {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const outcome = await faultPlay({ ...plan, seed }, fault);
  const { violations: _, failures: __, ...numbers } = outcome;
  t.diagnostic(JSON.stringify(numbers));
  return outcome;
}

describe("a line in Redis, with a crowd before three gateways", { concurrency: AT_A_TIME }, () => {
  test("the primary of a cluster is killed with -9, and its replica takes over without the last of its work", async (t) => {
    await using cluster = await startCluster();
    const addresses = cluster.nodes.map(({ port }) => `127.0.0.1:${port}`);
    const redis = { cluster: addresses, replicas: 1 };
    const outcome = await play(t, { redis }, async ({ atStake }) => {
      await cluster.watchClosely();
      const old = await cluster.primaryOf(ROOM_KEY);
      await killAhead(old);
      atStake();
      await eventually("a replica has taken over", async () => {
        return (await cluster.primaryOf(ROOM_KEY)).port !== old.port;
      });
      // Without it no replica can confirm what is written, so no visitor gets an answer.
      await old.restart();
    });
    assertKept(outcome, FAILOVER);
  });

  test("the primary that sentinels watch is killed with -9, and they name another that is behind", async (t) => {
    await using trio = await startSentinels();
    const sentinels = trio.sentinelPorts.map((port) => `127.0.0.1:${port}`);
    const redis = { sentinels, masterName: trio.name, replicas: 1 };
    const outcome = await play(t, { redis }, async ({ atStake }) => {
      await trio.watchClosely();
      const old = await trio.primary();
      await killAhead(old);
      atStake();
      await eventually("another primary is named", async () => (await trio.primary()).port !== old.port);
    });
    assertKept(outcome, FAILOVER);
  });

  test("a Redis that keeps everything on disk is killed with -9 and comes back", async (t) => {
    await using redis = await startRedis({ args: KEPT_ON_DISK });
    const outcome = await play(t, { redis: { url: redis.url } }, async ({ atStake }) => {
      await redis.kill();
      atStake();
      await redis.restart();
    });
    assertKept(outcome, UNHEARD);
  });

  test("everything is killed with -9 and started again", async (t) => {
    await using redis = await startRedis({ args: KEPT_ON_DISK });
    const outcome = await play(t, { redis: { url: redis.url } }, async ({ gates, atStake }) => {
      await Promise.all([redis.kill(), ...gates.map((gate) => gate.end("SIGKILL"))]);
      atStake();
      await Promise.all([redis.restart(), ...gates.map((gate) => gate.start())]);
    });
    assertKept(outcome, UNHEARD);
  });

  test("the gateway with the lease is suspended, another runs the door, and the first wakes too late", async (t) => {
    await using redis = await startRedis();
    await using leases = await LeaseWatch.open(redis);
    const outcome = await play(t, { redis: { url: redis.url } }, async ({ gates, atStake, seen }) => {
      const [sleeper, ...others] = gates;
      await leases.giveTo(leases.first.holder, others);
      const old = leases.last;
      sleeper!.signal("SIGSTOP");
      atStake();
      const slept = pause(SLEEP_MS);
      await leases.after(old);
      const seenThen = seen();
      await eventually("others are let in while it stands still", () => seen() > seenThen);
      await slept;
      sleeper!.signal("SIGCONT");
    });
    leases.assertKept();
    assertKept(outcome, UNHEARD);
  });

  test("a gateway that is cut off from Redis does what `engineFailure` says, and recovers by itself", async (t) => {
    await using redis = await startRedis();
    await using wire = await Wire.to(redis.port);
    await using leases = await LeaseWatch.open(redis);
    let regular: Regular | undefined;
    const plan = {
      redis: (gateway: number) => ({ url: gateway === 0 ? wire.url : redis.url }),
      before: async ([first]: Scene["gates"]) => {
        regular = await Regular.enter(first!.address, TERMS.sessionMs);
        t.after(() => regular?.close());
      },
    };
    const outcome = await play(t, plan, async ({ gates, atStake, seen }) => {
      const [{ address }, ...others] = gates as [Scene["gates"][0], ...Scene["gates"]];
      const isRefused = () => isTurnedAway(address);
      await leases.giveTo(leases.first.holder, others);
      const lease = leases.last;
      wire.fallSilent();
      atStake();
      const seenThen = seen();
      await Promise.all([
        eventually("newcomers are refused while nothing comes through", isRefused),
        leases.after(lease),
      ]);
      // What was held back is delivered after all, even from a gateway that has lost the lease by now.
      wire.mend();
      await eventually("newcomers are taken again", async () => !(await isRefused()));
      wire.closeAll();
      await eventually("newcomers are refused while every connection is closed", isRefused);
      await eventually("the others let people in", () => seen() > seenThen);
      wire.mend();
      await eventually("newcomers are taken once more", async () => !(await isRefused()));
      await regular!.close();
    });
    assert.deepEqual(regular!.refusals, [], "a visitor with a pass");
    leases.assertKept();
    assertKept(outcome, UNHEARD);
  });

  test("gateways come and go: a lease is given back at once, or expires", async (t) => {
    await using redis = await startRedis();
    await using leases = await LeaseWatch.open(redis);
    const plan = { redis: { url: redis.url }, gateways: 2 };
    const outcome = await play(t, plan, async ({ gates, atStake }) => {
      const [first, second] = gates as [Scene["gates"][0], Scene["gates"][0]];
      let holds = leases.first;
      /** Ends the gateway that has the lease, and starts it again when the other has it. */
      const end = async (holder: typeof first, other: typeof first, signal: NodeJS.Signals) => {
        await leases.giveTo(holds.holder, [other]);
        const lease = leases.last;
        await holder.end(signal);
        if (signal === "SIGTERM") assert.ok(await leases.isGivenBack(lease), "it still has the lease");
        atStake();
        holds = await leases.after(lease);
        await holder.start();
      };
      await end(first, second, "SIGTERM");
      await end(second, first, "SIGKILL");
      await end(first, second, "SIGTERM");
    });
    leases.assertKept();
    assertKept(outcome, UNHEARD);
  });

  test("a canary: a Redis that keeps nothing causes violations in the same books", async (t) => {
    await using redis = await startRedis();
    const plan = { redis: { url: redis.url }, gateways: 1, drainMs: 0 };
    const outcome = await play(t, plan, async ({ gates, crowd, atStake }) => {
      // Waits until enough visitors waited and are gone; they show once more what is over.
      await eventually("many are through", () => crowd.gone >= 2 * TERMS.capacity);
      await Promise.all([redis.kill(), ...gates.map((gate) => gate.end("SIGKILL"))]);
      atStake();
      await Promise.all([redis.restart(), ...gates.map((gate) => gate.start())]);
    });
    assert.throws(() => assertKept(outcome));
    const seen = new Set(outcome.violations.map(({ wrong }) => wrong));
    assert.ok(seen.has("spent ticket taken"), [...seen].join());
  });
});

/** Kills a primary that no replica could follow for a while, so that none has its last writes. */
async function killAhead(primary: RedisServer): Promise<void> {
  const client = createClient({ RESP: 2, url: primary.url });
  client.on("error", () => {});
  await client.connect();
  // Connected replicas stay connected; one that has to reconnect does not know the password.
  await client.sendCommand(["CONFIG", "SET", "requirepass", "nobody-knows"]);
  assert.ok(Number(await client.sendCommand(["CLIENT", "KILL", "TYPE", "replica"])) > 0);
  await pause(AHEAD_MS);
  await primary.kill();
  client.destroy();
}

/** Whether a newcomer is told that the line cannot be reached. A newcomer who gets a place gives it back. */
async function isTurnedAway(address: string): Promise<boolean> {
  const newcomer = new ProcessVisitor(address);
  if ((await newcomer.ask("/", { headers: { accept: "application/json" } })).status === 503) return true;
  await newcomer.leave();
  return false;
}
