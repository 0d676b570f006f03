/**
 * Answers visitors' calls at one node, whichever node owns their places. What this node knows is answered at once. Calls that give
 * or free a slot are requested from the owner (requests.ts). News that owners only need to learn goes with the next messages. As
 * an owner, the node carries out what others request.
 */
import type {
  Entered,
  JoinAnswer,
  Newcomer,
  Presence,
  RefusalReason,
  TicketAnswer,
} from "../../../core/engine.ts";
import type { Pass } from "../../../core/pass.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { type Moment, turnInHand } from "../../../core/waiting.ts";
import type { Lending } from "../door/lending.ts";
import { isShortForResuming, isShortForTurn, isShortOfSlots } from "../door/loans.ts";
import { HOW, OP } from "../log/entries.ts";
import type { OrderClock } from "../log/order-clock.ts";
import type { Replication } from "../log/replication.ts";
import type { MessageBody } from "../wire/message.ts";
import { SELF, WAITING } from "./place.ts";
import type { Op, OpAnswer, Requests } from "./requests.ts";
import {
  checkIn,
  endVisit,
  enter,
  join,
  leavePlace,
  noteSeen,
  resume,
  type Seen,
  touch,
  welcomeTo,
} from "./room-answers.ts";
import type { RoomBooks } from "./room-books.ts";
import type { Routes } from "./routes.ts";
import { type Touch, Touches } from "./touches.ts";

type EndOp = Extract<Op, { op: "leavePlace" | "leaveVisit" | "revoke" }>;

export interface IdentifiedNewcomer {
  readonly id: string;
  readonly newcomer: Newcomer;
  readonly dice: number;
}

/** Visitors who came here and whose places belong to another node. */
interface Sighting {
  readonly to: string;
  readonly body: {
    readonly kind: "seen" | "touch";
    readonly room: string;
    readonly list: (Seen | Presence)[];
  };
}

export interface VisitorCallsParts {
  readonly rooms: ReadonlyMap<string, RoomBooks>;
  readonly routes: Routes;
  readonly requests: Requests;
  readonly lending: Lending;
  readonly replication: Pick<Replication, "whenCopied">;
  readonly clock: OrderClock;
  /** This node's number; 0 while it has none. */
  readonly nodeNumber: () => number;
  /** The time when an answer comes later. */
  readonly now: () => number;
}

export class VisitorCalls {
  readonly #parts: VisitorCallsParts;
  /** For the owners of places and visits, with the next messages; by kind, owner and room. */
  #sightings = new Map<string, Sighting>();
  readonly #touches = new Touches();

  constructor(parts: VisitorCallsParts) {
    this.#parts = parts;
  }

  join(
    books: RoomBooks,
    { id, newcomer, dice }: IdentifiedNewcomer,
    now: number,
    answer: (answer: JoinAnswer) => void,
  ): void {
    const { clock, nodeNumber } = this.#parts;
    const key = clock.next(now);
    const node = nodeNumber();
    const go = (who: Newcomer) => {
      const moment = { dice, now: this.#parts.now() };
      const given = join(books, { id, key, node, newcomer: who }, moment);
      // Without a limit, nothing is lost with a visit that no other node knows of.
      if (books.isLimited) this.#tell(given, answer, moment.now);
      else answer(given);
    };
    if (newcomer.invite === null) return this.#withRoom(books, newcomer, () => go(newcomer));
    this.#useInvite(books, newcomer, (reason) => {
      if (reason !== null) return answer({ kind: "refused", reason });
      this.#withRoom(books, newcomer, () => go({ ...newcomer, invite: null }));
    });
  }

  checkIn(books: RoomBooks, ticket: Ticket, moment: Moment): TicketAnswer {
    const { answer, seen } = checkIn(books, ticket, moment);
    if (seen) this.#noteSeen(books, seen, moment.now);
    if (answer.kind !== "entered") return answer;
    // A visit may have ended a moment ago, so only its owner answers for it: the visitor is told to come and enter.
    const place = books.visits.get(ticket.id);
    const isOwn = place?.claim.origin === SELF;
    return isOwn ? answer : { kind: "admitted", ticket, claimBy: answer.pass.expiresAt };
  }

  enter(books: RoomBooks, ticket: Ticket, moment: Moment, answer: (answer: TicketAnswer) => void): void {
    // Without a turn, as far as is known here, the owner need not be asked.
    const known = this.checkIn(books, ticket, moment);
    if (known.kind !== "admitted" && known.kind !== "entered") return answer(known);
    const { dice, now } = moment;
    this.#parts.requests.ask({ op: "enter", ticket, dice }, now, (given) =>
      answer(given === null || typeof given === "boolean" ? turnInHand(ticket) : given),
    );
  }

  /** For a visitor with an expired pass. A visit that begins again is this node's. */
  resume(
    books: RoomBooks,
    pass: Pass,
    mayBegin: boolean,
    now: number,
    answer: (answer: Entered | null) => void,
  ): void {
    const { clock, lending } = this.#parts;
    const go = () => {
      const at = this.#parts.now();
      const given = resume(books, { pass, key: clock.next(at), mayBegin }, at);
      if (given && books.isLimited) this.#tell(given, answer, at);
      else answer(given);
    };
    const isShort = mayBegin && isShortForResuming(books, pass.id, now);
    if (!isShort || !lending.ask(books.name, now, go)) go();
  }

  touch(books: RoomBooks, presences: readonly Presence[], now: number): void {
    for (const presence of presences) {
      const visit = books.visits.get(presence.id);
      const owner = this.#parts.routes.ofPass(visit, presence.id);
      if (owner === "self" && (visit || !isFresh(books, presence, now))) touch(books, presence, now);
      else if (owner === "self") this.#touches.told(books.name, presence, now);
      else {
        if (owner !== null) this.#tellOwner("touch", owner, books.name, presence);
        this.#touches.told(books.name, presence, now);
      }
    }
  }

  /** Tells owners again what they have not confirmed. */
  tick(now: number): void {
    for (const { room, presence } of this.#touches.due(now, (told) => this.#isHeard(told))) {
      const books = this.#parts.rooms.get(room);
      if (books) this.touch(books, [presence], now);
    }
  }

  nextAt(): number {
    return this.#touches.nextAt();
  }

  /** Calls back once two nodes have the end of the place or visit in their logs. */
  leave(books: RoomBooks, place: Ticket | Pass, now: number, done: () => void): void {
    if ("sequence" in place) this.#end(books, { op: "leavePlace", ticket: place }, now, done);
    else this.#end(books, { op: "leaveVisit", room: place.room, id: place.id }, now, done);
  }

  revoke(books: RoomBooks, id: string, now: number, done: () => void): void {
    this.#end(books, { op: "revoke", room: books.name, id }, now, done);
  }

  /**
   * The owner ends it, so that its slot is free at once. If the owner cannot be asked or does not answer, this node writes that
   * it is over, and the owner ends it when it reads that.
   */
  #end(books: RoomBooks, op: EndOp, now: number, done: () => void): void {
    const { requests, routes, replication } = this.#parts;
    const endHere = () => {
      const at = this.#parts.now();
      writeEnd(books, op, at);
      replication.whenCopied(done, at);
    };
    if (routes.of(op) === null) return endHere();
    requests.ask(op, now, (isEnded) => (isEnded === true ? done() : endHere()));
  }

  /**
   * Takes in visitors that others saw on the site. Visits that are not this node's are left to the sender, who tells their owner
   * until that is confirmed: two nodes that take each other for the owner must not send them to and fro.
   */
  hearTouched(books: RoomBooks, presences: readonly Presence[], now: number): void {
    for (const presence of presences) {
      const visit = books.visits.get(presence.id);
      if (!visit && isFresh(books, presence, now)) continue;
      if (this.#parts.routes.ofPass(visit, presence.id) === "self") touch(books, presence, now);
    }
  }

  /** Takes in visitors that others saw waiting. */
  hearSeen(books: RoomBooks, list: readonly Seen[], now: number): void {
    for (const seen of list) {
      const place = books.places.get(seen[0]);
      if (this.#parts.routes.ofPlace(place, seen[0]) === "self") noteSeen(books, seen, { now, isNews: true });
    }
  }

  /** The owner's part of a request. */
  perform(op: Op, now: number, answer: (answer: OpAnswer) => void): void {
    const room = op.op === "enter" || op.op === "leavePlace" ? op.ticket.room : op.room;
    const books = this.#parts.rooms.get(room);
    if (!books) return answer(false);
    switch (op.op) {
      case "enter":
        return this.#withSlot(books, op.ticket, now, () => {
          const moment = { dice: op.dice, now: this.#parts.now() };
          this.#tell(enter(books, op.ticket, moment), answer, moment.now);
        });
      case "seen":
        noteSeen(books, op.seen, { now, isNews: true });
        return answer(true);
      case "leavePlace":
      case "leaveVisit":
      case "revoke":
        writeEnd(books, op, now);
        return this.#parts.replication.whenCopied(() => answer(true), now);
      case "invite": {
        const isNew = !books.invites.has(op.invite.id);
        if (isNew) books.write([OP.invite, op.invite.id, op.invite.expiresAt]);
        return answer(isNew);
      }
    }
  }

  /** Takes the news for owners about visitors who came here. */
  takeOutbox(): { to: string; body: MessageBody }[] {
    if (this.#sightings.size === 0) return [];
    const outbox = [...this.#sightings.values()];
    this.#sightings = new Map();
    return outbox as { to: string; body: MessageBody }[];
  }

  #tellOwner(kind: Sighting["body"]["kind"], to: string, room: string, one: Seen | Presence): void {
    const key = `${kind} ${to} ${room}`;
    const known = this.#sightings.get(key);
    if (known) known.body.list.push(one);
    else this.#sightings.set(key, { to, body: { kind, room, list: [one] } });
  }

  /** True when the owner knows that the visitor was there, or the visit is over. */
  #isHeard({ room, presence }: Touch): boolean {
    const books = this.#parts.rooms.get(room);
    const place = books?.visits.get(presence.id);
    if (!books || !place) return !books || books.ended.has(presence.id);
    return place.claim.until >= presence.expiresAt;
  }

  #noteSeen(books: RoomBooks, seen: Seen, now: number): void {
    const { routes, requests } = this.#parts;
    const place = books.places.get(seen[0]);
    const owner = routes.ofPlace(place, seen[0]);
    if (owner === "self") noteSeen(books, seen, { now, isNews: false });
    else if (owner === null && place) return;
    else if (owner !== null && place?.claim.state === WAITING)
      this.#tellOwner("seen", owner, books.name, seen);
    // A place that comes back to the line must be confirmed, so this is a request.
    else requests.ask({ op: "seen", room: books.name, seen }, now, () => {});
  }

  /** Goes on when there is room, or once it is certain that no node has any. */
  #withRoom(books: RoomBooks, newcomer: Newcomer, go: () => void): void {
    const now = this.#parts.now();
    const isShort = isShortOfSlots(books, newcomer, now);
    if (!isShort || !this.#parts.lending.ask(books.name, now, go)) go();
  }

  /** The same for a visitor with a loose turn, which has no reserved slot. */
  #withSlot(books: RoomBooks, ticket: Ticket, now: number, go: () => void): void {
    if (!isShortForTurn(books, ticket, now) || !this.#parts.lending.ask(books.name, now, go)) go();
  }

  /** Uses up a one-time code on the node that decides about it. */
  #useInvite(books: RoomBooks, newcomer: Newcomer, then: (reason: RefusalReason | null) => void): void {
    const now = this.#parts.now();
    const invite = newcomer.invite!;
    if (books.invites.has(invite.id)) return then("inviteUsed");
    const welcome = welcomeTo(books, newcomer, now);
    if (welcome !== "through" && welcome !== "place") return then(welcome);
    this.#parts.requests.ask({ op: "invite", room: books.name, invite }, now, (isNew) => {
      // Without an answer it is used up here, at least.
      const isGood = isNew ?? !books.invites.has(invite.id);
      if (isNew === null && isGood) books.write([OP.invite, invite.id, invite.expiresAt]);
      then(isGood ? null : "inviteUsed");
    });
  }

  /** Tells of an entry only after another node has it, since its slot could be given twice. */
  #tell<Answer extends JoinAnswer | TicketAnswer>(
    given: Answer,
    answer: (answer: Answer) => void,
    now: number,
  ): void {
    if (given.kind !== "entered") return answer(given);
    this.#parts.replication.whenCopied(() => answer(given), now);
  }
}

/** True for a pass so new that the visit may not be known here yet; the sender will repeat it. */
function isFresh(books: RoomBooks, { expiresAt }: Presence, now: number): boolean {
  return now - (expiresAt - books.rulesAt(now).sessionDurationMs) < books.spreadMs;
}

function writeEnd(books: RoomBooks, op: EndOp, now: number): void {
  if (op.op === "leavePlace") leavePlace(books, op.ticket, now);
  else endVisit(books, op.id, op.op === "revoke" ? HOW.revoked : HOW.left, now);
}
