import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, type KeyObject } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { type LaneJwt, laneMembersSchema } from "../../config/lane-schema.ts";
import { handWorld } from "../../sim/hand-world.ts";
import {
  CLOCK_TOLERANCE_SECONDS,
  createJwtCheck,
  GOOD_REMEMBERED_MS,
  JWT_CHARACTERS_MAX,
  type JwtVerdict,
  REFUSED_REMEMBERED_MS,
  UNDER_WAY_MAX,
} from "./jwt-check.ts";
import { type Fetch, KeySets } from "./key-sets.ts";

const NOW = Date.UTC(2026, 5, 1, 10);
const SECOND = NOW / 1_000;
const SECRET = "a-secret-that-the-shop-signs-its-jwts-with";
const rsa = generateKeyPairSync("rsa", { modulusLength: 2_048 });
const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
const ed = generateKeyPairSync("ed25519");
const GOOD = { tier: "gold", exp: SECOND + 3_600 };
const GOLD: JwtVerdict = { kind: "member", value: "gold" };

const pemOf = (key: KeyObject) => key.export({ type: "spki", format: "pem" }) as string;
const jwkOf = (key: KeyObject, more: object = {}) => ({ ...key.export({ format: "jwk" }), ...more });
const setOf = (...keys: object[]) => JSON.stringify({ keys });

/** A lane's check, by a secret unless other keys are named. */
function checkBy(jwt: Partial<LaneJwt> = { secretVariable: "JWT" }, fetch: Fetch = async () => "{}") {
  const written = { claim: "tier", values: ["gold", "platinum"], ...jwt };
  const { jwt: settings } = laneMembersSchema.parse({ jwt: written });
  const secret = jwt.publicKey === undefined && jwt.jwks === undefined ? SECRET : null;
  const { check } = createJwtCheck(settings!, {
    secret,
    keySets: new KeySets(handWorld({ now: NOW }), fetch),
  });
  return (token: string, now = NOW) => check(token, now);
}

const ALGORITHMS: Readonly<Record<string, string>> = { rsa: "RS256", ec: "ES256", ed25519: "EdDSA" };

function sign(
  claims: JWTPayload,
  key: KeyObject | string = SECRET,
  header: { alg?: string; kid?: string } = {},
) {
  const isSecret = typeof key === "string";
  const alg = isSecret ? "HS256" : ALGORITHMS[key.asymmetricKeyType!]!;
  return new SignJWT(claims).setProtectedHeader({ alg, ...header }).sign(isSecret ? Buffer.from(key) : key);
}

/** A token with this header and these claims, and this MAC key: what a forger can make by hand. */
function handmade(header: object, claims: object, key: string | Buffer | null): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part(header)}.${part(claims)}`;
  return `${signed}.${key === null ? "" : createHmac("sha256", key).update(signed).digest("base64url")}`;
}

test("a good token makes a member, by secret, by key and by key set", async () => {
  const ways: readonly (readonly [Partial<LaneJwt>, KeyObject | string])[] = [
    [{ secretVariable: "JWT" }, SECRET],
    [{ publicKey: pemOf(rsa.publicKey) }, rsa.privateKey],
    [{ publicKey: pemOf(ec.publicKey) }, ec.privateKey],
    [{ publicKey: pemOf(ed.publicKey) }, ed.privateKey],
    [{ jwks: setOf(jwkOf(rsa.publicKey)) }, rsa.privateKey],
    [{ jwks: setOf(jwkOf(rsa.publicKey), jwkOf(ec.publicKey), jwkOf(ed.publicKey)) }, ec.privateKey],
  ];
  for (const [jwt, key] of ways) assert.deepEqual(await checkBy(jwt)(await sign(GOOD, key)), GOLD);
});

test("the claim may be a list, lie inside another, or have dots in its name", async () => {
  const cases: readonly (readonly [claim: string, claims: object, value: string | null])[] = [
    ["tier", { tier: "silver" }, null],
    ["tier", {}, null],
    ["tier", { tier: null }, null],
    ["tier", { tier: { gold: true } }, null],
    ["tier", { tier: ["silver", "platinum", "gold"] }, "platinum"],
    ["tier", { tier: [] }, null],
    ["tier", { tier: [["gold"]] }, null],
    ["tier", { tier: "Gold" }, null],
    ["tier", { tier: "gold " }, null],
    ["app.tier", { app: { tier: "gold" } }, "gold"],
    ["app.tier", { "app.tier": "gold" }, "gold"],
    ["app.tier", { app: "tier" }, null],
    ["https://shop.example/tier", { "https://shop.example/tier": "gold" }, "gold"],
    ["constructor.name", {}, null],
    ["__proto__", {}, null],
  ];
  for (const [claim, claims, value] of cases) {
    const verdict = await checkBy({ claim })(await sign({ ...claims, exp: GOOD.exp }));
    assert.deepEqual(verdict, value === null ? { kind: "stranger" } : { kind: "member", value }, claim);
  }
  for (const [value, held] of [
    ["true", true],
    ["7", 7],
  ] as const) {
    const verdict = await checkBy({ values: [value] })(await sign({ tier: held, exp: GOOD.exp }));
    assert.deepEqual(verdict, { kind: "member", value });
  }
});

async function reason(verdict: ReturnType<ReturnType<typeof checkBy>>): Promise<string> {
  const settled = await verdict;
  return settled?.kind === "refused" ? settled.reason : (settled?.kind ?? "none");
}

test("a token counts from when it says to when it says, give or take the tolerance", async () => {
  const check = checkBy();
  const token = await sign({ ...GOOD, nbf: SECOND, exp: SECOND + 60 });
  const at = (seconds: number) => reason(check(token, NOW + seconds * 1_000));
  assert.equal(await at(-CLOCK_TOLERANCE_SECONDS - 1), "notYetValid");
  assert.equal(await at(-CLOCK_TOLERANCE_SECONDS), "member");
  assert.equal(await at(60 + CLOCK_TOLERANCE_SECONDS - 1), "member");
  assert.equal(await at(60 + CLOCK_TOLERANCE_SECONDS), "expired");
});

test("a token that never runs out is not taken", async () => {
  for (const claims of [{ tier: "gold" }, { tier: "gold", exp: "2099" as unknown as number }])
    assert.equal(await reason(checkBy()(await sign(claims))), "withoutExpiry");
});

test("issuer and audience are looked at when they are set", async () => {
  const both = { issuer: "https://shop.example", audience: "line" };
  const check = checkBy({ secretVariable: "JWT", ...both });
  const told = (iss: string | undefined, aud: string | string[] | undefined) =>
    sign({ ...GOOD, ...(iss && { iss }), ...(aud && { aud }) }).then((token) => reason(check(token)));
  assert.equal(await told(both.issuer, both.audience), "member");
  assert.equal(await told(both.issuer, ["shop", both.audience]), "member");
  assert.equal(await told("https://other.example", both.audience), "wrongIssuer");
  assert.equal(await told(undefined, both.audience), "wrongIssuer");
  assert.equal(await told(both.issuer, "shop"), "wrongAudience");
  assert.equal(await told(both.issuer, undefined), "wrongAudience");
  assert.equal(await reason(checkBy()(await sign({ ...GOOD, iss: "anyone", aud: "anything" }))), "member");
});

test("a token without a signature is forged, however it is spelled", async () => {
  const tokens = [
    new UnsecuredJWT(GOOD).encode(),
    ...["none", "None", "NONE", "nOnE", ""].map((alg) => handmade({ alg }, GOOD, null)),
    ...["none", "None"].map((alg) => handmade({ alg }, GOOD, SECRET)),
  ];
  for (const jwt of [
    { secretVariable: "JWT" },
    { publicKey: pemOf(rsa.publicKey) },
    { jwks: setOf(jwkOf(ec.publicKey)) },
  ])
    for (const token of tokens)
      assert.match(await reason(checkBy(jwt)(token)), /^(?:forged|malformed)$/, token);
});

test("a public key is no secret: a token signed with it as one is forged", async () => {
  const pem = pemOf(rsa.publicKey);
  const jwk = jwkOf(rsa.publicKey, { kid: "a" });
  const secrets = [
    pem,
    pem.trim(),
    Buffer.from(rsa.publicKey.export({ type: "spki", format: "der" })),
    JSON.stringify(jwk),
  ];
  for (const jwt of [{ publicKey: pem }, { jwks: setOf(jwk) }])
    for (const secret of secrets)
      for (const header of [{ alg: "HS256" }, { alg: "HS256", kid: "a" }, { alg: "HS384" }])
        assert.equal(await reason(checkBy(jwt)(handmade(header, GOOD, secret))), "forged");
});

test("a token does not get to bring its own key, or to choose another algorithm than the key's", async () => {
  const own = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const check = checkBy({ publicKey: pemOf(ec.publicKey) });
  const withKey = await new SignJWT(GOOD)
    .setProtectedHeader({
      alg: "ES256",
      jwk: jwkOf(own.publicKey),
      jku: "https://evil.example",
      x5u: "https://evil.example",
    })
    .sign(own.privateKey);
  assert.equal(await reason(check(withKey)), "forged");
  assert.equal(await reason(check(await sign(GOOD, rsa.privateKey))), "forged");
  assert.equal(await reason(check(await sign(GOOD, rsa.privateKey, { alg: "PS256" }))), "forged");
  assert.equal(
    await reason(
      checkBy()(await new SignJWT(GOOD).setProtectedHeader({ alg: "HS512" }).sign(Buffer.from(SECRET))),
    ),
    "forged",
  );
});

test("a secret in a fetched key set signs nothing", async () => {
  const oct = { kty: "oct", k: Buffer.from(SECRET).toString("base64url"), kid: "a", alg: "HS256" };
  const check = checkBy({ jwks: "https://shop.example/jwks" }, async () => setOf(oct, jwkOf(ec.publicKey)));
  assert.equal(await reason(check(await sign(GOOD, SECRET, { kid: "a" }))), "forged");
});

test("a token that names no key is checked by each that it could be", async () => {
  const [a, b, c] = [1, 2, 3].map(() => generateKeyPairSync("ec", { namedCurve: "P-256" }));
  const check = checkBy({ jwks: setOf(jwkOf(a!.publicKey), jwkOf(b!.publicKey)) });
  assert.equal(await reason(check(await sign(GOOD, b!.privateKey))), "member");
  assert.equal(await reason(check(await sign({ ...GOOD, exp: SECOND - 60 }, b!.privateKey))), "expired");
  assert.equal(await reason(check(await sign(GOOD, c!.privateKey))), "forged");
});

test("a key set that is away or lacks the key is told from a forgery, and asked again", async () => {
  const url = "https://shop.example/jwks";
  const known = jwkOf(ec.publicKey, { kid: "known" });
  const away = checkBy({ jwks: url }, async () => {
    throw new Error("away");
  });
  assert.equal(await reason(away(await sign(GOOD, ec.privateKey, { kid: "known" }))), "keysAway");
  const check = checkBy({ jwks: url }, async () => setOf(known));
  const stray = await sign(GOOD, rsa.privateKey, { kid: "stray" });
  assert.equal(await reason(check(stray)), "unknownKey");
  assert.ok(check(stray) instanceof Promise);
  assert.equal(await reason(check(await sign(GOOD, ec.privateKey, { kid: "known" }))), "member");
});

test("a lane whose secret is not there takes nobody", async () => {
  const { jwt } = laneMembersSchema.parse({
    jwt: { claim: "tier", values: ["gold"], secretVariable: "JWT" },
  });
  const { check } = createJwtCheck(jwt!, { secret: null, keySets: new KeySets(handWorld()) });
  assert.equal(await reason(check(await sign(GOOD), NOW)), "keysAway");
  assert.equal(await reason(check(handmade({ alg: "HS256" }, GOOD, ""), NOW)), "keysAway");
});

test("a token is answered at once the next time, until it runs out or a while has passed", async () => {
  const check = checkBy();
  const token = await sign({ ...GOOD, exp: SECOND + 60 });
  assert.ok(check(token) instanceof Promise);
  assert.deepEqual(await check(token), GOLD);
  assert.deepEqual(check(token), GOLD);
  assert.equal(await reason(check(token, NOW + 200_000)), "expired");

  const lasting = await sign(GOOD);
  await check(lasting);
  assert.deepEqual(check(lasting, NOW + GOOD_REMEMBERED_MS - 1), GOLD);
  assert.ok(check(lasting, NOW + GOOD_REMEMBERED_MS) instanceof Promise);

  const forged = await sign(GOOD, "some other secret of a good length, made up");
  assert.equal(await reason(check(forged)), "forged");
  assert.deepEqual(check(forged, NOW + REFUSED_REMEMBERED_MS - 1), { kind: "refused", reason: "forged" });
  assert.ok(check(forged, NOW + REFUSED_REMEMBERED_MS) instanceof Promise);
});

test("what one lane remembers does not serve another", async () => {
  const token = await sign(GOOD);
  const vip = checkBy();
  await vip(token);
  assert.equal(await reason(checkBy({ values: ["silver"] })(token)), "stranger");
});

test("tokens beyond what is checked at a time are turned down, and the next ones are not", async () => {
  let answer: (text: string) => void = () => {};
  const check = checkBy(
    { jwks: "https://shop.example/jwks" },
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  );
  const stray = (kid: number) => handmade({ alg: "ES256", kid: `${kid}` }, GOOD, SECRET);
  const waiting = Array.from({ length: UNDER_WAY_MAX }, (_, kid) => check(stray(kid)));
  const token = await sign(GOOD, ec.privateKey);
  assert.deepEqual(check(token), { kind: "refused", reason: "busy" });
  answer(setOf(jwkOf(ec.publicKey, { kid: "known" })));
  await Promise.all(waiting);
  assert.deepEqual(await check(token), GOLD);
});

test("a token that comes many times at once is checked once", async () => {
  const check = checkBy();
  const token = await sign(GOOD);
  assert.equal(check(token), check(token));
  await check(token);
});

test("what is no JWT is passed over, and what is too long is not looked at", async () => {
  const check = checkBy();
  for (const other of [
    "",
    "Basic YTpi",
    "opaque",
    "a.b",
    "a.b.c.d",
    "a.b.c.d.e",
    "..",
    "a.b.c d",
    "é.é.é",
    "Negotiate YII".repeat(2_000),
  ])
    assert.equal(check(other), null, other);
  const long = await sign({ ...GOOD, more: "x".repeat(JWT_CHARACTERS_MAX) });
  assert.deepEqual(check(long), { kind: "refused", reason: "overlong" });
});

test("no change of any character makes a good token of another", async () => {
  const token = await sign(GOOD);
  const check = checkBy();
  const letters = fc.constantFrom(..."ABCXYZabcxyz0189-_.=");
  await fc.assert(
    fc.asyncProperty(fc.nat({ max: token.length - 1 }), letters, async (at, letter) => {
      fc.pre(token[at] !== letter);
      const changed = token.slice(0, at) + letter + token.slice(at + 1);
      const last = token.length - 1;
      // The last character of 32 bytes in base64url has two bits that say nothing.
      fc.pre(at !== last);
      assert.notEqual(await reason(check(changed)), "member");
    }),
    { numRuns: 300 },
  );
});

test("no text whatever makes the check fail", async () => {
  const check = checkBy({ jwks: setOf(jwkOf(ec.publicKey), jwkOf(rsa.publicKey)) });
  const part = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }).map((value) => Buffer.from(JSON.stringify(value)).toString("base64url")),
    fc.constantFrom("e30", "eyJhbGciOiJFUzI1NiJ9", "eyJhbGciOiJSUzI1NiIsImNyaXQiOlsiYSJdfQ", "", "A", "____"),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 5, size: "max" }), async (parts) => {
      assert.notEqual(await reason(check(parts.join("."))), "member");
    }),
    { numRuns: 300 },
  );
});
