/**
 * A room's answers to visitors: to those who join, check in, enter with their turn, are seen on the site, or
 * leave.
 *
 * The check-in of a waiting visitor is the most frequent call of a room, then joining. Both must stay fast: no lookup that a
 * room without lanes and events can do without, and no allocation that outlives the answer.
 */
import {
  type Admitted,
  ANYBODY,
  type Entered,
  type JoinAnswer,
  type Newcomer,
  type Presence,
  type TicketAnswer,
  type Waiting,
} from "../../core/engine.ts";
import { lapseDeadline, wholeTenth } from "../../core/pacing.ts";
import { lastPassEnd, type Pass, passOf, resumedUntil } from "../../core/pass.ts";
import { newTicket, originOf, setBackTicket, type Ticket } from "../../core/ticket.ts";
import { type Moment, turnInHand, waitingAnswer } from "../../core/waiting.ts";
import { TOO_LATE } from "./draws.ts";
import { ADMITTED, FORFEITED, GONE, LAPSED, ON_SITE, UNKNOWN, WAITING } from "./places.ts";
import { RoomBooks, type RoomParts } from "./room-books.ts";
import type { Visit } from "./visits.ts";

/** What visitors can do with a room. */
export class RoomAnswers {
  protected readonly books: RoomBooks;

  constructor(parts: RoomParts) {
    this.books = new RoomBooks(parts);
  }

  join(id: string, newcomer: Newcomer, moment: Moment): JoinAnswer {
    const { books } = this;
    const { now } = moment;
    const { invite } = newcomer;
    if (invite && books.invites.isUsed(invite.id)) return { kind: "refused", reason: "inviteUsed" };
    const { ticketTtlMs } = books.rulesAt(now);
    const lane = books.laneOf(newcomer.lane);
    const welcome = books.door.greet(newcomer, books.crowd, now);
    if (welcome !== "through" && welcome !== "place") return { kind: "refused", reason: welcome };
    const sequence = books.nextSequence++;
    books.totals.joined++;
    if (invite) books.invites.use(invite);
    if (welcome === "through") return goStraightThrough(books, { id, sequence, lane, now }, newcomer.visitMs);
    const expiresAt = now + ticketTtlMs;
    const arrival = { id, room: books.name, lane, sequence, joinedAt: now, expiresAt, node: 0 };
    const answer = takePlace(books, newTicket(arrival), moment);
    if (books.lastMoment.tell(answer.nextCheckInMs) || invite) books.unproven = answer;
    return answer;
  }

  /** True when a newcomer would go straight through. */
  hasRoom(now: number): boolean {
    return this.books.door.greet(ANYBODY, this.books.crowd, now) === "through";
  }

  checkIn(shown: Ticket, moment: Moment): TicketAnswer {
    const { books } = this;
    const { now } = moment;
    if (shown.expiresAt <= now) return { kind: "expired" };
    books.rulesAt(now);
    const ticket = currentTicket(books, shown, now);
    const place = originOf(ticket);
    switch (books.places.state(place)) {
      case UNKNOWN:
        takeBack(books, ticket, now);
        return comeBack(books, ticket, moment);
      case LAPSED:
        books.lapsed--;
        books.totals.returned++;
        return comeBack(books, ticket, moment);
      case WAITING:
        return goOnWaiting(books, ticket, moment);
      case ADMITTED:
        return { kind: "admitted", ticket, claimBy: books.places.deadline(place) };
      case ON_SITE:
        return stillOnSite(books, ticket, now);
      case GONE:
        return { kind: "refused", reason: "ticketSpent" };
      case FORFEITED:
        return { kind: "refused", reason: "turnsMissed" };
    }
  }

  enter(ticket: Ticket, moment: Moment): TicketAnswer {
    const { books } = this;
    const answer = this.checkIn(ticket, moment);
    if (answer.kind !== "admitted") return answer;
    const isFirm = books.turns.isFirm(originOf(answer.ticket));
    if (books.door.mayEnter(books.crowd, isFirm, moment.now)) return useTurn(books, answer, moment.now);
    return isFirm ? waitWithTurn(books, answer, moment.now) : returnToFront(books, answer, moment);
  }

  /** Answers a visitor whose pass has expired: the visit goes on, begins again, or is over (null). */
  resume(pass: Pass, mayBegin: boolean, now: number): Entered | null {
    const { books } = this;
    const { visits } = books;
    const visit = visits.get(pass.id);
    if (visit && visit.expiresAt > now) return stayedOnSite(books, visit, now);
    const { id, lane, joinedAt, admittedAt } = pass;
    const rules = books.rulesAt(now);
    const expiresAt = resumedUntil(pass, { ...rules, now });
    if (!mayBegin || expiresAt <= now || visits.isEnded(id)) return null;
    // For a moment after a pass has expired its slot is still held.
    if (!visit && !books.resumes.begin(id, books, now)) return null;
    visits.touch({ id, lane, joinedAt, admittedAt, expiresAt }, now);
    return enteredWith(books, visits.get(id)!, now);
  }

  touch(presences: readonly Presence[], now: number): void {
    for (const presence of presences) this.books.visits.touch(presence, now);
  }

  leavePlace(shown: Ticket, now: number, isIdle = false): void {
    const { books } = this;
    const { places } = books;
    books.rulesAt(now);
    const ticket = currentTicket(books, shown, now);
    const place = originOf(ticket);
    const state = places.state(place);
    if (state === GONE || state === FORFEITED || ticket.expiresAt <= now) return;
    if (state === ON_SITE) return this.leaveVisit(ticket.id, now, isIdle);
    if (state === WAITING) books.lines.remove(books.laneOf(ticket.lane), ticket.sequence);
    if (state === LAPSED) books.lapsed--;
    if (state === ADMITTED && books.turns.end(place)?.isFirm) books.door.gaveBack("left", now);
    books.totals.left++;
    places.set(place, GONE, wholeTenth(now));
    places.keepUntil(place, ticket.expiresAt);
    books.setBacks.drop(place);
  }

  leaveVisit(id: string, now: number, isIdle = false): void {
    if (endVisit(this.books, id, isIdle, now)) this.books.totals.left++;
  }

  /** Ends a visit from outside. False when nobody by that id is on the site. */
  revoke(id: string, now: number): boolean {
    if (!endVisit(this.books, id, false, now)) return false;
    this.books.totals.revoked++;
    return true;
  }

  /** The last connection of an ended visit has closed. */
  vacated(id: string): void {
    this.books.visits.freeSlot(id);
  }
}

/** A newcomer with their sequence. */
interface Arrival {
  readonly id: string;
  readonly sequence: number;
  readonly lane: number;
  readonly now: number;
}

function goStraightThrough(
  books: RoomBooks,
  { id, sequence, lane, now }: Arrival,
  visitMs: number | undefined,
): Entered {
  const { door } = books;
  door.admitted(1, now);
  books.totals.straightThrough++;
  books.noteAdmitted(lane, sequence, now);
  books.tallies.remember(sequence, now);
  books.places.setLane(sequence, lane);
  door.entered(null, now);
  const expiresAt = now + (visitMs ?? books.rulesAt(now).sessionDurationMs);
  return startVisit(books, { id, sequence, lane, joinedAt: now, admittedAt: now, expiresAt }, now);
}

/** Gives a new place, and gathers it for the draw if there is to be one. */
function takePlace(books: RoomBooks, ticket: Ticket, moment: Moment): Waiting {
  gather(books, ticket, moment.now);
  books.places.setLane(ticket.sequence, ticket.lane);
  return wait(books, ticket, moment);
}

function gather({ door, draws }: RoomBooks, { sequence, id, joinedAt }: Ticket, now: number): void {
  const { event } = door.phase(now);
  if (!event?.isShuffled || joinedAt < event.prequeueAt! || joinedAt >= event.startAt) return;
  if (!draws.isDrawn(event)) draws.gather(event, sequence, id);
}

/** Puts a place (back) into the line, with a new deadline. */
function wait(books: RoomBooks, ticket: Ticket, moment: Moment): Waiting {
  books.lines.add(books.laneOf(ticket.lane), ticket.sequence);
  return goOnWaiting(books, ticket, moment);
}

function comeBack(books: RoomBooks, ticket: Ticket, moment: Moment): Waiting {
  const answer = wait(books, ticket, moment);
  books.unproven = answer;
  return answer;
}

/** Gives someone in the line a new deadline. */
function goOnWaiting(books: RoomBooks, ticket: Ticket, moment: Moment): Waiting {
  const { places } = books;
  const { now } = moment;
  const place = originOf(ticket);
  const known = { hasReturned: places.hasReturned(place), isExact: true };
  const answer = waitingAnswer(books, ticket, known, moment);
  const { lapseAfterMs, ticketTtlMs } = books.rulesAt(now);
  places.set(place, WAITING, lapseDeadline({ now, nextCheckInMs: answer.nextCheckInMs, lapseAfterMs }));
  places.keepUntil(place, now + ticketTtlMs);
  return answer;
}

/** The ticket with its sequence after draws and missed turns. */
function currentTicket(books: RoomBooks, shown: Ticket, now: number): Ticket {
  if (shown.missedTurns === 0) {
    let ticket = books.draws.current(shown);
    if (ticket === TOO_LATE) ticket = books.draws.takeLate(shown, books.nextSequence++);
    if (books.setBacks.size === 0) return ticket;
    const known = books.setBacks.get(ticket.sequence);
    return known ? setBackTicket(ticket, known) : ticket;
  }
  const known = books.setBacks.get(shown.origin);
  if (known && known.missedTurns >= shown.missedTurns) return setBackTicket(shown, known);
  if (shown.expiresAt > now) learnSetBack(books, shown);
  return shown;
}

/** A ticket may know of turns missed in an earlier process. If the place still waits, it moves back as the ticket says. */
function learnSetBack(books: RoomBooks, ticket: Ticket): void {
  const { places, lines, setBacks } = books;
  const { origin, sequence } = ticket;
  const state = places.state(origin);
  if (state === ON_SITE || state === GONE || state === FORFEITED) return;
  const lane = books.laneOf(places.lane(origin));
  if (state === WAITING) lines.remove(lane, setBacks.sequenceOf(origin));
  setBacks.restore(origin, ticket);
  if (state === WAITING) lines.add(lane, sequence);
}

/** Takes back the place of a valid ticket from an earlier process. Its sequence must not be given out again. */
function takeBack(books: RoomBooks, ticket: Ticket, now: number): void {
  books.nextSequence = Math.max(books.nextSequence, Math.floor(ticket.sequence) + 1);
  books.totals.returned++;
  if (ticket.missedTurns === 0) gather(books, ticket, now);
  books.places.setLane(originOf(ticket), ticket.lane);
}

/** More visitors came than expected: the firm turn is kept and prolonged. */
function waitWithTurn(books: RoomBooks, { ticket }: Admitted, now: number): Waiting {
  const place = originOf(ticket);
  const turn = books.door.lengthenedTurn(now);
  books.places.set(place, ADMITTED, turn.claimBy);
  books.turns.lengthen(place, turn);
  return turnInHand(ticket);
}

/** The turn is loose and the site is full: its holder goes to the front of the line, once. */
function returnToFront(books: RoomBooks, { ticket }: Admitted, moment: Moment): Waiting {
  const place = originOf(ticket);
  const isFront = books.rulesAt(moment.now).queueingMethod !== "random";
  if (isFront && books.places.hasReturned(place)) return turnInHand(ticket);
  if (isFront) books.places.setReturned(place, true);
  books.turns.end(place);
  return wait(books, ticket, moment);
}

function useTurn(books: RoomBooks, turn: Admitted, now: number): Entered {
  const { id, lane, joinedAt } = turn.ticket;
  const place = originOf(turn.ticket);
  books.totals.waitedMs += now - joinedAt;
  // A turn that went loose gave its share of the rate back, and now takes one again.
  if (!books.turns.isFirm(place)) books.door.admitted(1, now);
  books.door.entered(books.turnAge(place, now), now);
  const admittedAt = books.turns.end(place)?.givenAt ?? now;
  books.setBacks.drop(place);
  const expiresAt = now + books.rulesAt(now).sessionDurationMs;
  return startVisit(books, { id, sequence: place, lane, joinedAt, admittedAt, expiresAt }, now);
}

function startVisit(books: RoomBooks, visit: Visit, now: number): Entered {
  const { ticketTtlMs } = books.rulesAt(now);
  books.visits.add(visit);
  books.totals.entered++;
  books.places.set(visit.sequence, ON_SITE, wholeTenth(now));
  books.places.keepUntil(visit.sequence, now + ticketTtlMs);
  return enteredWith(books, visit, now);
}

/** The ticket was used already: its holder missed the answer, or shows it twice. It is one visit either way. */
function stillOnSite(books: RoomBooks, ticket: Ticket, now: number): TicketAnswer {
  const visit = books.visits.get(ticket.id);
  return visit ? stayedOnSite(books, visit, now) : { kind: "refused", reason: "ticketSpent" };
}

/** Returns the pass of a visit, unchanged. */
function stayedOnSite(books: RoomBooks, visit: Visit, now: number): Entered {
  return { kind: "entered", pass: passAsItIs(books, visit, now) };
}

/** Gives a visit a new pass. */
function enteredWith(books: RoomBooks, visit: Visit, now: number): Entered {
  return { kind: "entered", pass: { ...passAsItIs(books, visit, now), createdAt: now } };
}

function passAsItIs(books: RoomBooks, visit: Visit, now: number): Pass {
  return passOf(visit, {
    room: books.name,
    node: 0,
    sessionDurationMs: books.rulesAt(now).sessionDurationMs,
  });
}

function endVisit(books: RoomBooks, id: string, isIdle: boolean, now: number): boolean {
  const visit = books.visits.get(id);
  if (!visit) return false;
  const rules = books.rulesAt(now);
  const until = lastPassEnd(visit.expiresAt, rules, now);
  const { lingerMs } = rules;
  books.visits.end(visit, until);
  if (lingerMs > 0 && !isIdle) books.visits.holdSlot(id, now + lingerMs);
  books.endPlace(visit, now);
  books.events.onRevoked(id, until);
  return true;
}
