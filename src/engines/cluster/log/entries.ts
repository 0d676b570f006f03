/**
 * What happens to places and visits, as it is told to peers. Every place and visit has one owner, who alone decides
 * what becomes of it and writes that down as an entry; everyone who reads the owner's entries in order has the
 * same picture of it. Check-ins are not written down: they change nothing but a deadline, which is the owner's.
 *
 * Entries are lists, not objects: a busy room sends thousands a second.
 */
export const OP = {
  wait: 1,
  lapse: 2,
  turn: 3,
  visit: 4,
  gone: 5,
  touch: 6,
  invite: 7,
  yield: 8,
  adopt: 9,
  pool: 10,
  drawn: 11,
  loose: 12,
  back: 13,
} as const;

/** How it happened; the numbers of each group go with one kind of entry. */
export const HOW = {
  /** Waits: new, back from having lapsed, back from an earlier life, or with a loose turn that was of no use. */
  ...({ new: 0, returned: 1, takenBack: 2, toFront: 3 } as const),
  /** Lapsed: no check-in, or a turn not used. */
  ...({ unseen: 0, missed: 1 } as const),
  /** Came in: with a turn, straight through, or known by a pass alone. */
  ...({ withTurn: 0, through: 1, byPass: 2 } as const),
  /** Over: the holder left, was sent away, their pass ran out, or they missed too many turns. */
  ...({ left: 0, revoked: 1, expired: 2, forfeited: 3 } as const),
  /** Nothing happened: only the owner is another. Places that were forfeited stay told from others that are over. */
  ...({ asBefore: 9, forfeitedBefore: 10 } as const),
} as const;

export type WaitEntry = readonly [op: typeof OP.wait, key: number, lane: number, how: number, id: string];
export type LapseEntry = readonly [
  op: typeof OP.lapse,
  key: number,
  lane: number,
  how: number,
  until: number,
];
/** `firmUntil`: when it goes loose; 0: it is loose. */
export type TurnEntry = readonly [
  op: typeof OP.turn,
  key: number,
  lane: number,
  how: number,
  claimBy: number,
  givenAt: number,
  firmUntil: number,
];
export type VisitEntry = readonly [
  op: typeof OP.visit,
  key: number,
  lane: number,
  how: number,
  id: string,
  joinedAt: number,
  admittedAt: number,
  enteredAt: number,
  expiresAt: number,
];
/** `until`: when the last ticket or pass of it runs out by itself. `id`: of a visit that ended. */
export type GoneEntry = readonly [
  op: typeof OP.gone,
  key: number,
  lane: number,
  how: number,
  until: number,
  id: string,
];
export type TouchEntry = readonly [op: typeof OP.touch, key: number, expiresAt: number];
export type InviteEntry = readonly [op: typeof OP.invite, id: string, expiresAt: number];
/** Two had the same place in hand, and this one lets go of it. */
export type YieldEntry = readonly [op: typeof OP.yield, key: number];
/**
 * This owner has that place now. `voids`: those it was taken over from, each with how many entries of their log that
 * made void, in turn. `isBorrowed`: its slot is still the other's.
 */
export type AdoptEntry = readonly [
  op: typeof OP.adopt,
  epoch: number,
  isBorrowed: number,
  voids: readonly (string | number)[],
  of: WaitEntry | LapseEntry | TurnEntry | VisitEntry | GoneEntry,
];
/** A part of those who gathered for a draw: key and id in turn. */
export type PoolEntry = readonly [
  op: typeof OP.pool,
  draw: number,
  event: string,
  gathered: readonly (number | string)[],
];
/** From here on this owner's entries are about places as they are after the draw. */
export type DrawnEntry = readonly [
  op: typeof OP.drawn,
  draw: number,
  event: string,
  size: number,
  drawnAt: number,
  keepUntil: number,
];

/** A turn is loose from here on. */
export type LooseEntry = readonly [op: typeof OP.loose, key: number];
/**
 * A place has another number in the line, since it missed so many turns. `behind`: the number that it was put behind, with
 * others perhaps.
 */
export type BackEntry = readonly [
  op: typeof OP.back,
  key: number,
  sequence: number,
  behind: number,
  missedTurns: number,
  missedAt: number,
];

export type Entry =
  | WaitEntry
  | LapseEntry
  | TurnEntry
  | VisitEntry
  | GoneEntry
  | TouchEntry
  | InviteEntry
  | YieldEntry
  | AdoptEntry
  | PoolEntry
  | DrawnEntry
  | LooseEntry
  | BackEntry;

/** An entry and the room it is about. */
export interface Written {
  readonly room: string;
  readonly entry: Entry;
}

/** What a field of an entry is: a key, any finite number, a text, a list of numbers and texts, or the entry of a place. */
export type FieldKind = "key" | "number" | "text" | "list" | "place";

/** The fields of each kind of entry after its `op`: how it is written down, and how it is told from what is none. */
export const ENTRY_FIELDS: Readonly<Record<Entry[0], readonly FieldKind[]>> = {
  [OP.wait]: ["key", "number", "number", "text"],
  [OP.lapse]: ["key", "number", "number", "number"],
  [OP.turn]: ["key", "number", "number", "number", "number", "number"],
  [OP.visit]: ["key", "number", "number", "text", "number", "number", "number", "number"],
  [OP.gone]: ["key", "number", "number", "number", "text"],
  [OP.touch]: ["key", "number"],
  [OP.invite]: ["text", "number"],
  [OP.yield]: ["key"],
  [OP.adopt]: ["number", "number", "list", "place"],
  [OP.pool]: ["number", "text", "list"],
  [OP.drawn]: ["number", "text", "number", "number", "number"],
  [OP.loose]: ["key"],
  [OP.back]: ["key", "number", "number", "number", "number"],
};
