/**
 * A slip: given to a newcomer at the first contact, where a place is only given at the second, or for work. It is no place and
 * reserves none. It says when it was given and how much work it asks for, and is signed, so the gateway stores nothing about
 * clients that never come back.
 *
 *   version 1 · kind 1 · key id 4 · id 6 · givenAt 6 · bits 1 · visits 1 · since 6 · MAC 32
 *
 * It is a third kind of token beside tickets and passes (`token.ts`), with the same keys, and travels the same way: in the
 * room's cookie or in `Fairgate-Token`. It replaces an older token there, so it carries on that token's record of earlier
 * visits. All fields have fixed widths. The room's name is part of the signed text but not of the slip, so a slip is good in one
 * room only. Reading never throws.
 */
import type { Keyring } from "../tokens/keyring.ts";
import type { Badge } from "../tokens/token.ts";

const VERSION = 2;
const KIND = 3;
const KEY_ID_AT = 2;
const ID_AT = 6;
const GIVEN_AT = 12;
const BITS_AT = 18;
const VISITS_AT = 19;
const SINCE_AT = 20;
const MAC_AT = 26;
const BYTES = 58;
export const SLIP_ID_BYTES = 6;
const INSTANT_BYTES = 6;
const CHARACTERS = Math.ceil((BYTES / 3) * 4);

/** How long a slip is valid: enough for the slowest phone to do the work, and for its owner to notice. */
export const SLIP_LIFE_MS = 600_000;
/** Clocks of two gateways differ by less than this; a slip from further ahead is not waited for. */
const AHEAD_MAX_MS = 5_000;

/** The record of a visitor's earlier visits. */
export type PastVisits = Pick<Badge, "visits" | "since">;

export interface Slip {
  /** 48 random bits. */
  readonly id: number;
  readonly givenAt: number;
  /** Leading zero bits its work must have; 0: it asks for none. */
  readonly bits: number;
  readonly past: PastVisits;
}

export interface SlipReading {
  readonly room: string;
  readonly keyring: Keyring;
  readonly now: number;
}

export function slipToken(slip: Slip, room: string, keyring: Keyring): string {
  const bytes = Buffer.allocUnsafe(BYTES);
  bytes[0] = VERSION;
  bytes[1] = KIND;
  bytes.writeUInt32BE(keyring.signingId, KEY_ID_AT);
  bytes.writeUIntBE(slip.id, ID_AT, SLIP_ID_BYTES);
  bytes.writeUIntBE(Math.floor(slip.givenAt), GIVEN_AT, INSTANT_BYTES);
  bytes[BITS_AT] = slip.bits;
  bytes[VISITS_AT] = slip.past.visits;
  bytes.writeUIntBE(Math.floor(slip.past.since), SINCE_AT, INSTANT_BYTES);
  keyring.sign(signed(bytes, room)).copy(bytes, MAC_AT);
  return bytes.toString("base64url");
}

/** The slip in a text, expired or not; null for a text that is no slip, is forged, or belongs to another room. */
export function readSlip(text: string, { room, keyring, now }: SlipReading): Slip | null {
  if (!isSlip(text)) return null;
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length !== BYTES || bytes[0] !== VERSION || bytes[1] !== KIND) return null;
  if (bytes.toString("base64url") !== text) return null;
  const verdict = keyring.verify(
    bytes.readUInt32BE(KEY_ID_AT),
    signed(bytes, room),
    bytes.subarray(MAC_AT),
    now,
  );
  if (verdict !== "genuine") return null;
  return {
    id: bytes.readUIntBE(ID_AT, SLIP_ID_BYTES),
    givenAt: bytes.readUIntBE(GIVEN_AT, INSTANT_BYTES),
    bits: bytes[BITS_AT]!,
    past: { visits: bytes[VISITS_AT]!, since: bytes.readUIntBE(SINCE_AT, INSTANT_BYTES) },
  };
}

/** True while a slip is good for a place. */
export function isCurrent({ givenAt }: Slip, now: number): boolean {
  return now < givenAt + SLIP_LIFE_MS && givenAt <= now + AHEAD_MAX_MS;
}

/** True for text that begins as slips do, and tickets and passes do not. It need not be valid. */
export function isSlip(text: string): boolean {
  // The first two bytes, 2 and 3, are "Ag" and, with the two bits that follow them, one of M, N, O and P.
  if (text.length !== CHARACTERS || !text.startsWith("Ag")) return false;
  return text[2]! >= "M" && text[2]! <= "P";
}

function signed(bytes: Buffer, room: string): Buffer {
  return Buffer.concat([bytes.subarray(0, MAC_AT), Buffer.from(room, "latin1")]);
}
