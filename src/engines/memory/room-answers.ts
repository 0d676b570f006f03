/**
 * A room's answers to visitors: to those who join, check in, enter with their turn, are seen on the site, or
 * leave.
 *
 * A check-in of someone who waits is what a room does most, and joining comes next. These two ways must stay
 * short: no lookup that a room without lanes and events can do without, and nothing made that outlives the
 * answer.
 */
import type {
  Admitted,
  Entered,
  JoinAnswer,
  Newcomer,
  Presence,
  TicketAnswer,
  Waiting,
} from "../../core/engine.ts";
import { lapseDeadline, nextCheckIn, openingCheckIn, wholeTenth } from "../../core/pacing.ts";
import type { Pass } from "../../core/pass.ts";
import { isAheadShown } from "../../core/room-view.ts";
import { AHEAD_UNKNOWN, shownAhead, type Ticket } from "../../core/ticket.ts";
import { TOO_LATE } from "./draws.ts";
import { ADMITTED, GONE, LAPSED, ON_SITE, UNKNOWN, WAITING } from "./places.ts";
import type { RoomBooks } from "./room-books.ts";
import { aheadOf } from "./room-view.ts";
import type { Visit } from "./visits.ts";

/** Someone who comes with a turn to a site that is full looks again this soon. */
const TURN_IN_HAND_MS = 2_000;

/** What a visitor hands in: dice for jitter, and the time. */
export interface Moment {
  readonly dice: number;
  readonly now: number;
}

export function join(books: RoomBooks, id: string, newcomer: Newcomer, moment: Moment): JoinAnswer {
  const { now } = moment;
  const { invite } = newcomer;
  if (invite && books.invites.isUsed(invite.id)) return { kind: "refused", reason: "inviteUsed" };
  const lane = books.laneOf(newcomer.lane, now);
  const welcome = books.door.greet(newcomer, books.crowd, now);
  if (welcome !== "through" && welcome !== "place") return { kind: "refused", reason: welcome };
  const sequence = books.nextSequence++;
  books.totals.joined++;
  if (invite) books.invites.use(invite);
  if (welcome === "through" && !isHeldBack(books, sequence, now))
    return goStraightThrough(books, { id, sequence, lane, now });
  const answer = takePlace(books, newTicket(books, { id, sequence, lane, now }), moment);
  if (books.lastMoment.tell(answer.nextCheckInMs) || invite) books.unproven = answer;
  return answer;
}

export function checkIn(books: RoomBooks, shown: Ticket, moment: Moment): TicketAnswer {
  const { now } = moment;
  if (shown.expiresAt <= now) return { kind: "expired" };
  const ticket = currentTicket(books, shown);
  switch (books.places.state(ticket.sequence)) {
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
      return { kind: "admitted", ticket, claimBy: books.places.deadline(ticket.sequence) };
    case ON_SITE:
      return stillOnSite(books, ticket, now);
    case GONE:
      return { kind: "refused", reason: "ticketSpent" };
  }
}

export function enter(books: RoomBooks, ticket: Ticket, moment: Moment): TicketAnswer {
  const answer = checkIn(books, ticket, moment);
  if (answer.kind !== "admitted") return answer;
  if (!books.door.mayEnter(books.crowd, moment.now)) return waitWithTurn(books, answer, moment.now);
  return useTurn(books, answer, moment.now);
}

export function touch({ visits }: RoomBooks, presences: readonly Presence[], now: number): void {
  for (const presence of presences) visits.touch(presence, now);
}

export function leavePlace(books: RoomBooks, shown: Ticket, now: number): void {
  const { places } = books;
  const ticket = currentTicket(books, shown);
  const { sequence } = ticket;
  const state = places.state(sequence);
  if (state === GONE || ticket.expiresAt <= now) return;
  if (state === ON_SITE) return leaveVisit(books, ticket.id, now);
  if (state === WAITING) books.lines.remove(books.laneOf(ticket.lane, now), sequence);
  if (state === LAPSED) books.lapsed--;
  if (state === ADMITTED) books.turns.end(sequence);
  books.totals.left++;
  places.set(sequence, GONE, wholeTenth(now));
  places.keepUntil(sequence, ticket.expiresAt);
}

export function leaveVisit(books: RoomBooks, id: string, now: number): void {
  if (endVisit(books, id, now)) books.totals.left++;
}

/** Ends a visit from outside. False when nobody by that id is on the site. */
export function revoke(books: RoomBooks, id: string, now: number): boolean {
  if (!endVisit(books, id, now)) return false;
  books.totals.revoked++;
  return true;
}

/** True when others come first though nobody waits: some may be back soon, or a draw is due. */
function isHeldBack(books: RoomBooks, sequence: number, now: number): boolean {
  return books.lastMoment.isHeld(sequence, now) || books.isDrawDue(books.door.phase(now));
}

/** Someone new, and the number that is theirs. */
interface Arrival {
  readonly id: string;
  readonly sequence: number;
  readonly lane: number;
  readonly now: number;
}

function goStraightThrough(books: RoomBooks, { id, sequence, lane, now }: Arrival): Entered {
  const { door } = books;
  door.admitted(1, now);
  books.totals.straightThrough++;
  books.noteAdmitted(lane, sequence, now);
  books.remember(sequence, now);
  books.places.setLane(sequence, lane);
  door.entered(null, now);
  return startVisit(books, { id, sequence, lane, joinedAt: now, admittedAt: now, expiresAt: 0 }, now);
}

function newTicket(books: RoomBooks, { id, sequence, lane, now }: Arrival): Ticket {
  return {
    id,
    room: books.name,
    lane,
    joinedAt: now,
    sequence,
    draw: 0,
    issuedAt: now,
    expiresAt: now + books.rulesAt(now).ticketTtlMs,
    node: 0,
    aheadShown: AHEAD_UNKNOWN,
    aheadAtJoin: AHEAD_UNKNOWN,
  };
}

/** A place of one's own, gathered for the draw if there is to be one. */
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

/** The holder is here and waits: (back) into the line, with a new deadline. */
function wait(books: RoomBooks, ticket: Ticket, moment: Moment): Waiting {
  books.lines.add(books.laneOf(ticket.lane, moment.now), ticket.sequence);
  return goOnWaiting(books, ticket, moment);
}

function comeBack(books: RoomBooks, ticket: Ticket, moment: Moment): Waiting {
  const answer = wait(books, ticket, moment);
  books.unproven = answer;
  return answer;
}

/** The same for someone who is in the line. */
function goOnWaiting(books: RoomBooks, ticket: Ticket, { dice, now }: Moment): Waiting {
  const { places, lines } = books;
  const { sequence } = ticket;
  const rules = books.rulesAt(now);
  const { lapseAfterMs, ticketTtlMs, pollBudgetPerSecond, show } = rules;
  const { event, isPrequeue, opensAt } = books.door.phase(now);
  const actual = aheadOf(lines, rules, books.laneOf(ticket.lane, now), sequence);
  const waitMs = books.pace.wait(rules, actual);
  const standing = { waiting: lines.size, waitMs, pollBudgetPerSecond, ticketTtlMs };
  const nextCheckInMs = isPrequeue
    ? openingCheckIn(standing, opensAt! - now, dice)
    : nextCheckIn(standing, dice);
  places.set(sequence, WAITING, lapseDeadline({ now, nextCheckInMs, lapseAfterMs }));
  places.keepUntil(sequence, now + ticketTtlMs);
  const isGathered = books.draws.isGathered(event, sequence);
  return {
    kind: "waiting",
    ticket,
    ahead: isAheadShown(rules) && !isGathered ? shownAhead(ticket, actual) : null,
    waitMs: show.wait && !isGathered ? waitMs : null,
    nextCheckInMs,
  };
}

/** What a ticket has become by the draws since it was given. */
function currentTicket(books: RoomBooks, shown: Ticket): Ticket {
  const ticket = books.draws.current(shown);
  return ticket === TOO_LATE ? books.draws.takeLate(shown, books.nextSequence++) : ticket;
}

/** A good ticket this process never saw: an earlier life's. Its sequence must not be given out again. */
function takeBack(books: RoomBooks, ticket: Ticket, now: number): void {
  books.nextSequence = Math.max(books.nextSequence, ticket.sequence + 1);
  books.totals.returned++;
  gather(books, ticket, now);
  books.places.setLane(ticket.sequence, ticket.lane);
}

/** More came than were expected. The turn is kept, and lasts. */
function waitWithTurn(books: RoomBooks, { ticket }: Admitted, now: number): Waiting {
  const claimBy = wholeTenth(now + books.rulesAt(now).claimWindowMs);
  books.places.set(ticket.sequence, ADMITTED, claimBy);
  books.turns.lengthen(ticket.sequence, claimBy);
  return { kind: "waiting", ticket, ahead: 0, waitMs: null, nextCheckInMs: TURN_IN_HAND_MS };
}

function useTurn(books: RoomBooks, turn: Admitted, now: number): Entered {
  const { id, sequence, lane, joinedAt } = turn.ticket;
  books.totals.waitedMs += now - joinedAt;
  books.door.entered(books.turnAge(sequence, now), now);
  const admittedAt = books.turns.end(sequence) ?? now;
  return startVisit(books, { id, sequence, lane, joinedAt, admittedAt, expiresAt: 0 }, now);
}

function startVisit(books: RoomBooks, visit: Visit, now: number): Entered {
  const { sessionDurationMs, ticketTtlMs } = books.rulesAt(now);
  visit.expiresAt = now + sessionDurationMs;
  books.visits.add(visit);
  books.totals.entered++;
  books.places.set(visit.sequence, ON_SITE, wholeTenth(now));
  books.places.keepUntil(visit.sequence, now + ticketTtlMs);
  return { kind: "entered", pass: passOf(books, visit, now) };
}

/** The ticket was used already: its holder missed the answer, or shows it twice. One visit either way. */
function stillOnSite(books: RoomBooks, ticket: Ticket, now: number): TicketAnswer {
  const visit = books.visits.get(ticket.id);
  if (!visit) return { kind: "refused", reason: "ticketSpent" };
  const createdAt = visit.expiresAt - books.rulesAt(now).sessionDurationMs;
  return { kind: "entered", pass: passOf(books, visit, createdAt) };
}

function passOf({ name }: RoomBooks, visit: Visit, createdAt: number): Pass {
  const { id, lane, joinedAt, admittedAt, expiresAt } = visit;
  return { id, room: name, lane, joinedAt, admittedAt, createdAt, expiresAt, node: 0 };
}

function endVisit(books: RoomBooks, id: string, now: number): boolean {
  const visit = books.visits.get(id);
  if (!visit) return false;
  const until = books.visits.end(visit, now + books.rulesAt(now).sessionDurationMs);
  books.endPlace(visit, now);
  books.events.onRevoked(id, until);
  return true;
}
