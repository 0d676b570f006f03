/**
 * Everything the metrics show, taken at one moment. Rooms whose counts are not available are left out, and the snapshot
 * says that the engine is away: a gap in a graph is honest, a zero is not.
 */
import type { RoomSettings } from "../config/schema.ts";
import type { Counts } from "../core/engine.ts";
import { askEngine } from "./ask-engine.ts";
import type { ClusterReport, GatewayTraffic, Handed, OriginState, UnusedChange } from "./desk.ts";

export interface Snapshot {
  readonly version: string;
  readonly isEngineUp: boolean;
  readonly rooms: readonly RoomSnapshot[];
  readonly origins: readonly OriginState[];
  readonly traffic: GatewayTraffic;
  readonly cluster: ClusterReport | null;
  readonly unusedChanges: readonly UnusedChange[];
}

export interface RoomSnapshot {
  readonly name: string;
  readonly settings: RoomSettings;
  readonly counts: Counts;
}

/** The state now. Never throws, even if the engine is away. */
export async function takeSnapshot(handed: Handed): Promise<Snapshot> {
  const { desk } = handed;
  const rooms = await Promise.all(desk.rooms().map((name) => takeRoom(handed, name)));
  return {
    version: desk.version,
    isEngineUp: !rooms.includes("away"),
    rooms: rooms.filter((room) => room !== "away" && room !== "gone"),
    origins: desk.origins(),
    traffic: desk.traffic(),
    cluster: desk.cluster?.report() ?? null,
    unusedChanges: desk.unusedChanges(),
  };
}

async function takeRoom({ desk, world }: Handed, name: string): Promise<RoomSnapshot | "away" | "gone"> {
  try {
    const counts = await askEngine(world, () => desk.engine.counts(name));
    const settings = desk.room(name);
    return settings ? { name, settings, counts } : "gone";
  } catch {
    return "away";
  }
}
