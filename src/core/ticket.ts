/**
 * A ticket: proof of a place in the line. It carries its whole order key, so an engine that lost everything can put its holder
 * back in place. Signing is up to the gateway.
 */
import type { OrderKey } from "./order.ts";

export interface Ticket extends OrderKey {
  /** 128 random bits, 32 hexadecimal digits. */
  readonly id: string;
  readonly room: string;
  readonly lane: number;
  readonly joinedAt: number;
  /** Order in its lane; changed by a draw or a missed turn. */
  readonly sequence: number;
  /** The draw that gave its sequence: the second since 1970 at which its event started. 0: none. */
  readonly draw: number;
  readonly issuedAt: number;
  readonly expiresAt: number;
  /** The cluster node that issued it; 0 elsewhere. */
  readonly node: number;
  /** The smallest `ahead` its holder was shown; they are never shown more. */
  readonly aheadShown: number;
  /** How many were ahead when its holder joined, for the progress bar. */
  readonly aheadAtJoin: number;
  /** Missed turns. */
  readonly missedTurns: number;
  /** When the latest of them was given; 0: none. */
  readonly missedAt: number;
  /** The sequence from before the first of them, which identifies the place; 0: none. */
  readonly origin: number;
}

/** The fields of a ticket without missed turns. */
export const NONE_MISSED = { missedTurns: 0, missedAt: 0, origin: 0 } as const;

/** The fields that a new ticket is made of. */
export interface TicketArrival
  extends Pick<Ticket, "id" | "room" | "lane" | "sequence" | "joinedAt" | "expiresAt" | "node"> {}

/** The ticket of a new place. */
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

/** `aheadShown` and `aheadAtJoin` while its holder has not been shown a number. */
export const AHEAD_UNKNOWN = 0xffffffff;

/** The number to show: between missed turns it never rises. */
export function shownAhead(ticket: Pick<Ticket, "aheadShown">, ahead: number): number {
  return Math.min(ticket.aheadShown, ahead);
}

/** The sequence that identifies a ticket's place: the one from before its first missed turn. */
export function originOf({ missedTurns, origin, sequence }: Ticket): number {
  return missedTurns === 0 ? sequence : origin;
}

/** A place after missed turns. */
export type SetBack = Pick<Ticket, "sequence" | "missedTurns" | "missedAt">;

/**
 * The ticket with the missed turns of its place. After a new one it may be shown more people ahead than before, and its
 * progress starts again.
 */
export function setBackTicket(ticket: Ticket, { sequence, missedTurns, missedAt }: SetBack): Ticket {
  if (ticket.missedTurns === missedTurns && ticket.sequence === sequence) return ticket;
  const origin = originOf(ticket);
  const anew = { aheadShown: AHEAD_UNKNOWN, aheadAtJoin: AHEAD_UNKNOWN };
  return { ...ticket, ...anew, sequence, missedTurns, missedAt, origin };
}

/** The ticket after its holder has been shown `ahead`; null: they were shown none. */
export function tellAhead(ticket: Ticket, ahead: number | null): Ticket {
  if (ahead === null) return ticket;
  const aheadAtJoin = ticket.aheadAtJoin === AHEAD_UNKNOWN ? ahead : ticket.aheadAtJoin;
  return { ...ticket, aheadShown: ahead, aheadAtJoin };
}

/** The ticket with a new lifetime, and the `ahead` its holder has now been shown. */
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
