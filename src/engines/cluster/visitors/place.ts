/**
 * A visitor's place, from joining to its end, and who owns it. There is one owner at a time, except for a while after a cut: then
 * two may have claims. The same claim wins on every node, and the owner of the losing one lets go. A place that is over has no
 * owner (over-places.ts).
 *
 * The claim that got further wins, so that nobody is admitted twice: waiting < turn < borrowed visit < visit. Among equals the
 * later owner wins (`epoch` is the version of the view that made it the owner), then the lower name.
 */
import { type AdoptEntry, HOW, OP } from "../log/entries.ts";

export const SELF = 0;

export const WAITING = 1;
export const LAPSED = 2;
export const ADMITTED = 3;
export const ON_SITE = 4;

export type PlaceState = typeof WAITING | typeof LAPSED | typeof ADMITTED | typeof ON_SITE;

const PASS_KEY_DIGITS = 13;

export interface Claim {
  /** The owner: index of its log on this node. */
  readonly origin: number;
  /** The owner's name and life, the same on every node. */
  readonly owner: string;
  epoch: number;
  /** Index of the entry in the owner's log that made this claim. */
  at: number;
  state: PlaceState;
  /** Waiting (on the owner only): lapses then. Turn: expires then. Visit: the pass expires. Lapsed: forgotten then. */
  until: number;
  /** Of a turn or visit: when the turn was given. */
  admittedAt: number;
  /** Of a turn: a slot is reserved until then. 0: it is loose. */
  firmUntil: number;
  /** A visit whose slot still belongs to the lost former owner. */
  isBorrowed: boolean;
}

/** A former owner, and how many entries of its log no longer count. */
export interface Void {
  readonly owner: string;
  readonly head: number;
}

export interface Place {
  readonly key: number;
  readonly lane: number;
  /** The number in the line: the key, until a turn was missed. */
  sequence: number;
  /** The number it was put behind after missing one. */
  behind: number;
  missedTurns: number;
  /** When the turn that was missed last was given. */
  missedAt: number;
  /** Since the last missed turn, its holder came with a loose turn in vain. */
  hasReturned: boolean;
  /** Empty while only the ticket needs to have it. */
  id: string;
  joinedAt: number;
  /** When its owner checks next whether it has lapsed; null: no check is due. */
  lookAt: number | null;
  /** It has lapsed, or came back from an earlier life: its turn says nothing about fairness. */
  wasLate: boolean;
  claim: Claim;
  /** Claims that lost. */
  others: Claim[] | null;
  /** Claims of these owners are void, up to an index of their logs. */
  voids: Void[] | null;
}

/** The key of a visit known by its pass alone: negative, made from the id. */
export function keyOfPass(id: string): number {
  return -1 - Number.parseInt(id.slice(0, PASS_KEY_DIGITS), 16);
}

/** True for a turn with a reserved slot. */
export function isFirm({ claim }: Place): boolean {
  return claim.state === ADMITTED && claim.firmUntil > 0;
}

/** True for a visit that uses a slot of its owner's. */
export function hasOwnersSlot({ claim }: Place): boolean {
  return claim.state === ON_SITE && !claim.isBorrowed;
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

/** Makes an owner's claim void, up to that index of its log. */
export function addVoid(place: Place, { owner, head }: Void): void {
  const others = place.voids?.filter((known) => known.owner !== owner) ?? [];
  const before = place.voids?.find((known) => known.owner === owner)?.head ?? 0;
  place.voids = [...others, { owner, head: Math.max(head, before) }];
}

/** Removes a claim. Returns false for the only one: then the place goes with it. */
export function dropClaim(place: Place, origin: number): boolean {
  const left = [place.claim, ...(place.others ?? [])].filter((claim) => claim.origin !== origin);
  if (left.length === 0) return false;
  place.claim = left[0]!;
  place.others = left.length > 1 ? left.slice(1) : null;
  return true;
}

/** Puts the best claim in force. */
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

/** The void claims to a place, as entries tell them. */
export function voidsOf({ voids }: Place): (string | number)[] {
  return voids?.flatMap(({ owner, head }) => [owner, head]) ?? [];
}

/** The entry that recreates a place's present state on another node. */
export function standingOf(place: Place, claim: Claim): AdoptEntry[4] {
  const { key, lane, id, joinedAt } = place;
  const { state, until, admittedAt, firmUntil } = claim;
  if (state === LAPSED) return [OP.lapse, key, lane, HOW.asBefore, until];
  if (state === ADMITTED) return [OP.turn, key, lane, HOW.asBefore, until, admittedAt, firmUntil];
  if (state === ON_SITE) return [OP.visit, key, lane, HOW.asBefore, id, joinedAt, admittedAt, 0, until];
  return [OP.wait, key, lane, HOW.asBefore, id];
}
