/**
 * Signed messages over HTTP in the form of Standard Webhooks 1.0.0 (https://www.standardwebhooks.com), to sign ours and to verify
 * those of others:
 *
 *   webhook-id         names the message; the same however often it is sent
 *   webhook-timestamp  when it was sent, in seconds since 1970; anew with each attempt
 *   webhook-signature  `v1,` and the base64 of HMAC-SHA-256 over `id.timestamp.body`; several, apart by spaces
 *
 * To change a secret, its owner signs with the new one and the old one for a while, and either is good. Signatures of other
 * versions (`v1a`) are passed over. A message that is verified can still be a copy of one from within the last minutes: whoever
 * acts on it remembers its id.
 *
 * The id must not have a full stop in it, or a text could be cut into id, time and body in two ways. The time is signed as it was
 * written, and is written in one way only. Reading takes time in proportion to the text and never throws.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The older a message may be, and the further ahead of our clock. */
export const WEBHOOK_TOLERANCE_MS = 300_000;
/** Those after them are not looked at. */
const SIGNATURES_MAX = 16;
const SECRET_PREFIX = "whsec_";
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;
const VERSION = "v1,";
/** 32 bytes in base64. */
const SIGNATURE_CHARACTERS = 44;
/** Visible ASCII but the full stop. */
const ID = /^[!-\-/-~]{1,256}$/;
/** Seconds, without a sign or zeros in front. */
const TIMESTAMP = /^[1-9]\d{0,11}$/;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** One header's value by its name in lower case; undefined where it is missing. */
export type HeaderLookup = (name: string) => string | undefined;

/** All of them sign, and each verifies. */
export type WebhookKeys = readonly [Buffer, ...Buffer[]];

export interface WebhookMessage {
  readonly id: string;
  /** When this attempt is sent. */
  readonly at: number;
  /** The very bytes that are sent. */
  readonly body: string | Uint8Array;
}

export type WebhookReading =
  | { readonly kind: "verified"; readonly id: string; readonly sentAt: number }
  | { readonly kind: "refused"; readonly reason: WebhookRefusal };

/** `forged` is also a message that was signed with a secret which is not known here. */
export type WebhookRefusal = "unsigned" | "malformed" | "tooOld" | "tooNew" | "forged";

export type KeyReading =
  | { readonly kind: "key"; readonly key: Buffer }
  | { readonly kind: "refused"; readonly reason: string };

/** The key in a secret as people write it: `whsec_` and 24 to 64 bytes in base64. */
export function readWebhookSecret(secret: string): KeyReading {
  if (!secret.startsWith(SECRET_PREFIX)) return { kind: "refused", reason: `does not begin with whsec_` };
  const text = secret.slice(SECRET_PREFIX.length);
  const key = Buffer.from(text, "base64");
  // Node passes over what is not base64, and over bits that no byte needs.
  if (!BASE64.test(text) || withoutPadding(key.toString("base64")) !== withoutPadding(text))
    return { kind: "refused", reason: "is not base64 after whsec_" };
  if (key.length < KEY_BYTES_MIN || key.length > KEY_BYTES_MAX)
    return {
      kind: "refused",
      reason: `has ${key.length} bytes after whsec_; it should have ${KEY_BYTES_MIN} to ${KEY_BYTES_MAX}`,
    };
  return { kind: "key", key };
}

/** The headers that a message is sent with. */
export function signWebhook({ id, at, body }: WebhookMessage, keys: WebhookKeys): Record<string, string> {
  if (!ID.test(id)) throw new Error(`"${id}" cannot be the id of a webhook.`);
  const timestamp = String(Math.floor(at / 1_000));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": keys.map((key) => VERSION + signatureOf(id, timestamp, body, key)).join(" "),
  };
}

/** Says whether one of the keys signed this body, within the tolerance. */
export function verifyWebhook(
  message: { readonly header: HeaderLookup; readonly body: Uint8Array; readonly now: number },
  keys: WebhookKeys,
): WebhookReading {
  const { header, body, now } = message;
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) =>
    header(`webhook-${name}`),
  );
  if (!id || !timestamp || !signatures) return refused("unsigned");
  if (!ID.test(id) || !TIMESTAMP.test(timestamp)) return refused("malformed");
  const sentAt = Number(timestamp) * 1_000;
  if (sentAt < now - WEBHOOK_TOLERANCE_MS) return refused("tooOld");
  if (sentAt > now + WEBHOOK_TOLERANCE_MS) return refused("tooNew");
  const shown = shownSignatures(signatures);
  const isGood = keys.some((key) => {
    const expected = Buffer.from(signatureOf(id, timestamp, body, key), "latin1");
    return shown.some((signature) => timingSafeEqual(expected, signature));
  });
  return isGood ? { kind: "verified", id, sentAt } : refused("forged");
}

/** Those of our version, as letters. */
function shownSignatures(header: string): Buffer[] {
  const length = VERSION.length + SIGNATURE_CHARACTERS;
  return header
    .split(" ", SIGNATURES_MAX)
    .filter((text) => text.length === length && text.startsWith(VERSION))
    .map((text) => Buffer.from(text.slice(VERSION.length), "latin1"));
}

function signatureOf(id: string, timestamp: string, body: string | Uint8Array, key: Buffer): string {
  return createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
}

function withoutPadding(base64: string): string {
  return base64.replace(/={1,2}$/, "");
}

function refused(reason: WebhookRefusal): WebhookReading {
  return { kind: "refused", reason };
}
