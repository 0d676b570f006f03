/**
 * What can be seen from outside: answers as they leave a node, turns as nodes tell of them, and what was done to the
 * cluster. Checks keep their books from these notices alone. All instants are of simulated time, which no node knows.
 */
import type { JoinAnswer, TicketAnswer } from "../../core/engine.ts";
import type { SimNodeStatus } from "./sim-node.ts";

export type Notice =
  | AnsweredNotice
  | LeavingNotice
  | LeftNotice
  | RenewedNotice
  | TurnsNotice
  | ToldNotice
  | AwayNotice
  | TakenNotice
  | LookNotice
  | SplitNotice
  | PartedNotice
  | StartedNotice
  | StoppedNotice
  | EndedNotice;

/** A node answered a visitor; the answer may still be lost on its way. */
export interface AnsweredNotice {
  readonly kind: "answered";
  readonly at: number;
  /** When the node was asked. */
  readonly askedAt: number;
  readonly visitor: number;
  readonly id: string;
  readonly station: number;
  readonly life: number;
  readonly request: "join" | "checkIn" | "enter";
  /** The number of people ahead that the ticket says its holder was shown. null: there was no ticket. */
  readonly aheadShown: number | null;
  /** Missed turns that the ticket tells of. */
  readonly missedTurns: number;
  readonly answer: JoinAnswer | TicketAnswer;
  /** When the pass in it runs out. null: there is none. */
  readonly expiresAt: number | null;
}

/** A node was asked to end a place or visit: its holder uses it no more. */
export interface LeavingNotice {
  readonly kind: "leaving";
  readonly at: number;
  readonly id: string;
}

/** A node said that a place or visit is over; the answer may still be lost on its way. */
export interface LeftNotice {
  readonly kind: "left";
  readonly at: number;
  readonly id: string;
  readonly station: number;
  readonly life: number;
}

/** A gateway gave a visitor a fresh pass, and its node was told. */
export interface RenewedNotice {
  readonly kind: "renewed";
  readonly at: number;
  readonly id: string;
  readonly expiresAt: number;
}

/** A node told of turns. */
export interface TurnsNotice {
  readonly kind: "turns";
  readonly at: number;
  readonly station: number;
  readonly sequences: readonly number[];
}

/** A visitor heard for the first time that they wait, or are in at once; their place counts from now on. */
export interface ToldNotice {
  readonly kind: "told";
  readonly at: number;
  readonly id: string;
  /** False for those whose order nobody promised anything about: they will be away, or give up. */
  readonly isSteady: boolean;
}

/** A visitor was not heard of for so long that they may have lapsed. */
export interface AwayNotice {
  readonly kind: "away";
  readonly at: number;
  readonly id: string;
}

/** Something made up was taken for real. */
export interface TakenNotice {
  readonly kind: "taken";
  readonly at: number;
  readonly visitor: number;
  readonly reply: string;
}

/** What every node that is up says of itself, at one instant. */
export interface LookNotice {
  readonly kind: "look";
  readonly at: number;
  readonly nodes: readonly SimNodeStatus[];
}

/** Links were broken, or the last broken one is whole again. */
export interface SplitNotice {
  readonly kind: "split";
  readonly at: number;
  readonly isSplit: boolean;
}

/** The cluster is cut into parts, by number of their stations. null: something else happens to the links. */
export interface PartedNotice {
  readonly kind: "parted";
  readonly at: number;
  readonly parts: readonly (readonly number[])[] | null;
}

/** A node's process began. */
export interface StartedNotice {
  readonly kind: "started";
  readonly at: number;
  readonly station: number;
  readonly life: number;
}

/** A node's process ended. */
export interface StoppedNotice {
  readonly kind: "stopped";
  readonly at: number;
  readonly station: number;
  readonly life: number;
  /** Nobody who was a member is left: whatever the cluster knew is forgotten. */
  readonly isLast: boolean;
}

/** The run is over; what can only be judged then is judged now. */
export interface EndedNotice {
  readonly kind: "ended";
  readonly at: number;
}

/** A promise, and the books to hold it by. */
export interface Check {
  readonly name: string;
  /** Takes in what was seen; what is wrong with it in plain words, or null. */
  see(notice: Notice): string | null;
}
