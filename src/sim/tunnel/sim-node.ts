/**
 * A node as the wind tunnel sees it: exactly the calls that a transport and a gateway make on one, and nothing of its
 * inside but what it says of itself in `status`. The tunnel is handed a way to make nodes, so that it can also be run
 * with a stand-in whose faults are known, which is how its checks are tested.
 */
import type { Board } from "../../core/board.ts";
import type { Counts, JoinAnswer, Newcomer, Presence, TicketAnswer } from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { DEFAULT_NODE_SETTINGS } from "../../engines/cluster/node-settings.ts";

export interface SimNodeSettings {
  readonly name: string;
  /** Rises with every start. */
  readonly life: number;
  readonly address: string;
  /** Where to ask to be taken in. Empty: found a cluster at once. */
  readonly join: readonly string[];
  /** Between two counting rounds. */
  readonly intervalMs: number;
  /** Up to this many visitors are admitted one by one, and more by counting. */
  readonly oneByOneMax: number;
  readonly replicateMs: number;
  readonly spreadMs: number;
  readonly swim: {
    readonly periodMs: number;
    readonly ackTimeoutMs: number;
    readonly indirectProbes: number;
    readonly suspicionPeriods: number;
  };
  readonly skewMaxMs: number;
  /** After how long the slots of a lost part are given out again. null: never. 0: unreachable is dead. */
  readonly reclaimAfterMs: number | null;
}

const { join: _, ...SHIPPED } = DEFAULT_NODE_SETTINGS;

/** The settings of a node as shipped. A run states what it wants otherwise. */
export const NODE_SETTINGS: Omit<SimNodeSettings, "name" | "life" | "address" | "join"> = SHIPPED;

export interface SimNode {
  /** True once it has left its cluster in order. */
  readonly isGone: boolean;
  configure(room: string, rules: RoomRules, now: number): void;
  receive(from: string, message: unknown, now: number): void;
  tick(now: number): void;
  /** When `tick` has something to do next. */
  nextAt(): number;
  takeOutbox(): readonly SimOutgoing[];
  takeEvents(): readonly SimNodeEvent[];
  join(room: string, visitor: SimArrival, now: number, answer: (answer: JoinAnswer) => void): void;
  checkIn(ticket: Ticket, dice: number, now: number): TicketAnswer;
  enter(ticket: Ticket, dice: number, now: number, answer: (answer: TicketAnswer) => void): void;
  touch(room: string, presences: readonly Presence[], now: number): void;
  /** `done`: it is sure that the place or visit is over. */
  leave(place: Ticket | Pass, now: number, done: () => void): void;
  leaveCluster(now: number): void;
  counts(room: string, now: number): Counts;
  board(room: string, now: number): Board;
  status(): SimNodeStatus;
  /** Nothing listens at that address. */
  refused?(address: string, now: number): void;
}

export interface SimArrival {
  readonly id: string;
  readonly newcomer: Newcomer;
  readonly dice: number;
}

export interface SimOutgoing {
  readonly to: string;
  readonly message: unknown;
}

export type SimNodeEvent =
  /** Turns that this node gave or heard of, in order. */
  | { readonly kind: "turns"; readonly room: string; readonly sequences: readonly number[] }
  /** A visit is over, though its pass would still be good. */
  | { readonly kind: "revoked"; readonly room: string; readonly id: string }
  | { readonly kind: "draw" | "remark" | "kept" };

/** What a node says of itself. */
export interface SimNodeStatus {
  readonly name: string;
  readonly life: number;
  readonly slot: number | null;
  readonly view: SimViewStatus | null;
  readonly isRoot: boolean;
  /** The slot towards the root. null: it is here, or there is no view. */
  readonly pointer: number | null;
  /** Nothing is left to exchange in this view. */
  readonly isSettled: boolean;
  readonly rooms: Readonly<Record<string, SimRoomStatus>>;
}

export interface SimViewStatus {
  readonly version: number;
  readonly members: readonly SimMember[];
  readonly lost: readonly Omit<SimMember, "address">[];
  readonly isMajority: boolean;
}

export interface SimMember {
  readonly slot: number;
  readonly name: string;
  readonly life: number;
  readonly address: string;
}

export interface SimRoomStatus {
  /** The smallest waiting order key owned here. */
  readonly ownFirst: number | null;
  readonly ownWaiting: number;
  readonly turns: number;
  readonly visits: number;
  readonly spare: number;
  /** In the whole room, as known here. */
  readonly waiting: number;
}

export type MakeNode = (settings: SimNodeSettings, dice: () => number, now: number) => SimNode;
