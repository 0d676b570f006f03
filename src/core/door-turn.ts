/**
 * One turn of a room's door, after expired visits and turns have ended: an event that begins draws its places, then the
 * doorkeeper says how many get a turn, and each comes from the lane that is next, by rank or at random.
 */
import type { Crowd, Doorkeeper } from "./doorkeeper.ts";
import type { DoorReason } from "./engine.ts";
import type { EventRules } from "./rules.ts";
import type { Phase } from "./schedule.ts";

/** The waiting visitors who may be let in, by lane. */
export interface NextInLine {
  waitingIn(lane: number): number;
  /** The sequence of the visitor with exactly `rank` others before them in their lane. */
  at(lane: number, rank: number): number;
}

/** A room whose door is turned. */
export interface TurningRoom {
  readonly door: Doorkeeper;
  readonly crowd: Crowd;
  /** Draws the places of an event that begins. False: not yet possible, so nobody is let in. */
  draw(event: EventRules, now: number): boolean;
  isDrawDue(phase: Phase): boolean;
}

/** Gives the turn and takes its holder out of the line. False: they, and everyone behind them, have to wait for now. */
export type Give = (sequence: number, lane: number, rank: number) => boolean;

export interface TurnOfDoor {
  readonly sequences: readonly number[];
  readonly reason: DoorReason;
  /** True when there was a line to let in. Only such turns say how fast the door is. */
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
