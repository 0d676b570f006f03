/** Gates, coalescing and failures, on a disk that the test moves by hand. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../sim/hand-world.ts";
import { MemoryDisk } from "../testing/memory-disk.ts";
import type { Changes, ObjectName } from "./disk.ts";
import { DurableHost, IDLE_MS } from "./host.ts";
import { StoreProblem } from "./problem.ts";
import type { DurableState } from "./storage.ts";

/** A disk whose syncs wait for the test, and whose commits can be made to fail. */
class HandDisk extends MemoryDisk {
  readonly commits: Changes[][] = [];
  reads = 0;
  isHeld = false;
  nextFailure: Error | null = null;
  #waiting: ((failure: Error | null) => void)[] = [];

  override read(object: ObjectName, key: string) {
    this.reads++;
    return super.read(object, key);
  }

  override commit(all: readonly Changes[]): void {
    const failure = this.nextFailure;
    this.nextFailure = null;
    if (failure) throw failure;
    this.commits.push([...all]);
    super.commit(all);
  }

  override sync(done: (failure: Error | null) => void): void {
    if (this.isHeld) this.#waiting.push(done);
    else super.sync(done);
  }

  letThrough(failure: Error | null = null): void {
    for (const done of this.#waiting.splice(0)) done(failure);
  }
}

const full = () => Object.assign(new Error("database or disk is full"), { errcode: 13 });
/** Long enough for everything that does not wait for the disk. */
async function settle(): Promise<void> {
  for (let n = 0; n < 5; n++) await new Promise((resolve) => setImmediate(resolve));
}
/** Whether a promise has settled by now. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let pending = true;
  promise.then(
    () => (pending = false),
    () => (pending = false),
  );
  await settle();
  return pending;
}

class Counter {
  readonly storage: DurableState["storage"];
  #value: number | undefined;

  constructor(state: DurableState) {
    this.storage = state.storage;
  }

  async next(): Promise<number> {
    const value = (await this.storage.get<number>("counter")) ?? 0;
    await this.storage.put("counter", value + 1);
    return value;
  }

  /** The same, with promises of its own in between. */
  async nextTheLongWay(): Promise<number> {
    const read = async (depth: number): Promise<number> =>
      depth === 0 ? ((await this.storage.get<number>("counter")) ?? 0) : read(depth - 1);
    const value = await read(10);
    await Promise.all([null, null].map(async (nothing) => nothing));
    await this.storage.put("counter", value + 1);
    return value;
  }

  async nextFromMemory(): Promise<number> {
    if (this.#value === undefined) this.#value = (await this.storage.get<number>("counter")) ?? 0;
    const result = this.#value++;
    this.storage.put("counter", this.#value);
    return result;
  }

  async twoAtOnce(): Promise<number[]> {
    return Promise.all([this.next(), this.next()]);
  }

  async peek(): Promise<number | undefined> {
    return this.storage.get("counter");
  }

  async bump(options: { allowUnconfirmed?: boolean }): Promise<void> {
    await this.storage.put("counter", 100, options);
  }
}

function stage(options: { unwrittenBytesMax?: number } = {}) {
  const disk = new HandDisk();
  const world = handWorld();
  const host = new DurableHost(disk, { world, ...options });
  return { disk, world, host };
}
const MANY = 10_000;
const numbers = (count: number) => Array.from({ length: count }, (_, n) => n);

test("the naive counter gives every caller a different number", async () => {
  const { host } = stage();
  const stub = host.objects("Counter", Counter, null).get("a");
  assert.deepEqual(await Promise.all(numbers(MANY).map(() => stub.next())), numbers(MANY));
  assert.ok(host.counts.groups < MANY / 50, `${host.counts.groups} groups`);
});

test("however many promises lie between its get and its put", async () => {
  const { host } = stage();
  const stub = host.objects("Counter", Counter, null).get("a");
  assert.deepEqual(await Promise.all(numbers(500).map(() => stub.nextTheLongWay())), numbers(500));
});

test("the counter that keeps its number in memory does too, from its first calls on", async () => {
  const { host } = stage();
  const stub = host.objects("Counter", Counter, null).get("a");
  assert.deepEqual(await Promise.all(numbers(MANY).map(() => stub.nextFromMemory())), numbers(MANY));
});

test("two calls inside one event interfere: there is no event between them that could wait", async () => {
  const { host } = stage();
  assert.deepEqual(await host.objects("Counter", Counter, null).get("a").twoAtOnce(), [0, 0]);
});

test("an answer leaves only when the writes before it are on disk", async () => {
  const { host, disk } = stage();
  const stub = host.objects("Counter", Counter, null).get("a");
  disk.isHeld = true;
  const answer = stub.next();
  assert.ok(await isPending(answer));
  // This includes an answer that only read what is not on disk yet.
  const peek = stub.peek();
  assert.ok(await isPending(peek));
  disk.letThrough();
  assert.deepEqual(await Promise.all([answer, peek]), [0, 1]);
  assert.ok(!(await isPending(stub.peek())));
});

test("allowUnconfirmed lets the answer leave; sync still waits", async () => {
  const { host, disk } = stage();
  const stub = host.objects("Counter", Counter, null).get("a");
  disk.isHeld = true;
  assert.ok(!(await isPending(stub.bump({ allowUnconfirmed: true }))));
  const { storage } = host.state("b");
  storage.put("x", 1, { allowUnconfirmed: true });
  const synced = storage.sync();
  assert.ok(await isPending(synced));
  disk.letThrough();
  await settle();
  disk.letThrough();
  await synced;
});

test("writes of all objects since the last commit go in one, and only the last value of a key", async () => {
  const { host, disk } = stage();
  disk.isHeld = true;
  const a = host.state("a").storage;
  const b = host.state("b").storage;
  await a.put("x", 1);
  await a.put("x", 2);
  await b.put("y", 3);
  await settle();
  await a.put("x", 4);
  await b.put("y", 5);
  await settle();
  assert.equal(disk.commits.length, 1);
  disk.letThrough();
  await settle();
  const written = disk.commits.map((all) => all.flatMap(({ values }) => [...values]));
  assert.deepEqual(written, [
    [
      ["x", 2],
      ["y", 3],
    ],
    [
      ["x", 4],
      ["y", 5],
    ],
  ]);
});

test("a lost write replaces the answer by an error, and the object starts anew from disk", async () => {
  const { host, disk } = stage();
  const stub = host.objects("Counter", Counter, null).get("a");
  assert.equal(await stub.nextFromMemory(), 0);
  disk.nextFailure = full();
  const lost = await Promise.allSettled([stub.nextFromMemory(), stub.nextFromMemory(), stub.peek()]);
  for (const one of lost) {
    assert.equal(one.status, "rejected");
    assert.ok(one.reason instanceof StoreProblem && one.reason.code === "disk-full", String(one.reason));
  }
  // The old life's memory would say 3.
  assert.equal(await stub.nextFromMemory(), 1);
});

test("a bare state that lost a write refuses everything; the host gives a fresh one", async () => {
  const { host, disk, world } = stage();
  const state = host.state("a");
  await state.storage.put("x", 1);
  await state.storage.sync();
  disk.nextFailure = full();
  state.storage.put("x", 2);
  await assert.rejects(state.storage.sync(), { code: "disk-full" });
  assert.throws(() => void state.storage.get("x"), { code: "restarted" });
  assert.equal(await host.state("a").storage.get("x"), 1);
  assert.equal(world.logged.filter(({ level }) => level === "error").length, 1);
});

test("a failed sync breaks the store for good", async () => {
  const { host, disk } = stage();
  const stub = host.objects("Counter", Counter, null).get("a");
  assert.ok(await isPending(host.broken));
  disk.isHeld = true;
  const answer = stub.next();
  await settle();
  const gathering = host.state("b").storage;
  gathering.put("x", 1);
  const synced = gathering.sync();
  synced.catch(() => {});
  disk.letThrough(new Error("EIO"));
  await assert.rejects(answer, { code: "broken" });
  await assert.rejects(synced, { code: "broken" });
  assert.equal((await host.broken).code, "broken");
  await assert.rejects(stub.peek(), { code: "broken" });
  assert.throws(() => void host.state("c").storage.get("x"), { code: "broken" });
  await host.close();
});

test("values come from the cache after the first read, unless noCache is asked for", async () => {
  const { host, disk } = stage();
  const { storage } = host.state("a");
  for (let n = 0; n < 3; n++) await storage.get("x");
  assert.equal(disk.reads, 1);
  for (let n = 0; n < 3; n++) await storage.get("y", { noCache: true });
  assert.equal(disk.reads, 4);
  await storage.put("z", 1, { noCache: true });
  await storage.get("z");
  assert.equal(disk.reads, 4, "not on disk yet: it is still in memory");
  await storage.sync();
  await storage.get("z");
  assert.equal(disk.reads, 5);
});

/** An object that makes two outgoing calls at once. */
class Caller extends Counter {
  readonly env: { call(name: string): Promise<string> };
  readonly log: string[] = [];

  constructor(state: DurableState, env: { call(name: string): Promise<string> }) {
    super(state);
    this.env = env;
  }

  async twice(): Promise<number[]> {
    const task = async (name: string) => {
      await this.env.call(name);
      return this.next();
    };
    return Promise.all([task("one"), task("two")]);
  }

  async tell(): Promise<string> {
    this.storage.put("told", true);
    return this.env.call("told");
  }
}

test("what comes back from outside is an event: two of them do not interfere", async () => {
  const { host } = stage();
  const stub = host.objects("Caller", Caller, { call: async (name) => name }).get("a");
  assert.deepEqual(await stub.twice(), [0, 1]);
});

test("a call leaves only when the writes before it are on disk, and never if they were lost", async () => {
  const { host, disk } = stage();
  const calls: string[] = [];
  const env = {
    call: async (name: string) => {
      calls.push(name);
      return name;
    },
  };
  const stub = host.objects("Caller", Caller, env).get("a");
  disk.isHeld = true;
  const told = stub.tell();
  assert.ok(await isPending(told));
  assert.deepEqual(calls, []);
  disk.letThrough();
  assert.equal(await told, "told");
  disk.nextFailure = full();
  await assert.rejects(stub.tell(), StoreProblem);
  assert.deepEqual(calls, ["told"]);
});

test("objects call each other through both gates", async () => {
  const { host, disk } = stage();
  class Front {
    readonly state: DurableState;
    readonly env: { COUNTERS: { get(name: string): { next(): Promise<number> } } };
    constructor(state: DurableState, env: Front["env"]) {
      this.state = state;
      this.env = env;
    }
    async ask(): Promise<number> {
      this.state.storage.put("asked", true);
      return this.env.COUNTERS.get("shared").next();
    }
  }
  const counters = host.objects("Counter", Counter, null);
  const front = host.objects("Front", Front, { COUNTERS: counters }).get("f");
  disk.isHeld = true;
  const asked = front.ask();
  await settle();
  assert.equal(disk.commits.length, 1, "the other object has not been called yet");
  disk.letThrough();
  await settle();
  disk.letThrough();
  assert.equal(await asked, 0);
});

/** An object that loads what it needs before any event enters. */
class Loader {
  static loads = 0;
  loaded: string | null = null;
  constructor(state: DurableState, env: { load(): Promise<string> }) {
    state.blockConcurrencyWhile(async () => {
      Loader.loads++;
      this.loaded = await env.load();
    });
  }
  async read(): Promise<string | null> {
    return this.loaded;
  }
}

test("no event enters while the constructor blocks, and a failure there starts the object anew", async () => {
  const { host } = stage();
  const gate = Promise.withResolvers<string>();
  let load = () => gate.promise;
  const stub = host.objects("Loader", Loader, { load: () => load() }).get("a");
  const read = stub.read();
  assert.ok(await isPending(read));
  gate.reject(new Error("no luck"));
  await assert.rejects(read, /no luck/);
  load = async () => "loaded";
  assert.deepEqual(await Promise.all([stub.read(), stub.read()]), ["loaded", "loaded"]);
  assert.equal(Loader.loads, 2);
});

test("no event enters during a transaction", async () => {
  const { host } = stage();
  const pause = Promise.withResolvers<void>();
  class Mover {
    readonly storage: DurableState["storage"];
    constructor(state: DurableState) {
      this.storage = state.storage;
    }
    async move(): Promise<void> {
      await this.storage.transaction(async (txn) => {
        await txn.put("x", 1);
        await pause.promise;
        await txn.put("y", 1);
      });
    }
    async keys(): Promise<string[]> {
      return [...(await this.storage.list()).keys()];
    }
  }
  const stub = host.objects("Mover", Mover, null).get("a");
  const moved = stub.move();
  const keys = stub.keys();
  assert.ok(await isPending(keys));
  pause.resolve();
  await moved;
  assert.deepEqual(await keys, ["x", "y"]);
});

for (const allowConcurrency of [false, true]) {
  test(`a write that waits for room ${allowConcurrency ? "lets others in with allowConcurrency" : "lets nobody in"}`, async () => {
    const { host, disk } = stage({ unwrittenBytesMax: 1_000 });
    class Filler {
      readonly storage: DurableState["storage"];
      constructor(state: DurableState) {
        this.storage = state.storage;
      }
      async fill(): Promise<void> {
        await this.storage.put("big", "x".repeat(2_000), { allowConcurrency, allowUnconfirmed: true });
      }
      enter(): string {
        return "in";
      }
    }
    const stub = host.objects("Filler", Filler, null).get("a");
    disk.isHeld = true;
    const filled = stub.fill();
    const entered = stub.enter();
    assert.equal(await isPending(entered), !allowConcurrency);
    assert.ok(await isPending(filled));
    disk.letThrough();
    await Promise.all([filled, entered]);
  });
}

test("a class is registered once, and its methods' errors reach the caller", async () => {
  const { host } = stage();
  class Thrower {
    throwNow(): void {
      throw new Error("now");
    }
    async throwLater(): Promise<void> {
      throw new Error("later");
    }
  }
  const stub = host.objects("Thrower", Thrower, null).get("a");
  await assert.rejects(stub.throwNow(), /now/);
  await assert.rejects(stub.throwLater(), /later/);
  assert.throws(() => host.objects("Thrower", Thrower, null), /already/);
});

test("an object that nobody calls leaves memory, and comes back from disk", async () => {
  const { host, world, disk } = stage();
  const made: string[] = [];
  const gate = Promise.withResolvers<string>();
  class Sleeper extends Caller {
    constructor(state: DurableState, env: Caller["env"]) {
      super(state, env);
      made.push(state.id.name);
    }
    async waitOutside(): Promise<string> {
      return this.env.call("x");
    }
  }
  const objects = host.objects("Sleeper", Sleeper, { call: () => gate.promise });
  const stub = objects.get("idle");
  assert.equal(await stub.nextFromMemory(), 0);
  const waiting = objects.get("busy").waitOutside();
  await settle();
  world.pass(IDLE_MS * 3);
  assert.equal(await stub.nextFromMemory(), 1, "it goes on from disk, through the same stub");
  gate.resolve("back");
  assert.equal(await waiting, "back", "an object that waits for the outside world stays in memory");
  assert.equal(await objects.get("busy").next(), 0);
  assert.deepEqual(made, ["idle", "busy", "idle"]);
  assert.ok(disk.reads >= 2);
});

test("closing brings what was written to disk and refuses the rest", async () => {
  const { host, disk } = stage();
  const { storage } = host.state("a");
  storage.put("x", 1);
  const closed = host.close();
  await closed;
  assert.equal(disk.commits.length, 1);
  assert.throws(() => void storage.get("x"), { code: "closed" });
});
