/**
 * A room's answers to visitors, on any node. A node joins visitors by itself. It answers a check-in at once from what it knows,
 * whichever node owns the place, and tells the owner (`Seen`). Only the owner gives or frees a slot: here that is done for this
 * node's own places.
 */
import type {
  Admitted,
  Entered,
  JoinAnswer,
  Newcomer,
  Presence,
  TicketAnswer,
  Waiting,
} from "../../../core/engine.ts";
import { lapseDeadline } from "../../../core/pacing.ts";
import { lastPassEnd, type Pass, passOf, resumedUntil } from "../../../core/pass.ts";
import { EVERYBODY } from "../../../core/rules.ts";
import { newTicket, originOf, setBackTicket, type Ticket } from "../../../core/ticket.ts";
import { type Moment, turnInHand, waitingAnswer } from "../../../core/waiting.ts";
import { HOW, OP } from "../log/entries.ts";
import { nodeOfKey } from "../log/order-clock.ts";
import {
  ADMITTED,
  isFirm,
  keyOfPass,
  LAPSED,
  ON_SITE,
  type Place,
  SELF,
  standingOf,
  voidsOf,
  WAITING,
} from "./place.ts";
import type { RoomBooks } from "./room-books.ts";

/** A newcomer, their key, and the number of the node that gave it. */
export interface NodeArrival {
  readonly id: string;
  readonly key: number;
  readonly node: number;
  readonly newcomer: Newcomer;
}

/** A visitor was seen waiting, and is waited for until then; told to the owner of the place. */
export type Seen = readonly [
  key: number,
  lane: number,
  id: string,
  until: number,
  ticketExpiresAt: number,
  /** What the ticket says of missed turns. */
  sequence: number,
  missedTurns: number,
  missedAt: number,
];

export interface SeenHow {
  readonly now: number;
  /** Another node saw them a moment ago. */
  readonly isNews: boolean;
}

export interface CheckedIn {
  readonly answer: TicketAnswer;
  /** Null: the owner need not know. */
  readonly seen: Seen | null;
}

/** Lets a newcomer through, or gives them a place. */
export function join(books: RoomBooks, arrival: NodeArrival, moment: Moment): JoinAnswer {
  const { now } = moment;
  const { id, key, newcomer } = arrival;
  if (newcomer.invite && books.invites.has(newcomer.invite.id))
    return { kind: "refused", reason: "inviteUsed" };
  const welcome = welcomeTo(books, newcomer, now);
  if (welcome !== "through" && welcome !== "place") return { kind: "refused", reason: welcome };
  books.arrivals++;
  if (newcomer.invite) books.write([OP.invite, newcomer.invite.id, newcomer.invite.expiresAt]);
  if (welcome === "through") return goStraightThrough(books, arrival, now);
  const expiresAt = now + books.rulesAt(now).ticketTtlMs;
  const lane = books.laneOf(newcomer.lane);
  const { node } = arrival;
  const ticket = newTicket({ id, room: books.name, lane, sequence: key, joinedAt: now, expiresAt, node });
  books.write([OP.wait, key, ticket.lane, HOW.new, books.isGathering(key) ? id : ""]);
  return waitAnew(books, ticket, moment);
}

/** What a newcomer would get; changes nothing. */
export function welcomeTo(
  books: RoomBooks,
  newcomer: Newcomer,
  now: number,
): ReturnType<RoomBooks["door"]["greet"]> {
  books.rulesAt(now);
  return books.door.greet(newcomer, books.crowd, now);
}

/** Answers a check-in. Any node may, not only the owner of the place. */
export function checkIn(books: RoomBooks, shown: Ticket, moment: Moment): CheckedIn {
  const { now } = moment;
  if (shown.expiresAt <= now) return { answer: { kind: "expired" }, seen: null };
  const ticket = currentTicket(books, shown);
  const key = originOf(ticket);
  if (books.over.has(key) || books.ended.has(ticket.id)) {
    const reason = books.forfeited.has(key) ? "turnsMissed" : "ticketSpent";
    return { answer: { kind: "refused", reason }, seen: null };
  }
  const place = books.places.get(key);
  switch (place?.claim.state) {
    case ADMITTED:
      return { answer: { kind: "admitted", ticket, claimBy: place.claim.until }, seen: null };
    case ON_SITE:
      // The ticket was used: its holder missed the answer, or shows it twice. It is one visit either way.
      return { answer: visitOf(books, place, now), seen: null };
    default: {
      const answer = waitingHere(books, ticket, moment);
      return { answer, seen: seenOf(ticket, lapsesAt(books, answer, now)) };
    }
  }
}

/** The ticket as it is after draws and missed turns. */
export function currentTicket(books: RoomBooks, shown: Ticket): Ticket {
  const ticket = shown.missedTurns === 0 ? books.draws.current(shown) : shown;
  const place = books.places.get(originOf(ticket));
  if (!place || place.missedTurns === 0 || place.missedTurns < ticket.missedTurns) return ticket;
  const current = setBackTicket(ticket, place);
  // Two parts of the cluster may have set it back for the same turn. That must not raise the number shown ahead.
  if (place.missedTurns > ticket.missedTurns || current === ticket) return current;
  const { aheadShown, aheadAtJoin } = ticket;
  return { ...current, aheadShown, aheadAtJoin };
}

function seenOf(ticket: Ticket, until: number): Seen {
  const { lane, id, expiresAt, sequence, missedTurns, missedAt } = ticket;
  return [originOf(ticket), lane, id, until, expiresAt, sequence, missedTurns, missedAt];
}

/**
 * Keeps, restores or takes back the place of a visitor who was seen. News from another node may arrive after a later answer that
 * gave more time; it never shortens a deadline.
 */
export function noteSeen(books: RoomBooks, seen: Seen, { now, isNews }: SeenHow): void {
  const [key, lane, id, until, ticketExpiresAt, sequence, missedTurns, missedAt] = seen;
  if (books.over.has(key) || books.ended.has(id)) return;
  const known = books.places.get(key);
  if (!known && ticketExpiresAt > now)
    books.write([OP.wait, key, lane, HOW.takenBack, books.isGathering(key) ? id : ""]);
  if (known?.claim.state === LAPSED && known.claim.origin === SELF)
    books.write([OP.wait, key, known.lane, HOW.returned, known.id]);
  const place = books.places.get(key);
  if (place?.claim.state !== WAITING || place.claim.origin !== SELF) return;
  // The ticket tells of missed turns from an earlier life of the cluster.
  if (missedTurns > place.missedTurns) books.write([OP.back, key, sequence, sequence, missedTurns, missedAt]);
  const before = isNews && Number.isFinite(place.claim.until) ? place.claim.until : until;
  books.await(place, Math.max(before, until));
}

/** Uses a turn of this node's. */
export function enter(books: RoomBooks, shown: Ticket, moment: Moment): TicketAnswer {
  const { answer, seen } = checkIn(books, shown, moment);
  if (seen) noteSeen(books, seen, { now: moment.now, isNews: false });
  if (answer.kind !== "admitted") return answer;
  const place = books.places.get(originOf(answer.ticket))!;
  if (books.door.mayEnter(books.crowd, isFirm(place), moment.now))
    return useTurn(books, answer, place, moment.now);
  return isFirm(place)
    ? waitWithTurn(books, answer, place, moment.now)
    : returnToFront(books, answer, place, moment);
}

/** A loose turn had given back its slot and its share of the rate, and takes both again. */
function useTurn(books: RoomBooks, { ticket }: Admitted, place: Place, now: number): Entered {
  if (!isFirm(place)) books.door.admitted(1, now);
  books.crowd.used(place, now);
  const { id, lane, joinedAt, node } = ticket;
  const { admittedAt } = place.claim;
  return startVisit(books, { id, key: place.key, node, lane, joinedAt, admittedAt }, HOW.withTurn, now);
}

/** Notes presence on the site, for a visit of this node's or an unknown one. */
export function touch(books: RoomBooks, presence: Presence, now: number): void {
  const { id, lane, joinedAt, admittedAt, expiresAt } = presence;
  const place = books.visits.get(id);
  if (place) {
    if (place.claim.origin !== SELF || expiresAt <= place.claim.until) return;
    // The lender of the slot does not see this visit continue, and takes the slot back when the pass it knows of expires.
    if (place.claim.isBorrowed)
      books.write([OP.adopt, place.claim.epoch, 0, voidsOf(place), standingOf(place, place.claim)]);
    books.write([OP.touch, place.key, expiresAt]);
    return;
  }
  if (expiresAt <= now || books.ended.has(id)) return;
  books.write([OP.visit, keyOfPass(id), lane, HOW.byPass, id, joinedAt, admittedAt, now, expiresAt]);
}

/** A visitor with an expired pass, and the key for a new visit. */
export interface Returning {
  readonly pass: Pass;
  readonly key: number;
  readonly mayBegin: boolean;
}

/** Continues a visit, or begins it again here. Any node may. */
export function resume(books: RoomBooks, { pass, key, mayBegin }: Returning, now: number): Entered | null {
  const { id, lane, joinedAt, admittedAt } = pass;
  const place = books.visits.get(id);
  if (place && place.claim.until > now) return visitOf(books, place, now);
  const expiresAt = resumedUntil(pass, { ...books.rulesAt(now), now });
  if (!mayBegin || expiresAt <= now || books.ended.has(id)) return null;
  // The owner holds the slot for a moment after the pass has expired.
  if (place?.claim.origin === SELF) touch(books, { id, lane, joinedAt, admittedAt, expiresAt }, now);
  else if (!books.resumes.begin(id, books, now)) return null;
  else books.write([OP.visit, key, lane, HOW.byPass, id, joinedAt, admittedAt, now, expiresAt]);
  return { kind: "entered", pass: { ...pass, createdAt: now, expiresAt } };
}

/** True when there is a slot for a visit that begins again. */
export function mayResume(books: RoomBooks, now: number): boolean {
  books.rulesAt(now);
  return books.door.mayResume(books.crowd, now);
}

/** Gives up a place. Any node may, not only its owner. */
export function leavePlace(books: RoomBooks, shown: Ticket, now: number): void {
  const ticket = currentTicket(books, shown);
  const { id, lane, expiresAt } = ticket;
  const key = originOf(ticket);
  if (books.over.has(key) || expiresAt <= now) return;
  const place = books.places.get(key);
  if (place?.claim.state === ON_SITE) return endVisit(books, id, HOW.left, now);
  // Another node may have admitted them without this one knowing yet: that visit ends as well.
  books.write([
    OP.gone,
    key,
    lane,
    HOW.left,
    Math.max(expiresAt, lastPassEnd(0, books.rulesAt(now), now)),
    id,
  ]);
}

/**
 * Ends a visit. Any node may, not only its owner. A visit that is unknown here may have begun at another node a moment ago, so
 * its id is marked as ended, under the key that follows from the pass alone.
 */
export function endVisit(
  books: RoomBooks,
  id: string,
  how: typeof HOW.left | typeof HOW.revoked,
  now: number,
): void {
  if (books.ended.has(id)) return;
  const place = books.visits.get(id);
  const until = lastPassEnd(place?.claim.until ?? 0, books.rulesAt(now), now);
  books.write([OP.gone, place?.key ?? keyOfPass(id), place?.lane ?? EVERYBODY, how, until, id]);
}

function goStraightThrough(books: RoomBooks, { id, key, node, newcomer }: NodeArrival, now: number): Entered {
  books.door.admitted(1, now);
  books.crowd.wentThrough(now);
  const lane = books.laneOf(newcomer.lane);
  const visitor = { id, key, node, lane, joinedAt: now, admittedAt: now, visitMs: newcomer.visitMs };
  return startVisit(books, visitor, HOW.through, now);
}

interface Visitor {
  readonly id: string;
  readonly key: number;
  readonly node: number;
  readonly lane: number;
  readonly joinedAt: number;
  readonly admittedAt: number;
  readonly visitMs?: number | undefined;
}

function startVisit(
  books: RoomBooks,
  { id, key, node, lane, joinedAt, admittedAt, visitMs }: Visitor,
  how: typeof HOW.through | typeof HOW.withTurn,
  now: number,
): Entered {
  const expiresAt = now + (visitMs ?? books.rulesAt(now).sessionDurationMs);
  books.write([OP.visit, key, lane, how, id, joinedAt, admittedAt, now, expiresAt]);
  return {
    kind: "entered",
    pass: { id, room: books.name, lane, joinedAt, admittedAt, createdAt: now, expiresAt, node },
  };
}

function waitingHere(books: RoomBooks, ticket: Ticket, moment: Moment): Waiting {
  const hasReturned = books.places.get(originOf(ticket))?.hasReturned === true;
  const isExact = moment.now - ticket.joinedAt >= books.spreadMs;
  return waitingAnswer(books, ticket, { hasReturned, isExact }, moment);
}

function lapsesAt(books: RoomBooks, { nextCheckInMs }: Waiting, now: number): number {
  return lapseDeadline({ now, nextCheckInMs, lapseAfterMs: books.rulesAt(now).lapseAfterMs });
}

/** The same for a visitor who joins the line, with a place of this node's. */
function waitAnew(books: RoomBooks, ticket: Ticket, moment: Moment): Waiting {
  const answer = waitingHere(books, ticket, moment);
  books.await(books.places.get(originOf(ticket))!, lapsesAt(books, answer, moment.now));
  return answer;
}

/** More came than were expected. The turn is kept and prolonged. */
function waitWithTurn(books: RoomBooks, { ticket }: Admitted, place: Place, now: number): Waiting {
  books.lengthenTurn(place, books.door.lengthenedTurn(now));
  return turnInHand(ticket);
}

/** The turn is loose and there is no room. Its holder is here, so they get the next turn; once. */
function returnToFront(books: RoomBooks, { ticket }: Admitted, place: Place, moment: Moment): Waiting {
  const isFront = books.rulesAt(moment.now).queueingMethod !== "random";
  if (isFront && place.hasReturned) return turnInHand(ticket);
  books.write([OP.wait, place.key, place.lane, isFront ? HOW.toFront : HOW.asBefore, place.id]);
  return waitAnew(books, ticket, moment);
}

function visitOf(books: RoomBooks, place: Place, now: number): Entered {
  const { id, lane, joinedAt, claim } = place;
  const visit = { id, lane, joinedAt, admittedAt: claim.admittedAt, expiresAt: claim.until };
  const { sessionDurationMs } = books.rulesAt(now);
  const pass = passOf(visit, {
    room: books.name,
    node: nodeOfKey(Math.max(0, place.key)),
    sessionDurationMs,
  });
  return { kind: "entered", pass };
}
