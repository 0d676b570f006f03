/** What the office works with, put together from the engine and the gateway. */
import { checkRoomChange } from "../config/room-change.ts";
import type { RoomSettings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { Data } from "../data.ts";
import type { ProxiedGateway } from "../gateway/proxied-gateway.ts";
import { type Desk, NotKept } from "../office/desk.ts";
import type { OpenEngine } from "../open-engine.ts";
import { version } from "./version.ts";

export function createDesk(parts: {
  engine: Engine;
  proxied: ProxiedGateway;
  data: Data;
  cluster: OpenEngine["cluster"];
  /** A room as the settings file has it. */
  fileRoom: (name: string) => RoomSettings;
  isDraining: () => boolean;
}): Desk {
  const { engine, proxied, data, cluster, isDraining } = parts;
  const { gateway } = proxied;
  return {
    version,
    engine,
    cluster,
    rooms: () => Object.keys(gateway.settings.rooms),
    room: (name) => gateway.settings.rooms[name],
    change: async (name, change) => {
      const { settings } = gateway;
      const current = settings.rooms[name];
      if (!current) return { ok: false, problems: [{ path: "", message: `there is no room "${name}"` }] };
      const result = checkRoomChange(current, change);
      if (!result.ok) return result;
      // What could not be kept is not in force either: the operator is told that it failed.
      await kept(data.keepChange(name, parts.fileRoom(name), change));
      await proxied.configure({ ...settings, rooms: { ...settings.rooms, [name]: result.room } });
      return { ok: true, room: result.room };
    },
    keys: () => gateway.keys(),
    rotateKeys: async () => ({ id: await gateway.rotateKeys((memo) => kept(data.keepRing(memo))) }),
    origins: () => proxied.origins().map((origin) => ({ ...origin, origin: origin.address })),
    isReady: async () =>
      !isDraining() &&
      cluster?.isJoined !== false &&
      (await answers(engine, Object.keys(gateway.settings.rooms)[0])),
    traffic: () => gateway.traffic,
  };
}

async function answers(engine: Engine, room: string | undefined): Promise<boolean> {
  try {
    if (room !== undefined) await engine.counts(room);
    return true;
  } catch {
    return false;
  }
}

/** Waits until it is on disk. */
async function kept(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (cause) {
    throw new NotKept(cause);
  }
}
