/** A room's counts for operators: the engine's, and for each lane the most the other lanes can slow it down. */
import { lanesRules } from "../config/rules.ts";
import type { RoomSettings } from "../config/schema.ts";
import { settingsDuring } from "../config/settings-during.ts";
import type { Counts, LaneCounts } from "../core/engine.ts";
import { laneCostFactor } from "../core/lanes.ts";

export interface ShownCounts extends Counts {
  readonly lanes: readonly ShownLane[];
}

export interface ShownLane extends LaneCounts {
  /** The most times longer a wait can get because of the other lanes. Null: there is no bound. */
  readonly costFactorMax: number | null;
}

/** The engine's counts of a room that has these settings. */
export function shownCounts(room: RoomSettings, counts: Counts): ShownCounts {
  const event = room.events.find(({ name }) => name === counts.event);
  const rules = lanesRules(event ? settingsDuring(room, event) : room);
  const lanes = counts.lanes.map((lane) => {
    const factor = laneCostFactor(rules, lane.lane);
    return { ...lane, costFactorMax: Number.isFinite(factor) ? factor : null };
  });
  return { ...counts, lanes };
}
