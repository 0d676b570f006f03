import assert from "node:assert/strict";
import { test } from "node:test";
import { DurableHost } from "../../durable/host.ts";
import type { KeyValues } from "../../durable/storage.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { MemoryDisk } from "../../testing/memory-disk.ts";
import { ASKED_DELAY_MAX_MS, type Attempted, Outbox, type OutboxParts, type OutboxRecord } from "./outbox.ts";

const PLAN = { firstMs: 1_000, mostMs: 60_000, attemptsMax: 5 };

/** Lets everything that is under way go on until nothing moves any more. */
async function quiet(): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await new Promise((resolve) => setImmediate(resolve));
}

interface Stage {
  readonly world: ReturnType<typeof handWorld>;
  readonly storage: KeyValues;
  /** Every attempt, with the instant after the start. */
  readonly attempts: { readonly id: string; readonly work: string; readonly atMs: number }[];
  readonly woken: number[];
  readonly buried: OutboxRecord<string>[];
  open(parts?: Partial<OutboxParts<string>>): Promise<Outbox<string>>;
  /** Lets time pass, and wakes the outbox as its owner's alarm would. */
  pass(outbox: Outbox<string>, ms: number): Promise<void>;
}

function stage(
  attempt: (record: OutboxRecord<string>) => Attempted<string> | Promise<Attempted<string>>,
): Stage {
  const world = handWorld({ dice: () => 1 });
  const startedAt = world.clock.now();
  const { storage } = new DurableHost(new MemoryDisk(), { world }).state("shop");
  const attempts: Stage["attempts"][number][] = [];
  const woken: number[] = [];
  const buried: OutboxRecord<string>[] = [];
  return {
    world,
    storage,
    attempts,
    woken,
    buried,
    open: (parts) =>
      Outbox.open<string>({
        storage,
        prefix: "outbox/",
        world,
        plan: PLAN,
        underWayMax: 2,
        waitingMax: 2_000,
        deadMax: 2,
        attempt: async (record) => {
          attempts.push({ id: record.id, work: record.work, atMs: world.clock.now() - startedAt });
          return attempt(record);
        },
        wakeAt: (at) => woken.push(at - startedAt),
        onDead: (record) => buried.push(record),
        ...parts,
      }),
    async pass(outbox, ms) {
      await quiet();
      for (let left = ms; left > 0; left -= 500) {
        world.pass(Math.min(500, left));
        outbox.run();
        await quiet();
      }
    },
  };
}

/** As an owner does it: in one write with the cause. */
async function add(outbox: Outbox<string>, storage: KeyValues, id: string, work: string): Promise<void> {
  const records = outbox.record(id, work);
  await storage.put({ cause: id, ...records });
  outbox.take(records);
  await quiet();
}

const stored = async (storage: KeyValues) => [
  ...(await storage.list<OutboxRecord<string>>({ prefix: "outbox/" })).values(),
];

test("what succeeds at once is sent once, and nothing of it stays", async () => {
  const { storage, attempts, open } = stage(() => ({ kind: "done" }));
  const outbox = await open();
  await add(outbox, storage, "a", "capture");
  assert.deepEqual(attempts, [{ id: "a", work: "capture", atMs: 0 }]);
  assert.deepEqual(await stored(storage), []);
  assert.deepEqual(outbox.counts, { waiting: 0, dead: 0 });
});

test("a record is stored with its cause before anything is sent", async () => {
  const { storage, attempts, open } = stage(() => ({ kind: "done" }));
  const outbox = await open();
  await storage.put({ order: 1, ...outbox.record("a", "capture") });
  await quiet();
  assert.deepEqual(attempts, []);
  assert.equal((await stored(storage))[0]!.work, "capture");
});

test("failures are tried again ever later, up to the longest delay, and then are given up", async () => {
  const { storage, attempts, open, pass, buried, world } = stage(() => ({
    kind: "again",
    problem: "HTTP 503",
  }));
  const outbox = await open({ plan: { ...PLAN, mostMs: 3_000 } });
  await add(outbox, storage, "a", "capture");
  await pass(outbox, 60_000);
  assert.deepEqual(
    attempts.map(({ atMs }) => atMs),
    [0, 1_000, 3_000, 6_000, 9_000],
  );
  assert.deepEqual(outbox.counts, { waiting: 0, dead: 1 });
  const [record] = await outbox.dead(10);
  assert.deepEqual(
    [record?.id, record?.attempts, record?.nextAt, record?.problem],
    ["a", 5, null, "HTTP 503"],
  );
  assert.deepEqual(buried, [record]);
  assert.deepEqual(
    world.logged.map(({ level, fields }) => [level, (fields as { code: string }).code]),
    [["error", "CALL_GIVEN_UP"]],
  );
});

test("delays have jitter: never less than half, never more than the whole", async () => {
  for (const [dice, expected] of [
    [0, 500],
    [0.5, 750],
    [1, 1_000],
  ] as const) {
    const { storage, woken, open } = stage(() => ({ kind: "again", problem: "away" }));
    const world = handWorld({ dice: () => dice });
    const outbox = await open({ world });
    await add(outbox, storage, "a", "x");
    assert.deepEqual(woken.slice(0, 1), [expected]);
  }
});

test("an attempt that rejects is tried again", async () => {
  let failures = 2;
  const { storage, attempts, open, pass } = stage(() => {
    if (failures-- > 0) throw new Error("connection reset");
    return { kind: "done" };
  });
  const outbox = await open();
  await add(outbox, storage, "a", "x");
  assert.equal((await stored(storage))[0]!.problem, "connection reset");
  await pass(outbox, 10_000);
  assert.equal(attempts.length, 3);
  assert.deepEqual(await stored(storage), []);
});

test("what is refused is not tried again", async () => {
  const { storage, attempts, open, pass } = stage(() => ({ kind: "refused", problem: "HTTP 400" }));
  const outbox = await open();
  await add(outbox, storage, "a", "x");
  await pass(outbox, 100_000);
  assert.equal(attempts.length, 1);
  assert.equal(outbox.counts.dead, 1);
});

test("the other side may ask for a later time, within a day", async () => {
  for (const [afterMs, expected] of [
    [10, 1_000],
    [7_000, 7_000],
    [ASKED_DELAY_MAX_MS * 9, ASKED_DELAY_MAX_MS],
  ] as const) {
    const { storage, woken, open } = stage(() => ({ kind: "again", problem: "HTTP 429", afterMs }));
    const outbox = await open();
    await add(outbox, storage, "a", "x");
    assert.deepEqual(woken.slice(0, 1), [expected]);
  }
});

test("an attempt may change with what it is tried again", async () => {
  const { storage, attempts, open, pass } = stage(({ work }) =>
    work === "xx" ? { kind: "done" } : { kind: "again", problem: "HTTP 500", work: `${work}x` },
  );
  const outbox = await open();
  await add(outbox, storage, "a", "x");
  await pass(outbox, 5_000);
  assert.deepEqual(
    attempts.map(({ work }) => work),
    ["x", "xx"],
  );
});

test("the same id is not sent twice, however often it is added while it waits", async () => {
  const { storage, attempts, open } = stage(() => ({ kind: "again", problem: "away" }));
  const outbox = await open();
  await add(outbox, storage, "a", "x");
  outbox.take(outbox.record("a", "x"));
  await quiet();
  assert.equal(attempts.length, 1);
  assert.equal(outbox.counts.waiting, 1);
});

test("only so many attempts are under way at a time, and the others follow", async () => {
  const ends: (() => void)[] = [];
  const { storage, attempts, open } = stage(
    () => new Promise((resolve) => ends.push(() => resolve({ kind: "done" }))),
  );
  const outbox = await open();
  for (const id of ["a", "b", "c", "d"]) await add(outbox, storage, id, "x");
  assert.equal(attempts.length, 2);
  outbox.run();
  await quiet();
  assert.equal(attempts.length, 2);
  ends.shift()!();
  await quiet();
  assert.equal(attempts.length, 3);
  for (const end of ends.splice(0)) end();
  await quiet();
  for (const end of ends.splice(0)) end();
  await quiet();
  assert.deepEqual(attempts.map(({ id }) => id).sort(), ["a", "b", "c", "d"]);
  assert.deepEqual(await stored(storage), []);
});

test("a crash loses nothing: what was due, under way or dead is there for the next owner", async () => {
  const { storage, attempts, open, pass } = stage(({ work }) => {
    if (work === "hangs") return new Promise(() => {});
    return { kind: work === "bad" ? "refused" : "again", problem: "no" };
  });
  const first = await open();
  await add(first, storage, "later", "x");
  await add(first, storage, "dead", "bad");
  await add(first, storage, "open", "hangs");
  attempts.length = 0;
  const second = await open({
    attempt: async ({ id, attempts: count }) => {
      attempts.push({ id, work: "", atMs: count });
      return { kind: "done" };
    },
  });
  assert.deepEqual(second.counts, { waiting: 2, dead: 1 });
  await pass(second, 10_000);
  // Which attempt it is: the one that hung was never counted.
  assert.deepEqual(attempts.map(({ id, atMs }) => `${id} ${atMs}`).sort(), ["later 2", "open 1"]);
  assert.deepEqual(
    (await second.dead(9)).map(({ id }) => id),
    ["dead"],
  );
});

test("a thousand records are read again page by page", async () => {
  const { storage, open } = stage(() => new Promise(() => {}));
  const first = await open({ underWayMax: 0 });
  for (let at = 0; at < 1_100; at += 100) {
    const records = Array.from({ length: 100 }, (_, i) => first.record(`id${at + i}`, "x"));
    await storage.put(Object.assign({}, ...records));
  }
  await storage.put({ outboy: 1, outbow: 1 });
  assert.equal((await open()).counts.waiting, 1_100);
});

test("a dead letter is sent again on request, from its first attempt", async () => {
  let isUp = false;
  const { storage, attempts, open } = stage(() =>
    isUp ? { kind: "done" } : { kind: "refused", problem: "HTTP 404" },
  );
  const outbox = await open();
  await add(outbox, storage, "a", "x");
  isUp = true;
  assert.equal(await outbox.again("b"), false);
  assert.equal(await outbox.again("a"), true);
  assert.equal(await outbox.again("a"), false);
  await quiet();
  assert.equal(attempts.length, 2);
  assert.deepEqual(await stored(storage), []);
  assert.deepEqual(outbox.counts, { waiting: 0, dead: 0 });
});

test("of too many dead letters the oldest is dropped, and the log says so", async () => {
  const { storage, open, world } = stage(() => ({ kind: "refused", problem: "HTTP 410" }));
  const outbox = await open();
  for (const id of ["a", "b", "c"]) {
    await add(outbox, storage, id, "x");
    world.pass(1_000);
  }
  assert.deepEqual(
    (await outbox.dead(9)).map(({ id }) => id),
    ["b", "c"],
  );
  assert.equal((await outbox.dead(1)).length, 1);
  assert.deepEqual(
    (await stored(storage)).map(({ id }) => id),
    ["b", "c"],
  );
  const dropped = world.logged.filter(({ fields }) => "code" in fields && fields.code === "CALL_DROPPED");
  assert.deepEqual(
    dropped.map(({ fields }) => (fields as unknown as { id: string }).id),
    ["a"],
  );
});

test("where too many wait, new ones are dead letters at once, and the log says how many", async () => {
  const { storage, attempts, open, world } = stage(() => ({ kind: "again", problem: "away" }));
  const outbox = await open({ waitingMax: 2, deadMax: 100 });
  for (const id of ["a", "b", "c", "d", "e"]) await add(outbox, storage, id, "x");
  assert.deepEqual(outbox.counts, { waiting: 2, dead: 3 });
  assert.deepEqual(
    attempts.map(({ id }) => id),
    ["a", "b"],
  );
  assert.equal((await outbox.dead(1))[0]!.problem, "too many are waiting");
  world.pass(1_000);
  await add(outbox, storage, "f", "x");
  assert.deepEqual(
    world.logged.map(({ fields }) => (fields as { count?: number }).count ?? 1),
    [1, 3],
  );
});

test("a closed outbox starts nothing more and waits for what is under way", async () => {
  let end = () => {};
  const { storage, attempts, open, pass } = stage(
    () =>
      new Promise((resolve) => {
        end = () => resolve({ kind: "again", problem: "away" });
      }),
  );
  const outbox = await open();
  await add(outbox, storage, "a", "x");
  const closed = outbox.close();
  end();
  await closed;
  await pass(outbox, 10_000);
  assert.equal(attempts.length, 1);
  assert.equal((await stored(storage))[0]!.attempts, 1);
});
