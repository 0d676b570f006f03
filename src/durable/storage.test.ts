/** What an object reads and writes, on a real store. The gates are tested in gates.test.ts. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import fc from "fast-check";
import { handWorld } from "../sim/hand-world.ts";
import { DurableHost } from "./host.ts";
import { compareUtf8 } from "./key-range.ts";
import { KEY_BYTES_MAX, KEYS_PER_CALL_MAX, VALUE_BYTES_MAX } from "./limits.ts";

const root = mkdtempSync(join(tmpdir(), "durable-storage-"));
after(() => rmSync(root, { recursive: true, force: true }));
let stores = 0;
const newDirectory = () => join(root, String(stores++));
const open = (directory = newDirectory(), cacheBytes?: number) =>
  DurableHost.open({
    directory,
    world: handWorld(),
    logBytes: 65_536,
    ...(cacheBytes === undefined ? {} : { cacheBytes }),
  });

test("values of all kinds come back after the store was closed and opened", async () => {
  const directory = newDirectory();
  const values = {
    text: "ä\0🙂",
    number: -0,
    big: 12345678901234567890n,
    nothing: null,
    yes: true,
    date: new Date(5),
    map: new Map([[1, new Set(["a"])]]),
    bytes: new Uint8Array([1, 2, 3]),
    doubles: new Float64Array([1.5, 2.5]),
    nested: { a: [1, { b: "c" }] },
  };
  const first = await open(directory);
  await first.state("a").storage.put(values);
  await first.close();
  const second = await open(directory);
  const { storage } = second.state("a");
  for (const [key, value] of Object.entries(values)) assert.deepEqual(await storage.get(key), value);
  assert.deepEqual([...(await storage.list()).keys()], Object.keys(values).sort());
  assert.equal((await second.state("b").storage.list()).size, 0);
  await second.close();
});

test("what is read is a copy, and so is what was put", async () => {
  const host = await open();
  const { storage } = host.state("a");
  const given = { list: [1], bytes: new Uint8Array([1]) };
  storage.put("x", given);
  given.list.push(2);
  for (let round = 0; round < 2; round++) {
    const read = (await storage.get<typeof given>("x"))!;
    assert.deepEqual(read, { list: [1], bytes: new Uint8Array([1]) });
    read.list.push(3);
    read.bytes[0] = 9;
    const listed = (await storage.list<typeof given>()).get("x")!;
    assert.deepEqual(listed, { list: [1], bytes: new Uint8Array([1]) });
    listed.bytes[0] = 9;
    await storage.sync();
  }
  await host.close();
});

test("a mistake is thrown at once, with its reason", async () => {
  const host = await open();
  const { storage } = host.state("a");
  const limit = "ä".repeat(KEY_BYTES_MAX / 2);
  await storage.put(limit, "x".repeat(VALUE_BYTES_MAX - 100));
  assert.throws(() => void storage.put(`${limit}b`, 1), /2048 bytes/);
  assert.throws(() => void storage.put("a", "x".repeat(VALUE_BYTES_MAX + 1)), /2097152 bytes/);
  assert.throws(() => void storage.put("a", new Uint8Array(VALUE_BYTES_MAX)), /2097152 bytes/);
  assert.throws(() => void storage.put("a", undefined), /undefined/);
  assert.throws(() => void storage.put("a", () => 1), /could not be cloned/);
  assert.throws(() => void storage.put("\ud800", 1), /surrogate/);
  assert.throws(() => void storage.put("", 1), /empty/);
  assert.throws(() => void storage.get(Array(KEYS_PER_CALL_MAX + 1).fill("a")), /128 keys/);
  assert.throws(() => void storage.list({ limit: 0 }), /limit/);
  assert.throws(() => void storage.setAlarm(5), /alarm\(\)/);
  assert.equal((await storage.list()).size, 1);
  await host.close();
});

test("operations take effect in the order they were started, whatever is awaited", async () => {
  const host = await open();
  const { storage } = host.state("a");
  const before = storage.get("x");
  storage.put("x", 1);
  const between = storage.get("x");
  const removed = storage.delete("x");
  const afterwards = storage.get("x");
  storage.put("x", 2);
  assert.deepEqual(await Promise.all([before, between, removed, afterwards]), [
    undefined,
    1,
    true,
    undefined,
  ]);
  assert.equal(await storage.delete("y"), false);
  assert.equal(await storage.delete(["x", "y"]), 1);
  await host.close();
});

test("noCache keeps nothing, and a small cache loses nothing", async () => {
  const host = await open(newDirectory(), 2_000);
  const { storage } = host.state("a");
  const big = "x".repeat(500);
  for (let n = 0; n < 50; n++) storage.put(`k${n}`, big + n, { noCache: n % 2 === 0 });
  assert.equal(await storage.get("k7"), `${big}7`);
  await storage.sync();
  for (let n = 0; n < 50; n++) assert.equal(await storage.get(`k${n}`), big + n);
  assert.equal((await storage.list({ limit: 3, reverse: true })).size, 3);
  await host.close();
});

test("a transaction is whole or nothing, and what is started beside it comes after it", async () => {
  const host = await open();
  const { storage } = host.state("a");
  await storage.put({ a: 1, b: 2 });
  const pause = Promise.withResolvers<void>();
  const moved = storage.transaction(async (txn) => {
    txn.put("b", await txn.get("a"));
    await txn.delete("a");
    await pause.promise;
    // What the closure does with the storage itself is part of the transaction.
    await storage.put("c", [...(await storage.list()).keys()]);
    return "moved";
  });
  const beside = storage.get("a");
  const second = storage.transaction(async (txn) => txn.get("b"));
  pause.resolve();
  assert.equal(await moved, "moved");
  assert.equal(await beside, undefined);
  assert.equal(await second, 1);
  assert.deepEqual(await storage.get("c"), ["b"]);
  await assert.rejects(
    storage.transaction(async (txn) => {
      txn.put("b", 99);
      throw new Error("no");
    }),
    /no/,
  );
  await storage.transaction(async (txn) => {
    txn.put("b", 99);
    txn.rollback();
    assert.throws(() => void txn.get("b"), /over/);
  });
  await assert.rejects(
    storage.transaction(() => storage.transaction(async () => {})),
    /inside another/,
  );
  assert.equal(await storage.get("b"), 1);
  await host.close();
});

/** Operations of a random play; `T` marks those that also happen inside a transaction. */
const someKey = fc.constantFrom("a", "a\0", "ab", "b", "ba", "é", "\uff5e", "\u{1f600}");
const change = fc.oneof(
  fc.record({ kind: fc.constant("put" as const), key: someKey, value: fc.jsonValue({ maxDepth: 1 }) }),
  fc.record({ kind: fc.constant("delete" as const), key: someKey }),
);
const listing = fc.record(
  {
    start: someKey,
    end: someKey,
    prefix: fc.constantFrom("a", "b"),
    reverse: fc.boolean(),
    limit: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: [] },
);
const step = fc.oneof(
  { weight: 6, arbitrary: change },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("get" as const), key: someKey }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("list" as const), options: listing }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("wipe" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("sync" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("transaction" as const),
      changes: fc.array(change, { maxLength: 4 }),
      options: listing,
      isKept: fc.boolean(),
    }),
  },
);
type Listing = { start?: string; end?: string; prefix?: string; reverse?: boolean; limit?: number };
type Change = { kind: "put"; key: string; value: unknown } | { kind: "delete"; key: string };

function listed(
  model: Map<string, unknown>,
  { start, end, prefix, reverse, limit }: Listing,
): [string, unknown][] {
  const within = [...model]
    .filter(([key]) => start === undefined || compareUtf8(key, start) >= 0)
    .filter(([key]) => end === undefined || compareUtf8(key, end) < 0)
    .filter(([key]) => prefix === undefined || key.startsWith(prefix))
    .sort(([a], [b]) => compareUtf8(a, b));
  return (reverse ? within.reverse() : within).slice(0, limit);
}

function applied(model: Map<string, unknown>, one: Change): void {
  if (one.kind === "put") model.set(one.key, JSON.parse(JSON.stringify(one.value)));
  else model.delete(one.key);
}

test("storage behaves as a map does, through transactions, commits and new starts", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const directory = newDirectory();
      let host = await open(directory, 1_000);
      let { storage } = host.state("a");
      let model = new Map<string, unknown>();
      for (const one of steps) {
        if (one.kind === "put") {
          storage.put(one.key, JSON.parse(JSON.stringify(one.value)));
          applied(model, one);
        } else if (one.kind === "delete") {
          assert.equal(await storage.delete(one.key), model.has(one.key));
          applied(model, one);
        } else if (one.kind === "get") assert.deepEqual(await storage.get(one.key), model.get(one.key));
        else if (one.kind === "list")
          assert.deepEqual([...(await storage.list(one.options))], listed(model, one.options));
        else if (one.kind === "wipe") {
          storage.deleteAll();
          model.clear();
        } else if (one.kind === "sync") await storage.sync();
        else if (one.kind === "reopen") {
          await host.close();
          host = await open(directory, 1_000);
          storage = host.state("a").storage;
        } else {
          const inside = new Map(model);
          await storage.transaction(async (txn) => {
            for (const inner of one.changes) {
              if (inner.kind === "put") txn.put(inner.key, JSON.parse(JSON.stringify(inner.value)));
              else assert.equal(await txn.delete(inner.key), inside.has(inner.key));
              applied(inside, inner);
            }
            assert.deepEqual([...(await txn.list(one.options))], listed(inside, one.options));
            if (!one.isKept) txn.rollback();
          });
          if (one.isKept) model = inside;
        }
      }
      assert.deepEqual([...(await storage.list())], listed(model, {}));
      await host.close();
    }),
    { numRuns: 40 },
  );
});
