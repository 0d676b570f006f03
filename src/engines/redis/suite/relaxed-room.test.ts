/**
 * A room with a relaxed line on a real cluster of three primaries, each with a replica: its shards are on different nodes,
 * the order is nearly that of arrival, and the death of a node costs nobody their place and lets nobody in twice.
 */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { Pass } from "../../../core/pass.ts";
import { DEFAULT_RULES, type RoomRules } from "../../../core/rules.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { eventually, GIVE_UP_MS } from "../../../testing/cli/eventually.ts";
import { realWorld } from "../../../testing/real-world.ts";
import { redisServersOf } from "../../../testing/redis/open-link.ts";
import { startCluster } from "../../../testing/redis/servers.ts";
import { roomLibrary } from "../library.ts";
import { openLink } from "../link/link.ts";
import { RedisProblem } from "../link/problem.ts";
import { shardKeyOf } from "../orders.ts";
import { RedisEngine } from "../redis-engine.ts";

const ROOM = "main";
const SHARDS = 6;
/** Nothing takes this long but a node that is dead, and that is told at once. */
const TIMEOUT_MS = 30_000;
/** A replica that has not confirmed by then may be dead, and it is tried again; while none is, it is waited for. */
const CONFIRMED_MS = { whileOneDies: 2_000, otherwise: TIMEOUT_MS };
const cluster = await startCluster();
after(() => cluster.stop());

async function openGateways(
  count: number,
  rules: Partial<RoomRules>,
  { prefix, timeoutMs }: { readonly prefix: string; readonly timeoutMs: number },
) {
  const opened = new AsyncDisposableStack();
  const engines: RedisEngine[] = [];
  for (let i = 0; i < count; i++) {
    const world = realWorld();
    const place = redisServersOf(
      cluster.nodes.map(({ port }) => port),
      { mode: "cluster" },
    );
    const link = await openLink({ servers: place, library: roomLibrary(), world, timeoutMs: TIMEOUT_MS });
    opened.defer(() => link.close());
    await eventually("the cluster is reached", () => link.problem === null);
    const engine = new RedisEngine({ link, world, prefix, replicas: 1, timeoutMs });
    opened.defer(() => engine.close());
    await engine.configure(ROOM, { ...DEFAULT_RULES, relaxed: { shards: SHARDS, peek: 2 }, ...rules });
    engines.push(engine);
  }
  return { engines, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Asks until Redis answers. */
async function patiently<T>(ask: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (cause) {
      if (!(cause instanceof RedisProblem)) throw cause;
      await sleep(100);
    }
  }
}

test("the shards of one line are on different nodes", async () => {
  const holders = new Set<number>();
  for (let index = 0; index < SHARDS; index++)
    holders.add((await cluster.primaryOf(shardKeyOf("spread", ROOM, { index, of: SHARDS }))).port);
  assert.ok(holders.size >= 2, `all on one node: ${[...holders].join()}`);
});

test("turns go to those who came first, more or less, and each to one who waits", async () => {
  const full = { totalActiveUsers: 1, sessionDurationMs: 3_600_000 };
  const line = { prefix: "order", timeoutMs: CONFIRMED_MS.otherwise };
  await using opened = await openGateways(2, full, line);
  const [one, two] = opened.engines as [RedisEngine, RedisEngine];
  assert.equal((await one.join(ROOM)).kind, "entered");
  const tickets: Ticket[] = [];
  for (let i = 0; i < 120; i++) {
    const answer = await (i % 2 === 0 ? one : two).join(ROOM);
    assert.ok(answer.kind === "waiting");
    tickets.push(answer.ticket);
  }
  const turns: number[] = [];
  one.subscribe({ onTurns: (_, sequences) => turns.push(...sequences) });
  const rules = { ...DEFAULT_RULES, relaxed: { shards: SHARDS, peek: 2 }, totalActiveUsers: 121 };
  await Promise.all([one.configure(ROOM, rules), two.configure(ROOM, rules)]);
  await eventually("everyone has a turn", () => turns.length >= tickets.length);
  assert.deepEqual(
    [...turns].sort((a, b) => a - b),
    tickets.map(({ sequence }) => sequence).sort((a, b) => a - b),
  );
  const place = new Map(tickets.map(({ sequence }, index) => [sequence, index]));
  const displaced = turns.map((sequence, index) => Math.abs(place.get(sequence)! - index));
  const mean = displaced.reduce((sum, one) => sum + one, 0) / displaced.length;
  assert.ok(mean < tickets.length / 6, `${mean} places off on the whole, where a third would be chance`);
});

test("a node that dies under load costs nobody their place, and lets nobody in twice or too many", async () => {
  const CAPACITY = 20;
  const hour = { sessionDurationMs: 3_600_000, claimWindowMs: 3_600_000, lapseAfterMs: 3_600_000 };
  const rules = { totalActiveUsers: CAPACITY, ...hour };
  const prefix = "death";
  const passes: Pass[] = [];
  const waiting: Ticket[] = [];
  {
    await using before = await openGateways(2, rules, { prefix, timeoutMs: CONFIRMED_MS.otherwise });
    for (let i = 0; i < 150; i++) {
      const answer = await before.engines[i % 2]!.join(ROOM);
      if (answer.kind === "waiting") waiting.push(answer.ticket);
      else if (answer.kind === "entered") passes.push(answer.pass);
    }
  }
  await using opened = await openGateways(2, rules, { prefix, timeoutMs: CONFIRMED_MS.whileOneDies });
  const { engines } = opened;
  assert.equal(passes.length, CAPACITY);
  const key = shardKeyOf(prefix, ROOM, { index: 0, of: SHARDS });
  const victim = await cluster.primaryOf(key);
  const entered = new Map<string, number>();
  // It comes back as a replica: while its successor has none, nothing can be kept twice, and nobody is let in.
  const killed = (async () => {
    await eventually("some are in", () => entered.size > 0);
    await cluster.watchClosely();
    await victim.kill();
    await eventually("another has its slots", async () => (await cluster.primaryOf(key)) !== victim);
    await victim.restart();
  })();
  let onSite = passes.length;
  const left = new Set(waiting);
  const deadline = Date.now() + GIVE_UP_MS;
  while (left.size > 0) {
    assert.ok(Date.now() < deadline, `${left.size} are still not in`);
    const leaving = passes.pop();
    if (leaving) {
      await patiently(() => engines[0]!.leave(leaving));
      onSite--;
    }
    for (const ticket of [...left]) {
      const answer = await patiently(() => engines[left.size % 2]!.enter(ticket));
      assert.notEqual(answer.kind, "refused");
      assert.notEqual(answer.kind, "expired");
      if (answer.kind !== "entered") continue;
      entered.set(ticket.id, (entered.get(ticket.id) ?? 0) + 1);
      passes.push(answer.pass);
      left.delete(ticket);
      onSite++;
      assert.ok(onSite <= CAPACITY, `${onSite} on the site`);
    }
  }
  await killed;
  assert.equal(entered.size, waiting.length);
  for (const ticket of waiting.slice(0, 20)) {
    const again = await patiently(() => engines[1]!.enter(ticket));
    assert.ok(again.kind === "entered" || again.kind === "refused", "one ticket, one visit");
  }
});
