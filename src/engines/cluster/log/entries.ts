/**
 * What happens to places and visits, as it is told to peers. Each has one owner, who alone decides about it and writes that as an
 * entry; all who read the owner's entries in order have the same picture. Check-ins are not written: they only change a deadline,
 * which is the owner's own matter.
 *
 * Entries are arrays, not objects: a busy room sends thousands a second.
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

/** How it happened. The numbers of each group belong to one kind of entry. */
export const HOW = {
  /** Waiting: new, back after a lapse, back from an earlier life of the cluster, or to the front after a loose turn in vain. */
  ...({ new: 0, returned: 1, takenBack: 2, toFront: 3 } as const),
  /** Lapsed: no check-in, or an unused turn. */
  ...({ unseen: 0, missed: 1 } as const),
  /** Entered: with a turn, straight through, or known by a pass alone. */
  ...({ withTurn: 0, through: 1, byPass: 2 } as const),
  /** Over: the holder left, was revoked, the pass expired, or too many turns were missed. */
  ...({ left: 0, revoked: 1, expired: 2, forfeited: 3 } as const),
  /** Nothing happened but a change of owner. Forfeited places stay distinct from others that are over. */
  ...({ asBefore: 9, forfeitedBefore: 10 } as const),
} as const;

type PlaceEntry<Op extends number, Fields extends readonly unknown[]> = readonly [
  ...[op: Op, key: number, lane: number, how: number],
  ...Fields,
];

export type WaitEntry = PlaceEntry<typeof OP.wait, [id: string]>;
export type LapseEntry = PlaceEntry<typeof OP.lapse, [until: number]>;
/** `firmUntil`: when it becomes loose; 0: it is loose. */
export type TurnEntry = PlaceEntry<typeof OP.turn, [claimBy: number, givenAt: number, firmUntil: number]>;
export type VisitEntry = PlaceEntry<
  typeof OP.visit,
  [id: string, joinedAt: number, admittedAt: number, enteredAt: number, expiresAt: number]
>;
/** `until`: when the last ticket or pass of it expires. `id`: of a visit that ended. */
export type GoneEntry = PlaceEntry<typeof OP.gone, [until: number, id: string]>;
export type TouchEntry = readonly [op: typeof OP.touch, key: number, expiresAt: number];
export type InviteEntry = readonly [op: typeof OP.invite, id: string, expiresAt: number];
/** Two owners had the same place, and this one lets go of it. */
export type YieldEntry = readonly [op: typeof OP.yield, key: number];
/**
 * This owner has that place now. `voids`: the former owners, each followed by how many entries of their log this makes void.
 * `isBorrowed`: the slot still belongs to the former owner.
 */
export type AdoptEntry = readonly [
  op: typeof OP.adopt,
  epoch: number,
  isBorrowed: number,
  voids: readonly (string | number)[],
  of: WaitEntry | LapseEntry | TurnEntry | VisitEntry | GoneEntry,
];
/** Some of those who gathered for a draw: key and id alternate. */
export type PoolEntry = readonly [
  op: typeof OP.pool,
  draw: number,
  event: string,
  gathered: readonly (number | string)[],
];
/** From here on this owner's entries are about places after the draw. */
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
/** A place has another number in the line after missing turns. `behind`: the number it was put behind. */
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

/** The kinds of fields: a key, a finite number, a text, a list of numbers and texts, or the entry of a place. */
export type FieldKind = "key" | "number" | "text" | "list" | "place";

/** The fields of each kind of entry after its `op`, for packing and checking. */
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
