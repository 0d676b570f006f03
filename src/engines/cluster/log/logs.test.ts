import assert from "node:assert/strict";
import { test } from "node:test";
import { type Entry, OP } from "./entries.ts";
import { BLOCK_ENTRIES_MAX, type Block, blockOf, entriesIn } from "./entry-blocks.ts";
import { type EntriesBody, OwnerLog, Reader } from "./logs.ts";

const noted = (key: number): Entry => [OP.yield, key];
const never = (): never => assert.fail("no copy is needed");

function logOf(entries: number): OwnerLog {
  const log = new OwnerLog("a#1", 1);
  for (let i = 0; i < entries; i++) log.add({ room: "r", entry: noted(i) });
  return log;
}

/** The keys that a message brings. */
function keysIn(body: { readonly blocks: readonly Block[] } | null): number[] {
  return (body?.blocks ?? []).flatMap((block) => entriesIn(block)!.map(({ entry }) => Number(entry[1])));
}

test("a reader gets everything in order, and nothing twice while it acknowledges", () => {
  const [log, reader] = [logOf(3), new Reader()];
  const first = reader.take(log, 0, never)!;
  assert.deepEqual([first.from, keysIn(first)], [0, [0, 1, 2]]);
  assert.equal(reader.isDue(log, 10), false);
  reader.hear(3, 0, 10);
  log.add({ room: "r", entry: noted(3) });
  assert.equal(reader.isDue(log, 20), true);
  const second = reader.take(log, 20, never)!;
  assert.deepEqual([second.from, keysIn(second)], [3, [3]]);
  reader.hear(4, 0, 30);
  assert.equal(reader.nextAt(log), Number.POSITIVE_INFINITY);
});

test("unacknowledged entries are sent again, however much is written meanwhile", () => {
  const [log, reader] = [logOf(1), new Reader()];
  reader.take(log, 0, never);
  const brought: number[][] = [];
  for (let now = 50; now <= 300; now += 50) {
    log.add({ room: "r", entry: noted(now) });
    if (reader.isDue(log, now)) brought.push(keysIn(reader.take(log, now, never)));
  }
  assert.deepEqual(brought.slice(0, 2), [[50], [100]], "only what is new");
  assert.ok(
    brought.some((keys) => keys[0] === 0),
    "the first was lost, and comes again",
  );
});

test("a reader that makes progress is not sent again what is on its way", () => {
  const [log, reader] = [logOf(1), new Reader()];
  reader.take(log, 0, never);
  log.add({ room: "r", entry: noted(1) });
  reader.take(log, 200, never);
  reader.hear(1, 0, 240);
  assert.equal(reader.isDue(log, 260), false);
  assert.equal(reader.isDue(log, 490), true, "until it has not got on for a while");
  assert.deepEqual(keysIn(reader.take(log, 490, never)), [1]);
});

test("an old acknowledgement does not send a reader back", () => {
  const [log, reader] = [logOf(4), new Reader()];
  log.bind();
  log.add({ room: "r", entry: noted(4) });
  reader.hear(4, 0, 0);
  reader.hear(2, 0, 1);
  assert.deepEqual(keysIn(reader.take(log, 2, never)), [4]);
});

test("a message holds a limited number of entries, and the rest follows", () => {
  const [log, reader] = [logOf(BLOCK_ENTRIES_MAX + 5), new Reader()];
  assert.equal(keysIn(reader.take(log, 0, never)).length, BLOCK_ENTRIES_MAX);
  assert.equal(reader.isDue(log, 0), true);
  assert.equal(keysIn(reader.take(log, 0, never)).length, 5);
});

test("a log keeps the last entries, and says so when older ones are asked for", () => {
  const log = logOf(44_001);
  assert.equal(log.after(0), null);
  assert.equal(log.after(-1), null);
  assert.deepEqual(keysIn(log.after(44_000)), [44_000]);
  assert.ok(keysIn(log.after(24_001)).includes(24_001));
  log.drop();
  assert.equal(log.head, 44_001);
  assert.equal(log.after(44_000), null);
  assert.deepEqual(log.after(44_001), { from: 44_001, blocks: [] });
});

test("blocks of another owner are kept as they came, and without gaps", () => {
  const log = new OwnerLog("b#1", 2);
  const blocks = [0, 1, 2].map((n) =>
    blockOf([n, n + 0.5].map((key) => ({ room: "r", entry: noted(2 * key) }))),
  );
  log.head = 2;
  log.keep(0, blocks[0]!);
  log.keep(4, blocks[2]!);
  assert.equal(log.end, 2, "what comes after a gap is not kept");
  log.head = 5;
  log.keep(2, blocks[1]!);
  log.keep(2, blocks[1]!);
  assert.equal(log.end, 4, "nobody can be given what is half read");
  assert.deepEqual(log.after(3), { from: 2, blocks: [blocks[1]] });
  assert.equal(log.after(0)!.blocks[0], blocks[0], "the very same");
});

test("an entry that readers may have to wait for begins a block", () => {
  const log = logOf(2);
  log.add({ room: "r", entry: [OP.pool, 1, "sale", []] });
  log.add({ room: "r", entry: [OP.wait, 3, 0, 0, ""] });
  assert.deepEqual(
    log.after(0)!.blocks.map(([count]) => count),
    [2, 2],
  );
});

/** A copy in that many parts. */
function copyOf(log: OwnerLog, parts: number): EntriesBody[] {
  return Array.from({ length: parts }, (_, part) => ({
    ...{ kind: "entries", log: log.id, from: log.head, blocks: [], isUrgent: true },
    copy: { part, parts, totals: [] },
  }));
}

test("a reader that is too far behind gets a copy, each part after the one before it was acknowledged", () => {
  const log = logOf(10);
  log.startAt(10);
  const reader = new Reader(3);
  const part = (now: number) => reader.take(log, now, () => copyOf(log, 3))?.copy?.part;
  assert.equal(part(0), 0);
  assert.equal(part(200), undefined);
  reader.hear(3, 1, 210);
  assert.equal(part(210), 1);
  assert.equal(part(300), undefined);
  assert.equal(part(460), 1, "lost, and sent again");
  reader.hear(3, 2, 470);
  assert.equal(part(470), 2);
  log.add({ room: "r", entry: noted(10) });
  reader.hear(10, 0, 480);
  assert.deepEqual(keysIn(reader.take(log, 480, never)), [10]);
});

test("a reader that wants everything again gets a copy, once", () => {
  const [log, reader] = [logOf(3), new Reader(3)];
  reader.startOver();
  assert.equal(reader.isDue(log, 0), true);
  assert.equal(reader.take(log, 0, () => copyOf(log, 1))?.copy?.part, 0);
  reader.startOver();
  reader.hear(3, 0, 10);
  assert.equal(reader.nextAt(log), Number.POSITIVE_INFINITY);
});
