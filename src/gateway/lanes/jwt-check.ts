/**
 * Whether a JWT that the site issued makes its bearer a member of a lane, or names them as a customer of a shop: its signature, its
 * time, its issuer, its audience, and one claim.
 *
 * Which algorithms count follows from the key alone, never from the token (RFC 8725, section 3.1): HS256 for
 * a secret, those of its own kind for a public key. A token must say when it runs out, or someone who once copied
 * it would be a member for ever.
 *
 * Checking a signature takes a moment, so what came out of it is remembered under the token's hash: the next
 * request with the same token is answered at once. It is forgotten after some minutes, so that a key that is
 * taken out of a key set stops counting.
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

/** The longest token that is looked at. */
export const JWT_CHARACTERS_MAX = 8_192;
/** How far two clocks may be apart. */
export const CLOCK_TOLERANCE_SECONDS = 10;
export const GOOD_REMEMBERED_MS = 5 * 60_000;
export const REFUSED_REMEMBERED_MS = 60_000;
const REMEMBERED_MAX = 10_000;
/** Tokens being checked at the same time; more would take longer than anyone should wait for an answer. */
export const UNDER_WAY_MAX = 2_000;
/** What a JWT looks like; other tokens in the same place are none of our business. */
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
  /** `value` is what the claim is, or the one of its entries that counts. */
  | { readonly kind: "member"; readonly value: string }
  /** A good token of somebody who does not belong here. */
  | { readonly kind: "stranger" }
  | { readonly kind: "refused"; readonly reason: JwtRefusal };

export interface JwtCheck {
  /** Null for what is no JWT. Never fails. */
  check(token: string, now: number): Eventually<JwtVerdict> | null;
}

interface Key {
  readonly find: JWTVerifyGetKey;
  readonly algorithms: readonly string[];
}

const STRANGER: JwtVerdict = { kind: "stranger" };
/** These may change from one moment to the next, so they are worked out each time. */
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

/** What a good token says. Where it names no key and several could be meant, each is tried. */
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

/** The claim by this very name, or else the one that a path of names with dots between them leads to. */
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
