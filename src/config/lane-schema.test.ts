import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { z } from "zod";
import { isKeyAddress, laneMembersSchema } from "./lane-schema.ts";

const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const JWT = { claim: "tier", values: ["gold"] };
const jwtOf = (more: object) => laneMembersSchema.parse({ jwt: { ...JWT, ...more } }).jwt;

/** What is wrong, with where. */
function wrongWith(members: unknown): string[] {
  const result = laneMembersSchema.safeParse(members);
  assert.ok(!result.success, "it was taken");
  return result.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
}

test("a lane that says nothing of its members takes codes and nothing else", () => {
  assert.deepEqual(laneMembersSchema.parse({}), { codes: true, jwt: null, header: null, addresses: [] });
});

test("a JWT is looked for in Authorization unless told otherwise", () => {
  assert.deepEqual(jwtOf({}), {
    ...JWT,
    header: "Authorization",
    cookie: null,
    secretVariable: null,
    secretFile: null,
    publicKey: null,
    jwks: null,
    issuer: null,
    audience: null,
  });
  assert.equal(jwtOf({ header: null, cookie: "session" })?.header, null);
});

test("what a JWT must say has to be given", () => {
  assert.deepEqual(
    wrongWith({ jwt: {} }).map((line) => line.split(":")[0]),
    ["jwt.claim", "jwt.values"],
  );
  assert.equal(wrongWith({ jwt: { claim: "", values: [] } }).length, 2);
  assert.equal(wrongWith({ jwt: { claim: "tier", values: [""] } }).length, 1);
});

test("names of headers, cookies and variables are such names, and none of Fairgate's own", () => {
  for (const name of ["", "X Tier", "X-Tier:", "Ä", "x\n", "x".repeat(101)])
    assert.equal(wrongWith({ header: { name, values: ["a"] } }).length, 1, name);
  for (const name of ["Fairgate-Lane", "fairgate_lane", "FAIRGATE.X"])
    assert.deepEqual(wrongWith({ header: { name, values: ["a"] } }), ["header.name: is Fairgate's own"]);
  assert.deepEqual(wrongWith({ jwt: { ...JWT, cookie: "__Host-fairgate_main" } }), [
    "jwt.cookie: is Fairgate's own",
  ]);
  for (const name of ["", "7UP", "A-B", "A=B", "$A"])
    assert.deepEqual(wrongWith({ jwt: { ...JWT, secretVariable: name } }), [
      "jwt.secretVariable: is not a variable's name",
    ]);
  assert.equal(jwtOf({ secretVariable: "SHOP_JWT_SECRET" })?.secretVariable, "SHOP_JWT_SECRET");
});

test("keys are a public key, a key set, or the address of one, and never private", () => {
  const pem = publicKey.export({ type: "spki", format: "pem" });
  assert.equal(jwtOf({ publicKey: pem })?.publicKey, pem);
  const inline = `\n ${JSON.stringify({ keys: [publicKey.export({ format: "jwk" })] })}`;
  assert.equal(jwtOf({ jwks: inline })?.jwks, inline);
  assert.equal(isKeyAddress(inline), false);
  const address = "https://shop.example/.well-known/jwks.json";
  assert.equal(jwtOf({ jwks: address })?.jwks, address);
  assert.equal(isKeyAddress(address), true);
  const wrong: readonly (readonly [jwks: string, reason: string])[] = [
    ["shop.example/jwks", "is neither an address nor a key set"],
    ["file:///etc/passwd", "is neither an address nor a key set"],
    ["https://user:word@shop.example/jwks", "has a user name or password in it"],
    ["https://shop.example/jwks#a", "has a # in it"],
    [JSON.stringify({ keys: [privateKey.export({ format: "jwk" })] }), "has a private key in it"],
  ];
  for (const [jwks, reason] of wrong)
    assert.deepEqual(wrongWith({ jwt: { ...JWT, jwks } }), [`jwt.jwks: ${reason}`]);
  assert.equal(wrongWith({ jwt: { ...JWT, jwks: `{"keys":[${" ".repeat(70_000)}]}` } }).length, 1);
  const secret = privateKey.export({ type: "pkcs8", format: "pem" });
  assert.deepEqual(wrongWith({ jwt: { ...JWT, publicKey: secret } }), ["jwt.publicKey: is a private key"]);
});

test("what may turn out to be a secret is never quoted in a message", () => {
  const schema = JSON.stringify(z.toJSONSchema(laneMembersSchema, { io: "input", unrepresentable: "any" }));
  const { properties } = JSON.parse(schema).properties.jwt.anyOf[0];
  for (const key of ["secretVariable", "publicKey", "jwks"])
    assert.equal(properties[key].anyOf[0].isSecret, true, key);
});

test("addresses are addresses or networks", () => {
  const good = ["10.0.0.0/8", "192.0.2.1", "2001:db8::/32", "::1", "0.0.0.0/0"];
  assert.deepEqual(laneMembersSchema.parse({ addresses: good }).addresses, good);
  assert.deepEqual(laneMembersSchema.parse({ addresses: [" 10.0.0.0/8 "] }).addresses, ["10.0.0.0/8"]);
  const wrong: readonly (readonly [address: string, reason: string])[] = [
    ["10.0.0", "is not an IP address or network"],
    ["10.0.0.0/8/8", "is not an IP address or network"],
    ["shop.example", "is not an IP address or network"],
    ["fe80::1%eth0", "is not an IP address or network"],
    ["10.0.0.0/33", "has a prefix length that is out of range"],
    ["10.0.0.0/", "has a prefix length that is out of range"],
    ["::/129", "has a prefix length that is out of range"],
    ["::ffff:10.0.0.0/8", "is an IPv4 address written as IPv6"],
  ];
  for (const [address, reason] of wrong)
    assert.deepEqual(wrongWith({ addresses: [address] }), [`addresses.0: ${reason}`]);
  assert.equal(wrongWith({ addresses: new Array(1_001).fill("10.0.0.1") }).length, 1);
});
