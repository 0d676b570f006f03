/**
 * The data folder does not have what was written. A torn end of the log is what a power cut leaves: it is dropped, and everything
 * acknowledged is there. With a damaged database the gateway does not start, and says which file is damaged and what to do.
 */
import assert from "node:assert/strict";
import {
  appendFileSync,
  closeSync,
  cpSync,
  openSync,
  readFileSync,
  statSync,
  truncateSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { GIVE_UP_MS } from "../../src/testing/cli/eventually.ts";
import { ownFolder } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { Gate } from "./gate.ts";
import { PatientVisitor } from "./patient-visitor.ts";

const DATABASE = "objects.db";
const LOG = "objects.db-wal";
const PAGE_BYTES = 4_096;
const TORN_BYTES = 3_000;
const ROOM = { totalActiveUsers: 100, sessionDuration: "1h" };
const VISITORS = 20;

/** A gateway with its own data folder; every second of its visitors has left. */
async function scene() {
  await using parts = new AsyncDisposableStack();
  const data = parts.use(ownFolder());
  const origin = parts.use(await TestOrigin.open());
  const gate = parts.use(await Gate.make({ origin: origin.address, room: ROOM, dataFolder: data.path }));
  await gate.start();
  const arriving = Array.from({ length: VISITORS }, () => PatientVisitor.arrive(gate.address));
  const visitors = await Promise.all(arriving);
  const passes = visitors.map(({ cookie }) => cookie);
  const isHere = (i: number) => i % 2 === 0;
  for (const [i, visitor] of visitors.entries()) if (!isHere(i)) await visitor.leave();
  const whole = parts.move();
  return {
    gate,
    origin: origin.address,
    file: (name: string) => join(data.path, name),
    folder: data.path,
    /** Everything acknowledged is there. */
    async checkAll() {
      for (const [i, cookie] of passes.entries()) {
        const visitor = new PatientVisitor(gate.address);
        visitor.cookie = cookie;
        assert.equal((await visitor.call("check-in")).status, isHere(i) ? "entered" : "refused");
      }
    },
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

/** Starts a gateway that must fail to start; returns all that it printed. */
async function refusal(gate: Gate): Promise<string> {
  const child = gate.spawn();
  const tooLate = setTimeout(() => child.kill("SIGKILL"), GIVE_UP_MS);
  const { code, signal } = await child.ended;
  clearTimeout(tooLate);
  const printed = child.out + child.err;
  assert.ok(signal === null && code !== 0, `it should end with a code of its own, not ${code} ${signal}`);
  assert.doesNotMatch(printed, /^\s+at .*:\d+:\d+\)?$/m, "words for people, no stack");
  return printed;
}

test("a torn end of the log is dropped, and all that was acknowledged is there", async () => {
  await using stage = await scene();
  await stage.gate.end("SIGKILL");
  appendFileSync(stage.file(LOG), Buffer.alloc(TORN_BYTES, 0x5a));
  await stage.gate.start();
  await stage.checkAll();
});

test("a log that lost its end costs only what was in that end", async () => {
  await using stage = await scene();
  const before = readFileSync(stage.file(LOG));
  const late = await PatientVisitor.arrive(stage.gate.address);
  assert.equal(late.standing.isIn, true);
  await stage.gate.end("SIGKILL");
  const after = readFileSync(stage.file(LOG));
  // The log file may be longer than its content, and is written from its start again now and then.
  const isNew = (byte: number, at: number) => byte !== before[at];
  const [from, to] = [after.findIndex(isNew), after.findLastIndex(isNew)];
  assert.ok(from >= 0, "the pass was written to the log");
  truncateSync(stage.file(LOG), Math.floor((from + to) / 2));
  await stage.gate.start();
  await stage.checkAll();
});

/** Damages a copy of a good store; its database must then be refused with its name and what to do. */
async function refuseDamaged(
  { folder, origin }: { folder: string; origin: string },
  damage: (database: string) => void,
): Promise<void> {
  using data = ownFolder();
  cpSync(folder, data.path, { recursive: true });
  const database = join(data.path, DATABASE);
  damage(database);
  await using gate = await Gate.make({ origin, room: ROOM, dataFolder: data.path });
  const printed = await refusal(gate);
  assert.ok(printed.includes(database), printed);
  assert.match(printed, /move|restore/i);
}

test("a damaged database is refused, with its name and what to do", async (t) => {
  await using stage = await scene();
  await stage.gate.end("SIGTERM");
  for (const bytes of [0, 50, PAGE_BYTES + 100])
    await t.test(`cut off after ${bytes} bytes`, () =>
      refuseDamaged(stage, (database) => truncateSync(database, bytes)),
    );
  for (const at of [0, PAGE_BYTES])
    await t.test(`overwritten from byte ${at} on`, () =>
      refuseDamaged(stage, (database) => overwrite(database, at)),
    );
  await stage.gate.start();
  await stage.checkAll();
});

/** Writes over a part of each page. */
function overwrite(database: string, from: number): void {
  const descriptor = openSync(database, "r+");
  for (let page = from; page < statSync(database).size; page += PAGE_BYTES)
    writeSync(descriptor, Buffer.alloc(500, 0x5a), 0, 500, page);
  closeSync(descriptor);
}

test("a second process on the same folder is refused, and the first goes on", async () => {
  await using stage = await scene();
  await using origin = await TestOrigin.open();
  await using second = await Gate.make({ origin: origin.address, room: ROOM, dataFolder: stage.folder });
  const printed = await refusal(second);
  assert.ok(printed.includes(stage.folder), printed);
  assert.match(printed, /in use/);
  await stage.checkAll();
});
