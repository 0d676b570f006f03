/**
 * A ticket: proof of a place in the line. It carries its whole order key, so an engine that lost everything can put
 * its holder back where they stood. This file says what a ticket holds and when it is good; signing is the gateway's.
 */
import type { OrderKey } from "./order.ts";

export interface Ticket extends OrderKey {
  /** 128 random bits, 32 hexadecimal digits. */
  readonly id: string;
  readonly room: string;
  readonly lane: number;
  readonly joinedAt: number;
  /** Number in the line of its lane; a draw gives a new one, and so does a missed turn. */
  readonly sequence: number;
  /** The draw that gave its sequence: the second since 1970 at which its event started. 0: none. */
  readonly draw: number;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The cluster node that issued it; 0 elsewhere. */
  readonly node: number;
  /** The smallest `ahead` its holder was ever shown; never shown more than this again. */
  readonly aheadShown: number;
  /** How many were ahead when its holder joined, for a progress bar that needs no memory of its own. */
  readonly aheadAtJoin: number;
  /** Turns that came and were not used. */
  readonly missedTurns: number;
  /** When the latest of them was given; 0: none was. */
  readonly missedAt: number;
  /** The sequence from before the first of them, by which a place is known; 0 while there is none. */
  readonly origin: number;
}

/** What a ticket says of missed turns while there are none. */
export const NONE_MISSED = { missedTurns: 0, missedAt: 0, origin: 0 } as const;

/** Someone new, and what makes them a ticket. */
export interface TicketArrival
  extends Pick<Ticket, "id" | "room" | "lane" | "sequence" | "joinedAt" | "expiresAt" | "node"> {}

/** The ticket of a place that was taken just now. */
export function newTicket({ id, room, lane, sequence, joinedAt, expiresAt, node }: TicketArrival): Ticket {
  return {
    id,
    room,
    lane,
    joinedAt,
    sequence,
    draw: 0,
    issuedAt: joinedAt,
    expiresAt,
    node,
    aheadShown: AHEAD_UNKNOWN,
    aheadAtJoin: AHEAD_UNKNOWN,
    ...NONE_MISSED,
  };
}

/** A ticket nobody has been shown an `ahead` for yet. */
export const AHEAD_UNKNOWN = 0xffffffff;

/** What a visitor is shown never gets worse between missed turns: the smaller of what is and what was shown. */
export function shownAhead(ticket: Pick<Ticket, "aheadShown">, ahead: number): number {
  return Math.min(ticket.aheadShown, ahead);
}

/** The place that a ticket is about, by the sequence it had before it missed a turn. */
export function originOf({ missedTurns, origin, sequence }: Ticket): number {
  return missedTurns === 0 ? sequence : origin;
}

/** What has become of a place by missed turns. */
export type SetBack = Pick<Ticket, "sequence" | "missedTurns" | "missedAt">;

/**
 * A ticket as it is after missed turns that it does not know of yet. It may then be shown more people ahead than before,
 * and its way to the front begins anew.
 */
export function setBackTicket(ticket: Ticket, { sequence, missedTurns, missedAt }: SetBack): Ticket {
  if (ticket.missedTurns === missedTurns && ticket.sequence === sequence) return ticket;
  const origin = originOf(ticket);
  const anew = { aheadShown: AHEAD_UNKNOWN, aheadAtJoin: AHEAD_UNKNOWN };
  return { ...ticket, ...anew, sequence, missedTurns, missedAt, origin };
}

/** The same place, once its holder has been shown that `ahead`; null when they were shown none. */
export function tellAhead(ticket: Ticket, ahead: number | null): Ticket {
  if (ahead === null) return ticket;
  const aheadAtJoin = ticket.aheadAtJoin === AHEAD_UNKNOWN ? ahead : ticket.aheadAtJoin;
  return { ...ticket, aheadShown: ahead, aheadAtJoin };
}

/** The same place with a fresh signature's worth of time, and the `ahead` its holder has now been shown. */
export function renewTicket(
  ticket: Ticket,
  renewal: { now: number; ttlMs: number; aheadShown: number },
): Ticket {
  return {
    ...ticket,
    issuedAt: renewal.now,
    expiresAt: renewal.now + renewal.ttlMs,
    aheadShown: renewal.aheadShown,
  };
}
