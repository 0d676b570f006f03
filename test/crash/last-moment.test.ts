/**
 * A place that is given in the last moment of a life: its ticket is the only proof of it, and its holder comes back when told.
 * Until then nobody who joined after them is admitted, however often the gateway is killed meanwhile.
 */
import assert from "node:assert/strict";
import { cpSync, rmSync } from "node:fs";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { Control, ownFolder, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { type Answer, Asker, pause } from "./ask.ts";
import { Gate } from "./gate.ts";

/** Long enough for a place to be on disk, if the gateway has answered something since. */
const KEPT_MS = 500;
/** The disk of a busy machine may take longer than the gateway waits for it. */
const UNAVAILABLE = 503;
const SLOTS = 4;
const WAITING_BEFORE = 3;

test("nobody overtakes a visitor whose place never reached the disk", { concurrency: true }, async (t) => {
  await Promise.all([
    t.test("until its holder was told to be back", () => joinAtTheLastMoment(1)),
    t.test("when the gateway is killed once more before that", () => joinAtTheLastMoment(2)),
  ]);
});

/** Somebody joins in the last moment of a life and comes back when told, after this many more kills. */
async function joinAtTheLastMoment(kills: number): Promise<void> {
  using data = ownFolder();
  using asItWas = ownFolder();
  await using origin = await TestOrigin.open();
  // Sessions of this length make the waits long and check-ins rare, and several slots make each wait little longer than the last.
  const room = { totalActiveUsers: SLOTS, sessionDuration: "15s", claimWindow: "1m" };
  await using gate = await Gate.make({ origin: origin.address, room, dataFolder: data.path });
  using asker = new Asker(gate.address, 4);
  const post = (endpoint: string, cookie = "") =>
    eventually("the line is reached", async () => {
      const path = `/.fairgate/main/${endpoint}`;
      const answer = await asker.ask({ method: "POST", path, headers: cookie ? { cookie } : {} });
      assert.ok(answer, gate.printed);
      return answer.status !== UNAVAILABLE && answer;
    });
  await gate.start();
  const earlier: Answer[] = [];
  while (earlier.length < SLOTS + WAITING_BEFORE) earlier.push(await post("join"));
  const control = new Control(gate.controlAddress, TOKEN);
  // A change makes the waits anew, so this visitor is told about the same as the one who comes next.
  assert.equal((await control.ask("PATCH", "/rooms/main", { message: "Kept." })).status, 200);
  earlier.push(await post("join"));
  await pause(KEPT_MS);
  cpSync(data.path, asItWas.path, { recursive: true });
  const first = await post("join");
  const [before, now] = [earlier.at(-1)!, first].map(({ json }) => json.nextCheckInMs as number);
  assert.ok(now! < 2 * before!, "a place told for much longer than any before is on disk before it is told");
  await gate.end("SIGKILL");
  // Simulates a power cut: a place that was told a moment ago is not on the disk.
  rmSync(data.path, { recursive: true });
  cpSync(asItWas.path, data.path, { recursive: true });
  await gate.start();
  const second = await post("join");
  const told = [...earlier, first, second].map(({ json }) => json.status);
  assert.deepEqual(new Set(told.slice(0, SLOTS)), new Set(["entered"]));
  assert.deepEqual(new Set(told.slice(SLOTS)), new Set(["waiting"]));
  for (let more = 1; more < kills; more++) {
    await pause(KEPT_MS);
    await gate.end("SIGKILL");
    await gate.start();
  }
  assert.equal((await control.ask("PATCH", "/rooms/main", { totalActiveUsers: 100 })).status, 200);

  const comesBackAt = first.at + (first.json.nextCheckInMs as number);
  /** When the visitor got in; they ask until then. */
  const enters = ({ cookie }: Answer) =>
    eventually("there is room, and they are let in", async () => {
      const { at, json } = await post("enter", cookie!);
      return json.status === "entered" && at;
    });
  const secondIn = enters(second);
  await pause(Math.max(0, comesBackAt - Date.now()));
  await enters(first);
  const soonerMs = comesBackAt - (await secondIn);
  assert.ok(soonerMs <= 0, `overtaken ${soonerMs} ms before the first was told to be back`);
}
