/**
 * A draw through `kill -9`: during the prequeue, around the start, and after it. Everyone who got an answer is in the draw, the
 * draw is the one that was committed to, and visitors enter in its order, recomputed here from what is published.
 */
import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { test } from "node:test";
import { eventually, GIVE_UP_MS } from "../../src/testing/cli/eventually.ts";
import { Control, fairgate, ownFolder, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { readBoard } from "../../src/testing/cli/visitor.ts";
import { Asker, pause } from "./ask.ts";
import { Gate } from "./gate.ts";
import { drawnOrder, type Gathered, Gathering, sha256 } from "./gathering.ts";
import { GuestBook } from "./guest-book.ts";

const EVENT = "sale";
const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
/** A rate at which a few dozen take a few seconds, and no visitor is told to stay away for long. */
const PER_MINUTE = 600;
const AT_ONCE = 12;
/** Long enough for places to be on disk. */
const KEPT_MS = 300;
const CONNECTIONS_MAX = 64;
/** Before the event begins there is time to start the gateway this often. */
const STARTS_BEFORE = 4;
/** Earlier than anyone was told to be back. */
const BACK_AFTER_MS = 1_500;
/** The kill "at the start" comes up to this much before or after it. */
const AROUND_MS = 150;

test("a draw is the same through kill -9, whenever it comes", { concurrency: true }, async (t) => {
  await Promise.all([
    t.test(
      "everyone who gathered before kills in the prequeue and around the start is drawn, as promised",
      () => drawThrough({ startsInMs: 5_000, script: killedBeforeTheDraw }),
    ),
    t.test("after kills following the start, visitors enter in the order that was drawn", () =>
      drawThrough({ startsInMs: 3_000, script: killedAfterTheDraw }),
    ),
  ]);
});

interface Play {
  readonly gate: Gate;
  readonly gathering: Gathering;
  readonly startAt: number;
  /** Kills the gateway and starts it again. */
  readonly crash: () => Promise<void>;
  /** The same, but what happens during `meanwhile` never reaches the disk, as if the power had been cut. */
  readonly crashAfter: (meanwhile: () => Promise<unknown>) => Promise<void>;
}

async function killedBeforeTheDraw({ gathering, startAt, crash, crashAfter }: Play): Promise<void> {
  await gathering.join(AT_ONCE);
  await pause(KEPT_MS);
  await crashAfter(() => gathering.join(AT_ONCE));
  await gathering.join(AT_ONCE);
  await until(startAt + AROUND_MS * (2 * Math.random() - 1));
  await crash();
  await until(startAt);
  await gathering.join(AT_ONCE / 4);
  // Nobody has to be back at once, and a draw without them would be too early.
  await pause(BACK_AFTER_MS);
  await gathering.enter(gathering.all);
}

async function killedAfterTheDraw({ gate, gathering, startAt, crash }: Play): Promise<void> {
  await gathering.join(2 * AT_ONCE);
  await until(startAt);
  await eventually("it is drawn", async () => (await readBoard(gate.address)).draw?.seed !== null);
  await crash();
  const entering = gathering.enter([...gathering.all]);
  await gathering.join(AT_ONCE / 4);
  await pause(AROUND_MS);
  await crash();
  await entering;
  await gathering.enter(gathering.all.filter(({ visitor }) => visitor === null));
}

interface Plan {
  readonly startsInMs: number;
  readonly script: (play: Play) => Promise<void>;
}

async function drawThrough({ startsInMs, script }: Plan): Promise<void> {
  for (let inMs = startsInMs; !(await drawOnce({ startsInMs: inMs, script })); inMs *= 2)
    assert.ok(inMs < GIVE_UP_MS, "hardly anybody gathers in time, however late the start is");
}

/** False when the machine was suspended for so long that too few had gathered at the start. */
async function drawOnce({ startsInMs, script }: Plan): Promise<boolean> {
  using data = ownFolder();
  await using origin = await GuestBook.open();
  const room = { newUsersPerMinute: PER_MINUTE, sessionDuration: "5m" };
  await using gate = await Gate.make({ origin: origin.address, room, dataFolder: data.path });
  using asker = new Asker(gate.address, CONNECTIONS_MAX);
  const control = new Control(gate.controlAddress, TOKEN);
  using gathering = new Gathering(asker);
  const startedInMs = await gate.start();
  const now = Date.now();
  // Time for the kills before the start, on a machine as slow as this one is now.
  const startsIn = Math.max(startsInMs, STARTS_BEFORE * startedInMs);
  const startAt = Math.ceil((now + startsIn) / SECOND_MS) * SECOND_MS;
  const event = {
    name: EVENT,
    prequeueStartTime: instant(Math.floor(now / SECOND_MS) * SECOND_MS),
    eventStartTime: instant(startAt),
    eventEndTime: instant(startAt + HOUR_MS),
    shuffleAtEventStart: true,
  };
  const changed = await control.ask("PATCH", "/rooms/main", { events: [event] });
  assert.equal(changed.status, 200, changed.text);
  const boardHash = async () => (await readBoard(gate.address)).draw!.seedHash;
  const hash = await boardHash();
  const startAgain = async () => {
    await gate.start();
    assert.equal(await boardHash(), hash, "the same commitment in every life");
  };
  const crash = async () => {
    await gate.end("SIGKILL");
    await startAgain();
  };
  const crashAfter = async (meanwhile: () => Promise<unknown>) => {
    using asItWas = ownFolder();
    cpSync(data.path, asItWas.path, { recursive: true });
    await meanwhile();
    await gate.end("SIGKILL");
    rmSync(data.path, { recursive: true });
    cpSync(asItWas.path, data.path, { recursive: true });
    await startAgain();
  };
  await script({ gate, gathering, startAt, crash, crashAfter });
  if (gathering.all.filter(({ answeredAt }) => answeredAt < startAt).length < AT_ONCE) return false;

  const { text: record } = await control.ask("GET", `/rooms/main/draws/${EVENT}`);
  await checkDraw({ record, hash, startAt, gathering });
  return true;
}

/** Uses nothing of ours but what is published. */
async function checkDraw({
  record,
  hash,
  startAt,
  gathering,
}: {
  record: string;
  hash: string;
  startAt: number;
  gathering: Gathering;
}): Promise<void> {
  const seed = /^seed: ([0-9a-f]{64})$/m.exec(record)![1]!;
  assert.equal(sha256(seed), hash, "the seed is the one whose hash was there before the start");
  const ids = record.match(/^[0-9a-f]{32}$/gm)!;
  assert.deepEqual(drawnOrder(seed, ids), ids);

  const gathered = gathering.all.filter(({ answeredAt }) => answeredAt < startAt);
  const latecomers = gathering.all.filter(({ askedAt }) => askedAt >= startAt);
  assert.ok(latecomers.length > 0);
  const placeOf = new Map(ids.map((id, index) => [id, index + 1]));
  for (const guest of gathered) {
    const given = await gathering.receiptOf(guest);
    assert.ok(given, "somebody who gathered is not in the draw");
    const { ticket, ...receipt } = given;
    assert.equal(ticket, guest.visitor);
    assert.partialDeepStrictEqual(receipt, {
      place: placeOf.get(ticket),
      of: ids.length,
      seedHash: hash,
      seed,
    });
  }
  for (const guest of latecomers)
    assert.equal(placeOf.has(guest.visitor!), false, "a latecomer is not in it");
  const byPlace = gathered.toSorted((a, b) => placeOf.get(a.visitor!)! - placeOf.get(b.visitor!)!);
  assertInOrder([...byPlace, ...latecomers.toSorted((a, b) => a.answeredAt - b.answeredAt).slice(0, 1)]);
  for (const guest of latecomers) assertInOrder([byPlace.at(-1)!, guest]);

  using folder = ownFolder({ "draw.txt": record });
  const audit = await fairgate(["audit", "draw", "draw.txt", "--hash", hash], { cwd: folder.path });
  assert.equal(audit.code, 0, audit.out + audit.err);
}

async function until(at: number): Promise<void> {
  await pause(Math.max(0, at - Date.now()));
}

/** The time as settings have it, to the second. */
function instant(at: number): string {
  return new Date(at).toISOString().replace(".000", "");
}

/** The door runs a few times a second, and admits several in one step. */
function assertInOrder(guests: readonly Gathered[]): void {
  for (const [i, { admittedAt }] of guests.entries())
    assert.ok(i === 0 || admittedAt >= guests[i - 1]!.admittedAt, `the one at place ${i + 1} went too soon`);
}
