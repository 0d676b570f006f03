/**
 * Everything the metrics show, taken at one moment. Rooms whose counts are not available are left out, and the snapshot
 * says that the engine is away: a gap in a graph is honest, a zero is not.
 */
import type { RoomSettings } from "../config/schema.ts";
import type { Counts } from "../core/engine.ts";
import type { ProductStockShown, ShopFigures } from "../shop/api/organiser-shop.ts";
import { askEngine } from "./ask-engine.ts";
import type { ClusterReport, GatewayTraffic, Handed, OriginState, UnusedChange } from "./desk.ts";

export interface Snapshot {
  readonly version: string;
  readonly isEngineUp: boolean;
  readonly rooms: readonly RoomSnapshot[];
  readonly shops: readonly ScrapedShop[];
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

export interface ScrapedShop {
  readonly name: string;
  readonly figures: ShopFigures;
  /** Empty where there are so many products that nobody would look at them one by one. */
  readonly stock: readonly ProductStockShown[];
}

const PRODUCTS_MAX = 200;

/** The state now. Never throws, even if the engine is away. */
export async function takeSnapshot(handed: Handed): Promise<Snapshot> {
  const { desk } = handed;
  const rooms = await Promise.all(desk.rooms().map((name) => takeRoom(handed, name)));
  const shops = await Promise.all(desk.shops().map((name) => takeShop(handed, name)));
  return {
    version: desk.version,
    shops: shops.filter((shop) => shop !== null),
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

/** Null: it is gone, or its ledger does not answer. */
async function takeShop({ desk }: Handed, name: string): Promise<ScrapedShop | null> {
  const shop = desk.shop(name);
  if (!shop) return null;
  try {
    const [figures, stock] = await Promise.all([shop.figures(), shop.stock()]);
    return { name, figures, stock: stock.length > PRODUCTS_MAX ? [] : stock };
  } catch {
    return null;
  }
}
