import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { HeldValue } from "../../../durable/held-value.ts";
import { keyRangeOf } from "../../../durable/key-range.ts";
import { type HandWorld, handWorld } from "../../../sim/hand-world.ts";
import { SharedDisk } from "./shared-disk.ts";
import type { SharedEntry, WriteOutcome } from "./shared-records.ts";

const LEASE_MS = 4_000;
const RENEW_MS = LEASE_MS / 4;
const OBJECT = { className: "shop", name: "tickets" };

/** Records that answer what the test says, and note what they were asked. */
class PretendRecords {
  readonly asked: string[] = [];
  /** The answers to come; "kept" when there are none left. */
  readonly answers: (WriteOutcome | Error | Promise<WriteOutcome>)[] = [];
  stored: SharedEntry[] = [];
  isReadable: Promise<unknown> = Promise.resolve();

  async *read(): AsyncGenerator<SharedEntry> {
    for (const [i, entry] of this.stored.entries()) {
      if (i > 0) await this.isReadable;
      yield entry;
    }
  }

  commit(before: number, entries: Iterable<SharedEntry>, alarmAt: number | null | undefined) {
    return this.#answer(`commit ${before} ${textOf(entries)} ${alarmAt}`);
  }

  renew(seq: number) {
    return this.#answer(`renew ${seq}`);
  }

  async refill(seq: number, entries: Iterable<SharedEntry>, alarmAt: number | null) {
    const said = await this.#answer(`refill ${seq} ${alarmAt}`);
    this.asked.push(`with ${textOf(entries)}`);
    return said;
  }

  async free() {
    this.asked.push("free");
  }

  async #answer(asked: string): Promise<WriteOutcome> {
    this.asked.push(asked);
    const answer = await (this.answers.shift() ?? "kept");
    if (answer instanceof Error) throw answer;
    return answer;
  }
}

const textOf = (entries: Iterable<SharedEntry>) => [...entries].map(([key, held]) => `${key}=${held}`).join();
const change = (values: [string, HeldValue][], alarmAt?: number | null) => [
  { object: OBJECT, isWiped: false, values, alarmAt },
];

interface Stage {
  readonly world: HandWorld;
  readonly records: PretendRecords;
  readonly disk: SharedDisk;
}

function opening(records: PretendRecords, count = records.stored.length): [HandWorld, Promise<SharedDisk>] {
  const world = handWorld();
  const takenAt = world.clock.now();
  const taken = { seq: 7, alarmAt: null, count };
  return [world, SharedDisk.open({ records, taken, object: OBJECT, takenAt, leaseMs: LEASE_MS, world })];
}

async function stage(stored: SharedEntry[] = [["a", "1"]]): Promise<Stage> {
  const records = new PretendRecords();
  records.stored = stored;
  const [world, opened] = opening(records);
  return { world, records, disk: await opened };
}

/** Commits, and says how that ended. */
function write(disk: SharedDisk, values: [string, HeldValue][], alarmAt?: number | null): Promise<string> {
  disk.commit(change(values, alarmAt));
  return new Promise((resolve) => disk.sync((failure) => resolve(failure ? "failed" : "kept")));
}

/** Lets time pass, and everything happen that follows from it. */
async function pass(world: HandWorld, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 50) {
    world.pass(50);
    await setImmediate();
  }
}

test("a write is in memory at once, and confirmed when Redis has it", async () => {
  const { disk, records } = await stage();
  const written = write(disk, [["b", "2"]], 9);
  assert.equal(disk.read(OBJECT, "b"), "2");
  assert.equal(await written, "kept");
  assert.equal(await write(disk, [["a", undefined]]), "kept");
  assert.equal(disk.has(OBJECT, "a"), false);
  assert.deepEqual(records.asked, ["commit 7 b=2 9", "commit 8 a=undefined undefined"]);
  const query = { range: keyRangeOf({}), isReverse: false, limit: -1 };
  assert.deepEqual(disk.list(OBJECT, query), [["b", "2"]]);
  assert.deepEqual(disk.alarms(), [{ object: OBJECT, alarmAt: 9 }]);
});

test("a write that is not answered is sent again, the same", async () => {
  const { world, disk, records } = await stage();
  records.answers.push(new Error("away"), new Error("away"));
  const written = write(disk, [["b", "2"]]);
  await pass(world, 300);
  assert.equal(await written, "kept");
  assert.deepEqual(records.asked, Array(3).fill("commit 7 b=2 undefined"));
});

test("where Redis has lost writes all records are written anew, until they are there", async () => {
  const { world, disk, records } = await stage();
  records.answers.push("behind", "behind", new Error("away"));
  const written = write(disk, [["b", "2"]]);
  await pass(world, 500);
  assert.equal(await written, "kept");
  const refill = ["refill 8 null", "with a=1,b=2"];
  assert.deepEqual(records.asked, ["commit 7 b=2 undefined", ...refill, refill[0], ...refill]);
  assert.equal(await write(disk, [["c", "3"]]), "kept");
  assert.equal(records.asked.at(-1), "commit 8 c=3 undefined");
});

test("what is written anew has every commit whole, also those that come meanwhile", async () => {
  const { world, disk, records } = await stage();
  const answer = Promise.withResolvers<WriteOutcome>();
  records.answers.push("behind", answer.promise);
  await pass(world, RENEW_MS);
  assert.deepEqual(records.asked, ["renew 7", "refill 7 null"]);
  const written = write(disk, [
    ["b", "2"],
    ["c", "3"],
  ]);
  answer.resolve("kept");
  assert.equal(await written, "kept");
  assert.deepEqual(records.asked.slice(2), ["with a=1", "commit 7 b=2,c=3 undefined"]);
});

test("when another gateway owns the records the disk is of no more use, whoever hears of it first", async () => {
  for (const isIdle of [true, false]) {
    const { world, disk, records } = await stage();
    records.answers.push("lost");
    if (isIdle) await pass(world, RENEW_MS);
    else assert.equal(await write(disk, [["b", "2"]]), "failed");
    await disk.gone;
    assert.equal(disk.isOwned, false);
    assert.throws(() => disk.read(OBJECT, "a"), { code: "broken" });
    assert.throws(() => disk.commit(change([["c", "3"]])), { code: "broken" });
    await pass(world, 3 * RENEW_MS);
    await disk.close();
    assert.equal(records.asked.length, 1, "it asks nothing any more");
  }
});

test("an owner that hears nothing of Redis for a lease does not count as the owner until it does", async () => {
  const { world, disk, records } = await stage();
  await pass(world, 2 * LEASE_MS);
  assert.equal(disk.isOwned, true);
  records.answers.push(...Array.from({ length: 40 }, () => new Error("away")));
  await pass(world, LEASE_MS);
  assert.equal(disk.isOwned, false);
  records.answers.length = 0;
  await pass(world, RENEW_MS);
  assert.equal(disk.isOwned, true);
});

test("while Redis does not answer one renewal waits, however long that takes", async () => {
  const { world, disk, records } = await stage();
  const answer = Promise.withResolvers<WriteOutcome>();
  records.answers.push(answer.promise);
  await pass(world, 10 * RENEW_MS);
  answer.resolve("kept");
  await setImmediate();
  assert.deepEqual(records.asked, ["renew 7"]);
  assert.equal(await write(disk, [["b", "2"]]), "kept");
});

test("records that cannot all be read are left as they are", async () => {
  const records = new PretendRecords();
  records.stored = [["a", "1"]];
  const [, opened] = opening(records, 2);
  await assert.rejects(opened, /1 of 2/);
  assert.deepEqual(records.asked, []);
});

test("where Redis loses writes while the records are read, what was read is not written over them", async () => {
  const records = new PretendRecords();
  records.stored = [
    ["a", "1"],
    ["b", "2"],
  ];
  const isReadable = Promise.withResolvers<void>();
  records.isReadable = isReadable.promise;
  records.answers.push("behind");
  const [world, opened] = opening(records);
  const refused = assert.rejects(opened, { code: "broken" });
  await pass(world, 2 * RENEW_MS);
  isReadable.resolve();
  await refused;
  assert.deepEqual(records.asked, ["renew 7"]);
});

test("an owner that closes frees the records, after everything is written", async () => {
  const { disk, records } = await stage();
  const written = write(disk, [["b", "2"]]);
  await disk.close();
  assert.equal(await written, "kept");
  assert.deepEqual(records.asked, ["commit 7 b=2 undefined", "renew 8", "free"]);
});

test("given up while Redis is away, the disk stops sending, and its writers are told", async () => {
  const { world, disk, records } = await stage();
  records.answers.push(...Array.from({ length: 100 }, () => new Error("away")));
  const written = write(disk, [["b", "2"]]);
  await pass(world, 500);
  disk.giveUp();
  await pass(world, 500);
  assert.equal(await written, "failed");
});

test("an owner that closes while Redis has lost writes and is away ends all the same", async () => {
  const { world, disk, records } = await stage();
  records.answers.push("behind", ...Array.from({ length: 100 }, () => new Error("away")));
  let isClosed = false;
  void disk.close().then(() => {
    isClosed = true;
  });
  await pass(world, LEASE_MS - 100);
  assert.equal(isClosed, false);
  await pass(world, 400);
  assert.equal(isClosed, true);
  assert.equal(records.asked.includes("free"), false);
});

test("a write that is refused for a reason of its own is in the log", async () => {
  const { world, disk, records } = await stage();
  const away = Object.assign(new Error("away"), { kind: "away" });
  records.answers.push(away, Object.assign(new Error("ERR too large"), { kind: "other" }));
  const written = write(disk, [["b", "2"]]);
  await pass(world, 300);
  assert.equal(await written, "kept");
  assert.equal(world.logged.length, 1);
  assert.equal(world.logged[0]!.level, "error");
});
