/**
 * What can be seen from outside: answers as they leave a node, turns as nodes report them, and what was done to the cluster.
 * Checks use these notices alone. All instants are simulated time, which no node knows.
 */
import type { JoinAnswer, TicketAnswer } from "../../core/engine.ts";
import type { SimNodeStatus } from "./sim-node.ts";

type At<Kind extends string, Fields = object> = {
  readonly kind: Kind;
  readonly at: number;
} & Readonly<Fields>;

export type Notice =
  | AnsweredNotice
  | RenewedNotice
  /** A node was asked to end a place or visit: its holder does not use it any more. */
  | At<"leaving", { id: string }>
  /** A node said that a place or visit is over; the answer may still be lost on its way. */
  | At<"left", { id: string; station: number; life: number }>
  /** A node reported turns. */
  | At<"turns", { station: number; sequences: readonly number[] }>
  /**
   * A visitor heard for the first time that they wait, or are in at once; their place counts from now on. Not steady: they will
   * be away, or give up, and nothing is promised about their order.
   */
  | At<"told", { id: string; isSteady: boolean }>
  | At<"away", { id: string }>
  /** Something forged was accepted. */
  | At<"taken", { visitor: number; reply: string }>
  /** What every node that is up says of itself, at one instant. */
  | At<"look", { nodes: readonly SimNodeStatus[] }>
  /** Links were broken, or the last broken one was mended. */
  | At<"split", { isSplit: boolean }>
  /** The cluster was cut into parts, by number of their stations. null: something else happened to the links. */
  | At<"parted", { parts: readonly (readonly number[])[] | null }>
  /** A node's process began. */
  | At<"started", { station: number; life: number }>
  /** A node's process ended. Last: no member is left, so everything the cluster knew is forgotten. */
  | At<"stopped", { station: number; life: number; isLast: boolean }>
  /** The run is over: what can only be judged then is judged now. */
  | At<"ended">;

/** A gateway renewed a visitor's pass, and its node was told. */
export type RenewedNotice = At<"renewed", { id: string; expiresAt: number }>;

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
  /** The number ahead that the ticket says its holder was shown. null: there was no ticket. */
  readonly aheadShown: number | null;
  /** Missed turns in the ticket. */
  readonly missedTurns: number;
  readonly answer: JoinAnswer | TicketAnswer;
  /** When the pass in the answer expires. null: there is none. */
  readonly expiresAt: number | null;
}

/** A promise, and how it is checked. */
export interface Check {
  readonly name: string;
  /** Takes in a notice; returns what is wrong with it as a sentence, or null. */
  see(notice: Notice): string | null;
}
