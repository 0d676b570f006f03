import assert from "node:assert/strict";
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import {
  algorithmsOf,
  KEY_SET_CHARACTERS_MAX,
  PUBLIC_ALGORITHMS,
  parseKeySet,
  readKeySet,
  readPublicKey,
} from "./jwt-keys.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const small = generateKeyPairSync("rsa", { modulusLength: 1_024 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-384" });
const ed = generateKeyPairSync("ed25519");
const pem = (key: KeyObject) =>
  key.export({ type: key.type === "public" ? "spki" : "pkcs8", format: "pem" }) as string;
const jwk = (key: KeyObject) => key.export({ format: "jwk" });
const set = (...keys: object[]) => JSON.stringify({ keys });

test("a public key says which algorithms it is for, and none of them takes a shared secret", () => {
  assert.deepEqual(algorithmsOf(ec.publicKey), ["ES384"]);
  assert.deepEqual(algorithmsOf(ed.publicKey), ["EdDSA", "Ed25519"]);
  assert.ok(algorithmsOf(rsa.publicKey).includes("RS256"));
  for (const { publicKey } of [rsa, ec, ed])
    for (const algorithm of algorithmsOf(publicKey)) assert.ok(PUBLIC_ALGORITHMS.includes(algorithm));
  assert.ok(PUBLIC_ALGORITHMS.every((algorithm) => !/^(?:HS|none)/i.test(algorithm)));
});

test("a key in PEM form is taken as it is written", () => {
  for (const { publicKey } of [rsa, ec, ed])
    assert.deepEqual(readPublicKey(pem(publicKey)), { value: pem(publicKey) });
});

test("a private key, a weak key, a key of another kind and no key at all are told apart", () => {
  const wrong: readonly (readonly [written: string, reason: string])[] = [
    [pem(rsa.privateKey), "is a private key"],
    [pem(ed.privateKey), "is a private key"],
    [pem(rsa.publicKey) + pem(rsa.privateKey), "is a private key"],
    [pem(small.publicKey), "has an RSA key of 1024 bits, where 2048 are needed"],
    [
      pem(generateKeyPairSync("x25519").publicKey),
      "has a key that is not RSA, P-256, P-384, P-521 or Ed25519",
    ],
    [
      pem(generateKeyPairSync("ec", { namedCurve: "secp256k1" }).publicKey),
      "has a key that is not RSA, P-256, P-384, P-521 or Ed25519",
    ],
    ["", "is not a public key in PEM form"],
    ["ssh-rsa AAAA", "is not a public key in PEM form"],
  ];
  for (const [written, reason] of wrong) assert.deepEqual(readPublicKey(written), { wrong: reason });
});

test("a key set is taken as it is written, when every key in it can be used", () => {
  const written = set(jwk(rsa.publicKey), { ...jwk(ec.publicKey), kid: "a", use: "sig" }, jwk(ed.publicKey));
  assert.deepEqual(readKeySet(written), { value: written });
});

test("a key set with nothing, something private or something unusable in it is refused", () => {
  const wrong: readonly (readonly [written: string, reason: string])[] = [
    [set(), "is a key set with no key in it"],
    [set(jwk(rsa.publicKey), jwk(rsa.privateKey)), "has a private key in it"],
    [set({ kty: "oct", k: "c2VjcmV0" }), "has a private key in it"],
    [set({ kty: "RSA", n: "AQAB" }), "has a key in it that cannot be read"],
    [set({}), "has a key in it that cannot be read"],
    [set(jwk(small.publicKey)), "has an RSA key of 1024 bits, where 2048 are needed"],
    ["{", "is not a key set"],
    ['{"keys": 5}', "is not a key set"],
    [JSON.stringify(jwk(rsa.publicKey)), "is not a key set"],
    [set(...new Array(101).fill(jwk(ec.publicKey))), "is not a key set"],
    [set({ more: "x".repeat(KEY_SET_CHARACTERS_MAX) }), "is not a key set"],
  ];
  for (const [written, reason] of wrong) assert.deepEqual(readKeySet(written), { wrong: reason });
});

test("no text whatever makes reading keys fail, and nothing made up is taken for one", () => {
  const text = fc.oneof(fc.string({ maxLength: 40, size: "max" }), fc.json({ maxDepth: 3 }));
  fc.assert(
    fc.property(text, (written) => {
      parseKeySet(written);
      assert.ok("wrong" in readKeySet(written) && "wrong" in readPublicKey(written));
    }),
  );
});
