/**
 * The shop token: whose basket a request is about, after the pass that filled it has run out. It lets its holder see, finish, pay
 * and leave that basket, and nothing else: it is no leave to be on the site, and a pass is no shop token.
 *
 *   version 1 · kind 1 · key id 4 · room length 1 · room · visitor 16 · lane 2 · admittedAt 6 · expiresAt 6 · binding 4 ·
 *   customer length 1 · customer · MAC 32
 *
 * It is a token of another kind beside tickets and passes (`token.ts`), with the same keys. Every field has a fixed width or its
 * length before it, and the room's name is inside, so it is good in one room only. Reading never throws.
 */
import type { Keyring } from "./keyring.ts";

const VERSION = 2;
/** 1, 2 and 4 are in `token.ts`, 3 is a slip. */
const KIND = 5;
const KEY_ID_AT = 2;
const ROOM_AT = 7;
const ID_BYTES = 16;
const LANE_AT = ID_BYTES;
const ADMITTED_AT = LANE_AT + 2;
const INSTANT_BYTES = 6;
const EXPIRES_AT = ADMITTED_AT + INSTANT_BYTES;
const BINDING_AT = EXPIRES_AT + INSTANT_BYTES;
const CUSTOMER_AT = BINDING_AT + 4;
const MAC_BYTES = 32;
const BYTES_MIN = ROOM_AT + CUSTOMER_AT + 1 + MAC_BYTES;
/** The longest name of a customer, in bytes of UTF-8. */
export const CUSTOMER_BYTES_MAX = 200;
/** The longest text that is looked at. */
const CHARACTERS_MAX = Math.ceil(((BYTES_MIN + 32 + CUSTOMER_BYTES_MAX) * 4) / 3);

/** How long a basket can be asked about: longer than one lives, also while the payment room is paused for days. */
export const SHOP_TOKEN_LIFE_MS = 30 * 86_400_000;

export interface ShopVisit {
  /** The id of the visit whose basket it is. */
  readonly visitor: string;
  readonly lane: number;
  readonly admittedAt: number;
  readonly expiresAt: number;
  /** As in a badge: to which browser or network it was given. */
  readonly binding: number;
  /** The verified claim; null: none was brought. */
  readonly customer: string | null;
}

export function shopToken(visit: ShopVisit, room: string, keyring: Keyring): string {
  const customer = Buffer.from(visit.customer ?? "");
  const at = ROOM_AT + room.length;
  const end = at + CUSTOMER_AT + 1 + customer.length;
  const bytes = Buffer.allocUnsafe(end + MAC_BYTES);
  bytes[0] = VERSION;
  bytes[1] = KIND;
  bytes.writeUInt32BE(keyring.signingId, KEY_ID_AT);
  bytes[ROOM_AT - 1] = room.length;
  bytes.write(room, ROOM_AT, "latin1");
  bytes.write(visit.visitor, at, "hex");
  bytes.writeUInt16BE(visit.lane, at + LANE_AT);
  bytes.writeUIntBE(Math.floor(visit.admittedAt), at + ADMITTED_AT, INSTANT_BYTES);
  bytes.writeUIntBE(Math.floor(visit.expiresAt), at + EXPIRES_AT, INSTANT_BYTES);
  bytes.writeUInt32BE(visit.binding, at + BINDING_AT);
  bytes[at + CUSTOMER_AT] = customer.length;
  customer.copy(bytes, at + CUSTOMER_AT + 1);
  keyring.sign(bytes.subarray(0, end)).copy(bytes, end);
  return bytes.toString("base64url");
}

/** The visit that a shop token of this room names; null for anything else, and for one that is forged or has run out. */
export function readShopToken(
  text: string,
  { room, keyring, now }: { room: string; keyring: Keyring; now: number },
): ShopVisit | null {
  if (text.length > CHARACTERS_MAX) return null;
  const bytes = Buffer.from(text, "base64url");
  if (bytes.length < BYTES_MIN || bytes[0] !== VERSION || bytes[1] !== KIND) return null;
  const at = ROOM_AT + bytes[ROOM_AT - 1]!;
  const end = bytes.length - MAC_BYTES;
  if (at + CUSTOMER_AT >= end || at + CUSTOMER_AT + 1 + bytes[at + CUSTOMER_AT]! !== end) return null;
  if (bytes.toString("base64url") !== text) return null;
  const verdict = keyring.verify(
    bytes.readUInt32BE(KEY_ID_AT),
    bytes.subarray(0, end),
    bytes.subarray(end),
    now,
  );
  if (verdict !== "genuine" || bytes.toString("latin1", ROOM_AT, at) !== room) return null;
  const expiresAt = bytes.readUIntBE(at + EXPIRES_AT, INSTANT_BYTES);
  if (expiresAt <= now) return null;
  const customer = bytes.toString("utf8", at + CUSTOMER_AT + 1, end);
  return {
    visitor: bytes.toString("hex", at, at + ID_BYTES),
    lane: bytes.readUInt16BE(at + LANE_AT),
    admittedAt: bytes.readUIntBE(at + ADMITTED_AT, INSTANT_BYTES),
    expiresAt,
    binding: bytes.readUInt32BE(at + BINDING_AT),
    customer: customer === "" ? null : customer,
  };
}
