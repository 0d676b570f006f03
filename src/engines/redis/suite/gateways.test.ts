/** Several gateways with one Redis, each an engine with a link of its own: what one does the others know. */
import assert from "node:assert/strict";
import { after, test } from "node:test";
import { RedisData } from "../../../assembly/redis-data.ts";
import { settingsFrom } from "../../../config/load.ts";
import type { Board } from "../../../core/board.ts";
import type { Waiting } from "../../../core/engine.ts";
import { DEFAULT_RULES, type RoomRules } from "../../../core/rules.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { eventually } from "../../../testing/cli/eventually.ts";
import { changeRoom, inForce } from "../../../testing/plain-building.ts";
import { realWorld } from "../../../testing/real-world.ts";
import { redisServersOf, TIMEOUT_MS } from "../../../testing/redis/open-link.ts";
import { startRedis } from "../../../testing/redis/servers.ts";
import { roomLibrary } from "../library.ts";
import { openLink, type RedisLink } from "../link/link.ts";
import { RedisClock } from "../redis-clock.ts";
import { RedisEngine } from "../redis-engine.ts";

const ROOM = "main";
const server = await startRedis();
after(() => server.stop());
let prefixes = 0;

interface GatewayOf {
  readonly engine: RedisEngine;
  readonly link: RedisLink;
  readonly boards: Board[];
  readonly turns: number[];
  readonly ended: string[];
}

/** Opens `count` gateways with the same rooms; they are closed when the test ends. */
async function gateways(count: number, rules: Partial<RoomRules>, prefix = newPrefix()) {
  const opened = new AsyncDisposableStack();
  const all: GatewayOf[] = [];
  for (let i = 0; i < count; i++) {
    const world = realWorld();
    const link = await openLink({
      servers: redisServersOf([server.port]),
      library: roomLibrary(),
      world,
      timeoutMs: TIMEOUT_MS,
    });
    opened.defer(() => link.close());
    const engine = new RedisEngine({ link, world, prefix, replicas: 0, timeoutMs: TIMEOUT_MS });
    opened.defer(() => engine.close());
    const one: GatewayOf = { engine, link, boards: [], turns: [], ended: [] };
    engine.subscribe({
      onBoard: (board) => one.boards.push(board),
      onTurns: (_, sequences) => one.turns.push(...sequences),
      onRevoked: (_, id) => one.ended.push(id),
    });
    await engine.configure(ROOM, { ...DEFAULT_RULES, ...rules });
    all.push(one);
  }
  return { all, prefix, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function newPrefix(): string {
  return `gateways-${prefixes++}`;
}

async function joinWaiting({ engine }: GatewayOf): Promise<Ticket> {
  const answer = await engine.join(ROOM);
  assert.equal(answer.kind, "waiting");
  return (answer as Waiting).ticket;
}

test("places come one after the other, whichever gateway gave them, and any gateway knows each", async () => {
  await using opened = await gateways(3, { totalActiveUsers: 1 });
  const { all } = opened;
  assert.equal((await all[0]!.engine.join(ROOM)).kind, "entered");
  const tickets: Ticket[] = [];
  for (let i = 0; i < 30; i++) tickets.push(await joinWaiting(all[i % 3]!));
  for (const [i, ticket] of tickets.entries()) {
    const answer = await all[(i + 1) % 3]!.engine.checkIn(ticket);
    assert.equal(answer.kind === "waiting" && answer.ahead, i);
  }
});

test("one gateway turns the door, all tell their visitors, and the board is made once for all", async () => {
  await using opened = await gateways(3, { totalActiveUsers: 1 });
  const { all } = opened;
  const first = await all[0]!.engine.join(ROOM);
  assert.ok(first.kind === "entered");
  const tickets = [await joinWaiting(all[1]!), await joinWaiting(all[2]!)];
  await all[2]!.engine.leave(first.pass);
  for (const one of all)
    await eventually("every gateway hears of the turn", () => one.turns.includes(tickets[0]!.sequence));
  for (const one of all) assert.deepEqual(one.turns, [tickets[0]!.sequence], "once");
  const versions = (one: GatewayOf) => new Set(one.boards.map(({ version }) => version));
  const latest = all[0]!.boards.at(-1)!.version;
  await eventually("boards go on", () => all.every((one) => one.boards.at(-1)!.version >= latest + 3));
  const seen = new Set(all.flatMap((one) => [...versions(one)]));
  // What came after these may not have come to all yet.
  const made = all[0]!.boards.filter(({ version }) => version > latest && version <= latest + 3);
  for (const { version } of made) assert.ok(versions(all[1]!).has(version) && versions(all[2]!).has(version));
  const span = Math.max(...seen) - Math.min(...seen) + 1;
  assert.equal(seen.size, span, "each version was made by one gateway and seen by the others");
});

test("a gateway with an old fencing token does nothing", async () => {
  await using opened = await gateways(2, { totalActiveUsers: 1 });
  const { all, prefix } = opened;
  const key = `${prefix}:{${ROOM}}:${ROOM}`;
  const lease = async () =>
    (await all[0]!.link.command(key, ["HMGET", `${key}:lease`, "holder", "fence"])) as [string, string];
  // The lease may move after it was looked at. All are sent together, so it does not run out between the first and the rest.
  const done = await eventually("the right token is good", async () => {
    const [holder, fence] = await lease();
    const old = String(Number(fence) - 1);
    const calls = [
      ["turn", "", holder, fence, "", ""],
      ["turn", "", holder, old, "", ""],
      ["show", "", holder, old, "{}"],
      ["draw", "", holder, old, "1", "start"],
      ["note", holder, old, "{}", "[]"],
    ] as const;
    const answers = await Promise.all(calls.map(([name, ...args]) => all[0]!.link.call(name, key, args)));
    const [right, ...rest] = answers.map(([answer]) => answer);
    return right === Number(fence) && rest;
  });
  assert.deepEqual(done, [0, 0, 0, 0]);
});

test("a gateway that closes leaves the door to another at once", async () => {
  const opened = await gateways(2, { totalActiveUsers: 1 });
  await using rest = opened;
  const { all, prefix } = rest;
  const key = `${prefix}:{${ROOM}}:${ROOM}`;
  const read = async () =>
    (await all[1]!.link.command(key, ["HMGET", `${key}:lease`, "holder", "fence", "until"])) as string[];
  const [before, fence] = await read();
  await all[0]!.engine.close();
  const [, next, until] = await read();
  assert.ok(until === "0" || Number(next) > Number(fence), "given back, and perhaps taken already");
  await eventually("the other has it", async () => (await read())[0] !== before);
});

test("a visit ended at one gateway is known at all, and to one that comes later", async () => {
  await using opened = await gateways(2, {});
  const { all, prefix } = opened;
  const entered = await all[0]!.engine.join(ROOM);
  assert.ok(entered.kind === "entered");
  assert.equal(await all[0]!.engine.revoke(ROOM, entered.pass.id), true);
  await eventually("the other hears of it", () => all[1]!.ended.includes(entered.pass.id));
  await using later = await gateways(1, {}, prefix);
  assert.deepEqual(later.all[0]!.ended, [entered.pass.id]);
});

test("a Redis that lost everything is filled again from tickets, in order, before anyone new gets in", async () => {
  await using opened = await gateways(2, { totalActiveUsers: 1, sessionDurationMs: 3_600_000 });
  const { all } = opened;
  await all[0]!.engine.join(ROOM);
  const tickets: Ticket[] = [];
  for (let i = 0; i < 20; i++) tickets.push(await joinWaiting(all[i % 2]!));
  const versionBefore = all[0]!.boards.at(-1)!.version;
  await all[0]!.link.command(null, ["FLUSHALL"]);
  assert.equal((await all[0]!.engine.join(ROOM)).kind, "waiting", "held for those who waited");
  for (const ticket of [...tickets].reverse()) await all[1]!.engine.checkIn(ticket);
  for (const [i, ticket] of tickets.entries()) {
    const answer = await all[0]!.engine.checkIn(ticket);
    assert.equal(answer.kind === "waiting" && answer.ahead, i);
  }
  await eventually("boards go on from where they were", () => all[0]!.boards.at(-1)!.version > versionBefore);
});

test("what one gateway keeps the others hear of: changes of rooms and how far the keys were turned", async () => {
  const result = settingsFrom(
    {
      secret: "a-secret-for-tests-only-0123456789-abcdef",
      origin: { addresses: ["http://127.0.0.1:1"] },
      rooms: { main: { totalActiveUsers: 5 } },
    },
    { environment: {}, readFile: () => assert.fail("no file is read") },
  );
  assert.ok(result.ok);
  const { settings } = result;
  await using opened = await gateways(2, {});
  const { all, prefix } = opened;
  const [one, two] = all.map(({ link }) => new RedisData({ link, world: realWorld(), prefix }));
  let heard = 0;
  two!.onChange(() => heard++);
  await eventually("both listen", async () => {
    const [, listeners] = (await all[0]!.link.command(null, ["PUBSUB", "NUMSUB", `${prefix}:kept`])) as [
      string,
      number,
    ];
    return listeners === 2;
  });
  await Promise.all([
    changeRoom(one!.changes, { file: settings, world: realWorld(), change: { message: "Hello" } }),
    changeRoom(two!.changes, { file: settings, world: realWorld(), change: { paused: true } }),
  ]);
  await eventually("the other is told", () => heard > 0);
  const { main } = (await inForce(one!.changes, settings, realWorld())).rooms;
  assert.deepEqual([main!.message, main!.paused], ["Hello", true], "neither change is lost");
  const memo = { name: 1, generation: 2, retired: [] };
  await one!.keepRing(memo);
  await eventually("the other is told again", () => heard > 1);
  assert.deepEqual(await two!.ring(), memo);
  await one!.changes.forget();
  assert.equal((await inForce(two!.changes, settings, realWorld())).rooms.main!.paused, false);
  for (const data of [one!, two!]) await data.close();
});

test("gateways go by the clock of Redis, however wrong their own is", async () => {
  const world = realWorld();
  const wrong = { ...world, clock: { now: () => Date.now() - 3_600_000 } };
  await using stack = new AsyncDisposableStack();
  const link = await openLink({
    servers: redisServersOf([server.port]),
    library: roomLibrary(),
    world: wrong,
    timeoutMs: TIMEOUT_MS,
  });
  stack.defer(() => link.close());
  const clock = new RedisClock(link, wrong);
  stack.defer(() => clock.close());
  assert.ok(Date.now() - clock.now() > 3_000_000, "not asked yet");
  await clock.look();
  assert.ok(Math.abs(Date.now() - clock.now()) < 60_000);
  const last = clock.now();
  assert.ok(clock.now() >= last);
});
