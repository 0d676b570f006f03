/** What one process keeps and the next finds, in a real directory. */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import type { Settings, SettingsInput } from "../config/schema.ts";
import { handWorld } from "../sim/hand-world.ts";
import { changeRoom, inForce } from "../testing/plain-building.ts";
import { openData, withKeptSecret } from "./data.ts";
import { RoomChanges } from "./kept-changes.ts";

const ROOM = { totalActiveUsers: 10 };

function settings(input: SettingsInput = {}): Settings {
  const result = settingsFrom(
    { rooms: { main: ROOM }, secret: "0123456789abcdefghijklmnopqrstuv", ...input },
    { environment: {}, readFile: () => "", needsOrigin: false },
  );
  assert.ok(result.ok, JSON.stringify(result));
  return result.settings;
}

function directoryFor(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "fairgate-data-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

async function inOneLife<T>(
  directory: string,
  work: (data: Awaited<ReturnType<typeof openData>>) => Promise<T>,
  world = handWorld(),
): Promise<T> {
  const data = await openData(directory, world);
  try {
    return await work(data);
  } finally {
    await data.close();
  }
}

test("changes made at run time are in force in the next life, one upon the other", async (t) => {
  const directory = directoryFor(t);
  const file = settings();
  const world = handWorld();
  await inOneLife(directory, async ({ changes }) => {
    await changeRoom(changes, { file, world, change: { paused: true, page: { title: "A" } } });
    await changeRoom(changes, { file, world, change: { message: "Tea.", page: { colour: "#123456" } } });
  });
  const { rooms } = await inOneLife(directory, ({ changes }) => inForce(changes, file, world));
  const { paused, message, page, totalActiveUsers } = rooms.main!;
  assert.deepEqual(
    [paused, message, page.title, page.colour, totalActiveUsers],
    [true, "Tea.", "A", "#123456", 10],
  );
  assert.deepEqual(world.logged, []);
});

test("a file that says something else about the room is newer, and the change is put aside", async (t) => {
  const directory = directoryFor(t);
  const world = handWorld();
  const file = settings();
  const changed = settings({ rooms: { main: { ...ROOM, newUsersPerMinute: 60 } } });
  await inOneLife(directory, ({ changes }) => changeRoom(changes, { file, world, change: { paused: true } }));
  await inOneLife(directory, async ({ changes }) => {
    assert.equal((await inForce(changes, changed, world)).rooms.main!.paused, false);
  });
  assert.match(JSON.stringify(world.logged[0]), /has changed for this room/);
  await inOneLife(directory, async ({ changes }) => {
    assert.equal((await inForce(changes, file, world)).rooms.main!.paused, false, "no longer in force");
    const [aside] = await new RoomChanges({ store: changes, world, checkPage: () => null }).aside();
    assert.deepEqual(aside?.change, { paused: true });
  });
  assert.equal(world.logged.length, 1);
});

test("a room that is no more puts its changes aside, and reading the file again forgets all", async (t) => {
  const directory = directoryFor(t);
  const world = handWorld();
  const file = settings();
  const both = settings({ rooms: { main: ROOM, gone: { ...ROOM, path: "/gone" } } });
  await inOneLife(directory, async ({ changes }) => {
    await changeRoom(changes, { file: both, world, room: "gone", change: { paused: true } });
    assert.deepEqual(Object.keys((await inForce(changes, file, world)).rooms), ["main"]);
    assert.equal((await changes.readAside()).size, 1);
    await changeRoom(changes, { file, world, change: { paused: true } });
    await changes.forget();
    assert.equal((await inForce(changes, file, world)).rooms.main!.paused, false);
    assert.equal((await changes.readAside()).size, 0);
  });
});

test("how far the keys were turned is kept", async (t) => {
  const directory = directoryFor(t);
  const memo = { name: 7, generation: 3, retired: [[5, 1_000]] } as const;
  await inOneLife(directory, async (data) => {
    assert.equal(await data.ring(), undefined);
    await data.keepRing(memo);
  });
  assert.deepEqual(await inOneLife(directory, (data) => data.ring()), memo);
});

test("without a directory changes last as long as the process", async () => {
  const world = handWorld();
  const data = await openData(null, world);
  const file = settings();
  assert.equal(data.storageOf, null);
  await changeRoom(data.changes, { file, world, change: { paused: true } });
  await changeRoom(data.changes, { file, world, change: { message: "Tea." } });
  const { paused, message } = (await inForce(data.changes, file, world)).rooms.main!;
  assert.deepEqual([paused, message], [true, "Tea."]);
  await data.close();
  const next = await openData(null, world);
  assert.equal((await inForce(next.changes, file, world)).rooms.main!.paused, false);
});

test("a ring of keys that cannot be one is told and left alone", async (t) => {
  const directory = directoryFor(t);
  const world = handWorld();
  for (const odd of [
    7,
    { name: 1, generation: 70_000, retired: [] },
    { name: 1, generation: 1, retired: [7] },
  ])
    await inOneLife(
      directory,
      async (data) => {
        await data.keepRing(odd as never);
        assert.equal(await data.ring(), undefined);
      },
      world,
    );
  assert.equal(world.logged.filter(({ level }) => level === "error").length, 3);
});

test("a secret is made once, for its owner's eyes, and the same ever after", (t) => {
  const directory = directoryFor(t);
  const file = settings({ secret: null, data: join(directory, "new") });
  assert.equal(file.secret, null);
  const first = withKeptSecret(file);
  const name = join(directory, "new", "secret");
  assert.equal(statSync(name).mode & 0o777, 0o600);
  assert.equal(statSync(join(directory, "new")).mode & 0o777, 0o700);
  assert.equal(first.secret, readFileSync(name, "utf8").trim());
  assert.equal(withKeptSecret(file).secret, first.secret);
  chmodSync(name, 0o644);
  withKeptSecret(file);
  assert.equal(statSync(name).mode & 0o777, 0o600, "closed again");
});

test("an empty secret file is named, and a secret that is set is used", (t) => {
  const directory = directoryFor(t);
  writeFileSync(join(directory, "secret"), "\n");
  assert.throws(() => withKeptSecret(settings({ secret: null, data: directory })), /secret holds no secret/);
  const own = settings({ data: directory });
  assert.equal(withKeptSecret(own), own);
});
