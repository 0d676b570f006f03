import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import type { Settings } from "../config/schema.ts";
import { handWorld } from "../sim/hand-world.ts";
import { changeRoom, inForce, plainBuilding } from "../testing/plain-building.ts";
import { ClusterData, type ClusterNotes } from "./cluster-data.ts";
import { RoomChanges } from "./kept-changes.ts";

/** Notes shared by two nodes; the writer is notified too. */
function sharedNotes(): ClusterNotes {
  const kept = new Map<string, unknown>();
  const listeners = new Set<(name: string) => void>();
  return {
    keep: (name, value) => {
      kept.set(name, structuredClone(value));
      for (const listener of [...listeners]) listener(name);
    },
    kept: () => kept,
    onKept: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

function settings(room: object = {}): Settings {
  const result = settingsFrom(
    { rooms: { main: { totalActiveUsers: 5, ...room } } },
    {
      environment: { FAIRGATE_SECRET: "a-secret-for-tests-only-0123456789" },
      readFile: () => "",
      needsOrigin: false,
    },
  );
  assert.ok(result.ok);
  return result.settings;
}

function twoNodes() {
  const notes = sharedNotes();
  const world = handWorld();
  const [one, other] = [new ClusterData({ notes, world }), new ClusterData({ notes, world })];
  let heard = 0;
  other.onChange(() => heard++);
  return { notes, world, one, other, heard: () => heard };
}

test("a change made at one node holds at another, and later ones are put on top", async () => {
  const { one, other, heard, world } = twoNodes();
  const file = settings();
  await changeRoom(one.changes, { file, world, change: { totalActiveUsers: 9, page: { title: "A" } } });
  await changeRoom(other.changes, { file, world, change: { message: "Hello" } });
  await changeRoom(one.changes, { file, world, change: { page: { colour: "#112233" } } });
  const { main } = (await inForce(other.changes, file, world)).rooms;
  assert.deepEqual(
    [main?.totalActiveUsers, main?.message, main?.page.title, main?.page.colour],
    [9, "Hello", "A", "#112233"],
  );
  assert.equal(heard(), 2, "of what others kept, not of its own");
});

test("a change does not hold where the file says something else of the room, and the log says so", async () => {
  const { one, other, world } = twoNodes();
  await changeRoom(one.changes, { file: settings(), world, change: { totalActiveUsers: 9 } });
  const changed = await inForce(other.changes, settings({ message: "New" }), world);
  assert.equal(changed.rooms.main?.totalActiveUsers, 5);
  assert.match(world.logged.at(-1)!.message, /cannot be used here/);
});

test("changes that are forgotten are gone, without the others dropping theirs at once", async () => {
  const { one, other, heard, world } = twoNodes();
  await changeRoom(one.changes, { file: settings(), world, change: { totalActiveUsers: 9 } });
  await one.changes.forget();
  assert.equal((await inForce(other.changes, settings(), world)).rooms.main?.totalActiveUsers, 5);
  assert.equal(heard(), 1);
});

test("a ring that was turned at one node is turned at another", async () => {
  const { one, other, heard } = twoNodes();
  assert.equal(await other.ring(), undefined);
  const memo = { name: 7, generation: 3, retired: [[1, 2]] as const };
  await one.keepRing(memo);
  assert.deepEqual(await other.ring(), memo);
  assert.equal(heard(), 1);
});

test("what a node of another version keeps is passed over", async () => {
  const { notes, other, heard, world } = twoNodes();
  notes.keep("change/main", "a text");
  notes.keep("change/other", { file: 5 });
  notes.keep("ring", { generation: "x" });
  notes.keep("something-else", 1);
  assert.equal((await inForce(other.changes, settings(), world)).rooms.main?.totalActiveUsers, 5);
  assert.equal(await other.ring(), undefined);
  assert.equal(heard(), 3);
});

test("a change that is too long to be told to everyone is refused with what to do", async () => {
  const { one, notes, world } = twoNodes();
  const file = settings();
  const change = { page: { customPageHtml: "x".repeat(70_000) } };
  const changes = new RoomChanges({ store: one.changes, world, checkPage: () => null });
  const answer = await changes.make({ file, inForce: file, room: "main", change }, plainBuilding);
  assert.ok(!answer.ok);
  assert.match(JSON.stringify(answer.problems), /settings file/);
  assert.equal(notes.kept().size, 0);
});

test("what is kept of a long page in the file is short", async () => {
  const { one, other, notes, world } = twoNodes();
  const file = settings({ page: { customPageHtml: "y".repeat(70_000) } });
  await changeRoom(one.changes, { file, world, change: { totalActiveUsers: 9 } });
  assert.ok(JSON.stringify([...notes.kept()]).length < 1_000);
  assert.equal((await inForce(other.changes, file, world)).rooms.main?.totalActiveUsers, 9);
});

test("a closed one hears of nothing more", async () => {
  const { one, other, heard } = twoNodes();
  await other.close();
  await one.keepRing({ name: 1, generation: 1, retired: [] });
  assert.equal(heard(), 0);
});
