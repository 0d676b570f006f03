/** The waits that gateways with one Redis tell: right for a full site, kept when the lease changes hands, from a sample of visits. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import type { Engine } from "../../../core/engine.ts";
import type { Pass } from "../../../core/pass.ts";
import { DEFAULT_RULES, type RoomRules } from "../../../core/rules.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { type HandWorld, handWorld } from "../../../sim/hand-world.ts";
import { eventually } from "../../../testing/cli/eventually.ts";
import { realWorld } from "../../../testing/real-world.ts";
import { redisServersOf, TIMEOUT_MS } from "../../../testing/redis/open-link.ts";
import { startRedis } from "../../../testing/redis/servers.ts";
import { roomLibrary } from "../library.ts";
import { openLink } from "../link/link.ts";
import { RedisEngine } from "../redis-engine.ts";

const ROOM = "main";
const SECOND_MS = 1_000;
const SLOTS = 60;
const SESSION_MS = 120_000;
/** The share of the wait that the middle may be off, for how many of those told, and how long a wait must be to count. */
const CLOSE = 0.3;
const CLOSE_SHARE = 0.9;
const COUNTS_FROM_MS = 30_000;

const server = await startRedis();
const link = await openLink({
  servers: redisServersOf([server.port]),
  library: roomLibrary(),
  world: realWorld(),
  timeoutMs: TIMEOUT_MS,
});
after(async () => {
  await link.close();
  await server.stop();
});

/** Gateways of one room, all by the same clock, which the test moves. The first has the lease. */
async function openGateways(prefix: string, count: number, rules: Partial<RoomRules>) {
  const world = handWorld();
  const timers = {
    ...world.timers,
    every: (ms: number, work: () => void) => world.timers.every(Math.max(ms, SECOND_MS), work),
  };
  const engines: RedisEngine[] = [];
  for (let i = 0; i < count; i++) {
    const engine = new RedisEngine({
      ...{ link, world: { ...world, timers }, prefix, replicas: 0, timeoutMs: TIMEOUT_MS, time: "handed" },
    });
    await engine.configure(ROOM, { ...DEFAULT_RULES, ...rules });
    engines.push(engine);
  }
  return { world, engines, key: `${prefix}:{${ROOM}}:${ROOM}` };
}

interface Told {
  readonly at: number;
  readonly sequence: number;
  readonly middle: number;
}

/** Visitors who wait and come in when it is their turn. They leave after a while, or are not seen again: a timeout. */
class Line {
  readonly told: Told[] = [];
  readonly #world: HandWorld;
  readonly #leaveAfterMs: number;
  readonly #turnAt = new Map<number, number>();
  #visits: Pass[] = [];
  #tickets: Ticket[] = [];

  constructor(world: HandWorld, leaveAfterMs = Number.POSITIVE_INFINITY) {
    this.#world = world;
    this.#leaveAfterMs = leaveAfterMs;
  }

  /** The first `through` of them go straight through. */
  async join(engine: Engine, count: number, through = 0): Promise<void> {
    for (let i = 0; i < through + count; i++) {
      const answer = await engine.join(ROOM);
      if (i < through) {
        assert.ok(answer.kind === "entered");
        this.#visits.push(answer.pass);
        continue;
      }
      assert.ok(answer.kind === "waiting");
      assert.ok(answer.waitMs, "a visitor who joins the line is told the wait at once");
      this.#tickets.push(answer.ticket);
    }
  }

  /** A second goes by; those with a turn use it. */
  async pass(engine: Engine): Promise<void> {
    this.#world.pass(SECOND_MS);
    const over = this.#visits.filter(
      ({ admittedAt }) => this.#world.clock.now() >= admittedAt + this.#leaveAfterMs,
    );
    this.#visits = this.#visits.filter((visit) => !over.includes(visit));
    await Promise.all(over.map((visit) => engine.leave(visit)));
    await engine.admit(ROOM);
    const answers = await Promise.all(this.#tickets.map((ticket) => engine.enter(ticket)));
    const at = this.#world.clock.now();
    const left: Ticket[] = [];
    for (const [index, answer] of answers.entries()) {
      const ticket = this.#tickets[index]!;
      if (answer.kind === "entered") {
        this.#turnAt.set(ticket.sequence, at);
        this.#visits.push(answer.pass);
        continue;
      }
      assert.ok(answer.kind === "waiting");
      left.push(ticket);
      if (answer.waitMs) this.told.push({ at, sequence: ticket.sequence, middle: answer.waitMs.middle });
    }
    this.#tickets = left;
  }

  get waiting(): number {
    return this.#tickets.length;
  }

  /** Of the waits told from then on, the share whose middle was close. */
  closeShare(from: number, to: number): number {
    const counted = this.told.flatMap(({ at, sequence, middle }) => {
      const waitedMs = this.#turnAt.get(sequence)! - at;
      return at < from || at > to || waitedMs < COUNTS_FROM_MS
        ? []
        : [Math.abs(middle - waitedMs) <= CLOSE * waitedMs];
    });
    assert.ok(counted.length > 0);
    return counted.filter(Boolean).length / counted.length;
  }
}

/** Fills the site over a session, so that slots come free one after the other. */
async function fillEvenly(world: HandWorld, engine: Engine): Promise<void> {
  for (let i = 0; i < SLOTS; i++) {
    assert.equal((await engine.join(ROOM)).kind, "entered");
    world.pass(SESSION_MS / SLOTS);
    await engine.admit(ROOM);
  }
}

test("waits for a full site whose visits end by timeout are right, also when the lease has changed hands", async () => {
  const { world, engines, key } = await openGateways("right", 2, {
    totalActiveUsers: SLOTS,
    sessionDurationMs: SESSION_MS,
  });
  const [one, two] = engines as [RedisEngine, RedisEngine];
  await fillEvenly(world, one);
  const line = new Line(world);
  await line.join(one, 4 * SLOTS);
  for (let second = 0; second < SESSION_MS / SECOND_MS; second++) await line.pass(one);
  assert.equal(await link.command(key, ["HEXISTS", `${key}:state`, "waits"]), 1);
  await one.close();
  const changedAt = world.clock.now();
  while (line.waiting > 0) await line.pass(two);
  const { waitAccuracy } = await two.counts(ROOM);
  assert.ok(waitAccuracy!.compared > 0);
  const shares = [line.closeShare(0, changedAt), line.closeShare(changedAt, world.clock.now())];
  for (const share of shares) assert.ok(share >= CLOSE_SHARE, `${shares.join(" and ")} were close`);
  await two.close();
});

test("what was learned of visits that end early is known to the next holder of the lease", async () => {
  const rules = { totalActiveUsers: SLOTS, sessionDurationMs: 10 * SESSION_MS };
  const { world, engines } = await openGateways("learned", 2, rules);
  const [one, two] = engines as [RedisEngine, RedisEngine];
  const line = new Line(world, SESSION_MS / 4);
  await line.join(one, 10 * SLOTS, SLOTS);
  for (let second = 0; second < SESSION_MS / SECOND_MS; second++) await line.pass(one);
  const before = line.told.at(-1)!.middle;
  const { version } = await one.board(ROOM);
  await one.close();
  const changedAt = world.clock.now();
  await eventually("the other makes boards", async () => {
    await line.pass(two);
    return (await two.board(ROOM)).version > version + 1;
  });
  const after = line.told.at(-1)!.middle + world.clock.now() - changedAt;
  assert.ok(Math.abs(after - before) <= 0.2 * before, `${before} ms were told, then ${after}`);
  await two.close();
});

test("by a board of an older version, without waits, nobody is told one", async () => {
  const rules = { totalActiveUsers: 1 };
  const { world, engines, key } = await openGateways("older", 1, rules);
  const board = await engines[0]!.board(ROOM);
  const older = { ...board, waits: undefined, version: board.version + 1_000 };
  await link.command(key, ["SET", `${key}:board`, JSON.stringify(older)]);
  const parts = { link, world, prefix: "older", replicas: 0, timeoutMs: TIMEOUT_MS, time: "handed" } as const;
  const later = new RedisEngine(parts);
  await later.configure(ROOM, { ...DEFAULT_RULES, ...rules });
  await later.join(ROOM);
  const answer = await later.join(ROOM);
  assert.equal(answer.kind === "waiting" && answer.waitMs, null);
  for (const engine of [later, engines[0]!]) await engine.close();
});

test("a visit that is followed and that a scan does not find is not taken for one that is over", async () => {
  const VISITS = 4_000;
  const FOLLOWED = 500;
  const { engines, key } = await openGateways("sample", 1, { sessionDurationMs: SESSION_MS });
  const engine = engines[0]!;
  const joined = await Promise.all(Array.from({ length: VISITS }, () => engine.join(ROOM)));
  const passes = joined.map((answer) => (answer.kind === "entered" ? answer.pass : assert.fail()));
  const sample = (ids: readonly string[]) => link.call("sample", key, ["", ...ids]);
  const found = (await sample([])).slice(1);
  const ids = new Set(found.filter((_, index) => index % 3 === 0));
  assert.ok(ids.size > 0 && ids.size <= 1_000, `${ids.size} of ${VISITS}`);
  const followed = passes.filter(({ id }) => !ids.has(id)).slice(0, FOLLOWED);
  await engine.leave(followed[0]!);
  const [, ...values] = await sample(followed.map(({ id }) => id));
  assert.deepEqual(
    values.slice(0, FOLLOWED),
    followed.map(({ expiresAt }, index) => (index === 0 ? 0 : expiresAt)),
  );
  assert.equal((values.length - FOLLOWED) / 3, 1_000 - FOLLOWED, "and filled up to a thousand");
  const asMany = passes.slice(-1_000).map(({ id }) => id);
  assert.equal((await sample(asMany)).length, 1_001, "no more are looked for");
  await engine.close();
});
