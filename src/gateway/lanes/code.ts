/**
 * A code that admits its bearer to a lane: bytes and their HMAC-SHA-256 in base64url, 48 characters that fit into a link.
 *
 *   version 1 · kind 1 · lane 2 · runs out 4 (seconds since 1970) · id 8 · MAC 20
 *
 * The key is derived from the secret for one room, so a code is good in that room only and need not name it. A MAC of 20 bytes
 * keeps codes from being guessed; 36 bytes in all leave no spare bits in base64url, so a code has one spelling. A `once` code is
 * good for one place: the engine remembers its id until it expires.
 *
 * Reading never throws: an invalid code gives a reason.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Keyring } from "../tokens/keyring.ts";

const VERSION = 1;
const KINDS = ["many", "once"] as const;
const LANE_AT = 2;
const EXPIRY_AT = 4;
const ID_AT = 8;
const ID_BYTES = 8;
const MAC_AT = ID_AT + ID_BYTES;
const MAC_BYTES = 20;
const CODE_BYTES = MAC_AT + MAC_BYTES;
const SECONDS_MAX = 0xffff_ffff;
export const CODE_CHARACTERS = (CODE_BYTES * 4) / 3;
/** Length of an id in bytes, for the caller who makes a random one. */
export const CODE_ID_BYTES = ID_BYTES;

export interface LaneCode {
  /** `many`: good for any number of places. `once`: for one. */
  readonly kind: (typeof KINDS)[number];
  readonly lane: number;
  /** 8 bytes in hexadecimal. */
  readonly id: string;
  /** Whole seconds, in milliseconds since 1970. */
  readonly expiresAt: number;
}

/** `forged`: also a code of another room, or made with a secret that is no longer known. */
export type CodeRefusal = "malformed" | "forged" | "expired";

export type CodeReading =
  | { readonly kind: "code"; readonly code: LaneCode }
  | { readonly kind: "refused"; readonly reason: CodeRefusal };

/** One room's keys: the first one signs, all of them verify. */
export type CodeKeys = readonly [Buffer, ...Buffer[]];

/** The keys of a room's codes. Codes stay good when the secret changes, as tickets do. */
export function codeKeys(
  room: string,
  secrets: { readonly secret: string; readonly previousSecrets: readonly string[] },
): CodeKeys {
  const derive = (secret: string) =>
    new Keyring({ secret, previousSecrets: [] }).derive(`fairgate lane code ${room}`);
  return [derive(secrets.secret), ...secrets.previousSecrets.map(derive)];
}

/** The code as text. Its expiry is rounded up to a whole second, and is in 2106 at the latest. */
export function writeCode(code: LaneCode, keys: CodeKeys): string {
  const bytes = Buffer.alloc(CODE_BYTES);
  bytes[0] = VERSION;
  bytes[1] = KINDS.indexOf(code.kind) + 1;
  bytes.writeUInt16BE(code.lane, LANE_AT);
  bytes.writeUInt32BE(Math.min(Math.ceil(code.expiresAt / 1_000), SECONDS_MAX), EXPIRY_AT);
  bytes.write(code.id, ID_AT, ID_BYTES, "hex");
  macOf(bytes, keys[0]).copy(bytes, MAC_AT);
  return bytes.toString("base64url");
}

/** Reads a code shown to the room that these keys belong to. */
export function readCode(text: string, { keys, now }: { keys: CodeKeys; now: number }): CodeReading {
  if (text.length !== CODE_CHARACTERS) return refused("malformed");
  const bytes = Buffer.from(text, "base64url");
  const kind = KINDS[(bytes[1] ?? 0) - 1];
  if (bytes.length !== CODE_BYTES || bytes[0] !== VERSION || kind === undefined) return refused("malformed");
  // Node also decodes the other base64 alphabet, and skips characters that are in neither.
  if (bytes.toString("base64url") !== text) return refused("malformed");
  const mac = bytes.subarray(MAC_AT);
  if (!keys.some((key) => timingSafeEqual(macOf(bytes, key), mac))) return refused("forged");
  const expiresAt = bytes.readUInt32BE(EXPIRY_AT) * 1_000;
  if (expiresAt <= now) return refused("expired");
  const id = bytes.toString("hex", ID_AT, MAC_AT);
  return { kind: "code", code: { kind, lane: bytes.readUInt16BE(LANE_AT), id, expiresAt } };
}

function macOf(bytes: Buffer, key: Buffer): Buffer {
  return createHmac("sha256", key).update(bytes.subarray(0, MAC_AT)).digest().subarray(0, MAC_BYTES);
}

function refused(reason: CodeRefusal): CodeReading {
  return { kind: "refused", reason };
}
