/**
 * The door: how many may be admitted now, and why not more.
 *
 * Hard capacity first: everyone on the site and everyone who holds a turn not yet used fills a slot, and there are
 * never more of them than `totalActiveUsers`. Then the flow: `newUsersPerMinute`, evenly. Both hold together.
 */
import type { Counts, DoorReason } from "./engine.ts";
import type { Flow } from "./flow.ts";
import type { RoomRules } from "./rules.ts";

export type DoorRules = Pick<RoomRules, "totalActiveUsers" | "newUsersPerMinute" | "paused">;
export type DoorCounts = Pick<Counts, "waiting" | "admitted" | "onSite">;

export interface Opening {
  readonly admit: number;
  readonly reason: DoorReason;
}

/** How many of those waiting may be admitted at `now`. The caller records what it admits with `flow.take`. */
export function door(rules: DoorRules, counts: DoorCounts, flow: Flow, now: number): Opening {
  if (rules.paused) return { admit: 0, reason: "paused" };
  const free = freeSlots(rules, counts);
  if (counts.waiting > 0 && free <= 0) return { admit: 0, reason: "site full" };
  const allowed = flow.allowance(rules.newUsersPerMinute, now);
  const admit = Math.max(0, Math.min(counts.waiting, free, allowed));
  if (admit === counts.waiting) return { admit, reason: "line empty" };
  return { admit, reason: free <= allowed ? "site full" : "rate" };
}

/** True when a newcomer may go straight through: nobody is waiting, and the door would let one in. */
export function isDoorOpen(rules: DoorRules, counts: DoorCounts, flow: Flow, now: number): boolean {
  return counts.waiting === 0 && door(rules, { ...counts, waiting: 1 }, flow, now).admit === 1;
}

function freeSlots(rules: DoorRules, counts: DoorCounts): number {
  if (rules.totalActiveUsers === null) return Number.POSITIVE_INFINITY;
  return rules.totalActiveUsers - counts.onSite - counts.admitted;
}
