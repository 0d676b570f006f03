/** The pass as a JWT for the origin: checked here the way an origin in any language would, with an ordinary library. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createLocalJWKSet, decodeProtectedHeader, jwtVerify } from "jose";
import type { RoomInput } from "../../config/schema.ts";
import { openOrigin, openStage, STAGE_SECRET, type Stage } from "../../testing/gateway/stage.ts";
import { Keyring } from "../tokens/keyring.ts";
import { OriginTokens } from "../tokens/origin-token.ts";

async function openTokenStage(
  t: TestContext,
  token: "hs256" | "eddsa",
  room: RoomInput = { totalActiveUsers: 10, sessionDuration: "100s" },
): Promise<Stage> {
  const origin = await openOrigin(t);
  return openStage(t, { origin, room, settings: { origin: { addresses: [origin.address], token } } });
}

/** The key an operator hands to an origin. */
function sharedKey(): Buffer {
  const keyring = new Keyring({ secret: STAGE_SECRET, previousSecrets: [] });
  return Buffer.from(new OriginTokens(keyring).sharedKey(), "base64url");
}

function lastToken(stage: Stage): string {
  return stage.origin.seen.at(-1)!.headers["fairgate-pass"] as string;
}

function expected(stage: Stage) {
  return { issuer: "fairgate", audience: "main", currentDate: new Date(stage.world.clock.now()) };
}

test("an HS256 token says who the visitor is and for how long", async (t) => {
  const stage = await openTokenStage(t, "hs256");
  await stage.visitor().open();
  const { payload } = await jwtVerify(lastToken(stage), sharedKey(), expected(stage));
  const now = Math.floor(stage.world.clock.now() / 1_000);
  assert.equal(payload.sub, stage.origin.seen[0]!.headers["fairgate-visitor"]);
  assert.deepEqual(
    [payload.room, payload.joined_at, payload.admitted_at, payload.iat, payload.exp],
    ["main", now, now, now, now + 100],
  );
  await assert.rejects(jwtVerify(lastToken(stage), Buffer.alloc(32), expected(stage)));
});

test("an EdDSA token is checked with the public key at the JWKS address", async (t) => {
  const stage = await openTokenStage(t, "eddsa");
  await stage.visitor().open();
  const answer = await stage.visitor().ask("/.fairgate/jwks.json");
  assert.equal(answer.status, 200);
  assert.match(answer.headers["content-type"]!, /^application\/json/);
  assert.match(answer.headers["cache-control"]!, /^public, max-age=\d+$/);
  const keySet = JSON.parse(answer.text);
  assert.deepEqual(
    keySet.keys.filter((key: object) => "d" in key),
    [],
  );
  const { payload } = await jwtVerify(lastToken(stage), createLocalJWKSet(keySet), expected(stage));
  assert.equal(payload.sub, stage.origin.seen[0]!.headers["fairgate-visitor"]);
  assert.equal(decodeProtectedHeader(lastToken(stage)).alg, "EdDSA");
});

test("a renewed pass has a fresh token with more time, and an old one keeps its own", async (t) => {
  const stage = await openTokenStage(t, "hs256");
  const visitor = await stage.occupant();
  const first = lastToken(stage);
  await visitor.open();
  assert.equal(lastToken(stage), first);
  stage.world.pass(50_000);
  await visitor.open();
  await visitor.open();
  const second = lastToken(stage);
  const { payload } = await jwtVerify(second, sharedKey(), expected(stage));
  assert.equal(payload.exp, Math.floor(stage.world.clock.now() / 1_000) + 100);
  stage.world.pass(51_000);
  await assert.rejects(jwtVerify(first, sharedKey(), expected(stage)), /exp/);
  await jwtVerify(second, sharedKey(), expected(stage));
});

test("a visitor without a pass has no token, and cannot bring one along", async (t) => {
  const stage = await openTokenStage(t, "hs256", { totalActiveUsers: 1, engineFailure: "open" });
  stage.engine.broken = "throws";
  await stage.visitor().open("/", { "fairgate-pass": "forged" });
  assert.equal(stage.origin.seen.length, 1);
  assert.equal(lastToken(stage), undefined);
});

test("turned on while visitors are on the site, tokens are there for their next requests too", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 10 } });
  const visitor = await stage.occupant();
  assert.equal(lastToken(stage), undefined);
  const origin = { addresses: [stage.origin.address], token: "hs256" as const };
  await stage.proxied.configure(stage.settings({ settings: { origin } }));
  await visitor.open();
  await jwtVerify(lastToken(stage), sharedKey(), expected(stage));
});
