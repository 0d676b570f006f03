/**
 * Who belongs in a lane, as settings: a visitor with a signed code, with a JWT that has the right claim, with a header
 * that a trusted proxy set, or from certain addresses. Any one of them is enough.
 *
 * Secrets are never written here, only where to find them: a room's settings are shown at the control address, logged
 * when they change and kept on disk. What these settings mean for each other is checked in `lane-members.ts`, which also
 * reads the secrets.
 */
import { z } from "zod";
import { KEY_SET_CHARACTERS_MAX, readKeySet, readPublicKey } from "./jwt-keys.ts";
import { isTrue, listOf, readable, setting, text } from "./kinds.ts";
import { namedSecretSettings } from "./named-secret.ts";
import { network } from "./network.ts";
import type { Read } from "./route.ts";

const NETWORKS_MAX = 1_000;
const VALUES_MAX = 100;
const VALUE_CHARACTERS_MAX = 200;
const NAME_CHARACTERS_MAX = 100;
const PUBLIC_KEY_CHARACTERS_MAX = 16_384;
/** RFC 9110, section 5.6.2: a token. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const OUR_NAME = /^(?:__host-)?fairgate[^a-z0-9]/i;

const headerName = () =>
  readable(readName, { kind: "header", max: NAME_CHARACTERS_MAX, shape: "a header's name such as X-Tier" });
export const cookieName = () =>
  readable(readName, { kind: "cookie", max: NAME_CHARACTERS_MAX, shape: "a cookie's name such as session" });
export const claimValue = () => text({ max: VALUE_CHARACTERS_MAX }).min(1);
const values = () => listOf(claimValue(), { min: 1, max: VALUES_MAX, of: "texts such as [gold]" });

/**
 * What a JWT is checked by: one of the four keys, and whom it must be from and for. `meanwhile`: what it means that a key
 * set cannot be fetched.
 */
export function jwtKeySettings(meanwhile: string) {
  return {
    ...namedSecretSettings({ like: "SHOP_JWT_SECRET", purpose: "the JWTs are signed with (HS256)" }),
    publicKey: setting(
      readable(readPublicKey, {
        kind: "key",
        max: PUBLIC_KEY_CHARACTERS_MAX,
        shape: "a public key in PEM form: RSA, P-256, P-384, P-521 or Ed25519",
      }).meta({ isSecret: true }),
      null,
    ).describe("Public key of the JWTs' issuer, for one key that stays the same."),
    jwks: setting(
      readable(readKeys, {
        kind: "keys",
        max: KEY_SET_CHARACTERS_MAX,
        shape: "an address such as https://shop.example/.well-known/jwks.json, or the key set itself as JSON",
      }).meta({ isSecret: true }),
      null,
    ).describe(
      `Key set of the JWTs' issuer, or its address, which is fetched every ten minutes and when a new key id appears. While it cannot be fetched, ${meanwhile}.`,
    ),
    issuer: setting(claimValue(), null).describe("What `iss` must be. null: it is not checked."),
    audience: setting(claimValue(), null).describe("What `aud` must be or contain. null: it is not checked."),
  };
}

const jwtSchema = z
  .strictObject({
    header: setting(headerName().nullable(), "Authorization").describe(
      "Header that holds the JWT, with or without `Bearer` before it. null: none.",
    ),
    cookie: setting(cookieName(), null).describe(
      "Cookie that holds the JWT, used when the header has none. null: none.",
    ),
    claim: text({ max: VALUE_CHARACTERS_MAX, shape: "a claim's name such as tier" })
      .min(1)
      .describe("Claim that decides who is in the lane. `app.tier` is `tier` inside `app`."),
    values: values().describe(
      "Accepted values of the claim. If the claim is a list, one of its entries must be one of these.",
    ),
    ...jwtKeySettings("nobody gets into the lane by a JWT"),
  })
  .meta({
    shape: "a mapping with at least claim, values and one of secretVariable, secretFile, publicKey, jwks",
  });

const headerSchema = z
  .strictObject({
    name: headerName().describe("Name of the header. The proxy must set it, or remove it, on every request."),
    values: values().describe("Accepted values, compared exactly."),
  })
  .meta({ shape: "a mapping with name and values" });

/** The `members` of a lane. */
export const laneMembersSchema = z.strictObject({
  codes: setting(isTrue(), true).describe(
    "true: visitors with a code that `fairgate codes new` made for this lane.",
  ),
  jwt: setting(jwtSchema, null).describe(
    "Visitors with a valid JWT of your site that has the right claim. null: no JWTs.",
  ),
  header: setting(headerSchema, null).describe(
    "Visitors who come through one of the `trustedProxies` with this header; from elsewhere it is ignored. null: no header.",
  ),
  addresses: setting(
    listOf(network(), { max: NETWORKS_MAX, of: "addresses or networks such as 10.0.0.0/8" }),
    [],
  ).describe("Visitors from one of these addresses or networks."),
});

export type LaneMembers = z.output<typeof laneMembersSchema>;
export type LaneJwt = NonNullable<LaneMembers["jwt"]>;
/** By what a JWT is checked. */
export type JwtKeys = Pick<
  LaneJwt,
  "secretVariable" | "secretFile" | "publicKey" | "jwks" | "issuer" | "audience"
>;

/** True when a lane's `jwks` is the address of a key set, not the key set itself. */
export function isKeyAddress(jwks: string): boolean {
  return !jwks.trimStart().startsWith("{");
}

function readName(written: string): Read<string> {
  if (!TOKEN.test(written)) return { wrong: "has a character in it that no such name has" };
  return OUR_NAME.test(written) ? { wrong: "is Fairgate's own" } : { value: written };
}

function readKeys(written: string): Read<string> {
  if (!isKeyAddress(written)) return readKeySet(written);
  const url = URL.parse(written);
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    return { wrong: "is neither an address nor a key set" };
  if (url.username !== "" || url.password !== "") return { wrong: "has a user name or password in it" };
  return url.hash === "" ? { value: written } : { wrong: "has a # in it" };
}
