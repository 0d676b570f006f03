/**
 * One turn of a room's door, some times a second: visits and turns whose time is up end, those who stopped
 * checking in lapse, an event that begins draws its places, and then as many get a turn as the doorkeeper
 * says. In this order, so that a slot that came free goes to the next at once.
 */
import type { Admission } from "../../core/engine.ts";
import { wholeTenth } from "../../core/pacing.ts";
import { type DoorRules, EVERYBODY } from "../../core/rules.ts";
import type { Phase } from "../../core/schedule.ts";
import { ADMITTED, LAPSED, WAITING } from "./places.ts";
import type { RoomBooks } from "./room-books.ts";

const SWEEP_PLACES_MAX = 500_000;
const FORGET_PERIOD_MS = 10_000;

/** `dice` says who is next where that is left to chance. */
export function turnDoor(books: RoomBooks, dice: () => number, now: number): Admission {
  const { door, lines, crowd, events } = books;
  // The doorkeeper counts lane by lane, so everyone must be in theirs before it is asked.
  const rules = books.rulesAt(now);
  expireVisits(books, now);
  expireTurns(books, now);
  books.places.sweep(now, SWEEP_PLACES_MAX, (sequence) => lapse(books, sequence, now));
  for (const remark of door.weigh(crowd, now)) events.onRemark(remark);
  books.draws.forget(now);
  forget(books, now);
  const phase = door.phase(now);
  if (books.isDrawDue(phase) && !draw(books, phase, now)) return { admitted: 0, reason: "not started" };
  const opening = door.open(crowd, now);
  const isLine = lines.size > 0 && opening.reason !== "paused" && opening.reason !== "not started";
  const sequences = admitNext(books, opening.admit, { rules, dice, now });
  books.pace.observe({ admitted: sequences.length, isLine, now });
  if (sequences.length > 0) events.onTurns(sequences);
  return { admitted: sequences.length, reason: opening.reason };
}

function expireVisits(books: RoomBooks, now: number): void {
  books.visits.expire(now, (visit) => {
    books.totals.expired++;
    books.endPlace(visit, now);
  });
}

/** Turns nobody used go back to the door; their holders keep their place for when they return. */
function expireTurns(books: RoomBooks, now: number): void {
  const { turns, places } = books;
  for (let sequence = turns.takeDue(now); sequence; sequence = turns.takeDue(now)) {
    const isOver = places.state(sequence) === ADMITTED && places.deadline(sequence) <= now;
    if (!isOver) continue;
    turns.end(sequence);
    places.set(sequence, LAPSED, wholeTenth(now));
    books.lapsed++;
    books.totals.missedTurns++;
    books.door.missed();
  }
}

function lapse(books: RoomBooks, sequence: number, now: number): void {
  const { places } = books;
  books.lines.remove(books.laneOf(places.lane(sequence), now), sequence);
  places.set(sequence, LAPSED, wholeTenth(now));
  books.lapsed++;
  books.totals.lapsed++;
}

function forget(books: RoomBooks, now: number): void {
  if (now - books.forgottenAt < FORGET_PERIOD_MS) return;
  books.forgottenAt = now;
  books.places.forget(now);
  books.invites.forget(now);
}

/** Draws, unless some who gathered may still come back from before a crash; then it waits for them. */
function draw(books: RoomBooks, { event }: Phase, now: number): boolean {
  const { places, lines } = books;
  if (books.lastMoment.isHolding(now)) return false;
  const { from, to } = books.draws.draw(event!, now, books.ticketTtlMaxMs);
  places.move(from, to);
  for (let i = 0; i < to.length; i++) {
    const sequence = to[i]!;
    const isWaiting = places.state(sequence) === WAITING;
    lines.put(isWaiting ? books.laneOf(places.lane(sequence), now) : null, sequence);
  }
  books.events.onDraw();
  return true;
}

function admitNext(
  books: RoomBooks,
  count: number,
  { rules, dice, now }: { rules: DoorRules; dice: () => number; now: number },
): number[] {
  const { lines, places, door } = books;
  const sequences: number[] = [];
  const claimBy = wholeTenth(now + rules.claimWindowMs);
  const waitingIn = (lane: number) => lines.waitingIn(lane);
  while (sequences.length < count) {
    const lane = door.nextLane(waitingIn, now);
    if (lane === null) break;
    const rank = rules.queueingMethod === "random" ? Math.floor(dice() * waitingIn(lane)) : 0;
    const sequence = lines.at(lane, rank);
    if (books.lastMoment.isHeld(sequence, now)) break;
    if (lane === EVERYBODY && rank === 0 && !places.wasLate(sequence)) books.remember(sequence, now);
    lines.remove(lane, sequence);
    places.set(sequence, ADMITTED, claimBy);
    books.turns.give(sequence, now, claimBy);
    books.noteAdmitted(lane, sequence, now);
    sequences.push(sequence);
  }
  if (sequences.length > 0) books.draws.scatter();
  door.admitted(sequences.length, now);
  return sequences;
}
