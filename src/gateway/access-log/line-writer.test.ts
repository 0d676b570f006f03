import assert from "node:assert/strict";
import { test } from "node:test";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import { LINE_BYTES_MAX, type LineBuffer } from "./line-buffer.ts";
import {
  BATCH_BYTES,
  BUFFERED_BYTES_MAX,
  CLOSE_WITHIN_MS,
  type Destination,
  GATHER_MS,
  LineWriter,
  type Output,
  RETRY_AFTER_MS,
} from "./line-writer.ts";

/** A disk moved by hand: files by name, and a write is done when the test says so. */
class HandDisk implements Destination {
  readonly name = "access.log";
  readonly hasOwnLog: boolean;
  /** What the name stands for now, and what was moved away. */
  files = [""];
  closed = 0;
  opens = 0;
  failsToOpen = false;
  writes: string[] = [];
  #done: ((error: Error | null, most?: number) => void) | null = null;

  constructor(hasOwnLog = false) {
    this.hasOwnLog = hasOwnLog;
  }

  async open(): Promise<Output> {
    this.opens++;
    if (this.failsToOpen) throw Object.assign(new Error("no permission"), { code: "EACCES" });
    const at = this.files.length - 1;
    return {
      identity: String(at),
      write: (bytes, done) => {
        assert.equal(this.#done, null, "one write at a time");
        this.#done = (error, most = bytes.length) => {
          const written = bytes.subarray(0, most);
          this.#done = null;
          this.files[at] += written.toString("latin1");
          this.writes.push(written.toString("latin1"));
          done(error, written.length);
        };
      },
      writeNow: (bytes) => {
        this.files[at] += bytes.toString("latin1");
      },
      close: () => void this.closed++,
    };
  }

  get isWriting(): boolean {
    return this.#done !== null;
  }

  /** Ends the write under way after at most this many bytes. */
  finish(error: Error | null = null, most?: number): void {
    assert.ok(this.#done, "nothing is being written");
    this.#done(error, most);
  }

  /** As logrotate does. */
  moveAway(): void {
    this.files.push("");
  }
}

const writeLine = (line: string, to: LineBuffer) => to.text(line);

async function stage(
  disk = new HandDisk(),
): Promise<{ disk: HandDisk; world: HandWorld; writer: LineWriter<string> }> {
  const world = handWorld();
  return { disk, world, writer: await LineWriter.open({ destination: disk, writeLine, world }) };
}

const FULL = Object.assign(new Error("no space left"), { code: "ENOSPC" });
/** Lets what was promised come to be. */
const settle = () => new Promise((resolve) => setImmediate(resolve));
const line = (n: number) => `line ${String(n).padStart(6, "0")} ${"x".repeat(50)}\n`;

test("lines are written together: after a moment, or when there are enough of them", async () => {
  const { disk, world, writer } = await stage();
  for (let n = 0; n < 3; n++) writer.add(line(n));
  assert.equal(disk.isWriting, false);
  world.pass(GATHER_MS);
  disk.finish();
  assert.deepEqual(disk.writes, [line(0) + line(1) + line(2)]);
  let n = 0;
  while (!disk.isWriting) writer.add(line(n++));
  const bytes = n * line(0).length;
  assert.ok(bytes > BATCH_BYTES - LINE_BYTES_MAX && bytes <= BATCH_BYTES, `${bytes}`);
});

test("what comes during a write has its own moment to gather", async () => {
  const { disk, world, writer } = await stage();
  writer.add(line(0));
  world.pass(GATHER_MS);
  writer.add(line(1));
  disk.finish();
  assert.equal(disk.isWriting, false);
  world.pass(GATHER_MS);
  disk.finish();
  assert.deepEqual(disk.writes, [line(0), line(1)]);
});

test("a disk that takes its time costs lines beyond the limit, and the log counts them", async () => {
  const { disk, world, writer } = await stage();
  // The last one is taken while the longest line would still fit.
  const kept = Math.floor((BUFFERED_BYTES_MAX - LINE_BYTES_MAX) / line(0).length) + 1;
  for (let n = 0; n < kept + 10; n++) writer.add(line(n));
  const told = () => world.logged.map(({ fields }) => (fields as { lines: number }).lines);
  assert.deepEqual(told(), [1]);
  while (disk.isWriting) disk.finish();
  world.pass(1_000);
  writer.add(line(kept + 10));
  world.pass(GATHER_MS);
  disk.finish();
  if (disk.isWriting) disk.finish();
  assert.deepEqual(told(), [1, 9]);
  const written = disk.files[0]!.split(/(?<=\n)/);
  assert.deepEqual(
    [written.length, written[kept - 1], written[kept]],
    [kept + 1, line(kept - 1), line(kept + 10)],
  );
});

test("where the log goes the same way, nothing is said until lines get through again", async () => {
  const { disk, world, writer } = await stage(new HandDisk(true));
  for (let n = 0; n <= BUFFERED_BYTES_MAX / line(0).length + 1; n++) writer.add(line(n));
  world.pass(5_000);
  assert.deepEqual(world.logged, []);
  disk.finish();
  assert.deepEqual(
    world.logged.map(({ level }) => level),
    ["warn"],
  );
});

test("after a rotation lines go to the new file: none is lost, none is in both", async () => {
  const { disk, world, writer } = await stage();
  writer.add(line(0));
  world.pass(GATHER_MS);
  writer.add(line(1));
  disk.moveAway();
  writer.reopen();
  await settle();
  writer.add(line(2));
  assert.equal(disk.closed, 0, "the file is not closed under a write");
  disk.finish();
  world.pass(GATHER_MS);
  disk.finish();
  assert.deepEqual(disk.files, [line(0), line(1) + line(2)]);
  assert.equal(disk.closed, 1);
});

test("a write that ends in the middle of a line goes on there", async () => {
  const { disk, world, writer } = await stage();
  writer.add(line(0));
  writer.add(line(1));
  world.pass(GATHER_MS);
  disk.finish(null, 70);
  disk.finish();
  assert.deepEqual(disk.files, [line(0) + line(1)]);
});

test("a full disk is told, tried again every few seconds, and the line it has half of is made whole", async () => {
  const { disk, world, writer } = await stage();
  writer.add(line(0));
  writer.add(line(1));
  world.pass(GATHER_MS);
  disk.finish(FULL, 70);
  assert.match(world.logged[0]!.message, /cannot be written/);
  world.pass(RETRY_AFTER_MS - 1);
  assert.equal(disk.opens, 1);
  world.pass(1);
  await settle();
  disk.finish();
  assert.deepEqual(disk.files, [line(0) + line(1)]);
});

test("a line of which the former file has the beginning does not go on in the next one, and is counted", async () => {
  const { disk, world, writer } = await stage();
  writer.add(line(0));
  writer.add(line(1));
  writer.add(line(2));
  world.pass(GATHER_MS);
  disk.finish(FULL, 70);
  disk.moveAway();
  writer.reopen();
  await settle();
  disk.finish();
  assert.deepEqual(disk.files, [(line(0) + line(1)).slice(0, 70), line(2)]);
  const dropped = world.logged.filter(({ message }) => /dropped/.test(message));
  assert.deepEqual(
    dropped.map(({ fields }) => (fields as { lines: number }).lines),
    [1],
  );
});

test("while the file cannot be opened again the old one is used, and it is tried again", async () => {
  const { disk, world, writer } = await stage();
  disk.moveAway();
  disk.failsToOpen = true;
  writer.reopen();
  await settle();
  assert.match(world.logged[0]!.message, /cannot be opened again/);
  writer.add(line(0));
  world.pass(GATHER_MS);
  disk.finish();
  disk.failsToOpen = false;
  world.pass(RETRY_AFTER_MS);
  await settle();
  writer.add(line(1));
  world.pass(GATHER_MS);
  disk.finish();
  assert.deepEqual(disk.files, [line(0), line(1)]);
});

test("closing writes what was gathered, and does not wait for ever", async () => {
  const { disk, writer } = await stage();
  writer.add(line(0));
  const isClosed = writer.close();
  disk.finish();
  await isClosed;
  assert.deepEqual([disk.files, disk.closed], [[line(0)], 1]);

  const stuck = await stage();
  stuck.writer.add(line(0));
  const isOver = stuck.writer.close();
  stuck.world.pass(CLOSE_WITHIN_MS);
  await isOver;
  assert.match(stuck.world.logged[0]!.message, /before all of it was written/);
});

test("a process that ends at once still writes what was gathered", async () => {
  const { disk, world, writer } = await stage();
  writer.add(line(0));
  world.pass(GATHER_MS);
  writer.add(line(1));
  writer.writeNow();
  disk.finish();
  assert.deepEqual(disk.files[0]!.split(/(?<=\n)/).sort(), [line(0), line(1)]);
});
