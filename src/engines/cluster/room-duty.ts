/**
 * What a room has to do by itself, a few times a second: visits and turns of this node's whose time is up end, those who
 * stopped checking in lapse, and places that another has in hand as well are let go of. Then, where this node is
 * alone, as many get a turn as the doorkeeper says; otherwise that is for counting rounds to find out.
 */
import type { Admission } from "../../core/engine.ts";
import { wholeTenth } from "../../core/pacing.ts";
import type { DoorRules } from "../../core/rules.ts";
import { ADOPT, EXPIRED, GONE, LAPSE, MISSED, TURN, UNSEEN, YIELD } from "./entries.ts";
import { ADMITTED, claimOf, ON_SITE, SELF, WAITING } from "./place.ts";
import type { RoomBooks } from "./room-books.ts";
import { standingOf, voidsOf } from "./standing.ts";

/** Ends what is over, of this node's. */
export function sweep(books: RoomBooks, now: number): void {
  const { ticketTtlMs } = books.rulesAt(now);
  letGo(books);
  for (const { key, lane } of books.due(ON_SITE, now))
    books.write([GONE, key, lane, EXPIRED, now + ticketTtlMs, ""]);
  for (const { key, lane } of books.due(ADMITTED, now)) {
    books.write([LAPSE, key, lane, MISSED, now + ticketTtlMs]);
    if (books.isAlone) books.door.missed();
    else books.missedSince++;
  }
  for (const { key, lane } of books.due(WAITING, now))
    books.write([LAPSE, key, lane, UNSEEN, now + ticketTtlMs]);
  books.forget(now);
}

/** One turn of the door of a node that is alone. */
export function turnDoor(books: RoomBooks, dice: () => number, now: number): Admission {
  const { door, crowd } = books;
  const rules = books.rulesAt(now);
  sweep(books, now);
  for (const remark of door.weigh(
    { waiting: books.lines.size, admitted: books.turns, onSite: books.onSite },
    now,
  ))
    books.events.onRemark(remark);
  const phase = door.phase(now);
  if (books.isDrawDue(phase)) draw(books, now);
  const opening = door.open(crowd, now);
  const keys = nextKeys(books, opening.admit, { rules, dice, now });
  giveTurns(books, keys, { at: now, now });
  door.admitted(keys.length, now);
  const isLine = books.lines.size > 0 && opening.reason !== "paused" && opening.reason !== "not started";
  observe(books, isLine, now);
  return { admitted: keys.length, reason: opening.reason };
}

/** Those who gathered get the places that were drawn. */
export function draw(books: RoomBooks, now: number): void {
  const { event } = books.door.phase(now);
  for (const entry of books.draws.entriesToDraw(event!, now, books.ticketTtlMaxMs)) books.write(entry);
}

/** The owner's part of admitting: these of its own have a turn, given at that instant of the root's. */
export function giveTurns(
  books: RoomBooks,
  keys: readonly number[],
  { at, now }: { at: number; now: number },
): void {
  const claimBy = wholeTenth(now + books.rulesAt(now).claimWindowMs);
  for (const key of keys) books.write([TURN, key, books.places.get(key)!.lane, 0, claimBy, at]);
  books.tellTurns();
}

/** How fast the door is, as far as this node can see. */
export function observe(books: RoomBooks, isLine: boolean, now: number): void {
  books.pace.observe({ admitted: books.admittedSince, isLine, now });
  books.admittedSince = 0;
}

/** Whose turn is next among this node's, without giving it. */
function nextKeys(
  books: RoomBooks,
  count: number,
  { rules, dice, now }: { rules: DoorRules; dice: () => number; now: number },
): number[] {
  const { own, door } = books;
  const isRandom = rules.queueingMethod === "random";
  const keys: number[] = [];
  while (keys.length < count) {
    const lane = door.nextLane((other) => own.waitingIn(other), now);
    if (lane === null) break;
    const rank = isRandom ? Math.floor(dice() * own.waitingIn(lane)) : 0;
    const key = own.at(lane, rank);
    own.remove(lane, key);
    keys.push(key);
  }
  for (const key of keys) own.add(books.laneOf(books.places.get(key)!.lane), key);
  return keys;
}

/** Places of which another has the better claim are let go of; those that others took over by mistake are claimed again. */
function letGo(books: RoomBooks): void {
  for (let key = books.heldKeys.pop(); key !== undefined; key = books.heldKeys.pop()) {
    const place = books.places.get(key);
    if (place?.claim.origin !== SELF) continue;
    const { epoch, isBorrowed } = place.claim;
    books.write([ADOPT, epoch, isBorrowed ? 1 : 0, voidsOf(place), standingOf(place, place.claim)]);
  }
  for (let key = books.lostKeys.pop(); key !== undefined; key = books.lostKeys.pop()) {
    const place = books.places.get(key);
    if (place && place.claim.origin !== SELF && claimOf(place, SELF)) books.write([YIELD, key]);
  }
}
