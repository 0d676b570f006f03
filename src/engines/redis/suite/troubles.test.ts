/**
 * A Redis that is away, slow, read-only, in failover, out of memory, too old, or that wants another password: visitors get
 * what the operator chose, the operator is told once what is wrong, and when it is mended all goes on by itself.
 */
import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { inspect } from "node:util";
import type { SettingsInput } from "../../../index.ts";
import { eventually } from "../../../testing/cli/eventually.ts";
import { assertWaitingPage, type Visitor } from "../../../testing/gateway/visitor.ts";
import type { RecordedEntry } from "../../../testing/real-world.ts";
import { bulk, pretendRedis } from "../../../testing/redis/pretend-redis.ts";
import { type RedisServer, startRedis, startSentinels } from "../../../testing/redis/servers.ts";
import { CLOSED, OPEN, openTroubleStage, type TroubleStage } from "../../../testing/redis/trouble-stage.ts";
import { Wire } from "../../../testing/redis/wire.ts";

const AT_A_TIME = 4;
const KEPT_ON_DISK = ["--appendonly", "yes", "--appendfsync", "always"];
const WELL = "Redis can be used again";
/** For so long newcomers come one after the other while something is wrong, to see how much is logged. */
const RUSH_MS = 2_500;
const RUSH_PERIOD_MS = 50;
/** Short for a visit, and longer than a busy machine stands still between two looks at the site. */
const SHORT_VISIT = "10s";
/** Longer than a visit lasts, than a turn is kept, and than somebody is waited for, where these are as short. */
const OUTAGE_MS = 13_000;
/** For tests in which Redis is slow; still longer than a busy machine takes. */
const SHORT_TIMEOUT = "2500ms";
/** Nobody uses a port below the first thousand; nothing there can be reached. */
const NOWHERE = ["127.0.0.1", 1] as const;
const PASSWORD = "right-for-the-gateway";
const OTHER_PASSWORD = "wrong-for-the-gateway";

interface Trouble {
  readonly redis: NonNullable<SettingsInput["redis"]>;
  /** Both may take their time. */
  make(): unknown;
  mend(): unknown;
  /** What the operator is told. */
  readonly kind: string;
  readonly says: RegExp;
}

/** Something goes wrong while people are on the site and wait, and is mended. */
async function suffer(t: TestContext, trouble: Trouble): Promise<void> {
  const stage = await openTroubleStage(t, trouble.redis);
  const { occupant, waiting } = await stage.fill();
  const tickets = [waiting.token(CLOSED), waiting.token(OPEN)];
  assert.deepEqual(loud(stage.entries), []);
  const from = Date.now();
  await trouble.make();
  await stage.untilAway();
  for (const room of [CLOSED, OPEN]) assert.ok(await occupant.isIn(`/${room}`), "a visitor with a pass");
  assertWaitingPage(await waiting.open(`/${CLOSED}`), 503);
  await rush(stage);
  assertToldOnce(stage.entries, trouble, from);
  assert.deepEqual([waiting.token(CLOSED), waiting.token(OPEN)], tickets, "the place is kept");

  await trouble.mend();
  await stage.untilWell();
  assertWaitingPage(await waiting.open(`/${CLOSED}`));
  assert.equal((await occupant.call("leave", { room: CLOSED })).status, "left");
  await eventually("the one who waits is next", () => waiting.isIn(`/${CLOSED}`));
  await assertToldWell(stage);
}

/** It was wrong from the beginning, and is mended. */
async function startWith(t: TestContext, trouble: Omit<Trouble, "make">): Promise<void> {
  const from = Date.now();
  const stage = await openTroubleStage(t, trouble.redis);
  await stage.untilAway();
  await rush(stage);
  assertToldOnce(stage.entries, trouble, from);
  await trouble.mend();
  await stage.untilWell();
  await assertToldWell(stage);
}

async function rush(stage: TroubleStage): Promise<void> {
  const endAt = Date.now() + RUSH_MS;
  for (; Date.now() < endAt; await pause(RUSH_PERIOD_MS)) {
    const [refused, through] = await Promise.all([stage.newcomer(CLOSED), stage.newcomer(OPEN)]);
    assertWaitingPage(refused, 503);
    assert.match(refused.text, /cannot reach the line/);
    assert.match(refused.headers["retry-after"]!, /^[1-9]\d*$/);
    assert.equal(through.text, "the site");
  }
}

/**
 * What is wrong was told once, in clear words; no line came more than once a second; and no secret was told. Of a server that dies, the
 * end of its connections may be told before it is known that it refuses new ones.
 */
function assertToldOnce(
  entries: readonly RecordedEntry[],
  { kind, says }: Pick<Trouble, "kind" | "says">,
  from: number,
): void {
  const [first, ...later] = problemsIn(entries);
  const isEnd = later.length > 0 && kind === "away" && / has closed the connection/.test(first!.message);
  const problems = isEnd ? later : problemsIn(entries);
  assert.deepEqual(
    problems.map(({ fields }) => fields.kind),
    [kind],
    problems.map(({ message }) => message).join("\n"),
  );
  assert.match(problems[0]!.message, says);
  const seconds = Math.ceil((Date.now() - from) / 1_000);
  for (const lines of Object.values(Object.groupBy(loud(entries), ({ message }) => message)))
    assert.ok(lines!.length <= seconds + 1, `${lines!.length} times in ${seconds} s: ${lines![0]!.message}`);
  assert.doesNotMatch(inspect(entries, { depth: null }), /-for-the-gateway/);
}

/**
 * That all is well is told, and what was wrong was told no second time. On the way something else may have been wrong for
 * a moment. Visitors may see it a little sooner, since they do not wait for messages.
 */
async function assertToldWell({ entries }: TroubleStage): Promise<void> {
  await eventually("it is told that all is well", () => entries.some(({ message }) => message === WELL));
  const told = problemsIn(entries).map(({ message }) => message);
  assert.equal(told.lastIndexOf(told[0]!), 0, told.join("\n"));
  const wells = entries.filter(({ message }) => message === WELL);
  assert.ok(wells.length <= told.length, `${wells.length} times`);
}

function problemsIn(entries: readonly RecordedEntry[]): RecordedEntry[] {
  return loud(entries).filter(({ fields }) => "kind" in fields);
}

function loud(entries: readonly RecordedEntry[]): RecordedEntry[] {
  return entries.filter(({ level }) => level === "warn" || level === "error");
}

/** A Redis with a user for the gateway, whose password can be changed while it runs. */
async function startWithUser(): Promise<{ redis: RedisServer; allow(password: string): Promise<unknown> }> {
  const redis = await startRedis({ args: ["--user", "gateway", "on", "~*", "&*", "+@all", `>${PASSWORD}`] });
  const allow = (password: string) => redis.command("ACL", "SETUSER", "gateway", "resetpass", `>${password}`);
  return { redis, allow };
}

describe("something is wrong with the Redis that has the line", { concurrency: AT_A_TIME }, () => {
  // It takes longest, so it comes first.
  test("after it was away for longer than visits last, everybody is still where they were", async (t) => {
    await using redis = await startRedis();
    const short = { sessionDuration: SHORT_VISIT, lapseAfter: SHORT_VISIT, claimWindow: SHORT_VISIT };
    const stage = await openTroubleStage(t, { url: redis.url, timeout: SHORT_TIMEOUT }, short);
    const path = `/${CLOSED}`;
    const [occupant, first, second] = [stage.visitor(), stage.visitor(), stage.visitor()];
    assert.ok(await occupant.isIn(path));
    for (const visitor of [first, second]) assertWaitingPage(await visitor.open(path));
    redis.pause();
    for (const endAt = Date.now() + OUTAGE_MS; Date.now() < endAt; await pause(RUSH_PERIOD_MS))
      assert.ok(await occupant.isIn(path));
    redis.resume();
    for (const endAt = Date.now() + OUTAGE_MS; Date.now() < endAt; await pause(RUSH_PERIOD_MS)) {
      assert.ok(await occupant.isIn(path));
      // The later one is back sooner.
      for (const visitor of [second, first]) assert.ok(!(await visitor.isIn(path)), "two on a site for one");
    }
    for (const visitor of [second, first]) assertWaitingPage(await visitor.open(path));
    await occupant.call("leave", { room: CLOSED });
    await eventually("one of them is in", async () => {
      assert.ok(!(await second.isIn(path)), "the later one was let in first");
      return first.isIn(path);
    });
  });

  test("it is away", async (t) => {
    await using redis = await startRedis({ args: KEPT_ON_DISK });
    await suffer(t, {
      redis: { url: redis.url },
      make: () => redis.kill(),
      mend: () => redis.restart(),
      kind: "away",
      says: /^Redis at 127\.0\.0\.1:\d+ refuses connections: start it there, or correct the address\.$/,
    });
  });

  test("it stands still", async (t) => {
    await using redis = await startRedis();
    await suffer(t, {
      redis: { url: redis.url, timeout: SHORT_TIMEOUT },
      make: () => redis.pause(),
      mend: () => redis.resume(),
      kind: "slow",
      says: /^Redis at 127\.0\.0\.1:\d+ did not answer within 2500 ms\.$/,
    });
  });

  test("it takes no writes", async (t) => {
    await using redis = await startRedis();
    await suffer(t, {
      redis: { url: redis.url },
      make: () => redis.command("REPLICAOF", ...NOWHERE),
      mend: () => redis.command("REPLICAOF", "NO", "ONE"),
      kind: "readOnly",
      says: /^Redis at 127\.0\.0\.1:\d+ is a replica and takes no writes: give the address of its primary/,
    });
  });

  test("its primary is dead, and the sentinels have not agreed on another yet", async (t) => {
    await using trio = await startSentinels();
    const mustAgree = (sentinels: number) =>
      Promise.all(
        trio.sentinels.map((one) => one.command("SENTINEL", "SET", trio.name, "quorum", sentinels)),
      );
    await suffer(t, {
      redis: { sentinels: trio.sentinelPorts.map((port) => `127.0.0.1:${port}`), masterName: trio.name },
      make: async () => {
        await mustAgree(1 + trio.sentinels.length);
        await trio.watchClosely();
        await (await trio.primary()).kill();
      },
      mend: () => mustAgree(2),
      kind: "away",
      says: /^Redis at 127\.0\.0\.1:\d+ refuses connections/,
    });
  });

  test("it wants another password than before", async (t) => {
    const { redis, allow } = await startWithUser();
    await using _ = redis;
    await suffer(t, {
      redis: { url: redis.url, username: "gateway", password: PASSWORD },
      make: async () => {
        await allow(OTHER_PASSWORD);
        // Existing connections would stay open.
        await redis.command("CLIENT", "KILL", "USER", "gateway");
      },
      mend: () => allow(PASSWORD),
      kind: "password",
      says: /^Redis at 127\.0\.0\.1:\d+ does not accept the user name and password: correct them/,
    });
  });

  test("it wants another password from the beginning", async (t) => {
    const { redis, allow } = await startWithUser();
    await using _ = redis;
    await startWith(t, {
      redis: { url: redis.url, username: "gateway", password: OTHER_PASSWORD },
      mend: () => allow(OTHER_PASSWORD),
      kind: "password",
      says: /^Redis at 127\.0\.0\.1:\d+ does not accept the user name and password: correct them/,
    });
  });

  test("it is too old, and then it is not", async (t) => {
    await using redis = await startRedis();
    await using old = await pretendRedis(() => bulk("redis_version:6.2.14\r\nrole:master\r\n"));
    await using wire = await Wire.to(old.port);
    await startWith(t, {
      redis: { url: wire.url },
      mend: () => wire.lead(redis.port),
      kind: "tooOld",
      says: /^Redis at 127\.0\.0\.1:\d+ is version 6\.2\.14: use Redis 7\.0 or later, or Valkey\.$/,
    });
  });

  test("it is out of memory: newcomers are refused, and all others go on", async (t) => {
    await using redis = await startRedis();
    const stage = await openTroubleStage(t, { url: redis.url });
    const { occupant, waiting } = await stage.fill();
    const from = Date.now();
    await redis.command("CONFIG", "SET", "maxmemory", 1);
    await stage.untilAway();
    await rush(stage);
    assert.equal((await waiting.call("check-in", { room: CLOSED })).status, "waiting");
    assert.ok(await occupant.isIn(`/${CLOSED}`));
    assert.equal((await occupant.call("leave", { room: CLOSED })).status, "left");
    await eventually("the one who waits is next", () => waiting.isIn(`/${CLOSED}`));
    const told = { kind: "outOfMemory", says: /is out of memory: raise its maxmemory, or take out/ };
    assertToldOnce(stage.entries, told, from);
    await redis.command("CONFIG", "SET", "maxmemory", 0);
    await stage.untilWell();
    await assertToldWell(stage);
  });

  test("it comes back without its last writes: visitors who had left stay gone", async (t) => {
    await using redis = await startRedis();
    const stage = await openTroubleStage(t, { url: redis.url });
    const { occupant, waiting } = await stage.fill();
    const ghost = stage.visitor();
    for (const [name, value] of occupant.cookies) ghost.cookies.set(name, value);
    await redis.command("SAVE");
    assert.equal((await occupant.call("leave", { room: CLOSED })).status, "left");
    await redis.kill();
    await redis.restart();
    await eventually("the slot is free again", () => waiting.isIn(`/${CLOSED}`));
    assert.ok(!(await ghost.isIn(`/${CLOSED}`)), "the pass of someone who left");
    assert.ok(await ghost.isIn(`/${OPEN}`), "who did not leave the other room");
  });

  test("newcomers that got no answer in time hold no slots afterwards", async (t) => {
    await using redis = await startRedis();
    const room = { totalActiveUsers: 3 };
    const stage = await openTroubleStage(t, { url: redis.url, timeout: SHORT_TIMEOUT }, room);
    const newcomers = () => Promise.all(Array.from({ length: 3 }, () => stage.newcomer(CLOSED)));
    redis.pause();
    for (const answer of await newcomers()) assertWaitingPage(answer, 503);
    redis.resume();
    // Whatever Redis did when it woke, there is room for three.
    const inside = new Set<Visitor>();
    await eventually("three are in", async () => {
      const visitor = stage.visitor();
      if (await visitor.isIn(`/${CLOSED}`)) inside.add(visitor);
      else await visitor.call("leave", { room: CLOSED });
      return inside.size === 3;
    });
  });
});
