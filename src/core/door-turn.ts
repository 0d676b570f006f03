/**
 * What a turn of a room's door comes to once what is over has ended: an event that begins draws its places, and then as
 * many get a turn as the doorkeeper says, each from the lane that is next, by rank or by lot.
 */
import type { Crowd, Doorkeeper } from "./doorkeeper.ts";
import type { DoorReason } from "./engine.ts";
import type { EventRules } from "./rules.ts";
import type { Phase } from "./schedule.ts";

/** Those who may be let in, by lane. */
export interface NextInLine {
  waitingIn(lane: number): number;
  /** The sequence of the one with `rank` before them in their lane. */
  at(lane: number, rank: number): number;
}

/** A room whose door is turned. */
export interface TurningRoom {
  readonly door: Doorkeeper;
  readonly crowd: Crowd;
  /** Draws the places of an event that begins. False: that has to wait, and all with it. */
  draw(event: EventRules, now: number): boolean;
  isDrawDue(phase: Phase): boolean;
}

/** Gives the turn; from then on they are in no line. False: they have to wait for now, and whoever is behind them. */
export type Give = (sequence: number, lane: number, rank: number) => boolean;

export interface TurnOfDoor {
  readonly sequences: readonly number[];
  readonly reason: DoorReason;
  /** Whether there was a line to be let in: only then does what comes of it say how fast the door is. */
  readonly isLine: boolean;
}

export function turnDoor(
  room: TurningRoom,
  line: NextInLine,
  { give, dice, now }: { readonly give: Give; readonly dice: () => number; readonly now: number },
): TurnOfDoor {
  const { door, crowd } = room;
  const phase = door.phase(now);
  if (room.isDrawDue(phase) && !room.draw(phase.event!, now))
    return { sequences: [], reason: "not started", isLine: false };
  const { admit, reason } = door.open(crowd, now);
  const isLine = crowd.waiting > 0 && reason !== "paused" && reason !== "not started";
  const sequences = letIn(door, line, admit, { give, dice, now });
  door.admitted(sequences.length, now);
  return { sequences, reason, isLine };
}

function letIn(
  door: Doorkeeper,
  line: NextInLine,
  count: number,
  { give, dice, now }: { readonly give: Give; readonly dice: () => number; readonly now: number },
): number[] {
  const isRandom = door.inForce(now).queueingMethod === "random";
  const waitingIn = (lane: number) => line.waitingIn(lane);
  const sequences: number[] = [];
  while (sequences.length < count) {
    const lane = door.nextLane(waitingIn, now);
    if (lane === null) break;
    const rank = isRandom ? Math.floor(dice() * waitingIn(lane)) : 0;
    const sequence = line.at(lane, rank);
    if (!give(sequence, lane, rank)) break;
    sequences.push(sequence);
  }
  return sequences;
}
