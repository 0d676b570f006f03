/** What the office works with, put together from the engine and the gateway. */

import type { Data } from "../assembly/data.ts";
import { KeepFailed, NotInForce, type RoomChanges } from "../assembly/kept-changes.ts";
import type { OpenEngine } from "../assembly/opened-engine.ts";
import type { Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { ProxiedGateway } from "../gateway/proxied-gateway.ts";
import { EngineAway } from "../office/ask-engine.ts";
import { type Desk, NotKept } from "../office/desk.ts";
import { version } from "./version.ts";

/** Does one thing after the other, each when the one before has settled. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function createDesk(parts: {
  engine: Engine;
  proxied: ProxiedGateway;
  data: Data;
  changes: RoomChanges;
  cluster: OpenEngine["cluster"];
  /** The settings as their file has them. */
  file: () => Settings;
  /** Does one thing that changes the settings at a time. */
  inTurn: InTurn;
  isDraining: () => boolean;
}): Desk {
  const { engine, proxied, data, changes, cluster, isDraining } = parts;
  const { gateway } = proxied;
  return {
    version,
    engine,
    cluster,
    rooms: () => Object.keys(gateway.settings.rooms),
    room: (name) => gateway.settings.rooms[name],
    change: (room, change) =>
      parts.inTurn(() =>
        told(changes.make({ file: parts.file(), inForce: gateway.settings, room, change }, proxied)),
      ),
    unusedChanges: () => changes.unused,
    asideChanges: () => changes.aside(),
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

/** What became of a change, or why it failed in the office's words. */
async function told<T>(making: Promise<T>): Promise<T> {
  try {
    return await making;
  } catch (cause) {
    if (cause instanceof KeepFailed) throw new NotKept(cause.cause);
    throw cause instanceof NotInForce ? new EngineAway(cause.cause) : cause;
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
