/**
 * What the origin is told of a visitor: plain `Fairgate-*` headers and, by setting, the pass as a standard JWT in
 * `Fairgate-Pass`, so that any language can check it with an ordinary library. HS256 with a key derived from the
 * secret, or EdDSA with a key pair derived from it whose public half is at `/.fairgate/jwks.json`. Made once a pass and
 * kept with it; never on the hot path.
 */
import { createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { exportJWK, SignJWT } from "jose";
import type { Eventually } from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import type { HeldPass } from "./held-tokens.ts";
import type { Keyring } from "./keyring.ts";

export type OriginTokenKind = "hs256" | "eddsa";
type Headers = readonly string[];

/** Every header that an origin may be told of a visitor. */
export const ORIGIN_HEADERS: Headers = [
  ...["Fairgate-Room", "Fairgate-Visitor", "Fairgate-Joined-At", "Fairgate-Admitted-At", "Fairgate-Pass"],
];

const ISSUER = "fairgate";
/** An Ed25519 private key in PKCS#8 is this, then 32 bytes of seed (RFC 8410, section 7). */
const ED25519_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

export class OriginTokens {
  readonly #shared: Uint8Array;
  readonly #private: KeyObject;

  constructor(keyring: Keyring) {
    this.#shared = keyring.derive("origin token hs256");
    const der = Buffer.concat([ED25519_PREFIX, keyring.derive("origin token ed25519")]);
    this.#private = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  }

  /** The key with which an origin verifies HS256 tokens, for the operator to configure there. */
  sharedKey(): string {
    return Buffer.from(this.#shared).toString("base64url");
  }

  /** The flat header list for this visitor, worked out once a pass; at once, but for a JWT's first time. */
  describe(
    held: HeldPass,
    kind: OriginTokenKind | "none",
    onFailure: (cause: unknown) => void,
  ): Eventually<Headers> {
    const known = held.described;
    if (known?.signer === this && known.kind === kind) return known.headers;
    const keep = (headers: Headers) => {
      held.described = { signer: this, kind, headers };
      return headers;
    };
    const plain = plainHeaders(held.pass);
    if (kind === "none") return keep(plain);
    return this.sign(held.pass, kind).then(
      (token) => keep([...plain, "Fairgate-Pass", token]),
      (cause) => {
        onFailure(cause);
        return plain;
      },
    );
  }

  async sign(pass: Pass, kind: OriginTokenKind): Promise<string> {
    const claims = {
      room: pass.room,
      lane: pass.lane,
      joined_at: Math.floor(pass.joinedAt / 1_000),
      admitted_at: Math.floor(pass.admittedAt / 1_000),
    };
    const token = new SignJWT(claims)
      .setSubject(pass.id)
      .setIssuer(ISSUER)
      .setAudience(pass.room)
      .setIssuedAt(Math.floor(pass.createdAt / 1_000))
      .setExpirationTime(Math.ceil(pass.expiresAt / 1_000));
    if (kind === "hs256") return token.setProtectedHeader({ alg: "HS256" }).sign(this.#shared);
    return token.setProtectedHeader({ alg: "EdDSA", kid: await this.#keyId() }).sign(this.#private);
  }

  /** The public key set, as JSON. */
  async jwks(): Promise<string> {
    const jwk = await exportJWK(createPublicKey(this.#private));
    return JSON.stringify({ keys: [{ ...jwk, alg: "EdDSA", use: "sig", kid: await this.#keyId() }] });
  }

  async #keyId(): Promise<string> {
    return (await exportJWK(createPublicKey(this.#private))).x!.slice(0, 8);
  }
}

function plainHeaders(pass: Pass): Headers {
  return [
    "Fairgate-Room",
    pass.room,
    "Fairgate-Visitor",
    pass.id,
    "Fairgate-Joined-At",
    new Date(pass.joinedAt).toISOString(),
    "Fairgate-Admitted-At",
    new Date(pass.admittedAt).toISOString(),
  ];
}
