/**
 * Who belongs in a lane, as settings: whoever brings a signed code, a JWT with the right claim, a header that
 * a trusted proxy set, or comes from the right addresses. Any one of them is enough.
 *
 * No secret is ever written here, only where it is to be found: a room's settings are shown at the control
 * address, logged when they change and kept on disk. What these settings mean for each other is checked in
 * `lane-check.ts`, which also fetches the secrets.
 */
import { z } from "zod";
import { KEY_SET_CHARACTERS_MAX, readKeySet, readPublicKey } from "./jwt-keys.ts";
import { isTrue, readable, text } from "./kinds.ts";
import { network } from "./network.ts";
import type { Read } from "./route.ts";

const NETWORKS_MAX = 1_000;
const VALUES_MAX = 100;
const VALUE_CHARACTERS_MAX = 200;
const NAME_CHARACTERS_MAX = 100;
const FILE_NAME_CHARACTERS_MAX = 4_096;
const PUBLIC_KEY_CHARACTERS_MAX = 16_384;
/** RFC 9110, section 5.6.2: a token. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/;
const OUR_NAME = /^(?:__host-)?fairgate[^a-z0-9]/i;

const headerName = () =>
  readable(readName, { kind: "header", max: NAME_CHARACTERS_MAX, shape: "a header's name such as X-Tier" });
const cookieName = () =>
  readable(readName, { kind: "cookie", max: NAME_CHARACTERS_MAX, shape: "a cookie's name such as session" });
const values = (example: string) =>
  z
    .array(text({ max: VALUE_CHARACTERS_MAX }).min(1))
    .min(1)
    .max(VALUES_MAX)
    .meta({ shape: `a list of 1 to ${VALUES_MAX} texts such as [${example}]` });

const jwtSchema = z
  .strictObject({
    header: headerName()
      .nullable()
      .prefault("Authorization")
      .describe("Header that holds the JWT, with or without `Bearer` before it. null: none."),
    cookie: cookieName()
      .nullable()
      .prefault(null)
      .describe("Cookie that holds it, looked at when the header has none. null: none."),
    claim: text({ max: VALUE_CHARACTERS_MAX, shape: "a claim's name such as tier" })
      .min(1)
      .describe("Claim that tells who is in the lane. `app.tier` is `tier` inside `app`."),
    values: values("gold").describe(
      "What the claim must be. Where it is a list, one of its entries must be one of these.",
    ),
    secretVariable: readable(readVariable, {
      kind: "variable",
      max: NAME_CHARACTERS_MAX,
      shape: "the name of an environment variable such as SHOP_JWT_SECRET",
    })
      // Somebody will put the secret itself here; what is wrong must not be quoted.
      .meta({ isSecret: true })
      .nullable()
      .prefault(null)
      .describe("Environment variable that holds the secret which the JWTs are signed with (HS256)."),
    secretFile: text({ max: FILE_NAME_CHARACTERS_MAX, shape: "a file name" })
      .min(1)
      .nullable()
      .prefault(null)
      .describe("File that holds the secret instead."),
    publicKey: readable(readPublicKey, {
      kind: "key",
      max: PUBLIC_KEY_CHARACTERS_MAX,
      shape: "a public key in PEM form: RSA, P-256, P-384, P-521 or Ed25519",
    })
      .meta({ isSecret: true })
      .nullable()
      .prefault(null)
      .describe("Public key of whoever signs the JWTs, for one key that stays the same."),
    jwks: readable(readKeys, {
      kind: "keys",
      max: KEY_SET_CHARACTERS_MAX,
      shape: "an address such as https://shop.example/.well-known/jwks.json, or the key set itself as JSON",
    })
      .meta({ isSecret: true })
      .nullable()
      .prefault(null)
      .describe(
        "Key set of whoever signs them, or its address, which is asked every ten minutes and whenever a new key turns up. While it cannot be fetched nobody gets into the lane by a JWT.",
      ),
    issuer: text({ max: VALUE_CHARACTERS_MAX })
      .min(1)
      .nullable()
      .prefault(null)
      .describe("What `iss` must be. null: it is not looked at."),
    audience: text({ max: VALUE_CHARACTERS_MAX })
      .min(1)
      .nullable()
      .prefault(null)
      .describe("What `aud` must be or hold. null: it is not looked at."),
  })
  .meta({
    shape: "a mapping with at least claim, values and one of secretVariable, secretFile, publicKey, jwks",
  });

const headerSchema = z
  .strictObject({
    name: headerName().describe("The proxy must set it or take it out on every request."),
    values: values("gold").describe("What it must be, exactly."),
  })
  .meta({ shape: "a mapping with name and values" });

/** The `members` of a lane. */
export const laneMembersSchema = z.strictObject({
  codes: isTrue()
    .prefault(true)
    .describe("true: whoever brings a code that `fairgate codes new` made for this lane."),
  jwt: jwtSchema
    .nullable()
    .prefault(null)
    .describe("Whoever brings a JWT of your site's, not run out, with the right claim in it."),
  header: headerSchema
    .nullable()
    .prefault(null)
    .describe(
      "Whoever comes through one of the `trustedProxies` with this header. From others it means nothing.",
    ),
  addresses: z
    .array(network())
    .max(NETWORKS_MAX)
    .prefault([])
    .meta({ shape: `a list of at most ${NETWORKS_MAX} addresses or networks such as 10.0.0.0/8` })
    .describe("Whoever comes from one of these."),
});

export type LaneMembers = z.output<typeof laneMembersSchema>;
export type LaneJwt = NonNullable<LaneMembers["jwt"]>;

/** True when a lane's `jwks` is where the key set is, not the key set. */
export function isKeyAddress(jwks: string): boolean {
  return !jwks.trimStart().startsWith("{");
}

function readName(written: string): Read<string> {
  if (!TOKEN.test(written)) return { wrong: "has a character in it that no such name has" };
  return OUR_NAME.test(written) ? { wrong: "is Fairgate's own" } : { value: written };
}

function readVariable(written: string): Read<string> {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(written)
    ? { value: written }
    : { wrong: "is not a variable's name" };
}

function readKeys(written: string): Read<string> {
  if (!isKeyAddress(written)) return readKeySet(written);
  const url = URL.parse(written);
  if (url?.protocol !== "https:" && url?.protocol !== "http:")
    return { wrong: "is neither an address nor a key set" };
  if (url.username !== "" || url.password !== "") return { wrong: "has a user name or password in it" };
  return url.hash === "" ? { value: written } : { wrong: "has a # in it" };
}
