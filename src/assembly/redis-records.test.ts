/** The records of a shared ledger in a real Redis that loses them again and again. */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { LEDGER_FUNCTIONS, type SharedLink, SharedRecords } from "../shop/ledger/shared/shared-records.ts";
import { eventually } from "../testing/cli/eventually.ts";
import { openTestLink, type TestLink } from "../testing/redis/open-link.ts";
import { type RedisServer, startRedis } from "../testing/redis/servers.ts";
import { libraryWithLedgers } from "./redis-shops.ts";

/** None of these tests takes as long. */
const LEASE_MS = 60_000;
/** Two of these and a bit more go to Redis at a time. */
const LARGE = "x".repeat(600_000);
const ENTRIES = ["a", "b", "c", "d", "e"].map((key) => [key, key + LARGE] as const);

let redis: RedisServer;
let link: TestLink;
before(async () => {
  redis = await startRedis();
  link = await openTestLink([redis.port], { library: libraryWithLedgers() });
});
after(async () => {
  await link.close();
  await redis.stop();
});

interface Owner {
  readonly records: SharedRecords;
  /** What happens to Redis before one of the functions is called for the nth time. */
  readonly mishaps: Map<string, () => Promise<unknown>>;
}

function owner(base: string, token: string, leaseMs = LEASE_MS): Owner {
  const mishaps = new Map<string, () => Promise<unknown>>();
  const calls = new Map<string, number>();
  const call: SharedLink["call"] = async (name, ...rest) => {
    const short = name.slice(LEDGER_FUNCTIONS.length);
    calls.set(short, (calls.get(short) ?? 0) + 1);
    await mishaps.get(`${short} ${calls.get(short)}`)?.();
    return link.call(name, ...rest);
  };
  const command: SharedLink["command"] = (...all) => link.command(...all);
  const faulty: SharedLink = {
    call,
    command,
    hear: () => () => {},
    problem: null,
    onProblem: () => () => {},
  };
  const kept = { replicas: 0, timeoutMs: 1_000 };
  return { records: new SharedRecords({ link: faulty, base, token, leaseMs, kept }), mishaps };
}

/** One that has taken the records of a shop that nobody had. */
async function firstOwner(base: string, token = "one"): Promise<Owner> {
  await redis.command("HSET", `${base}:state`, "seq", "0");
  const first = owner(base, token);
  assert.deepEqual(await first.records.take("all"), { seq: 0, alarmAt: null, count: 0 });
  return first;
}

async function keysOf(base: string): Promise<string> {
  return ((await redis.command("HKEYS", `${base}:records`)) as string[]).sort().join("");
}

/** Keeps what Redis has now; called again, it is as if Redis had lost everything since. */
async function backup(base: string): Promise<() => Promise<void>> {
  const parts = ["state", "live", "records", "refill"].map((part) => `${base}:${part}`);
  for (const key of parts) await redis.command("COPY", key, `${key}-before`, "REPLACE");
  return async () => {
    for (const key of parts) await redis.command("DEL", key);
    for (const key of parts) await redis.command("COPY", `${key}-before`, key);
  };
}

test("records that are written anew take the place of the others when all of them are there", async () => {
  const base = "{whole}";
  const { records } = await firstOwner(base);
  await records.commit(0, [["old", "1"]], 5);
  assert.equal(await records.refill(7, ENTRIES, null), "kept");
  assert.equal(await keysOf(base), "abcde");
  assert.equal(await records.renew(7), "kept");
  assert.equal(await redis.command("HGET", `${base}:state`, "alarm"), null);
});

test("where Redis loses a part of what is written anew, the records stay as they were", async () => {
  for (const lossAt of ["fill 2", "fill 3", "swap 1"]) {
    const base = `{part ${lossAt}}`;
    const { records, mishaps } = await firstOwner(base);
    await records.commit(0, [["old", "1"]], null);
    const loss = Promise.withResolvers<() => Promise<void>>();
    mishaps.set("fill 1", async () => loss.resolve(await backup(base)));
    mishaps.set(lossAt, async () => (await loss.promise)());
    assert.equal(await records.refill(7, ENTRIES, null), "behind", lossAt);
    assert.equal(await keysOf(base), "old");
    assert.equal(await records.refill(7, ENTRIES, null), "kept");
    assert.equal(await keysOf(base), "abcde");
  }
});

test("a Redis that loses everything while it is written anew gets it once more", async () => {
  for (const lossAt of ["clear 1", "fill 2", "swap 1"]) {
    const base = `{all ${lossAt}}`;
    const { records, mishaps } = await firstOwner(base);
    mishaps.set(lossAt, async () => {
      for (const part of ["state", "live", "records", "refill"])
        await redis.command("DEL", `${base}:${part}`);
    });
    const said = await records.refill(7, ENTRIES, 9);
    if (said === "behind") assert.equal(await records.refill(7, ENTRIES, 9), "kept");
    assert.equal(await keysOf(base), "abcde", lossAt);
  }
});

test("an owner comes back when Redis has gone back to an owner before it", async () => {
  const base = "{back}";
  const { records: first } = await firstOwner(base);
  await first.commit(0, [["a", "1"]], null);
  const goBack = await backup(base);
  await first.commit(1, [["b", "1"]], null);
  await first.free();
  const { records: second } = owner(base, "two");
  assert.equal((await second.take("whatIsFree"))?.seq, 2);
  await second.commit(2, [["c", "1"]], null);
  await second.free();
  const { records: third } = owner(base, "three");
  await third.take("whatIsFree");
  await goBack();
  assert.equal(await third.renew(3), "behind");
  assert.equal(await third.refill(3, [["all", "1"]], null), "kept");
  assert.equal(await third.renew(3), "kept");
  assert.equal(await keysOf(base), "all");
  assert.equal(await first.renew(1), "lost");
});

test("it does not come back over writes that it does not have", async () => {
  const base = "{fork}";
  const { records: first } = await firstOwner(base);
  await first.commit(0, [["a", "1"]], null);
  const goBack = await backup(base);
  await first.free();
  const { records: second } = owner(base, "two");
  await second.take("whatIsFree");
  await goBack();
  // The one before goes on with what is there, or a third takes it.
  await first.commit(1, [["b", "1"]], null);
  assert.equal(await second.renew(1), "lost");
  assert.equal(await second.refill(1, [["all", "1"]], null), "lost");
  await goBack();
  await first.free();
  const { records: third } = owner(base, "three");
  await third.take("whatIsFree");
  assert.equal(await second.renew(1), "lost");
  assert.equal(await keysOf(base), "a");
});

test("where Redis knows nothing of a shop nobody takes it for a lease: its owner has it in memory", async () => {
  const base = "{empty}";
  const { records: first } = await firstOwner(base);
  await redis.command("DEL", `${base}:state`, `${base}:live`);
  const { records: second } = owner(base, "two");
  assert.equal(await second.take("all"), null);
  assert.equal(await first.renew(0), "behind");
  assert.equal(await first.refill(0, [["a", "1"]], null), "kept");
  assert.equal(await second.take("all"), null);
  await second.free();
  await redis.command("HSET", `${base}:state`, "isFree", "1");
  await redis.command("DEL", `${base}:live`);
  assert.equal(await second.take("nothing"), null, "Redis may have gone back to a time when it was free");
  assert.notEqual(await second.take("whatIsFree"), null);
  const { records: third } = owner("{never}", "three", 50);
  await eventually("it is taken", async () => (await third.take("all")) !== null);
});

test("who asks for the records again gets them again, and every record is counted", async () => {
  const base = "{again}";
  const { records } = await firstOwner(base);
  await records.commit(0, ENTRIES, 5);
  assert.deepEqual(await records.take("whatIsFree"), { seq: 1, alarmAt: 5, count: 5 });
  const read = new Map<string, unknown>();
  for await (const [key, held] of records.read()) read.set(key, held);
  assert.deepEqual(read, new Map(ENTRIES));
});

test("a write that comes a second time, late, changes nothing", async () => {
  const base = "{late}";
  const { records } = await firstOwner(base);
  for (const said of ["kept", "kept"]) assert.equal(await records.commit(0, [["a", "1"]], null), said);
  assert.equal(await records.commit(1, [["a", "2"]], null), "kept");
  assert.equal(await records.commit(0, [["a", "1"]], null), "behind");
  assert.equal(await redis.command("HGET", `${base}:records`, "a"), "t2");
});

test("a sale goes on when Redis is out of memory", async () => {
  const base = "{full}";
  const { records } = await firstOwner(base);
  await redis.command("CONFIG", "SET", "maxmemory", "1");
  try {
    assert.equal(await records.commit(0, [["a", "1"]], 5), "kept");
    assert.equal(await records.renew(1), "kept");
  } finally {
    await redis.command("CONFIG", "SET", "maxmemory", "0");
  }
});
