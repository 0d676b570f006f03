/** What one process keeps and the next finds, in a real directory. */
import assert from "node:assert/strict";
import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { settingsFrom } from "./config/load.ts";
import { checkRoomChange } from "./config/room-change.ts";
import type { Settings, SettingsInput } from "./config/schema.ts";
import { openData, withKeptSecret } from "./data.ts";
import { handWorld } from "./sim/hand-world.ts";

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
  await inOneLife(directory, async (data) => {
    await data.keepChange("main", file.rooms.main!, { paused: true, page: { title: "A" } });
    await data.keepChange("main", file.rooms.main!, { message: "Tea.", page: { colour: "#123456" } });
  });
  const { rooms } = await inOneLife(directory, (data) => data.withChanges(file));
  const { paused, message, page, totalActiveUsers } = rooms.main!;
  assert.deepEqual(
    [paused, message, page.title, page.colour, totalActiveUsers],
    [true, "Tea.", "A", "#123456", 10],
  );
  assert.ok(checkRoomChange(rooms.main!, {}).ok);
});

test("a file that says something else about the room is newer", async (t) => {
  const directory = directoryFor(t);
  const world = handWorld();
  const changed = settings({ rooms: { main: { ...ROOM, newUsersPerMinute: 60 } } });
  await inOneLife(directory, (data) => data.keepChange("main", settings().rooms.main!, { paused: true }));
  await inOneLife(
    directory,
    async (data) => {
      const { rooms } = await data.withChanges(changed);
      assert.equal(rooms.main!.paused, false);
    },
    world,
  );
  assert.match(world.logged[0]!.message, /dropped/);
  await inOneLife(directory, async (data) => {
    const { rooms } = await data.withChanges(settings());
    assert.equal(rooms.main!.paused, false, "dropped for good");
  });
});

test("a room that is no more takes its changes with it, and reading the file again takes all", async (t) => {
  const directory = directoryFor(t);
  await inOneLife(directory, async (data) => {
    await data.keepChange("gone", settings().rooms.main!, { paused: true });
    assert.deepEqual(Object.keys((await data.withChanges(settings())).rooms), ["main"]);
    await data.keepChange("main", settings().rooms.main!, { paused: true });
    await data.forgetChanges();
    assert.equal((await data.withChanges(settings())).rooms.main!.paused, false);
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

test("without a directory nothing is kept and nothing fails", async () => {
  const data = await openData(null, handWorld());
  assert.equal(data.storageOf, null);
  await data.keepChange("main", settings().rooms.main!, { paused: true });
  assert.equal((await data.withChanges(settings())).rooms.main!.paused, false);
  await data.close();
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
