/** What an engine needs of a room's settings, under the names that `core` uses. */
import type { RoomRules } from "../core/rules.ts";
import type { RoomSettings } from "./schema.ts";

/** The room's settings as rules for its engine. */
export function toRules(room: RoomSettings): RoomRules {
  return {
    totalActiveUsers: room.totalActiveUsers,
    newUsersPerMinute: room.newUsersPerMinute,
    paused: room.paused,
    sessionDurationMs: room.sessionDuration,
    disableSessionRenewal: room.disableSessionRenewal,
    claimWindowMs: room.claimWindow,
    lapseAfterMs: room.lapseAfter,
    ticketTtlMs: room.ticketTtl,
    pollBudgetPerSecond: room.pollBudget,
    message: room.message,
  };
}
