/**
 * What someone who waits is told: how many are ahead, how long it takes, and when to come back. Every check-in asks, so
 * nothing is made here that outlives the answer.
 */
import type { Doorkeeper } from "./doorkeeper.ts";
import type { Waiting } from "./engine.ts";
import type { Pace } from "./eta.ts";
import { HIDDEN_WAIT, nextCheckIn, openingCheckIn, withTurn } from "./pacing.ts";
import { expectedAhead, isAheadShown } from "./room-view.ts";
import type { RoomWaits } from "./room-waits.ts";
import type { DoorRules, EventRules } from "./rules.ts";
import { originOf, shownAhead, type Ticket } from "./ticket.ts";

/** What comes with a visitor: dice for jitter, and the time. */
export interface Moment {
  readonly dice: number;
  readonly now: number;
}

/** The lines of a room, as the answer to a waiting visitor needs them. */
export interface Lines {
  /** How many wait in all lanes. */
  readonly size: number;
  waitingIn(lane: number): number;
  /** How many wait in a lane before this sequence. */
  ahead(lane: number, sequence: number): number;
}

/** The parts of a room that the answer to a waiting visitor is made from. */
export interface WaitingRoom {
  readonly door: Pick<Doorkeeper, "phase">;
  readonly lines: Lines;
  readonly pace: Pick<Pace, "reach">;
  readonly waits: Pick<RoomWaits, "wait">;
  /** `place`: the sequence by which a place is known. */
  readonly draws: { isGathered(event: EventRules | null, place: number): boolean };
  rulesAt(now: number): DoorRules;
  laneOf(lane: number, now: number): number;
}

/** What an engine knows of a place besides its ticket. */
export interface KnownPlace {
  /** Its holder came with a loose turn while the site was full, and has the next turn. */
  readonly hasReturned: boolean;
  /** False while visitors who joined earlier may not be known here yet. No number is shown then, since it could rise later. */
  readonly isExact: boolean;
}

/** The answer to the holder of this ticket, who is in the line. */
export function waitingAnswer(
  room: WaitingRoom,
  ticket: Ticket,
  { hasReturned, isExact }: KnownPlace,
  { dice, now }: Moment,
): Waiting {
  const { lines, pace } = room;
  const rules = room.rulesAt(now);
  const { ticketTtlMs, claimWindowMs, pollBudgetPerSecond, show } = rules;
  const { event, isPrequeue, opensAt } = room.door.phase(now);
  const lane = room.laneOf(ticket.lane, now);
  const actual = aheadOf(lines, rules, lane, ticket.sequence);
  const waitMs = room.waits.wait(rules, { lane, ahead: lines.ahead(lane, ticket.sequence) }, now);
  const paces = show.wait ? { waitMs, reachMs: pace.reach(rules, actual) } : HIDDEN_WAIT;
  const standing = { waiting: lines.size, ...paces, pollBudgetPerSecond, ticketTtlMs, claimWindowMs };
  const paced = isPrequeue ? openingCheckIn(standing, opensAt! - now, dice) : nextCheckIn(standing, dice);
  const isGathered = room.draws.isGathered(event, originOf(ticket));
  return {
    kind: "waiting",
    ticket,
    ahead: isAheadShown(rules) && isExact && !isGathered ? shownAhead(ticket, actual) : null,
    waitMs: show.wait && !isGathered ? waitMs : null,
    nextCheckInMs: hasReturned ? withTurn(paced) : paced,
  };
}

/** The answer to a visitor whose turn is kept but cannot be used at once. */
export function turnInHand(ticket: Ticket): Waiting {
  return {
    kind: "waiting",
    ticket,
    ahead: 0,
    waitMs: null,
    nextCheckInMs: withTurn(Number.POSITIVE_INFINITY),
  };
}

/** How many visitors are expected to be admitted before the one with this sequence in that lane. */
function aheadOf(lines: Lines, rules: DoorRules, lane: number, sequence: number): number {
  // In random order a visitor has, on average, half of the others before them.
  if (rules.queueingMethod === "random") return lines.size >> 1;
  const ahead = lines.ahead(lane, sequence);
  if (rules.lanes.named.length === 0) return ahead;
  return expectedAhead(rules, (other) => lines.waitingIn(other), { lane, ahead });
}
