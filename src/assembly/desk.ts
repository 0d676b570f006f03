/** The office's desk, made from the engine and the gateway. */
import type { Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { ProxiedGateway } from "../gateway/proxied-gateway.ts";
import { EngineAway } from "../office/ask-engine.ts";
import { type Desk, NotKept } from "../office/desk.ts";
import type { Data } from "./data.ts";
import type { OpenEngine } from "./engine-record.ts";
import { NotInForce, type RoomChanges } from "./kept-changes.ts";
import type { Shops } from "./shops.ts";
import { version } from "./version.ts";

/** Runs one task after the other, each when the one before has settled. */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

export function createDesk(parts: {
  engine: Engine;
  proxied: ProxiedGateway;
  keeps: Data;
  changes: RoomChanges;
  node: OpenEngine["node"];
  shops: Pick<Shops, "get">;
  /** The settings as in their file. */
  file: () => Settings;
  /** Runs tasks that change the settings one at a time. */
  inTurn: InTurn;
  isDraining: () => boolean;
}): Desk {
  const { engine, proxied, keeps, changes, node, shops, isDraining } = parts;
  const { gateway } = proxied;
  return {
    version,
    engine,
    cluster: node,
    rooms: () => Object.keys(gateway.settings.rooms),
    room: (name) => gateway.settings.rooms[name],
    change: (room, change) =>
      parts.inTurn(() =>
        told(changes.make({ file: parts.file(), inForce: gateway.settings, room, change }, proxied)),
      ),
    unusedChanges: () => changes.unused,
    asideChanges: () => changes.aside(),
    shops: () => Object.keys(gateway.settings.shops),
    shop: (name) => (Object.hasOwn(gateway.settings.shops, name) ? shops.get(name)?.organiser : undefined),
    keys: () => gateway.keys(),
    rotateKeys: async () => ({ id: await gateway.rotateKeys((memo) => kept(keeps.keepRing(memo))) }),
    origins: () => proxied.origins(),
    isReady: async () =>
      !isDraining() &&
      node?.isJoined !== false &&
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

/** The result of a change; its errors become the office's. */
async function told<T>(making: Promise<T>): Promise<T> {
  try {
    return await making;
  } catch (cause) {
    throw cause instanceof NotInForce ? new EngineAway(cause.cause) : cause;
  }
}

/** Waits until it is stored. */
async function kept(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (cause) {
    throw new NotKept(cause);
  }
}
