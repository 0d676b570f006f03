/**
 * Checks whether a JWT issued by the site makes its bearer a member of a lane, or names them as a customer of a shop: signature,
 * time, issuer, audience, and one claim.
 *
 * The key alone decides which algorithms are accepted, never the token (RFC 8725, section 3.1): HS256 for a secret, those of its
 * own kind for a public key. A token must have an expiry: a copied one would otherwise be good for ever.
 *
 * Checking a signature takes a moment, so the result is cached under the hash of the token, and the next request with the same
 * token is answered at once. The cache entry expires after some minutes, so that a key that is removed from a key set stops
 * counting.
 */
import { createPublicKey, hash } from "node:crypto";
import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from "jose";
import { algorithmsOf, PUBLIC_ALGORITHMS, parseKeySet } from "../../config/jwt-keys.ts";
import { isKeyAddress, type JwtKeys } from "../../config/lane-schema.ts";
import type { Eventually } from "../../core/engine.ts";
import { type KeySets, KeysAway } from "./key-sets.ts";
import { Remembered } from "./remembered.ts";

/** Longer tokens are refused. */
export const JWT_CHARACTERS_MAX = 8_192;
/** The tolerated difference between two clocks. */
export const CLOCK_TOLERANCE_SECONDS = 10;
export const GOOD_REMEMBERED_MS = 5 * 60_000;
export const REFUSED_REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 10_000;
/** The most tokens checked at the same time; more would take too long. */
export const UNDER_WAY_MAX = 2_000;
/** The form of a JWT; other kinds of tokens are ignored. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

/**
 * `unknownKey`: the key set has no key by that name. `keysAway`: there are no keys at all, since they cannot
 * be fetched. `unusableKey`: the key itself is not right. `busy`: too many are being checked.
 */
export type JwtRefusal =
  | "overlong"
  | "malformed"
  | "forged"
  | "expired"
  | "notYetValid"
  | "withoutExpiry"
  | "wrongIssuer"
  | "wrongAudience"
  | "unknownKey"
  | "keysAway"
  | "unusableKey"
  | "busy";

export type JwtVerdict =
  /** `value`: the claim, or the entry of it that matched. */
  | { readonly kind: "member"; readonly value: string }
  /** A valid token of a visitor who does not belong to the lane. */
  | { readonly kind: "stranger" }
  | { readonly kind: "refused"; readonly reason: JwtRefusal };

export interface JwtCheck {
  /** Null for a text that is no JWT. Never fails. */
  check(token: string, now: number): Eventually<JwtVerdict> | null;
}

interface Key {
  readonly find: JWTVerifyGetKey;
  readonly algorithms: readonly string[];
}

const STRANGER: JwtVerdict = { kind: "stranger" };
/** These may change at any moment, so they are evaluated each time. */
const PASSING: ReadonlySet<JwtRefusal> = new Set([
  "notYetValid",
  "unknownKey",
  "keysAway",
  "unusableKey",
  "busy",
]);

/** What is asked of a JWT. */
export interface WantedClaims extends JwtKeys {
  readonly claim: string;
  /** What the claim may be; null: any text or number. */
  readonly values: readonly string[] | null;
}

/** The check that settings ask for. `secret` is what `secretVariable` or `secretFile` led to. */
export function createJwtCheck(
  jwt: WantedClaims,
  parts: { secret: string | null; keySets: Pick<KeySets, "at"> },
): JwtCheck {
  const key = keyOf(jwt, parts);
  const options = {
    algorithms: [...key.algorithms],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
    requiredClaims: ["exp"],
    ...(jwt.issuer !== null && { issuer: jwt.issuer }),
    ...(jwt.audience !== null && { audience: jwt.audience }),
  };
  const values = jwt.values && new Set(jwt.values);
  const remembered = new Remembered<JwtVerdict>(REMEMBERED_MAX);
  const underWay = new Map<string, Promise<JwtVerdict>>();

  async function verify(token: string, digest: string, now: number): Promise<JwtVerdict> {
    try {
      const claims = await claimsOf(token, key.find, { ...options, currentDate: new Date(now) });
      const value = heldValue(claimAt(claims, jwt.claim), values);
      const verdict: JwtVerdict = value === null ? STRANGER : { kind: "member", value };
      const endsAt = (claims.exp! + CLOCK_TOLERANCE_SECONDS) * 1_000;
      remembered.set(digest, verdict, Math.min(endsAt, now + GOOD_REMEMBERED_MS));
      return verdict;
    } catch (error) {
      const verdict = refused(reasonOf(error));
      if (!PASSING.has(verdict.reason)) remembered.set(digest, verdict, now + REFUSED_REMEMBERED_MS);
      return verdict;
    } finally {
      underWay.delete(digest);
    }
  }

  return {
    check(token, now) {
      if (!JWT.test(token)) return null;
      if (token.length > JWT_CHARACTERS_MAX) return refused("overlong");
      const digest = hash("sha256", token, "base64url");
      const known = remembered.get(digest, now);
      if (known !== undefined) return known;
      if (underWay.size >= UNDER_WAY_MAX) return refused("busy");
      const verdict = underWay.get(digest) ?? verify(token, digest, now);
      underWay.set(digest, verdict);
      return verdict;
    },
  };
}

/** The token in a header's value, with or without `Bearer` before it (RFC 6750, section 2.1). */
export function withoutScheme(value: string): string {
  return value.trim().replace(/^bearer +/i, "");
}

function keyOf(
  jwt: JwtKeys,
  { secret, keySets }: { secret: string | null; keySets: Pick<KeySets, "at"> },
): Key {
  if (jwt.publicKey !== null) {
    const key = createPublicKey(jwt.publicKey);
    return { find: async () => key, algorithms: algorithmsOf(key) };
  }
  if (jwt.jwks !== null) {
    const find = isKeyAddress(jwt.jwks)
      ? keySets.at(jwt.jwks)
      : createLocalJWKSet(parseKeySet(jwt.jwks) as JSONWebKeySet);
    return { find, algorithms: PUBLIC_ALGORITHMS };
  }
  const key = secret === null ? null : Buffer.from(secret);
  const find = async () => {
    if (key === null) throw new KeysAway("there is no secret");
    return key;
  };
  return { find, algorithms: ["HS256"] };
}

/** Verifies a token. When it names no key and several could be meant, each is tried. */
async function claimsOf(
  token: string,
  find: JWTVerifyGetKey,
  options: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(token, find, options)).payload;
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const key of error) {
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (wrong) {
        if (!(wrong instanceof errors.JWSSignatureVerificationFailed)) throw wrong;
      }
    }
    throw new errors.JWSSignatureVerificationFailed();
  }
}

/** The claim with exactly this name, or else the one at this path of names separated by dots. */
function claimAt(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let found: unknown = claims;
  for (const part of name.split(".")) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as Record<string, unknown>)[part];
  }
  return found;
}

function heldValue(claim: unknown, values: ReadonlySet<string> | null): string | null {
  if (values === null) return typeof claim === "string" || typeof claim === "number" ? String(claim) : null;
  for (const entry of Array.isArray(claim) ? claim : [claim]) {
    const isPlain = typeof entry === "string" || typeof entry === "number" || typeof entry === "boolean";
    if (isPlain && values.has(String(entry))) return String(entry);
  }
  return null;
}

function refused(reason: JwtRefusal): { kind: "refused"; reason: JwtRefusal } {
  return { kind: "refused", reason };
}

function reasonOf(error: unknown): JwtRefusal {
  if (error instanceof errors.JWTExpired) return "expired";
  if (error instanceof errors.JWTClaimValidationFailed) return claimReason(error.claim);
  if (error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid) return "malformed";
  if (error instanceof errors.JWKSNoMatchingKey) return "unknownKey";
  if (error instanceof KeysAway) return "keysAway";
  const isForged =
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported;
  return isForged ? "forged" : "unusableKey";
}

function claimReason(claim: string): JwtRefusal {
  if (claim === "iss") return "wrongIssuer";
  if (claim === "aud") return "wrongAudience";
  if (claim === "nbf") return "notYetValid";
  return claim === "exp" ? "withoutExpiry" : "malformed";
}
