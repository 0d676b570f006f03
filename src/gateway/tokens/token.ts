/**
 * Tickets and passes as text a visitor carries: bytes and their HMAC-SHA-256, in base64url.
 *
 *   version 1 · kind 1 · key id 4 · room length 1 · room · fields of fixed width · MAC 32
 *
 * The gateway's own notes on a visitor, their badge, go with both kinds and pass from one token to the next.
 *
 * Every field has a fixed width or its length before it, so no two different tokens have the same bytes to sign. The
 * room's name is inside, so a token is good in one room only. Reading never throws: what is not right has a reason.
 */
import type { Pass } from "../../core/pass.ts";
import { NONE_MISSED, type Ticket } from "../../core/ticket.ts";
import type { Keyring } from "./keyring.ts";

const VERSION = 2;
const TICKET = 1;
const PASS = 2;
/** A ticket that says which turns were missed; others need not carry it. (3 is a slip: abuse/slip.ts.) */
const SET_BACK_TICKET = 4;
const HEAD_BYTES = 7;
const MAC_BYTES = 32;
const ID_BYTES = 16;
const INSTANT_BYTES = 6;
/** Id, lane, joinedAt. */
const IDENTITY_BYTES = ID_BYTES + 2 + INSTANT_BYTES;
/** Binding, visits, when they are counted from. */
const BADGE_BYTES = 4 + 1 + INSTANT_BYTES;
const TICKET_BYTES = IDENTITY_BYTES + 8 + INSTANT_BYTES * 2 + 2 + 4 + 4 + 4 + BADGE_BYTES;
/** Missed turns, when the latest was given, origin. */
const MISSED_BYTES = 1 + INSTANT_BYTES + 8;
const SET_BACK_BYTES = TICKET_BYTES + MISSED_BYTES;
const PASS_BYTES = IDENTITY_BYTES + INSTANT_BYTES * 3 + 2 + BADGE_BYTES;
export const VISITS_MAX = 255;
const MISSED_MAX = 255;
/** Longest token text that is looked at. A room name has at most 32 bytes, so a real one is shorter. */
export const TOKEN_CHARACTERS_MAX = 210;

type Missed = Pick<Ticket, "missedTurns" | "missedAt" | "origin">;

/** What the gateway notes of a visitor. */
export interface Badge {
  /** Made from the browser or network a token was given to. 0: bound to nothing. */
  readonly binding: number;
  /** Visits begun since `since`. */
  readonly visits: number;
  readonly since: number;
}

/** The badge of someone unknown. */
export const NO_BADGE: Badge = { binding: 0, visits: 0, since: 0 };

export type TokenRefusal =
  | "overlong"
  | "malformed"
  | "unknownKey"
  | "forged"
  | "wrongRoom"
  | "expired"
  | "revoked";

export type TokenReading =
  | { readonly kind: "ticket"; readonly ticket: Ticket; readonly badge: Badge }
  | { readonly kind: "pass"; readonly pass: Pass; readonly badge: Badge }
  /** An expired token is genuine all the same: its badge still counts, and the visit of an expired pass can be left. */
  | {
      readonly kind: "refused";
      readonly reason: TokenRefusal;
      readonly badge: Badge;
      readonly expiredPass: Pass | null;
    };

export function ticketToken(ticket: Ticket, badge: Badge, keyring: Keyring): string {
  const isSetBack = ticket.missedTurns > 0;
  const { bytes, at } = isSetBack
    ? begin(SET_BACK_TICKET, ticket.room, SET_BACK_BYTES, keyring)
    : begin(TICKET, ticket.room, TICKET_BYTES, keyring);
  let offset = writeIdentity(bytes, at, ticket);
  bytes.writeDoubleBE(ticket.sequence, offset);
  offset = writeInstants(bytes, offset + 8, [ticket.issuedAt, ticket.expiresAt]);
  bytes.writeUInt16BE(ticket.node, offset);
  bytes.writeUInt32BE(ticket.aheadShown, offset + 2);
  bytes.writeUInt32BE(ticket.aheadAtJoin, offset + 6);
  bytes.writeUInt32BE(ticket.draw, offset + 10);
  writeBadge(bytes, offset + 14, badge);
  if (isSetBack) writeMissed(bytes, at + TICKET_BYTES, ticket);
  return seal(bytes, keyring);
}

export function passToken(pass: Pass, badge: Badge, keyring: Keyring): string {
  const { bytes, at } = begin(PASS, pass.room, PASS_BYTES, keyring);
  let offset = writeIdentity(bytes, at, pass);
  offset = writeInstants(bytes, offset, [pass.admittedAt, pass.createdAt, pass.expiresAt]);
  bytes.writeUInt16BE(pass.node, offset);
  writeBadge(bytes, offset + 2, badge);
  return seal(bytes, keyring);
}

/** Reads a token meant for `room`. */
export function readToken(
  text: string,
  reading: { room: string; keyring: Keyring; now: number },
): TokenReading {
  if (text.length > TOKEN_CHARACTERS_MAX) return refused("overlong");
  const bytes = Buffer.from(text, "base64url");
  if (!isWellFormed(bytes, text)) return refused("malformed");
  const signed = bytes.subarray(0, bytes.length - MAC_BYTES);
  const mac = bytes.subarray(bytes.length - MAC_BYTES);
  const verdict = reading.keyring.verify(bytes.readUInt32BE(2), signed, mac, reading.now);
  if (verdict !== "genuine") return refused(verdict);
  return readFields(bytes, reading);
}

function readFields(bytes: Buffer, reading: { room: string; now: number }): TokenReading {
  const at = HEAD_BYTES + bytes[6]!;
  const room = bytes.toString("latin1", HEAD_BYTES, at);
  if (room !== reading.room) return refused("wrongRoom");
  if (bytes[1] !== PASS) {
    const missed = bytes[1] === TICKET ? NONE_MISSED : readMissed(bytes, at + TICKET_BYTES);
    const ticket = { ...readTicket(bytes, at, room), ...missed };
    const badge = readBadge(bytes, at + TICKET_BYTES - BADGE_BYTES);
    return ticket.expiresAt <= reading.now ? refused("expired", badge) : { kind: "ticket", ticket, badge };
  }
  const pass = readPass(bytes, at, room);
  const badge = readBadge(bytes, at + PASS_BYTES - BADGE_BYTES);
  return pass.expiresAt <= reading.now ? refused("expired", badge, pass) : { kind: "pass", pass, badge };
}

/** By kind. */
const FIELD_BYTES: Readonly<Record<number, number>> = {
  [TICKET]: TICKET_BYTES,
  [PASS]: PASS_BYTES,
  [SET_BACK_TICKET]: SET_BACK_BYTES,
};

/** Right version, a known kind, exactly the length that its kind and room make, and the one spelling of those bytes. */
function isWellFormed(bytes: Buffer, text: string): boolean {
  if (bytes.length < HEAD_BYTES || bytes[0] !== VERSION) return false;
  const fields = FIELD_BYTES[bytes[1]!];
  if (fields === undefined || bytes.length !== HEAD_BYTES + bytes[6]! + fields + MAC_BYTES) return false;
  return bytes.toString("base64url") === text;
}

function begin(kind: number, room: string, fields: number, keyring: Keyring): { bytes: Buffer; at: number } {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + room.length + fields + MAC_BYTES);
  bytes[0] = VERSION;
  bytes[1] = kind;
  bytes.writeUInt32BE(keyring.signingId, 2);
  bytes[6] = room.length;
  bytes.write(room, HEAD_BYTES, "latin1");
  return { bytes, at: HEAD_BYTES + room.length };
}

function seal(bytes: Buffer, keyring: Keyring): string {
  const end = bytes.length - MAC_BYTES;
  keyring.sign(bytes.subarray(0, end)).copy(bytes, end);
  return bytes.toString("base64url");
}

function writeIdentity(bytes: Buffer, at: number, who: Pick<Pass, "id" | "lane" | "joinedAt">): number {
  bytes.write(who.id, at, "hex");
  bytes.writeUInt16BE(who.lane, at + ID_BYTES);
  return writeInstants(bytes, at + ID_BYTES + 2, [who.joinedAt]);
}

function writeBadge(bytes: Buffer, at: number, { binding, visits, since }: Badge): void {
  bytes.writeUInt32BE(binding, at);
  bytes[at + 4] = Math.min(visits, VISITS_MAX);
  writeInstants(bytes, at + 5, [since]);
}

function readBadge(bytes: Buffer, at: number): Badge {
  return {
    binding: bytes.readUInt32BE(at),
    visits: bytes[at + 4]!,
    since: bytes.readUIntBE(at + 5, INSTANT_BYTES),
  };
}

function writeInstants(bytes: Buffer, at: number, instants: readonly number[]): number {
  for (const instant of instants) at = bytes.writeUIntBE(Math.floor(instant), at, INSTANT_BYTES);
  return at;
}

function writeMissed(bytes: Buffer, at: number, { missedTurns, missedAt, origin }: Ticket): void {
  bytes[at] = Math.min(missedTurns, MISSED_MAX);
  bytes.writeDoubleBE(origin, writeInstants(bytes, at + 1, [missedAt]));
}

function readMissed(bytes: Buffer, at: number): Missed {
  return {
    missedTurns: bytes[at]!,
    missedAt: bytes.readUIntBE(at + 1, INSTANT_BYTES),
    origin: bytes.readDoubleBE(at + 1 + INSTANT_BYTES),
  };
}

function readTicket(bytes: Buffer, at: number, room: string): Omit<Ticket, keyof Missed> {
  const rest = at + IDENTITY_BYTES;
  return {
    ...readIdentity(bytes, at),
    room,
    sequence: bytes.readDoubleBE(rest),
    issuedAt: bytes.readUIntBE(rest + 8, INSTANT_BYTES),
    expiresAt: bytes.readUIntBE(rest + 14, INSTANT_BYTES),
    node: bytes.readUInt16BE(rest + 20),
    aheadShown: bytes.readUInt32BE(rest + 22),
    aheadAtJoin: bytes.readUInt32BE(rest + 26),
    draw: bytes.readUInt32BE(rest + 30),
  };
}

function readPass(bytes: Buffer, at: number, room: string): Pass {
  const rest = at + IDENTITY_BYTES;
  return {
    ...readIdentity(bytes, at),
    room,
    admittedAt: bytes.readUIntBE(rest, INSTANT_BYTES),
    createdAt: bytes.readUIntBE(rest + 6, INSTANT_BYTES),
    expiresAt: bytes.readUIntBE(rest + 12, INSTANT_BYTES),
    node: bytes.readUInt16BE(rest + 18),
  };
}

function readIdentity(bytes: Buffer, at: number): Pick<Pass, "id" | "lane" | "joinedAt"> {
  return {
    id: bytes.toString("hex", at, at + ID_BYTES),
    lane: bytes.readUInt16BE(at + ID_BYTES),
    joinedAt: bytes.readUIntBE(at + ID_BYTES + 2, INSTANT_BYTES),
  };
}

function refused(
  reason: TokenRefusal,
  badge: Badge = NO_BADGE,
  expiredPass: Pass | null = null,
): TokenReading {
  return { kind: "refused", reason, badge, expiredPass };
}
