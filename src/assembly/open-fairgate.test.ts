/** What is kept between two lives holds in the next one, however it is opened, and a reload is whole or not at all. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { RoomInput, Settings } from "../config/schema.ts";
import { createGateway } from "../index.ts";
import { checked, STAGE_SECRET } from "../testing/gateway/stage.ts";
import { realWorld } from "../testing/real-world.ts";
import { type Fairgate, openFairgate } from "./open-fairgate.ts";

const ORIGIN = { addresses: ["http://127.0.0.1:3000"] };

function ownDirectory(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "fairgate-open-"));
  t.after(() => rmSync(directory, { recursive: true }));
  return directory;
}

function settings(data: string | null, room: RoomInput = { totalActiveUsers: 5 }): Settings {
  return checked({ secret: STAGE_SECRET, origin: ORIGIN, data, rooms: { main: room } });
}

async function withFairgate<T>(given: Settings, work: (fairgate: Fairgate) => Promise<T>): Promise<T> {
  const fairgate = await openFairgate(given, realWorld());
  try {
    return await work(fairgate);
  } finally {
    await fairgate.close();
  }
}

test("a library gateway on the directory of an earlier life has its changes in force", async (t) => {
  const data = ownDirectory(t);
  const change = await withFairgate(settings(data), ({ desk }) => desk.change("main", { paused: true }));
  assert.ok(change.ok);
  const gateway = await createGateway({
    ...{ secret: STAGE_SECRET, origin: ORIGIN, data, rooms: { main: { totalActiveUsers: 5 } } },
    log: realWorld().log,
  });
  t.after(() => gateway.close());
  assert.equal((await gateway.engine.join("main")).kind, "waiting");
});

test("keys that were rotated in an earlier life sign in the next", async (t) => {
  const data = ownDirectory(t);
  const { id } = await withFairgate(settings(data), ({ desk }) => desk.rotateKeys());
  const keys = await withFairgate(settings(data), async ({ desk }) => desk.keys());
  assert.deepEqual(
    keys.filter(({ isSigning }) => isSigning).map((key) => key.id),
    [id],
  );
});

test("a reload forgets changes made at run time", async () => {
  await withFairgate(settings(null), async ({ desk, reload }) => {
    await desk.change("main", { paused: true });
    await reload(settings(null, { totalActiveUsers: 6 }));
    assert.deepEqual([desk.room("main")!.paused, desk.room("main")!.totalActiveUsers], [false, 6]);
  });
});

test("where what else is reloaded fails, everything stays as it was", async () => {
  await withFairgate(settings(null), async ({ desk, engine, reload }) => {
    await desk.change("main", { paused: true });
    const failing = () => Promise.reject(new Error("the certificate cannot be read"));
    await assert.rejects(reload(settings(null, { totalActiveUsers: 6 }), failing), /certificate/);
    assert.deepEqual([desk.room("main")!.paused, desk.room("main")!.totalActiveUsers], [true, 5]);
    assert.equal((await engine.join("main")).kind, "waiting");
  });
});

test("it is ready until it is drained", async () => {
  await withFairgate(settings(null), async ({ desk, drain }) => {
    assert.equal(await desk.isReady(), true);
    drain();
    assert.equal(await desk.isReady(), false);
  });
});

test("what cannot be opened leaves nothing open behind", async (t) => {
  const data = ownDirectory(t);
  const wrong = { ...settings(data), secret: null, previousSecrets: [], redis: null };
  // A room that cannot be built: its page has a placeholder that is not known.
  const room = wrong.rooms.main!;
  const broken = {
    ...wrong,
    rooms: { main: { ...room, page: { ...room.page, customPageHtml: "{{nosuch}}" } } },
  };
  await assert.rejects(openFairgate(broken, realWorld()));
  // The directory is free again.
  await withFairgate(settings(data), async ({ desk }) => assert.equal(await desk.isReady(), true));
});

test("an engine of the caller's own is used, and is left open", async () => {
  await withFairgate(settings(null), async ({ engine }) => {
    const other = await openFairgate(settings(null), realWorld(), { engine });
    await other.close();
    assert.equal((await engine.join("main")).kind, "entered");
  });
});
