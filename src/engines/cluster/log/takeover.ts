/**
 * Places whose owner is gone get another, once everyone has read the same of the logs of the gone: each goes to the member
 * that `homeOf` says, which is the same for all.
 *
 * A part without the majority takes over nothing of those who may still be there. What is taken over from them is theirs as
 * far as slots go: visits are borrowed, and turns begin anew as places in the line.
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
  /** By which the books know an owner. */
  indexOf(owner: string): number;
  readonly now: number;
}

interface Gone {
  readonly members: ReadonlySet<string>;
  readonly lost: ReadonlySet<string>;
}

/** The member that a key is for when its owner is gone: the one with the highest hash of both. */
export function homeOf(key: number, view: View): string {
  let best = "";
  let bestHash = -1;
  for (const { slot, name, life } of view.members) {
    const hash = mixed(key, slot);
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

/** What is over is nobody's to decide about; but newcomers must hear of it from somebody. */
function tellOver({ view, self, indexOf }: Takeover, books: RoomBooks, { members, lost }: Gone): void {
  const tellers = new Set([...members].map(indexOf));
  if (!view.isMajority) for (const id of lost) tellers.add(indexOf(id));
  const untold = [...books.over.origins()].filter((origin) => !tellers.has(origin));
  const taken = untold.flatMap((origin) =>
    [...books.over.of(origin)].filter(({ key }) => homeOf(key, view) === self),
  );
  for (const place of taken) books.write([OP.adopt, view.version, 0, [], books.goneEntryOf(place)]);
}

/** Claims to a place of this node's whose owners are gone for good are void, or one could count again some day. */
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
    // Borrowed before; whoever lent it is back, or is known to be dead.
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

/** A number from 0 to 2^32 - 1 that looks like nothing of what it was made from. */
function mixed(key: number, slot: number): number {
  const high = Math.floor(key / 4_294_967_296);
  let hash =
    Math.imul((key >>> 0) ^ Math.imul(high + 1, 0x9e3779b1), 0x85ebca6b) ^ Math.imul(slot + 1, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}
