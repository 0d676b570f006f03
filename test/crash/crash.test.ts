/** kill -9 at any instant, any number of times: with a data folder nobody loses anything. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, GIVE_UP_MS } from "../../src/testing/cli/eventually.ts";
import { Control, ownFolder, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { proves } from "../../src/testing/requirements/proves.ts";
import { Gate } from "./gate.ts";
import { PatientVisitor } from "./patient-visitor.ts";
import { play } from "./play.ts";

const KILLS = 6;
const LIFE_MS = { low: 100, high: 2_500 };
const CROWD = { arrivalsPerSecond: 20, atOnceMax: 60 };
const WAITING_MIN = 10;

test(proves(["dp6"], "a crowd notices six kills only by the time they take"), async (t) => {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  const outcome = await play({
    kills: KILLS,
    seed,
    lifeMs: LIFE_MS,
    // However slow the machine is: many wait at the first kill, and many have been in at the end.
    isRipe: ({ kills, books }) => {
      if (kills === 0) return books.waiting >= WAITING_MIN;
      return kills < KILLS || books.passes > 2 * books.capacity;
    },
    ...CROWD,
    drainMs: GIVE_UP_MS,
    keepsData: true,
  });
  const { violations, failures, restartsMs, ...numbers } = outcome;
  t.diagnostic(JSON.stringify(numbers));
  assert.deepEqual(violations, []);
  assert.deepEqual(failures, []);
  assert.equal(numbers.tau, 0);
  assert.equal(numbers.placesKept, numbers.placesAtStake);
  assert.ok(numbers.highestAtOrigin <= numbers.capacity, "by the site's own book");
  assert.ok(numbers.kills >= KILLS && numbers.placesAtStake > 0 && numbers.passes > 2 * numbers.capacity);
});

test("each thing that was acknowledged is there after kill -9", async () => {
  using data = ownFolder();
  await using origin = await TestOrigin.open();
  const room = { totalActiveUsers: 3, sessionDuration: "5m" };
  await using gate = await Gate.make({ origin: origin.address, room, dataFolder: data.path });
  const control = new Control(gate.controlAddress, TOKEN);
  await gate.start();
  const comes = async () => PatientVisitor.arrive(gate.address);
  const [stays, leaves, revoked, waits, gaveUp] = [
    await comes(),
    await comes(),
    await comes(),
    await comes(),
    await comes(),
  ];
  assert.deepEqual(
    [stays, leaves, revoked, waits, gaveUp].map(({ standing }) => standing.isIn),
    [true, true, true, false, false],
  );
  const old = { left: leaves.cookie, revoked: revoked.cookie, gaveUp: gaveUp.cookie, waited: waits.cookie };
  assert.equal((await control.ask("PATCH", "/rooms/main", { message: "Back soon." })).status, 200);
  assert.equal((await control.ask("POST", "/rooms/main/pause", {})).status, 200);
  await gaveUp.leave();
  await leaves.leave();
  const id = origin.arrived[2]!.headers["fairgate-visitor"];
  assert.equal((await control.ask("DELETE", `/rooms/main/sessions/${id}`)).status, 204);
  const { body: key } = await control.ask<{ id: string }>("POST", "/keys/rotate");
  await gate.end("SIGKILL");

  await gate.start();
  assert.equal((await control.counts()).onSite, 1);
  assert.equal(await stays.isIn(), true, "a pass is good, though signed with the key before");
  const check = async (cookie: string, endpoint: string) => {
    const visitor = new PatientVisitor(gate.address);
    visitor.cookie = cookie;
    return (await visitor.call(endpoint)).status;
  };
  assert.equal(await check(old.left, "check-in"), "refused", "the pass of one who left");
  assert.equal(await check(old.revoked, "check-in"), "refused", "a revoked pass");
  assert.equal(await check(old.gaveUp, "enter"), "refused", "the ticket of one who gave up");
  const keys = await control.ask<{ keys: { id: string; isSigning: boolean }[] }>("GET", "/keys");
  assert.equal(keys.body.keys.find(({ isSigning }) => isSigning)?.id, key.id);
  const { settings } = (await control.ask<{ settings: object }>("GET", "/rooms/main")).body;
  assert.partialDeepStrictEqual(settings, { paused: true, message: "Back soon." });
  assert.equal(await waits.isIn(), false, "the room is paused, though there is room");
  assert.equal((await comes()).standing.isIn, false);

  assert.equal((await control.ask("POST", "/rooms/main/open", {})).status, 200);
  await eventually("the one who waits goes in", () => waits.isIn());
  assert.equal(await check(old.waited, "enter"), "entered", "again by the same ticket: the same visit");
  await waits.leave();
  await gate.end("SIGKILL");
  await gate.start();
  assert.equal(await check(old.waited, "enter"), "refused", "its visit is over");
});
