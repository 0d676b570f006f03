/** A room as it is kept: what changed goes out, and after a restart all of it comes back. */
import type { Totals } from "../../core/engine.ts";
import type { Measured } from "../../core/eta.ts";
import type { LastMomentMemo } from "./last-moment.ts";
import type { Visit } from "./visits.ts";

/** What a room keeps of itself besides its places and visits. */
export interface RoomMemo {
  readonly nextSequence: number;
  readonly admittedSequence: number;
  readonly waiting: number;
  readonly totals: Totals;
  readonly admissions: readonly [end: number, count: number][];
  readonly measured: Measured;
  readonly lastMoment: LastMomentMemo;
  readonly seenAt: number;
  /** True when the room was closed in order: then nothing happened after this was kept. */
  readonly isClosed: boolean;
}

/** What changed, by name: null for what is no more. */
export interface RoomChanges {
  readonly memo: RoomMemo;
  readonly blocks: ReadonlyMap<number, Uint8Array | null>;
  readonly turns: ReadonlyMap<number, number | null>;
  readonly visits: ReadonlyMap<string, Visit | number | null>;
}

/** A room as it was kept. */
export interface KeptRoom {
  readonly memo: RoomMemo;
  /** In the order of their numbers. */
  readonly blocks: Iterable<readonly [block: number, bytes: Uint8Array]>;
  /** When each turn was given, by sequence. */
  readonly turns: ReadonlyMap<number, number>;
  readonly visits: Iterable<readonly [id: string, visit: Visit | number]>;
}
