/** What is told before the disk has it and what is not, with a disk that confirms or fails when the test says so. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entered, JoinAnswer, TicketAnswer, Waiting } from "../../core/engine.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import type { DurableStorage, ListOptions } from "../../durable/storage.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import { MemoryEngine } from "./memory-engine.ts";

const RULES = { ...DEFAULT_RULES, totalActiveUsers: 1, lapseAfterMs: 3_600_000 };

/** Written, and on disk, are two things; a write that fails loses everything that is not on disk. */
class HandDisk {
  readonly #onDisk = new Map<string, unknown>();
  #written = new Map<string, unknown>();
  #syncs: { resolve: () => void; reject: (cause: Error) => void }[] = [];
  isByHand = false;
  isFull = false;

  storage(): DurableStorage {
    return {
      get: async (key: string) => structuredClone(this.#onDisk.get(key)),
      list: async ({ prefix = "" }: ListOptions = {}) => {
        const found = [...this.#onDisk].filter(([key]) => key.startsWith(prefix));
        return new Map(structuredClone(found).sort(([a], [b]) => (a < b ? -1 : 1)));
      },
      put: async (entries: Record<string, unknown>) => {
        for (const [key, value] of Object.entries(structuredClone(entries))) this.#written.set(key, value);
      },
      delete: async (keys: string[]) => {
        for (const key of keys) this.#written.set(key, undefined);
        return 0;
      },
      sync: () => this.#sync(),
    } as unknown as DurableStorage;
  }

  /** Lets what waits for the disk go on. */
  async confirm(): Promise<void> {
    await settle();
    this.#commit();
    for (const { resolve } of this.#syncs.splice(0)) resolve();
    await settle();
  }

  async fail(): Promise<void> {
    await settle();
    this.#written = new Map();
    for (const { reject } of this.#syncs.splice(0)) reject(new Error("no space left"));
    await settle();
  }

  #sync(): Promise<void> {
    if (this.isFull) {
      this.#written = new Map();
      return Promise.reject(new Error("no space left"));
    }
    if (this.isByHand) return new Promise((resolve, reject) => this.#syncs.push({ resolve, reject }));
    this.#commit();
    return Promise.resolve();
  }

  #commit(): void {
    for (const [key, value] of this.#written)
      if (value === undefined) this.#onDisk.delete(key);
      else this.#onDisk.set(key, value);
    this.#written = new Map();
  }
}

/** Lets every promise that can go on do so. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await null;
}

interface Watched<T> {
  readonly promise: Promise<T>;
  isTold: boolean;
}

function watch<T>(answer: T | Promise<T>): Watched<T> {
  const watched: Watched<T> = { promise: Promise.resolve(answer), isTold: !(answer instanceof Promise) };
  watched.promise.then(
    () => {
      watched.isTold = true;
    },
    () => {},
  );
  return watched;
}

async function openEngine(disk: HandDisk, world: HandWorld): Promise<MemoryEngine> {
  const engine = new MemoryEngine(world, () => disk.storage());
  await engine.configure("main", RULES);
  return engine;
}

async function openFull() {
  const world = handWorld();
  const disk = new HandDisk();
  const engine = await openEngine(disk, world);
  const entered = (await engine.join("main")) as Entered;
  const { ticket: first } = (await engine.join("main")) as Waiting;
  await settle();
  disk.isByHand = true;
  return { world, disk, engine, entered, first };
}

const isAtOnce = (answer: JoinAnswer | TicketAnswer | Promise<unknown>) => !(answer instanceof Promise);

test("a place in the line is told at once, and so is a check-in", async () => {
  const { engine } = await openFull();
  const joined = engine.join("main");
  assert.ok(isAtOnce(joined));
  assert.ok(isAtOnce(engine.checkIn((joined as Waiting).ticket)));
});

test("the first place of a line is told once it is on disk, or a restored room would know of no line", async () => {
  const { engine, disk, first } = await openFull();
  const left = engine.leave(first) as Promise<void>;
  await disk.confirm();
  await left;
  const joined = watch(engine.join("main"));
  await settle();
  assert.equal(joined.isTold, false);
  await disk.confirm();
  assert.equal(joined.isTold, true);
});

test("going straight through is told once it is on disk", async () => {
  const world = handWorld();
  const disk = new HandDisk();
  const engine = await openEngine(disk, world);
  disk.isByHand = true;
  const joined = watch(engine.join("main"));
  await settle();
  assert.equal(joined.isTold, false);
  await disk.confirm();
  assert.equal(joined.isTold, true);
});

test("a slot given up is told once it is on disk, and so is the turn that comes of it", async () => {
  const { engine, world, disk, entered, first: ticket } = await openFull();
  const turns: number[] = [];
  engine.subscribe({ onTurns: (_room, sequences) => turns.push(...sequences) });
  const left = watch(engine.leave(entered.pass));
  await settle();
  assert.equal(left.isTold, false);
  world.pass(200);
  const seen = watch(engine.checkIn(ticket));
  assert.equal(seen.isTold, false, "admitted, and not on disk yet");
  await disk.confirm();
  await disk.confirm();
  assert.equal(left.isTold, true);
  assert.deepEqual(turns, [ticket.sequence]);
  assert.equal((await seen.promise).kind, "admitted");
  assert.ok(isAtOnce(engine.checkIn(ticket)), "on disk by now");
});

test("many at once wait for two groups at most: the one under way and the next", async () => {
  const world = handWorld();
  const disk = new HandDisk();
  const engine = await openEngine(disk, world);
  await engine.configure("main", { ...RULES, totalActiveUsers: 1_000 });
  disk.isByHand = true;
  const first = watch(engine.join("main"));
  await settle();
  const later = Array.from({ length: 500 }, () => watch(engine.join("main")));
  await disk.confirm();
  assert.ok(first.isTold && !later[0]!.isTold);
  await disk.confirm();
  assert.ok(later.every(({ isTold }) => isTold));
});

test("when a write fails nobody is told, and the room goes on from the disk once there is space", async () => {
  const { engine, world, disk, entered } = await openFull();
  const { ticket } = engine.join("main") as Waiting;
  const left = engine.leave(entered.pass) as Promise<void>;
  const refused = assert.rejects(left, /cannot be kept/);
  await disk.fail();
  await refused;
  assert.throws(() => engine.join("main"), /cannot be kept/);
  disk.isFull = true;
  world.pass(3_000);
  await settle();
  assert.throws(() => engine.checkIn(ticket), /cannot be kept/, "still full");
  disk.isFull = false;
  disk.isByHand = false;
  world.pass(1_000);
  await settle();
  assert.equal((await engine.checkIn(ticket)).kind, "waiting", "taken back by the ticket");
  assert.equal(engine.counts("main").onSite, 1, "leaving was never told, so it did not happen");
  assert.deepEqual(
    world.logged.filter(({ level }) => level === "error").map(({ message }) => message),
    ["the room cannot be kept; trying again"],
  );
});

test("a board, a new setting and a closing while the disk fails do not throw", async () => {
  const { engine, disk, entered } = await openFull();
  const left = engine.leave(entered.pass) as Promise<void>;
  left.catch(() => {});
  await disk.fail();
  assert.equal(engine.board("main").room, "main");
  await engine.configure("main", { ...RULES, paused: true });
  engine.subscribe({});
  await engine.close();
});

test("everything is there in the next life", async () => {
  const { engine, world, disk, entered, first } = await openFull();
  disk.isByHand = false;
  const tickets = [first];
  for (let i = 0; i < 4; i++) tickets.push(((await engine.join("main")) as Waiting).ticket);
  await engine.close();
  const next = await openEngine(disk, world);
  const ended: string[] = [];
  next.subscribe({ onRevoked: (_room, id) => ended.push(id) });
  assert.deepEqual(
    tickets.map((ticket) => (next.checkIn(ticket) as Waiting).ahead),
    [0, 1, 2, 3, 4],
  );
  await next.leave(entered.pass);
  world.pass(200);
  await settle();
  assert.equal((await next.enter(tickets[0]!)).kind, "entered");
  assert.deepEqual(ended, [entered.pass.id]);
  await next.close();
  const third = await openEngine(disk, world);
  third.subscribe({ onRevoked: (_room, id) => ended.push(id) });
  assert.deepEqual(ended, [entered.pass.id, entered.pass.id], "listeners are told again");
});

test("what nobody waits for is kept within moments", async () => {
  const { engine, world, disk } = await openFull();
  disk.isByHand = false;
  const { ticket } = engine.join("main") as Waiting;
  world.pass(100);
  await settle();
  const next = await openEngine(disk, world);
  assert.equal(next.counts("main").waiting, 2);
  assert.equal((next.checkIn(ticket) as TicketAnswer).kind, "waiting");
  assert.equal(next.counts("main").totals.returned, 0, "it was known");
});

test("a room that another version kept is not opened, and not written over", async () => {
  const disk = new HandDisk();
  await disk.storage().put({ memo: { nextSequence: 1 } });
  await disk.storage().sync();
  const engine = new MemoryEngine(handWorld(), () => disk.storage());
  await assert.rejects(async () => engine.configure("main", RULES), /kept by another version of Fairgate/);
  await engine.close();
  assert.deepEqual(await disk.storage().get("memo"), { nextSequence: 1 });
});
