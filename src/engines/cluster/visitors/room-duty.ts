/**
 * What a room does by itself, a few times a second: ends this node's visits and turns whose deadline has passed, lapses visitors
 * who stopped checking in, and resolves claims with other nodes. A lone node also runs the door; otherwise counting rounds give
 * the turns.
 */
import { turnDoor } from "../../../core/door-turn.ts";
import type { Admission } from "../../../core/engine.ts";
import { goesBehind } from "../../../core/missed-turns.ts";
import { compareOrder } from "../../../core/order.ts";
import { HOW, OP } from "../log/entries.ts";
import { ADMITTED, claimOf, ON_SITE, type Place, SELF, standingOf, voidsOf, WAITING } from "./place.ts";
import type { RoomBooks } from "./room-books.ts";

/** Ends what has expired, among this node's places. */
export function sweep(books: RoomBooks, now: number): void {
  const { ticketTtlMs } = books.rulesAt(now);
  letGo(books);
  for (const { key, lane } of books.due(ON_SITE, now))
    books.write([OP.gone, key, lane, HOW.expired, now + ticketTtlMs, ""]);
  for (const { key } of books.firmDue(now)) loosen(books, key, now);
  // Those who missed their turn are set back in the order in which they stood. A prolonged turn has two deadlines, and is missed
  // once.
  const missed = [...new Set(books.due(ADMITTED, now))].sort(compareOrder);
  for (const place of missed) miss(books, place, now);
  for (const { key, lane } of books.due(WAITING, now))
    books.write([OP.lapse, key, lane, HOW.unseen, now + ticketTtlMs]);
  books.forget(now);
}

/** A turn becomes loose: its slot goes to the next. */
function loosen(books: RoomBooks, key: number, now: number): void {
  books.write([OP.loose, key]);
  books.crowd.gaveBack("loose", now);
}

/** A turn was not used. The place is set back and kept for its holder, or is forfeited. */
function miss(books: RoomBooks, place: Place, now: number): void {
  const { key, claim } = place;
  const { ticketTtlMs, missedTurnsMax, queueingMethod } = books.rulesAt(now);
  books.crowd.missed();
  const missedTurns = place.missedTurns + 1;
  const lane = books.laneOf(place.lane);
  const givenAt = claim.admittedAt;
  const letIn = books.crowd.letInSince(lane, place, queueingMethod === "random");
  const line = books.lines.behind(lane);
  const follow = goesBehind({ sequence: place.sequence, missedTurns, letIn, line }, missedTurnsMax);
  if (follow === null)
    return books.write([OP.gone, key, place.lane, HOW.forfeited, now + books.ticketTtlMaxMs, ""]);
  const { sequence, behind } = books.numberBehind(follow);
  books.write([OP.lapse, key, place.lane, HOW.missed, now + ticketTtlMs]);
  books.write([OP.back, key, sequence, behind, missedTurns, givenAt]);
}

/** One run of the door on a lone node. */
export function turnWhole(books: RoomBooks, dice: () => number, now: number): Admission {
  books.rulesAt(now);
  for (const remark of books.door.weigh(books.crowd, now)) books.events.onRemark(remark);
  const give = (sequence: number) => {
    giveTurn(books, sequence, { at: now, now });
    return true;
  };
  const { sequences, reason } = turnDoor(books, books.own, { give, dice, now });
  books.tellTurns();
  return { admitted: sequences.length, reason };
}

/** The owner's part of admission: gives these visitors a turn, as of that instant of the root's clock. */
export function giveTurns(
  books: RoomBooks,
  sequences: readonly number[],
  { at, now }: { at: number; now: number },
): void {
  for (const sequence of sequences) giveTurn(books, sequence, { at, now });
  books.tellTurns();
}

function giveTurn(books: RoomBooks, sequence: number, { at, now }: { at: number; now: number }): void {
  const { key, lane, claim, hasReturned, missedTurns } = books.placeAt(sequence)!;
  // A place that was taken over has no deadline until its holder is heard of.
  const lapseAt = Number.isFinite(claim.until) ? claim.until : now;
  const { claimBy, firmUntil } = books.door.turn({ lapseAt, hasReturned, hasMissed: missedTurns > 0 }, now);
  books.write([OP.turn, key, lane, 0, claimBy, at, firmUntil]);
}

/** Measures the speed of the door, as far as this node can see. */
export function observe(books: RoomBooks, isLine: boolean, now: number): void {
  books.pace.observe({ admitted: books.admittedSince, isLine, now });
  books.admittedSince = 0;
  books.waits.turn(isLine, now);
}

/**
 * Lets go of places where another claim won, of visits that others ended, and of visits that another node has by their ticket;
 * claims again what others took over by mistake.
 */
function letGo(books: RoomBooks): void {
  for (let key = books.endedKeys.pop(); key !== undefined; key = books.endedKeys.pop()) {
    const place = books.places.get(key);
    const passUntil = place && books.ended.get(place.id);
    if (place?.claim.origin === SELF && passUntil !== undefined)
      books.write([OP.gone, key, place.lane, HOW.asBefore, passUntil, place.id]);
  }
  for (let key = books.twinKeys.pop(); key !== undefined; key = books.twinKeys.pop()) {
    const place = books.places.get(key);
    const twin = place && books.visits.get(place.id);
    // Only when the other lasts as long: a visitor must not be counted twice, nor for less time than their pass is valid.
    if (place?.claim.origin === SELF && twin && twin !== place && twin.claim.until >= place.claim.until)
      books.write([OP.yield, key]);
  }
  for (let key = books.heldKeys.pop(); key !== undefined; key = books.heldKeys.pop()) {
    const place = books.places.get(key);
    if (place?.claim.origin !== SELF) continue;
    const { epoch, isBorrowed } = place.claim;
    books.write([OP.adopt, epoch, isBorrowed ? 1 : 0, voidsOf(place), standingOf(place, place.claim)]);
  }
  for (let key = books.lostKeys.pop(); key !== undefined; key = books.lostKeys.pop()) {
    const place = books.places.get(key);
    if (place && place.claim.origin !== SELF && claimOf(place, SELF)) books.write([OP.yield, key]);
  }
}
