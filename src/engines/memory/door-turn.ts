/**
 * One turn of a room's door, some times a second: expired visits and turns end, turns that were firm for long enough go loose,
 * visitors who stopped checking in lapse, an event that begins draws its places, and then the doorkeeper says how many get a
 * turn. In this order, so that a freed slot goes to the next visitor at once.
 */
import { type Give, turnDoor as turn } from "../../core/door-turn.ts";
import type { Admission } from "../../core/engine.ts";
import { goesBehind } from "../../core/missed-turns.ts";
import { wholeTenth } from "../../core/pacing.ts";
import { EVERYBODY, type EventRules } from "../../core/rules.ts";
import type { Phase } from "../../core/schedule.ts";
import { ADMITTED, FORFEITED, LAPSED, WAITING } from "./places.ts";
import type { RoomBooks } from "./room-books.ts";

const SWEEP_PLACES_MAX = 500_000;
const FORGET_PERIOD_MS = 10_000;

/** `dice` picks the next visitor in random order. */
export function turnMemoryDoor(books: RoomBooks, dice: () => number, now: number): Admission {
  const { door, lines, crowd, events } = books;
  // The doorkeeper counts by lane, so everyone must be in the right lane before it is asked.
  books.rulesAt(now);
  expireVisits(books, now);
  books.turns.loosen(now, () => door.gaveBack("loose", now));
  missTurns(books, now);
  books.places.sweep(now, SWEEP_PLACES_MAX, (place) => lapse(books, place, now));
  for (const remark of door.weigh(crowd, now)) events.onRemark(remark);
  books.draws.forget(now);
  forget(books, now);
  const room = {
    door,
    crowd,
    isDrawDue: (phase: Phase) => books.isDrawDue(phase),
    draw: (event: EventRules) => draw(books, event, now),
  };
  const give: Give = (sequence, lane, rank) => giveTurn(books, { sequence, lane, rank, now });
  const { sequences, reason, isLine } = turn(room, lines, { give, dice, now });
  if (sequences.length > 0) books.draws.scatter();
  books.pace.observe({ admitted: sequences.length, isLine, now });
  books.waits.turn(isLine, now);
  if (sequences.length > 0) events.onTurns(sequences);
  return { admitted: sequences.length, reason };
}

function expireVisits(books: RoomBooks, now: number): void {
  books.resumes.forget(now);
  books.visits.expire(now, (visit) => {
    books.totals.expired++;
    books.endPlace(visit, now);
  });
}

/** Turns that were not used in time. Their places are set back in the order in which they stood. */
function missTurns(books: RoomBooks, now: number): void {
  const { turns, places, setBacks } = books;
  const missed: number[] = [];
  for (let place = turns.takeDue(now); place; place = turns.takeDue(now))
    if (places.state(place) === ADMITTED && places.deadline(place) <= now) missed.push(place);
  missed.sort((a, b) => setBacks.sequenceOf(a) - setBacks.sequenceOf(b));
  for (const place of missed) missTurn(books, place, now);
}

/** The place moves back and is kept for its holder's return, or is forfeited. */
function missTurn(books: RoomBooks, place: number, now: number): void {
  const { turns, places, setBacks, totals, door } = books;
  // A turn that was prolonged is in the list twice.
  const turn = turns.end(place);
  if (!turn) return;
  totals.missedTurns++;
  door.missed();
  const missedTurns = (setBacks.get(place)?.missedTurns ?? 0) + 1;
  const lane = books.laneOf(places.lane(place));
  const missed = {
    sequence: setBacks.sequenceOf(place),
    missedTurns,
    letIn: books.tallies.letInOf(lane) - turn.letInBefore,
    line: books.lines.behind(lane),
  };
  const follow = goesBehind(missed, books.rulesAt(now).missedTurnsMax);
  if (follow === null) {
    totals.forfeited++;
    places.set(place, FORFEITED, wholeTenth(now));
    places.keepUntil(place, now + books.ticketTtlMaxMs);
    return setBacks.drop(place);
  }
  setBacks.set(place, { sequence: setBacks.numberBehind(follow), missedTurns, missedAt: turn.givenAt });
  places.setReturned(place, false);
  places.set(place, LAPSED, wholeTenth(now));
  books.lapsed++;
}

function lapse(books: RoomBooks, place: number, now: number): void {
  const { places, setBacks } = books;
  books.lines.remove(books.laneOf(places.lane(place)), setBacks.sequenceOf(place));
  places.set(place, LAPSED, wholeTenth(now));
  books.lapsed++;
  books.totals.lapsed++;
}

function forget(books: RoomBooks, now: number): void {
  if (now - books.forgottenAt < FORGET_PERIOD_MS) return;
  books.forgottenAt = now;
  books.places.forget(now);
  books.invites.forget(now);
}

/** Draws, unless gathered visitors from before a crash may still come back; then it waits for them. */
function draw(books: RoomBooks, event: EventRules, now: number): boolean {
  const { places, lines } = books;
  if (books.lastMoment.isHolding(now)) return false;
  const { from, to } = books.draws.draw(event, now, books.ticketTtlMaxMs);
  places.move(from, to);
  for (let i = 0; i < to.length; i++) {
    const sequence = to[i]!;
    const isWaiting = places.state(sequence) === WAITING;
    lines.put(isWaiting ? books.laneOf(places.lane(sequence)) : null, sequence);
  }
  books.waits.forgetPlaces();
  books.events.onDraw();
  return true;
}

/** False: visitors behind this one are not admitted until those who joined before a crash have had time to come back. */
function giveTurn(
  books: RoomBooks,
  { sequence, lane, rank, now }: { sequence: number; lane: number; rank: number; now: number },
): boolean {
  const { lines, places, setBacks, door } = books;
  if (books.lastMoment.isHeld(sequence, now)) return false;
  const place = setBacks.originOf(sequence);
  if (lane === EVERYBODY && rank === 0 && !places.wasLate(place)) books.tallies.remember(sequence, now);
  lines.remove(lane, sequence);
  books.noteAdmitted(lane, sequence, now);
  const hasMissed = setBacks.get(place) !== undefined;
  const hasReturned = places.hasReturned(place);
  const turn = door.turn({ lapseAt: places.deadline(place), hasReturned, hasMissed }, now);
  places.set(place, ADMITTED, turn.claimBy);
  books.turns.give(place, { givenAt: now, letInBefore: books.tallies.letInOf(lane), isFirm: true, ...turn });
  return true;
}
