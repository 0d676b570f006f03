import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import type { RoomInput, Settings } from "../config/schema.ts";
import { writtenRoom } from "../config/written.ts";
import { checkTemplate } from "../gateway/page/render.ts";
import { NotKept } from "../office/desk.ts";
import { handWorld } from "../sim/hand-world.ts";
import { plainBuilding } from "../testing/plain-building.ts";
import type { ChangeStore } from "./change-store.ts";
import { openData } from "./data.ts";
import { type Building, NotInForce, RoomChanges } from "./kept-changes.ts";

const BAD_PAGE = "<h1>{{#nosuch}}</h1>";

function settings(rooms: Record<string, RoomInput> = {}): Settings {
  const result = settingsFrom(
    { rooms: { main: { totalActiveUsers: 10 }, other: { path: "/other", totalActiveUsers: 10 }, ...rooms } },
    {
      environment: { FAIRGATE_SECRET: "a-secret-for-tests-only-0123456789" },
      readFile: () => "",
      needsOrigin: false,
    },
  );
  assert.ok(result.ok, JSON.stringify(result));
  return result.settings;
}

interface Scene {
  readonly store: ChangeStore;
  readonly changes: RoomChanges;
  readonly world: ReturnType<typeof handWorld>;
  /** Texts as they are kept. */
  kept(): Promise<Record<string, unknown>>;
}

/** A store in memory; `isShared`: others read it too. */
async function scene({ isShared = false } = {}): Promise<Scene> {
  const world = handWorld();
  const store = { ...(await openData(null, world)).changes, isOwn: !isShared };
  const changes = new RoomChanges({ store, world, checkPage: checkTemplate });
  const kept = async () => {
    const texts = [...(await store.read())!].map(([room, text]) => [room, JSON.parse(text).change]);
    return Object.fromEntries(texts);
  };
  return { store, changes, world, kept };
}

/** What a version without any checks would have kept. */
function poison(store: ChangeStore, room: string, change: unknown, file = settings()): Promise<boolean> {
  const words = JSON.stringify(writtenRoom(file.rooms[room]!));
  return store.replace(room, null, JSON.stringify({ file: words, change }));
}

interface Circumstances {
  readonly inForce?: Settings;
  readonly building?: Building<Settings>;
}

/** Makes a change to the room main. */
function make(
  { changes }: Pick<Scene, "changes">,
  change: unknown,
  { inForce = settings(), building = plainBuilding }: Circumstances = {},
) {
  return changes.make({ file: settings(), inForce, room: "main", change }, building);
}

test("a change with a page that cannot be used is refused with the reason, and nothing is kept", async () => {
  const one = await scene();
  const answer = await make(one, { paused: true, page: { customPageHtml: BAD_PAGE } });
  assert.ok(!answer.ok);
  assert.match(answer.problems[0]!.message, /page\.customPageHtml: line 1: .*nosuch/);
  assert.deepEqual(await one.kept(), {});
});

test("a room that passes the checks and cannot be built is refused with the reason", async () => {
  for (const building of [
    { ...plainBuilding, problemOf: () => "the room is too odd" },
    {
      ...plainBuilding,
      prepare: () => {
        throw new Error("the room is too odd");
      },
    },
  ]) {
    const one = await scene();
    const answer = await make(one, { paused: true }, { building });
    assert.deepEqual(!answer.ok && answer.problems[0]!.message, "the room is too odd");
    assert.deepEqual(await one.kept(), {});
  }
});

test("what cannot be put in force is not kept, and what was kept before stays", async () => {
  const one = await scene();
  const away = { ...plainBuilding, putInForce: () => Promise.reject(new Error("the engine is away")) };
  await assert.rejects(make(one, { paused: true }, { building: away }), NotInForce);
  assert.deepEqual(await one.kept(), {});
  await make(one, { message: "Tea." });
  await assert.rejects(make(one, { paused: true }, { building: away }), NotInForce);
  assert.deepEqual(await one.kept(), { main: { message: "Tea." } });
});

test("what cannot be kept is not put in force, and what was built for it is let go", async () => {
  const { store, world } = await scene();
  const full = { ...store, replace: () => Promise.reject(new Error("the disk is full")) };
  const changes = new RoomChanges({ store: full, world, checkPage: checkTemplate });
  const done: string[] = [];
  const building = {
    ...plainBuilding,
    discard: () => void done.push("discarded"),
    putInForce: async () => void done.push("put in force"),
  };
  await assert.rejects(make({ changes }, { paused: true }, { building }), NotKept);
  assert.deepEqual(done, ["discarded"]);
});

test("of a kept change that no longer fits the rest is used, and it is put aside with the reason", async () => {
  const { store, changes, world, kept } = await scene();
  await poison(store, "main", { paused: true, page: { title: "Tea", customPageHtml: BAD_PAGE } });
  await poison(store, "other", { message: "Cake" });
  const applied = await changes.applyTo(settings(), plainBuilding);
  const { main, other } = applied!.rooms;
  assert.deepEqual([main!.paused, main!.page.title, main!.page.customPageHtml], [true, "Tea", null]);
  assert.equal(other!.message, "Cake");
  assert.deepEqual(await kept(), {
    main: { paused: true, page: { title: "Tea" } },
    other: { message: "Cake" },
  });
  const [aside, ...more] = await changes.aside();
  assert.deepEqual(more, []);
  assert.deepEqual(aside?.change, { page: { customPageHtml: BAD_PAGE } });
  assert.deepEqual(aside?.settings, ["page.customPageHtml"]);
  assert.match(aside!.reason, /nosuch/);
  const warnings = world.logged.filter(({ level }) => level === "warn");
  assert.equal(warnings.length, 1);
  assert.match(JSON.stringify(warnings[0]), /main.*page\.customPageHtml.*nosuch.*rest of it is used/s);
  await changes.applyTo(settings(), plainBuilding);
  assert.equal(world.logged.length, 1, "it is told once");
});

test("settings that are good only together are used together", async () => {
  const { store, changes } = await scene();
  const file = settings({ main: { totalActiveUsers: 10, ticketTtl: "2h" } });
  await poison(store, "main", { claimWindow: "20h", nosuch: 1, ticketTtl: "21h" }, file);
  const { main } = (await changes.applyTo(file, plainBuilding))!.rooms;
  assert.deepEqual([main!.claimWindow, main!.ticketTtl], [20 * 3_600_000, 21 * 3_600_000]);
  assert.deepEqual((await changes.aside())[0]?.settings, ["nosuch"]);
});

test("a gateway that shares what is kept leaves there what it cannot use, says so, and goes on", async () => {
  const { store, changes, world, kept } = await scene({ isShared: true });
  await poison(store, "main", { paused: true, soonToBe: { invented: 1 } });
  const applied = await changes.applyTo(settings(), plainBuilding);
  assert.equal(applied!.rooms.main!.paused, true);
  assert.deepEqual(
    changes.unused.map(({ room, settings }) => [room, settings]),
    [["main", ["soonToBe.invented"]]],
  );
  assert.deepEqual(await kept(), { main: { paused: true, soonToBe: { invented: 1 } } });
  await poison(store, "other", { message: "Cake" });
  assert.equal((await changes.applyTo(settings(), plainBuilding))!.rooms.other!.message, "Cake");
  assert.equal(world.logged.length, 1, "it is told once");
});

test("a change on top of one with settings that nobody here knows keeps those", async () => {
  const one = await scene({ isShared: true });
  await poison(one.store, "main", { paused: true, soonToBe: 1, page: { customPageHtml: BAD_PAGE } });
  const inForce = (await one.changes.applyTo(settings(), plainBuilding))!;
  const answer = await make(one, { paused: false }, { inForce });
  assert.ok(answer.ok);
  assert.deepEqual(await one.kept(), {
    main: { paused: false, soonToBe: 1, page: { customPageHtml: BAD_PAGE } },
  });
  const mended = await make(one, { page: { customPageHtml: "<p>{{ahead}}" } }, { inForce });
  assert.ok(mended.ok);
  assert.equal(mended.room.page.customPageHtml, "<p>{{ahead}}");
  assert.deepEqual(one.changes.unused[0]?.settings, ["soonToBe"]);
});

test("what another gateway kept meanwhile counts: two changes that exclude each other are not both kept", async () => {
  const one = await scene({ isShared: true });
  await poison(one.store, "main", { paused: true });
  // Nothing of it was heard here yet.
  const answer = await make(one, { drained: true });
  assert.ok(!answer.ok);
  assert.match(answer.problems[0]!.message, /both paused and drained/);
  assert.deepEqual(await one.kept(), { main: { paused: true } });
});

test("what cannot be read at all is used by nobody, and the next change puts it aside", async () => {
  const deep = `{"file":"x","change":{"paused":${"[".repeat(50_000)}${"]".repeat(50_000)}}}`;
  const long = JSON.stringify(Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 1])));
  const words = JSON.stringify(JSON.stringify(writtenRoom(settings().rooms.main!)));
  for (const text of [
    "{",
    "7",
    '"x"',
    "null",
    "[]",
    '{"file":7,"change":{}}',
    '{"file":"x"}',
    deep,
    `{"file":${words},"change":${long}}`,
    `{"file":${words},"change":[]}`,
    `{"file":"${"x".repeat(99)}","change":{}}`,
  ]) {
    const one = await scene({ isShared: true });
    await one.store.replace("main", null, text);
    await poison(one.store, "other", { message: "Cake" });
    const applied = await one.changes.applyTo(settings(), plainBuilding);
    assert.deepEqual(applied!.rooms.main, settings().rooms.main);
    assert.equal(applied!.rooms.other!.message, "Cake");
    assert.equal(one.changes.unused.length, 1);
    const answer = await make(one, { paused: true }, { inForce: applied! });
    assert.ok(answer.ok, `${text.slice(0, 40)}: ${JSON.stringify(answer)}`);
    assert.deepEqual((await one.kept()).main, { paused: true });
    assert.equal((await one.changes.aside()).length, 1, text.slice(0, 40));
    assert.deepEqual(one.changes.unused, []);
  }
});

test("a key that every object has is a setting like any other that does not exist", async () => {
  const { store, changes } = await scene({ isShared: true });
  const words = JSON.stringify(JSON.stringify(writtenRoom(settings().rooms.main!)));
  const change =
    '{"__proto__":{"paused":true},"constructor":1,"lanes":{"__proto__":{"share":9}},"message":"Tea"}';
  await store.replace("main", null, `{"file":${words},"change":${change}}`);
  const { main } = (await changes.applyTo(settings(), plainBuilding))!.rooms;
  assert.deepEqual(
    [main!.paused, main!.message, ({} as { paused?: true }).paused],
    [false, "Tea", undefined],
  );
  assert.deepEqual(changes.unused[0]?.settings, ["__proto__.paused", "constructor", "lanes.__proto__.share"]);
});

test("a version with more settings knows a file again by what it says, whatever the defaults are called", async () => {
  const { store, changes } = await scene();
  const { claimWindow: _, page, ...fewer } = writtenRoom(settings().rooms.main!);
  const older = JSON.stringify({ ...fewer, page: { ...page, colour: undefined } });
  await store.replace("main", null, JSON.stringify({ file: older, change: { paused: true } }));
  const newer = JSON.stringify({ ...writtenRoom(settings().rooms.other!), soonToBe: 1 });
  await store.replace("other", null, JSON.stringify({ file: newer, change: { paused: true } }));
  const { main, other } = (await changes.applyTo(settings(), plainBuilding))!.rooms;
  assert.deepEqual([main!.paused, other!.paused], [true, true]);
});
