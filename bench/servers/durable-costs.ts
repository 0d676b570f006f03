/**
 * What a durable object costs, measured in a process of its own: the naive counter, with many calls at once through a stub, on
 * disk, on memory only, and the same store used directly with a transaction and a sync for each call. Prints one line of JSON.
 */
import { closeSync, fdatasync, fsyncSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deserialize, serialize } from "node:v8";
import { DurableHost } from "../../src/durable/host.ts";
import type { DurableState } from "../../src/durable/storage.ts";
import { MemoryDisk } from "../../src/testing/memory-disk.ts";
import { realWorld } from "../../src/testing/real-world.ts";
import type { DurableCosts } from "../durable.ts";

const CALLERS = 64;
const MANY_CALLERS = 1_024;
const SLICE_MS = 250;
const WARM_UP_ROUNDS = 3;
const KEYS_PER_PUT = 128;
/** A database page and its header in the log. */
const LOGGED_PAGE_BYTES = 4_096 + 24;
const BARE_FILE_PAGES = 1_024;

const [rounds = 4, keys = 100_000] = process.argv.slice(2).map(Number);
const root = mkdtempSync(join(tmpdir(), "durable-bench-"));

class Counter {
  readonly storage: DurableState["storage"];
  constructor(state: DurableState) {
    this.storage = state.storage;
  }
  async getUniqueNumber(): Promise<number> {
    const value = (await this.storage.get<number>("counter")) ?? 0;
    await this.storage.put("counter", value + 1);
    return value;
  }
}

/** Calls a second of a number of callers who each call again as soon as they have their answer. */
async function callsPerSecond(next: () => Promise<number>, callers = CALLERS): Promise<number> {
  const startAt = performance.now();
  const endAt = startAt + SLICE_MS;
  let calls = 0;
  const caller = async () => {
    while (performance.now() < endAt) {
      await next();
      calls++;
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return calls / ((performance.now() - startAt) / 1_000);
}

/** The store's own tables and statements, one transaction a call, each synced by SQLite. */
function directStore(): { callsPerSecond(): number; close(): void } {
  const database = new DatabaseSync(join(root, "direct.db"));
  database.exec(`
    PRAGMA page_size = 4096; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
    CREATE TABLE entries (object INTEGER NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL,
      PRIMARY KEY (object, key)) STRICT, WITHOUT ROWID`);
  const begin = database.prepare("BEGIN IMMEDIATE");
  const commit = database.prepare("COMMIT");
  const read = database.prepare("SELECT value FROM entries WHERE object = ? AND key = ?");
  const put = database.prepare("INSERT OR REPLACE INTO entries (object, key, value) VALUES (?, ?, ?)");
  const key = Buffer.from("counter");
  const next = () => {
    begin.run();
    const row = read.get(1, key) as { value: Uint8Array } | undefined;
    const value = row ? (deserialize(row.value) as number) : 0;
    put.run(1, key, serialize(value + 1));
    commit.run();
    return value;
  };
  return {
    callsPerSecond() {
      const startAt = performance.now();
      let calls = 0;
      for (; performance.now() < startAt + SLICE_MS; calls++) next();
      return calls / ((performance.now() - startAt) / 1_000);
    },
    close: () => database.close(),
  };
}

/** What this disk allows: writes of one page, each with its sync, in a file that does not grow. */
function bareSyncs(): { callsPerSecond(): Promise<number>; close(): void } {
  const descriptor = openSync(join(root, "bare"), "w+");
  const page = Buffer.alloc(LOGGED_PAGE_BYTES, 1);
  writeSync(descriptor, Buffer.alloc(BARE_FILE_PAGES * page.length));
  fsyncSync(descriptor);
  let at = 0;
  const next = () =>
    new Promise<void>((resolve, reject) => {
      writeSync(descriptor, page, 0, page.length, (at++ % BARE_FILE_PAGES) * page.length);
      fdatasync(descriptor, (error) => (error ? reject(error) : resolve()));
    });
  return {
    async callsPerSecond() {
      const startAt = performance.now();
      let syncs = 0;
      for (; performance.now() < startAt + SLICE_MS; syncs++) await next();
      return (CALLERS * syncs) / ((performance.now() - startAt) / 1_000);
    },
    close: () => closeSync(descriptor),
  };
}

async function restartTime(): Promise<{ restartMs: number; storeMb: number }> {
  const directory = join(root, "restart");
  const open = () => DurableHost.open({ directory, world: realWorld() });
  const host = await open();
  const { storage } = host.state("a");
  for (let n = 0; n < keys; n += KEYS_PER_PUT) {
    const entries = Array.from({ length: KEYS_PER_PUT }, (_, i) => [
      `visitor ${n + i}`,
      { since: n, turn: i },
    ]);
    await storage.put(Object.fromEntries(entries));
  }
  await host.close();
  const storeMb = statSync(join(directory, "objects.db")).size / 1e6;
  const startAt = performance.now();
  const again = await open();
  await again.state("a").storage.get("visitor 77");
  const restartMs = performance.now() - startAt;
  await again.close();
  return { restartMs, storeMb };
}

const onDisk = await DurableHost.open({ directory: join(root, "store"), world: realWorld() });
const inMemory = new DurableHost(new MemoryDisk(), { world: realWorld() });
const diskStub = onDisk.objects("Counter", Counter, null).get("a");
const memoryStub = inMemory.objects("Counter", Counter, null).get("a");
const direct = directStore();
const bare = bareSyncs();

const samples: DurableCosts["samples"] = [];
let groups = 0;
let waited = 0;
let seconds = 0;
for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
  const memory = await callsPerSecond(() => memoryStub.getUniqueNumber());
  const before = { ...onDisk.counts };
  const startAt = performance.now();
  const disk = await callsPerSecond(() => diskStub.getUniqueNumber());
  if (round >= 0) {
    seconds += (performance.now() - startAt) / 1_000;
    groups += onDisk.counts.groups - before.groups;
    waited += onDisk.counts.waited - before.waited;
    const diskMany = await callsPerSecond(() => diskStub.getUniqueNumber(), MANY_CALLERS);
    const memoryMany = await callsPerSecond(() => memoryStub.getUniqueNumber(), MANY_CALLERS);
    const syncs = await bare.callsPerSecond();
    samples.push({ disk, memory, syncs, diskMany, memoryMany, direct: direct.callsPerSecond() });
  } else direct.callsPerSecond();
}
await onDisk.close();
await inMemory.close();
direct.close();
bare.close();
const costs: DurableCosts = {
  samples,
  groupSize: waited / groups,
  syncsPerSecond: groups / seconds,
  keys,
  ...(keys > 0 ? await restartTime() : { restartMs: 0, storeMb: 0 }),
};
rmSync(root, { recursive: true, force: true });
console.log(JSON.stringify(costs));
