/**
 * A room's answers to visitors, at any node. Joining is this node's own matter. A check-in is answered at once from
 * what is known here, whoever owns the place; the owner hears of it (`Seen`). Everything that gives or frees a slot
 * is the owner's to do, and is done here for places of this node's.
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
import { type Pass, PRESENCE_GRACE_MS } from "../../core/pass.ts";
import { expectedAhead, isAheadShown } from "../../core/room-view.ts";
import type { DoorRules } from "../../core/rules.ts";
import { AHEAD_UNKNOWN, shownAhead, type Ticket } from "../../core/ticket.ts";
import {
  ADOPT,
  BY_PASS,
  GONE,
  INVITE,
  LEFT,
  NEW,
  RETURNED,
  type REVOKED,
  TAKEN_BACK,
  THROUGH,
  TOUCH,
  VISIT,
  WAIT,
  WITH_TURN,
} from "./entries.ts";
import { slotOfKey } from "./order-clock.ts";
import { ADMITTED, LAPSED, ON_SITE, type Place, SELF, WAITING } from "./place.ts";
import type { RoomBooks } from "./room-books.ts";
import { standingOf, voidsOf } from "./standing.ts";

/** Someone who comes with a turn that cannot be used at once looks again this soon. */
const TURN_IN_HAND_MS = 2_000;
/** Hexadecimal digits of an id that fit into a key. */
const PASS_KEY_DIGITS = 13;

export interface Moment {
  /** For jitter. */
  readonly dice: number;
  readonly now: number;
}

/** Someone new, the number that is theirs, and the node that gave it. */
export interface Arrival {
  readonly id: string;
  readonly key: number;
  readonly node: number;
  readonly newcomer: Newcomer;
}

/** A visitor was seen waiting, and is waited for until then; told to the owner of the place. */
export type Seen = readonly [key: number, lane: number, id: string, until: number, ticketExpiresAt: number];

export interface SeenHow {
  readonly now: number;
  /** Another node saw them, a moment ago. */
  readonly isNews: boolean;
}

export interface CheckedIn {
  readonly answer: TicketAnswer;
  /** Null: the owner need not know. */
  readonly seen: Seen | null;
}

/** What a newcomer gets. */
export function join(books: RoomBooks, arrival: Arrival, moment: Moment): JoinAnswer {
  const { now } = moment;
  const { id, key, newcomer } = arrival;
  if (newcomer.invite && books.invites.has(newcomer.invite.id))
    return { kind: "refused", reason: "inviteUsed" };
  const welcome = welcomeTo(books, newcomer, now);
  if (welcome !== "through" && welcome !== "place") return { kind: "refused", reason: welcome };
  books.arrivals++;
  if (newcomer.invite) books.write([INVITE, newcomer.invite.id, newcomer.invite.expiresAt]);
  if (welcome === "through") return goStraightThrough(books, arrival, now);
  const ticket = newTicket(books, arrival, now);
  books.write([WAIT, key, ticket.lane, NEW, books.isGathering(key) ? id : ""]);
  const { answer, until } = waitingAnswer(books, ticket, moment);
  books.await(books.places.get(key)!, until);
  return answer;
}

/** What they would get; nothing is done. */
export function welcomeTo(
  books: RoomBooks,
  newcomer: Newcomer,
  now: number,
): ReturnType<RoomBooks["door"]["greet"]> {
  books.rulesAt(now);
  const welcome = books.door.greet(newcomer, books.crowd, now);
  return welcome === "through" && books.isDrawDue(books.door.phase(now)) ? "place" : welcome;
}

/** "I am still here", of whoever owns the place. */
export function checkIn(books: RoomBooks, shown: Ticket, moment: Moment): CheckedIn {
  const { now } = moment;
  if (shown.expiresAt <= now) return { answer: { kind: "expired" }, seen: null };
  const ticket = books.draws.current(shown);
  if (books.over.has(ticket.sequence))
    return { answer: { kind: "refused", reason: "ticketSpent" }, seen: null };
  const place = books.places.get(ticket.sequence);
  switch (place?.claim.state) {
    case ADMITTED:
      return { answer: { kind: "admitted", ticket, claimBy: place.claim.until }, seen: null };
    case ON_SITE:
      return { answer: stillOnSite(books, place, now), seen: null };
    default: {
      const { answer, until } = waitingAnswer(books, ticket, moment);
      return { answer, seen: [ticket.sequence, ticket.lane, ticket.id, until, ticket.expiresAt] };
    }
  }
}

/**
 * Whoever was seen keeps a place of this node's, gets it back, or is taken back from an earlier life. News from elsewhere may
 * come after a later answer that gave them more time, and takes none of that away.
 */
export function noteSeen(books: RoomBooks, seen: Seen, { now, isNews }: SeenHow): void {
  const [key, lane, id, until, ticketExpiresAt] = seen;
  if (books.over.has(key)) return;
  const known = books.places.get(key);
  if (!known && ticketExpiresAt > now)
    books.write([WAIT, key, lane, TAKEN_BACK, books.isGathering(key) ? id : ""]);
  if (known?.claim.state === LAPSED && known.claim.origin === SELF)
    books.write([WAIT, key, known.lane, RETURNED, known.id]);
  const place = books.places.get(key);
  if (place?.claim.state !== WAITING || place.claim.origin !== SELF) return;
  const before = isNews && Number.isFinite(place.claim.until) ? place.claim.until : until;
  books.await(place, Math.max(before, until));
}

/** Uses a turn of this node's. */
export function enter(books: RoomBooks, shown: Ticket, moment: Moment): TicketAnswer {
  const { answer, seen } = checkIn(books, shown, moment);
  if (seen) noteSeen(books, seen, { now: moment.now, isNews: false });
  if (answer.kind !== "admitted") return answer;
  const place = books.places.get(answer.ticket.sequence)!;
  if (!books.door.mayEnter(books.crowd, moment.now)) return waitWithTurn(books, answer, place, moment.now);
  if (books.isAlone) books.door.entered(books.turnAge(place, moment.now), moment.now);
  const { id, sequence: key, lane, joinedAt, node } = answer.ticket;
  const { admittedAt } = place.claim;
  return startVisit(books, { id, key, node, lane, joinedAt, admittedAt }, WITH_TURN, moment.now);
}

/** Turn in hand, but it cannot be used at once: come again soon. */
export function tryAgainSoon(ticket: Ticket): Waiting {
  return { kind: "waiting", ticket, ahead: 0, waitMs: null, nextCheckInMs: TURN_IN_HAND_MS };
}

/** Presence on the site of a visit that is this node's, or that nobody knows of. */
export function touch(books: RoomBooks, presence: Presence, now: number): void {
  const { id, lane, joinedAt, admittedAt, expiresAt } = presence;
  const place = books.visits.get(id);
  if (place) {
    if (place.claim.origin !== SELF || expiresAt <= place.claim.until) return;
    // Whoever lent the slot does not see this visit go on, and takes it back when the pass it knows of runs out.
    if (place.claim.isBorrowed)
      books.write([ADOPT, place.claim.epoch, 0, voidsOf(place), standingOf(place, place.claim)]);
    books.write([TOUCH, place.key, expiresAt]);
    return;
  }
  if (expiresAt <= now || books.ended.has(id)) return;
  books.write([VISIT, keyOfPass(id), lane, BY_PASS, id, joinedAt, admittedAt, now, expiresAt]);
}

/** The holder of a ticket gives their place up; it is this node's, or nobody's. */
export function leavePlace(books: RoomBooks, shown: Ticket, now: number): void {
  const ticket = books.draws.current(shown);
  if (books.over.has(ticket.sequence) || ticket.expiresAt <= now) return;
  const place = books.places.get(ticket.sequence);
  if (place?.claim.state === ON_SITE) return endVisit(books, place, LEFT, now);
  books.write([GONE, ticket.sequence, ticket.lane, LEFT, ticket.expiresAt, ""]);
}

/** Ends a visit of this node's. */
export function endVisit(
  books: RoomBooks,
  place: Place,
  how: typeof LEFT | typeof REVOKED,
  now: number,
): void {
  const { sessionDurationMs } = books.rulesAt(now);
  // A pass that a gateway renewed just now, and has not told of yet, is good for one more session.
  const until = Math.max(place.claim.until, now + sessionDurationMs) + PRESENCE_GRACE_MS;
  books.write([GONE, place.key, place.lane, how, until, place.id]);
}

function goStraightThrough(books: RoomBooks, { id, key, node, newcomer }: Arrival, now: number): Entered {
  books.door.admitted(1, now);
  books.door.entered(null, now);
  const lane = books.laneOf(newcomer.lane);
  return startVisit(books, { id, key, node, lane, joinedAt: now, admittedAt: now }, THROUGH, now);
}

interface Visitor {
  readonly id: string;
  readonly key: number;
  readonly node: number;
  readonly lane: number;
  readonly joinedAt: number;
  readonly admittedAt: number;
}

function startVisit(
  books: RoomBooks,
  { id, key, node, lane, joinedAt, admittedAt }: Visitor,
  how: typeof THROUGH | typeof WITH_TURN,
  now: number,
): Entered {
  const expiresAt = now + books.rulesAt(now).sessionDurationMs;
  books.write([VISIT, key, lane, how, id, joinedAt, admittedAt, now, expiresAt]);
  return {
    kind: "entered",
    pass: { id, room: books.name, lane, joinedAt, admittedAt, createdAt: now, expiresAt, node },
  };
}

function newTicket(books: RoomBooks, { id, key, node, newcomer }: Arrival, now: number): Ticket {
  return {
    id,
    room: books.name,
    lane: books.laneOf(newcomer.lane),
    joinedAt: now,
    sequence: key,
    draw: 0,
    issuedAt: now,
    expiresAt: now + books.rulesAt(now).ticketTtlMs,
    node,
    aheadShown: AHEAD_UNKNOWN,
    aheadAtJoin: AHEAD_UNKNOWN,
  };
}

/** What someone who waits is told, and until when they are waited for after that. */
function waitingAnswer(
  books: RoomBooks,
  ticket: Ticket,
  { dice, now }: Moment,
): { answer: Waiting; until: number } {
  const { lines, draws } = books;
  const rules = books.rulesAt(now);
  const { lapseAfterMs, ticketTtlMs, pollBudgetPerSecond, show } = rules;
  const { event, isPrequeue, opensAt } = books.door.phase(now);
  const actual = aheadOf(books, rules, ticket);
  const waitMs = books.pace.wait(rules, actual);
  const standing = { waiting: lines.size, waitMs, pollBudgetPerSecond, ticketTtlMs };
  const nextCheckInMs = isPrequeue
    ? openingCheckIn(standing, opensAt! - now, dice)
    : nextCheckIn(standing, dice);
  const isGathered = draws.isGathered(event, ticket.sequence);
  // Some who joined elsewhere a moment before are not known here yet, and what is shown once can never rise.
  const isExact = books.isAlone || now - ticket.joinedAt >= books.spreadMs;
  const answer: Waiting = {
    kind: "waiting",
    ticket,
    ahead: isAheadShown(rules) && isExact && !isGathered ? shownAhead(ticket, actual) : null,
    waitMs: show.wait && !isGathered ? waitMs : null,
    nextCheckInMs,
  };
  return { answer, until: lapseDeadline({ now, nextCheckInMs, lapseAfterMs }) };
}

/** How many are expected to be let in before the holder of this ticket. */
function aheadOf(books: RoomBooks, rules: DoorRules, ticket: Ticket): number {
  const { lines } = books;
  // Whoever is picked at random has on the whole half of the others before them.
  if (rules.queueingMethod === "random") return lines.size >> 1;
  const lane = books.laneOf(ticket.lane);
  const ahead = lines.ahead(lane, ticket.sequence);
  return expectedAhead(rules, (other) => lines.waitingIn(other), { lane, ahead });
}

/** More came than were expected. The turn is kept, and lasts. */
function waitWithTurn(books: RoomBooks, { ticket }: Admitted, place: Place, now: number): Waiting {
  books.lengthenTurn(place, wholeTenth(now + books.rulesAt(now).claimWindowMs));
  return tryAgainSoon(ticket);
}

/** The ticket was used already: its holder missed the answer, or shows it twice. One visit either way. */
function stillOnSite(books: RoomBooks, place: Place, now: number): TicketAnswer {
  const { id, lane, joinedAt, claim } = place;
  const { admittedAt } = claim;
  const createdAt = claim.until - books.rulesAt(now).sessionDurationMs;
  const pass: Pass = {
    ...{ id, room: books.name, lane, joinedAt, admittedAt, createdAt },
    ...{ expiresAt: claim.until, node: slotOfKey(Math.max(0, place.key)) },
  };
  return { kind: "entered", pass };
}

/** A visit that is known by its pass alone has a number of its own kind, below zero, made from its id. */
export function keyOfPass(id: string): number {
  return -1 - Number.parseInt(id.slice(0, PASS_KEY_DIGITS), 16);
}
