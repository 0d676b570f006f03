/**
 * The public keys by which somebody else's JWTs are checked, as operators write them: one key in PEM form, or
 * a key set (RFC 7517, section 5) as JSON. What is private is refused: a key that signs has no business in a
 * settings file, and anyone who reads it there could join any lane.
 *
 * A key says by itself which algorithms it is for, so a token never gets to choose (RFC 8725, section 3.1).
 */
import { createPublicKey, type JsonWebKeyInput, type KeyObject } from "node:crypto";
import type { Read } from "./route.ts";

/** The longest key set that is looked at, written out or fetched. */
export const KEY_SET_CHARACTERS_MAX = 65_536;
const KEYS_MAX = 100;
/** RFC 7518, section 3.3. */
const RSA_BITS_MIN = 2_048;
const RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"] as const;
const ED25519 = ["EdDSA", "Ed25519"] as const;
const CURVES: Readonly<Record<string, readonly string[]>> = {
  prime256v1: ["ES256"],
  secp384r1: ["ES384"],
  secp521r1: ["ES512"],
};
/** Members of a JWK that only its owner may know (RFC 7518, section 6). */
const PRIVATE_MEMBERS = ["d", "k", "p", "q", "dp", "dq", "qi", "oth", "priv"] as const;

/** Every algorithm that a public key can be for. Those with a shared secret are not among them. */
export const PUBLIC_ALGORITHMS: readonly string[] = [...RSA, ...Object.values(CURVES).flat(), ...ED25519];

type JsonWebKey = JsonWebKeyInput["key"];

export interface KeySet {
  readonly keys: readonly JsonWebKey[];
}

/** A public key in PEM form; the text itself is the value. */
export function readPublicKey(written: string): Read<string> {
  if (/PRIVATE KEY/.test(written)) return { wrong: "is a private key" };
  let key: KeyObject;
  try {
    key = createPublicKey(written);
  } catch {
    return { wrong: "is not a public key in PEM form" };
  }
  const wrong = weaknessOf(key);
  return wrong === null ? { value: written } : { wrong };
}

/** The algorithms this key checks signatures of; none for a key of another kind. */
export function algorithmsOf(key: KeyObject): readonly string[] {
  if (key.asymmetricKeyType === "rsa") return RSA;
  if (key.asymmetricKeyType === "ed25519") return ED25519;
  return CURVES[key.asymmetricKeyDetails?.namedCurve ?? ""] ?? [];
}

/** A key set whose every key can be used; the text itself is the value. */
export function readKeySet(written: string): Read<string> {
  const set = parseKeySet(written);
  if (set === null) return { wrong: "is not a key set" };
  if (set.keys.length === 0) return { wrong: "is a key set with no key in it" };
  for (const jwk of set.keys) {
    const wrong = wrongWith(jwk);
    if (wrong !== null) return { wrong };
  }
  return { value: written };
}

/** A key set as far as its shape goes; null for anything else. Its keys may be of any kind. */
export function parseKeySet(text: string): KeySet | null {
  if (text.length > KEY_SET_CHARACTERS_MAX) return null;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return null;
  }
  const keys = isObject(parsed) ? parsed.keys : null;
  if (!Array.isArray(keys) || keys.length > KEYS_MAX || !keys.every(isObject)) return null;
  return { keys };
}

function wrongWith(jwk: JsonWebKey): string | null {
  if (PRIVATE_MEMBERS.some((name) => Object.hasOwn(jwk, name))) return "has a private key in it";
  try {
    return weaknessOf(createPublicKey({ key: jwk, format: "jwk" }));
  } catch {
    return "has a key in it that cannot be read";
  }
}

function weaknessOf(key: KeyObject): string | null {
  if (algorithmsOf(key).length === 0) return "has a key that is not RSA, P-256, P-384, P-521 or Ed25519";
  const bits = key.asymmetricKeyDetails?.modulusLength ?? RSA_BITS_MIN;
  return bits < RSA_BITS_MIN ? `has an RSA key of ${bits} bits, where ${RSA_BITS_MIN} are needed` : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
