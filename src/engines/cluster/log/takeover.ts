/**
 * Gives the places of a gone owner to other members, once everyone has read the same of its log: each place goes to the member
 * that `homeOf` names, which is the same on all nodes.
 *
 * A part without the majority takes over nothing from members that may still be alive. Where places of lost members are taken
 * over, their slots stay with the lost member: visits are borrowed, and turns become waiting places again.
 */

import { idOf, type View } from "../membership/view.ts";
import {
  ADMITTED,
  type Claim,
  claimOf,
  isFirm,
  ON_SITE,
  type Place,
  SELF,
  standingOf,
  voidsOf,
  WAITING,
} from "../visitors/place.ts";
import type { RoomBooks } from "../visitors/room-books.ts";
import { type AdoptEntry, HOW, OP } from "./entries.ts";

export interface Takeover {
  readonly view: View;
  readonly self: string;
  readonly rooms: Iterable<RoomBooks>;
  /** How far an owner's log was read here. */
  headOf(owner: string): number;
  /** The owner's index in the books. */
  indexOf(owner: string): number;
  readonly now: number;
}

interface Gone {
  readonly members: ReadonlySet<string>;
  readonly lost: ReadonlySet<string>;
}

/** The member that gets a key when its owner is gone: the one with the highest hash of key and node number. */
export function homeOf(key: number, view: View): string {
  let best = "";
  let bestHash = -1;
  for (const { number, name, life } of view.members) {
    const hash = mixed(key, number);
    if (hash <= bestHash) continue;
    best = idOf({ name, life });
    bestHash = hash;
  }
  return best;
}

export function takeOver(takeover: Takeover): void {
  const { view, self } = takeover;
  const gone = { members: new Set(view.members.map(idOf)), lost: new Set(view.lost.map(idOf)) };
  for (const books of takeover.rooms) {
    const taken: [Place, Claim][] = [];
    for (const place of books.places.values()) {
      if (place.claim.origin === SELF && bury(takeover, books, place, gone)) continue;
      const { owner, origin } = place.claim;
      const isOwnBorrowed = origin === SELF && place.claim.isBorrowed;
      if (gone.members.has(owner) && !isOwnBorrowed) continue;
      if (gone.lost.has(owner) && !view.isMajority) continue;
      if (!isOwnBorrowed && homeOf(place.key, view) !== self) continue;
      taken.push([place, place.claim]);
    }
    for (const [place, claim] of taken) adopt(takeover, books, place, claim, gone);
    tellOver(takeover, books, gone);
  }
}

/** A place that is over has no owner, but some log must tell newcomers of it. */
function tellOver({ view, self, indexOf }: Takeover, books: RoomBooks, { members, lost }: Gone): void {
  const tellers = new Set([...members].map(indexOf));
  if (!view.isMajority) for (const id of lost) tellers.add(indexOf(id));
  const untold = [...books.over.origins()].filter((origin) => !tellers.has(origin));
  const taken = untold.flatMap((origin) =>
    [...books.over.of(origin)].filter(({ key }) => homeOf(key, view) === self),
  );
  for (const place of taken) books.write([OP.adopt, view.version, 0, [], books.goneEntryOf(place)]);
}

/** Makes void the claims of owners that are gone for good to a place of this node's, or they could count again later. */
function bury({ headOf }: Takeover, books: RoomBooks, place: Place, { members, lost }: Gone): boolean {
  const dead = place.others?.filter(({ owner }) => !members.has(owner) && !lost.has(owner)) ?? [];
  if (dead.length === 0) return false;
  const voids = [...voidsOf(place), ...dead.flatMap(({ owner }) => [owner, headOf(owner)])];
  const { epoch, isBorrowed } = place.claim;
  books.write([OP.adopt, epoch, isBorrowed ? 1 : 0, voids, standingOf(place, place.claim)]);
  return true;
}

function adopt(takeover: Takeover, books: RoomBooks, place: Place, claim: Claim, { lost }: Gone): void {
  const { view, headOf, indexOf, now } = takeover;
  if (claim.origin === SELF) {
    // Borrowed before. The lender is back, or known to be dead.
    if (![...lost].some((id) => claimOf(place, indexOf(id)))) settleLoan(books, place, claim);
    return;
  }
  const isLost = lost.has(claim.owner);
  const isTurn = claim.state === ADMITTED && isLost;
  const of: AdoptEntry[4] = isTurn
    ? [OP.wait, place.key, place.lane, HOW.asBefore, place.id]
    : standingOf(place, claim);
  const isBorrowed = isLost && claim.state === ON_SITE ? 1 : 0;
  const voids = [...voidsOf(place), claim.owner, headOf(claim.owner)];
  books.write([OP.adopt, view.version, isBorrowed, voids, of]);
  const taken = books.places.get(place.key);
  if (taken && isFirm(taken) && taken.claim.origin === SELF) books.flow.entries++;
  if (taken?.claim.state === WAITING && taken.claim.origin === SELF) books.awaitAnew(taken, now);
}

function settleLoan(books: RoomBooks, place: Place, claim: Claim): void {
  books.write([OP.adopt, claim.epoch, 0, voidsOf(place), standingOf(place, claim)]);
}

/** A well-mixed hash from 0 to 2^32 − 1. */
function mixed(key: number, node: number): number {
  const high = Math.floor(key / 4_294_967_296);
  let hash =
    Math.imul((key >>> 0) ^ Math.imul(high + 1, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(node + 1, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}
