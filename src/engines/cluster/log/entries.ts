/**
 * What happens to places and visits, as it is told to peers. Every place and visit has one owner, who alone decides
 * what becomes of it and writes that down as an entry; everyone who reads the owner's entries in order has the
 * same picture of it. Check-ins are not written down: they change nothing but a deadline, which is the owner's.
 *
 * Entries are lists, not objects: a busy room sends thousands a second.
 */
export const WAIT = 1;
export const LAPSE = 2;
export const TURN = 3;
export const VISIT = 4;
export const GONE = 5;
export const TOUCH = 6;
export const INVITE = 7;
export const YIELD = 8;
export const ADOPT = 9;
export const POOL = 10;
export const DRAWN = 11;
export const LOOSE = 12;
export const BACK = 13;

/** How someone came to wait: new, back from having lapsed, back from an earlier life, or with a loose turn that was of no use. */
export const NEW = 0;
export const RETURNED = 1;
export const TAKEN_BACK = 2;
export const TO_FRONT = 3;
/** Why a place lapsed: no check-in, or a turn not used. */
export const UNSEEN = 0;
export const MISSED = 1;
/** How someone came in: with a turn, straight through, or known by a pass alone. */
export const WITH_TURN = 0;
export const THROUGH = 1;
export const BY_PASS = 2;
/** How it ended: the holder left, was sent away, their pass ran out, or they missed too many turns. */
export const LEFT = 0;
export const REVOKED = 1;
export const EXPIRED = 2;
export const FORFEITED = 3;
/** Nothing happened: only the owner is another. Places that were forfeited stay told from others that are over. */
export const AS_BEFORE = 9;
export const FORFEITED_BEFORE = 10;

export type WaitEntry = readonly [op: typeof WAIT, key: number, lane: number, how: number, id: string];
export type LapseEntry = readonly [op: typeof LAPSE, key: number, lane: number, how: number, until: number];
/** `firmUntil`: when it goes loose; 0: it is loose. */
export type TurnEntry = readonly [
  op: typeof TURN,
  key: number,
  lane: number,
  how: number,
  claimBy: number,
  givenAt: number,
  firmUntil: number,
];
export type VisitEntry = readonly [
  op: typeof VISIT,
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
  op: typeof GONE,
  key: number,
  lane: number,
  how: number,
  until: number,
  id: string,
];
export type TouchEntry = readonly [op: typeof TOUCH, key: number, expiresAt: number];
export type InviteEntry = readonly [op: typeof INVITE, id: string, expiresAt: number];
/** Two had the same place in hand, and this one lets go of it. */
export type YieldEntry = readonly [op: typeof YIELD, key: number];
/**
 * This owner has that place now. `voids`: those it was taken over from, each with how many entries of their log that
 * made void, in turn. `isBorrowed`: its slot is still the other's.
 */
export type AdoptEntry = readonly [
  op: typeof ADOPT,
  epoch: number,
  isBorrowed: number,
  voids: readonly (string | number)[],
  of: WaitEntry | LapseEntry | TurnEntry | VisitEntry | GoneEntry,
];
/** A part of those who gathered for a draw: key and id in turn. */
export type PoolEntry = readonly [
  op: typeof POOL,
  draw: number,
  event: string,
  gathered: readonly (number | string)[],
];
/** From here on this owner's entries are about places as they are after the draw. */
export type DrawnEntry = readonly [
  op: typeof DRAWN,
  draw: number,
  event: string,
  size: number,
  drawnAt: number,
  keepUntil: number,
];

/** A turn is loose from here on. */
export type LooseEntry = readonly [op: typeof LOOSE, key: number];
/**
 * A place has another number in the line, since it missed so many turns. `behind`: the number that it was put behind, with
 * others perhaps.
 */
export type BackEntry = readonly [
  op: typeof BACK,
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
  [WAIT]: ["key", "number", "number", "text"],
  [LAPSE]: ["key", "number", "number", "number"],
  [TURN]: ["key", "number", "number", "number", "number", "number"],
  [VISIT]: ["key", "number", "number", "text", "number", "number", "number", "number"],
  [GONE]: ["key", "number", "number", "number", "text"],
  [TOUCH]: ["key", "number"],
  [INVITE]: ["text", "number"],
  [YIELD]: ["key"],
  [ADOPT]: ["number", "number", "list", "place"],
  [POOL]: ["number", "text", "list"],
  [DRAWN]: ["number", "text", "number", "number", "number"],
  [LOOSE]: ["key"],
  [BACK]: ["key", "number", "number", "number", "number"],
};
