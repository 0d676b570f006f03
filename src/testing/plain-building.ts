/** Changes to rooms with a gateway that accepts every change that passes the checks, for tests of stored changes. */
import assert from "node:assert/strict";
import type { ChangeStore } from "../assembly/change-store.ts";
import { type Building, RoomChanges } from "../assembly/kept-changes.ts";
import type { Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { checkTemplate } from "../gateway/page/render.ts";

export const plainBuilding: Building<Settings> = {
  problemOf: () => null,
  prepare: (settings) => settings,
  discard: () => {},
  putInForce: async () => {},
};

/** The settings in force when these are the file's. */
export async function inForce(store: ChangeStore, file: Settings, world: World): Promise<Settings> {
  const applied = await new RoomChanges({ store, world, checkPage: checkTemplate }).applyTo(
    file,
    plainBuilding,
  );
  assert.ok(applied, "what is kept cannot be read");
  return applied;
}

/** Changes a room, which must go well. */
export async function changeRoom(
  store: ChangeStore,
  { file, world, room = "main", change }: { file: Settings; world: World; room?: string; change: unknown },
): Promise<void> {
  const changes = new RoomChanges({ store, world, checkPage: checkTemplate });
  const before = await inForce(store, file, world);
  const answer = await changes.make({ file, inForce: before, room, change }, plainBuilding);
  assert.ok(answer.ok, JSON.stringify(answer));
}
