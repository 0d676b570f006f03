/**
 * A visitor's place, from joining to its end, and who owns it. There is one owner at a time but for a while after a part of
 * the cluster was cut off and came back: then two may have it in hand. Each has a claim, the same claim wins everywhere,
 * and the one whose claim loses lets go of it. A place that is over is nobody's (over-places.ts).
 *
 * Whoever got further wins, so that nobody is let in twice: waiting < turn < borrowed visit < visit. Among equals
 * the later owner wins (`epoch` is the version of the view that made them owner), then the lower name.
 */
import { type AdoptEntry, HOW, OP } from "../log/entries.ts";

/** The node's own log. */
export const SELF = 0;

export const WAITING = 1;
export const LAPSED = 2;
export const ADMITTED = 3;
export const ON_SITE = 4;

export type PlaceState = typeof WAITING | typeof LAPSED | typeof ADMITTED | typeof ON_SITE;

/** Hexadecimal digits of an id that fit into a key. */
const PASS_KEY_DIGITS = 13;

export interface Claim {
  /** The owner: index of a log as known here. */
  readonly origin: number;
  /** The owner's name and life, the same everywhere. */
  readonly owner: string;
  epoch: number;
  /** The number of the entry in the owner's log that it is from. */
  at: number;
  state: PlaceState;
  /** Waiting (the owner's alone): lapses then. Turn: lost then. Visit: the pass runs out. Lapsed: forgotten then. */
  until: number;
  /** Turn and visit: when the turn was given. */
  admittedAt: number;
  /** Turn: a slot is kept for it until then. 0: it is loose. */
  firmUntil: number;
  /** A visit whose slot is still with the lost owner before. */
  isBorrowed: boolean;
}

/** What someone took over from an owner who was gone. */
export interface Void {
  readonly owner: string;
  readonly head: number;
}

export interface Place {
  readonly key: number;
  readonly lane: number;
  /** Its number in the line: the key, until it missed a turn. */
  sequence: number;
  /** The number it was put behind when it missed one. */
  behind: number;
  missedTurns: number;
  /** When the turn that was missed last was given. */
  missedAt: number;
  /** Its holder came with a loose turn, in vain, since the last missed one. */
  hasReturned: boolean;
  /** Empty while nobody but the ticket needs to know it. */
  id: string;
  joinedAt: number;
  /** When its owner looks next whether it has lapsed; null: no look is due. */
  lookAt: number | null;
  /** It has lapsed, or came back from an earlier life: its turn says nothing about how fair the room is. */
  wasLate: boolean;
  claim: Claim;
  /** Claims that lose. */
  others: Claim[] | null;
  /** Claims of these owners are void, as far as they are from the first entries of their logs. */
  voids: Void[] | null;
}

/** A visit that is known by its pass alone has a number of its own kind, below zero, made from its id. */
export function keyOfPass(id: string): number {
  return -1 - Number.parseInt(id.slice(0, PASS_KEY_DIGITS), 16);
}

/** True for a turn that a slot is kept for. */
export function isFirm({ claim }: Place): boolean {
  return claim.state === ADMITTED && claim.firmUntil > 0;
}

/** True for a visit whose slot is this node's. */
export function isOwnVisit({ claim }: Place): boolean {
  return claim.state === ON_SITE && claim.origin === SELF && !claim.isBorrowed;
}

export function claimOf(place: Place, origin: number): Claim | undefined {
  if (place.claim.origin === origin) return place.claim;
  return place.others?.find((claim) => claim.origin === origin);
}

export function addClaim(place: Place, claim: Claim): void {
  place.others = [...(place.others ?? []), claim];
}

export function claimBy(place: Place, owner: string): Claim | undefined {
  if (place.claim.owner === owner) return place.claim;
  return place.others?.find((claim) => claim.owner === owner);
}

/** Notes that a claim was taken over from an owner, up to that entry of their log. */
export function addVoid(place: Place, { owner, head }: Void): void {
  const others = place.voids?.filter((known) => known.owner !== owner) ?? [];
  const before = place.voids?.find((known) => known.owner === owner)?.head ?? 0;
  place.voids = [...others, { owner, head: Math.max(head, before) }];
}

/** Takes a claim back. False when it is the only one: then the place goes with it. */
export function dropClaim(place: Place, origin: number): boolean {
  const left = [place.claim, ...(place.others ?? [])].filter((claim) => claim.origin !== origin);
  if (left.length === 0) return false;
  place.claim = left[0]!;
  place.others = left.length > 1 ? left.slice(1) : null;
  return true;
}

/** Sees to it that the best claim is the one that counts. */
export function settleClaims(place: Place): void {
  if (!place.others) return;
  const all = [place.claim, ...place.others].sort(byMerit);
  place.claim = all[0]!;
  place.others = all.slice(1);
}

function byMerit(a: Claim, b: Claim): number {
  return rankOf(b) - rankOf(a) || b.epoch - a.epoch || (a.owner < b.owner ? -1 : 1);
}

function rankOf({ state, isBorrowed }: Claim): number {
  if (state === WAITING || state === LAPSED) return 0;
  if (state === ADMITTED) return 1;
  return isBorrowed ? 2 : 3;
}

/** Whose claims to a place are void, as entries tell it. */
export function voidsOf({ voids }: Place): (string | number)[] {
  return voids?.flatMap(({ owner, head }) => [owner, head]) ?? [];
}

/** What a place is now, as an entry that makes the same of it elsewhere. */
export function standingOf(place: Place, claim: Claim): AdoptEntry[4] {
  const { key, lane, id, joinedAt } = place;
  const { state, until, admittedAt, firmUntil } = claim;
  if (state === LAPSED) return [OP.lapse, key, lane, HOW.asBefore, until];
  if (state === ADMITTED) return [OP.turn, key, lane, HOW.asBefore, until, admittedAt, firmUntil];
  if (state === ON_SITE) return [OP.visit, key, lane, HOW.asBefore, id, joinedAt, admittedAt, 0, until];
  return [OP.wait, key, lane, HOW.asBefore, id];
}
