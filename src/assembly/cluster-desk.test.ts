import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import type { Settings } from "../config/schema.ts";
import type { NodeStatus } from "../engines/cluster/node-status.ts";
import { handWorld } from "../sim/hand-world.ts";
import { NodeDesk } from "./cluster-desk.ts";
import { SETTINGS_NOTE, type SettingsNote } from "./cluster-notes.ts";

const LONG_MS = 1_000;
const self = {
  number: 0,
  name: "gate-1",
  life: 1,
  address: "127.0.0.1:7100",
  is: "alive" as const,
  clockWrongMs: null,
};
const ALONE = { version: 1, number: 64, members: [self], lost: [], isMajority: true };

function settings(cluster: object = {}, room: object = {}) {
  const result = settingsFrom(
    { rooms: { main: { totalActiveUsers: 5, ...room } }, cluster },
    {
      environment: { FAIRGATE_SECRET: "a-secret-for-tests-only-0123456789" },
      readFile: () => "",
      needsOrigin: false,
    },
  );
  assert.ok(result.ok);
  return result.settings as Settings & { cluster: NonNullable<Settings["cluster"]> };
}

function stage() {
  const world = handWorld();
  const kept = new Map<string, unknown>();
  const counted: boolean[] = [];
  let status: NodeStatus = {
    ...{ name: "gate-1", life: 1, number: null, view: null, isRoot: false, root: null, pointer: null },
    ...{ isSettled: true, rounds: 0, problem: null, isGone: false, rooms: {}, counts: {} },
  };
  const engine = {
    status: (isCounted: boolean) => {
      counted.push(isCounted);
      return status;
    },
    forget: () => false,
    keep: (name: string, value: unknown) => void kept.set(name, value),
    kept: () => kept,
  };
  const transport = { address: "127.0.0.1:7100", peers: () => [] };
  const desk = new NodeDesk({ settings: settings(), engine, transport, world });
  const note = () => kept.get(`${SETTINGS_NOTE}gate-1`) as SettingsNote;
  const become = (change: Partial<NodeStatus>) => {
    status = { ...status, ...change };
    world.pass(LONG_MS);
  };
  return { desk, world, note, become, counted };
}

test("a node has joined once it has a view, and not before", async () => {
  const { desk, become } = stage();
  become({});
  assert.equal(desk.isJoined, false);
  become({ view: ALONE });
  assert.equal(desk.isJoined, true);
  await desk.joined;
});

test("a node whose name another has taken cannot go on; one that had to wait can", async () => {
  const { desk, become } = stage();
  become({ view: ALONE, problem: "1 of 3 nodes are there" });
  const soon = new Promise((resolve) => setImmediate(resolve, "nothing"));
  assert.equal(await Promise.race([desk.broken, soon]), "nothing");
  become({ problem: 'another node called "gate-1" has joined in place of this one' });
  assert.match((await desk.broken).message, /another node called "gate-1"/);
});

test("the note of a node follows its settings, but for what is taken at the start", () => {
  const { desk, note } = stage();
  const before = note();
  desk.note(settings({ reclaimAfter: "1h" }, { message: "New" }));
  assert.notEqual(note().rooms, before.rooms);
  assert.deepEqual([note().secret, note().timing], [before.secret, before.timing]);
});

test("every place is looked at only when somebody wants to see it", () => {
  const { desk, become, counted } = stage();
  become({ view: ALONE });
  assert.ok(counted.length > 1 && counted.every((isCounted) => !isCounted));
  desk.report();
  assert.equal(counted.at(-1), true);
});

test("a closed desk looks no more", () => {
  const { desk, become, counted } = stage();
  desk.close();
  const looks = counted.length;
  become({ view: ALONE });
  assert.equal(counted.length, looks);
});
