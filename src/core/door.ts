/**
 * The door: how many may be admitted now, and why not more.
 *
 * Hard capacity first: everyone on the site and everyone with a firm turn fills a slot, and there are never more of them
 * than `totalActiveUsers`. Then the flow: those who entered in the last minute and those with a firm turn are never more
 * than `newUsersPerMinute`, and turns are evenly spaced. Both hold together. Where turns are given out on top of that,
 * for those that will not be used, both hold for those who enter.
 */
import type { Counts, DoorReason, RefusalReason } from "./engine.ts";
import type { Flow } from "./flow.ts";
import { turnsToGive } from "./no-shows.ts";
import type { DoorRules } from "./rules.ts";

/** The rules that the door reads. */
export type OpenRules = Pick<
  DoorRules,
  | "totalActiveUsers"
  | "newUsersPerMinute"
  | "queueingMethod"
  | "paused"
  | "queueAll"
  | "drained"
  | "closed"
  | "fillNoShows"
>;

export type DoorCounts = Pick<Counts, "waiting" | "admitted" | "onSite">;

/** What the door asks of a flow. */
export type Allowance = Pick<Flow, "allowance">;
export type EntriesLeft = Pick<Flow, "entriesLeft">;

/** What the door is told besides its rules and the time. Those `admitted` are the ones with a firm turn. */
export interface AtTheDoor extends DoorCounts {
  /** An event gathers people and has not begun. */
  readonly isPrequeue: boolean;
  /** False while the room stands by: then there is no line. */
  readonly isActive: boolean;
  /** Slots that the shared budget leaves to this room. */
  readonly budgetFree: number;
  /** Share of turns that will not be used, and how many visitors are expected from those that are out. */
  readonly noShows: number;
  readonly expected: number;
}

export interface Opening {
  readonly admit: number;
  readonly reason: DoorReason;
}

/** The most admitted in one turn of the door, however wide it is open: a turn must be short. */
export const TURN_MAX = 50_000;

/** How many of those waiting may be admitted at `now`. The caller records what it admits with `flow.giveTurns`. */
export function door(rules: OpenRules, at: AtTheDoor, flow: Allowance, now: number): Opening {
  const shut = whyShut(rules, at);
  if (shut) return { admit: 0, reason: shut };
  const most = Math.min(at.waiting, TURN_MAX);
  if (isWideOpen(rules, at)) return { admit: most, reason: "line empty" };
  const free = freeSlots(rules, at);
  if (at.waiting > 0 && free <= 0) return { admit: 0, reason: "site full" };
  const noShows = rules.fillNoShows ? at.noShows : 0;
  const allowed = flow.allowance(rules.newUsersPerMinute, now, { firm: at.admitted, noShows });
  const admit = Math.max(0, Math.min(most, free, allowed));
  if (admit === at.waiting) return { admit, reason: "line empty" };
  return { admit, reason: free <= allowed ? "site full" : "rate" };
}

/** True when a newcomer may go straight through: nobody is waiting, and the door would let one in. */
export function isDoorOpen(rules: OpenRules, at: AtTheDoor, flow: Allowance, now: number): boolean {
  return at.waiting === 0 && isRoomForOne(rules, at, flow, now);
}

/** True when the door would let one visitor in, even if others wait. */
export function isRoomForOne(rules: OpenRules, at: AtTheDoor, flow: Allowance, now: number): boolean {
  return door(rules, { ...at, waiting: 1 }, flow, now).admit === 1;
}

/**
 * True when an expired visit may begin again, even if others wait. Turns given on top do not make room for it. The rate does
 * not keep it out, as it does not end visits that go on; the next visitors to enter wait longer for it.
 */
export function isSlotFree(rules: OpenRules, at: AtTheDoor): boolean {
  if (whyShut(rules, at)) return false;
  return isWideOpen(rules, at) || ownFree(rules, at) > 0;
}

/** Why a newcomer who finds the door shut gets no place either; null when they get one. */
export function whyNoPlace(rules: OpenRules, at: Pick<AtTheDoor, "isPrequeue">): RefusalReason | null {
  if (rules.closed) return "closed";
  return rules.queueingMethod === "reject" && !at.isPrequeue ? "rejected" : null;
}

/**
 * True when a visitor with a firm turn may enter. Only with turns given on top, or after the rate was lowered, may they have
 * to wait, and they keep their turn.
 */
export function mayUseTurn(rules: OpenRules, at: AtTheDoor, entries: EntriesLeft, now: number): boolean {
  if (isWideOpen(rules, at)) return true;
  const free = (rules.totalActiveUsers ?? Number.POSITIVE_INFINITY) - at.onSite;
  if (rules.fillNoShows && free <= 0) return false;
  return entries.entriesLeft(rules.newUsersPerMinute, now) > 0;
}

/** How many turns a minute it takes to bring `newUsersPerMinute` visitors in. */
export function rateOfTurns(
  { newUsersPerMinute, fillNoShows }: Pick<DoorRules, "newUsersPerMinute" | "fillNoShows">,
  noShows: number,
): number | null {
  if (newUsersPerMinute === null || !fillNoShows) return newUsersPerMinute;
  return newUsersPerMinute / (1 - noShows);
}

function whyShut(rules: OpenRules, at: AtTheDoor): DoorReason | null {
  if (rules.closed) return "closed";
  if (at.isPrequeue) return "not started";
  return rules.paused || rules.queueAll ? "paused" : null;
}

function isWideOpen(rules: OpenRules, at: AtTheDoor): boolean {
  return rules.drained || rules.queueingMethod === "passthrough" || !at.isActive;
}

function ownFree(rules: OpenRules, at: AtTheDoor): number {
  const own = (rules.totalActiveUsers ?? Number.POSITIVE_INFINITY) - at.onSite - at.admitted;
  return Math.min(own, at.budgetFree);
}

function freeSlots(rules: OpenRules, at: AtTheDoor): number {
  const free = ownFree(rules, at);
  if (!rules.fillNoShows || free === Number.POSITIVE_INFINITY) return free;
  const { onSite, admitted: out, expected, noShows: share } = at;
  return turnsToGive({ capacity: free + onSite + out, onSite, out, expected, share });
}
