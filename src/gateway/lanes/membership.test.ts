import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { SignJWT } from "jose";
import { laneKey } from "../../config/lane-members.ts";
import { laneMembersSchema } from "../../config/lane-schema.ts";
import { laneNumber } from "../../core/lanes.ts";
import { EVERYBODY } from "../../core/rules.ts";
import { handWorld } from "../../sim/hand-world.ts";
import type { Client } from "../proxy/trust.ts";
import { CODE_PARAMETER } from "./carried-code.ts";
import { codeKeys, type LaneCode, writeCode } from "./code.ts";
import { KeySets } from "./key-sets.ts";
import { createMembership, type LaneFacts, type LaneMembership } from "./membership.ts";

const SECRETS = { secret: "a secret of at least thirty-two characters", previousSecrets: [] };
const JWT_SECRET = "a-secret-that-the-shop-signs-its-jwts-with";
const VIP = laneNumber("vip");
const PRESS = laneNumber("press");
const ID = "00112233445566ff";
type MembersInput = Parameters<typeof laneMembersSchema.parse>[0];

function membershipOf(lanes: Readonly<Record<string, MembersInput>>, room = "main") {
  const world = handWorld();
  const membership = createMembership({
    room,
    lanes: Object.fromEntries(
      Object.entries(lanes).map(([name, members]) => [name, { members: laneMembersSchema.parse(members) }]),
    ),
    secrets: SECRETS,
    laneSecrets: new Map(Object.keys(lanes).map((lane) => [laneKey(room, lane), JWT_SECRET])),
    keySets: new KeySets(world, () => new Promise(() => {})),
    world,
  });
  return { membership, world };
}

const STRANGER: Client = {
  address: "203.0.113.7",
  protocol: "https",
  host: "shop.example",
  peer: "203.0.113.7",
  isPeerTrusted: false,
};
const BEHIND_PROXY: Client = { ...STRANGER, peer: "10.0.0.1", isPeerTrusted: true };

function facts(about: {
  url?: string;
  headers?: Readonly<Record<string, string>>;
  cookie?: string;
  client?: Client;
}): LaneFacts {
  const { url = "/", headers = {}, cookie, client = STRANGER } = about;
  return { url, cookie, client, header: (name) => headers[name] };
}

const NOW = handWorld().clock.now();
const codeFor = (code: Partial<LaneCode>, room = "main") =>
  writeCode(
    { kind: "many", lane: VIP, id: ID, expiresAt: NOW + 3_600_000, ...code },
    codeKeys(room, SECRETS),
  );
const inUrl = (code: string) => `/tickets?day=2&${CODE_PARAMETER}=${code}`;
const jwt = (claims: object, expiresAt = NOW + 60_000) =>
  new SignJWT({ ...claims, exp: expiresAt / 1_000 })
    .setProtectedHeader({ alg: "HS256" })
    .sign(Buffer.from(JWT_SECRET));
const BY_JWT = {
  codes: false,
  jwt: { claim: "tier", values: ["gold"], secretVariable: "JWT", cookie: "session" },
};

async function laneOf(membership: LaneMembership, about: Parameters<typeof facts>[0]) {
  const { lane, refusal } = await membership.laneOf(facts(about));
  return refusal === null ? lane : `${lane} ${refusal}`;
}

const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));

test("in a room without lanes nothing is looked at", () => {
  const { membership } = membershipOf({});
  const nothing = new Proxy({} as LaneFacts, {
    get: (_, name) => assert.fail(`${String(name)} was looked at`),
  });
  const belonging = membership.laneOf(nothing);
  assert.ok(!(belonging instanceof Promise));
  assert.deepEqual([belonging.lane, belonging.invite, belonging.refusal], [EVERYBODY, null, null]);
  assert.deepEqual([membership.hasLanes, membership.takesCodes], [false, false]);
});

test("a visitor who brings nothing is in everybody's lane, and is told so at once", () => {
  const { membership } = membershipOf({
    vip: { header: { name: "X-Tier", values: ["gold"] }, addresses: ["198.51.100.0/24"], jwt: BY_JWT.jwt },
  });
  const belonging = membership.laneOf(facts({}));
  assert.deepEqual(belonging, {
    lane: EVERYBODY,
    invite: null,
    refusal: null,
    why: "everybody's lane: no other takes them",
  });
});

test("a code gets its bearer into its lane, from the address or from the header", async () => {
  const { membership } = membershipOf({ vip: {}, press: {} });
  const code = codeFor({});
  assert.equal(await laneOf(membership, { url: inUrl(code) }), VIP);
  assert.equal(await laneOf(membership, { headers: { "fairgate-code": ` ${code} ` } }), VIP);
  assert.equal(await laneOf(membership, { url: inUrl(codeFor({ lane: PRESS })) }), PRESS);
  assert.equal(
    await laneOf(membership, { headers: { "fairgate-code": codeFor({ lane: PRESS }) }, url: inUrl(code) }),
    PRESS,
  );
});

test("a code for one place comes with its id each time it is shown, one for many with none", async () => {
  const { membership } = membershipOf({ vip: {} });
  const once = codeFor({ kind: "once" });
  const first = await membership.laneOf(facts({ url: inUrl(once) }));
  assert.deepEqual(first.invite, { id: ID, expiresAt: NOW + 3_600_000 });
  assert.deepEqual(await membership.laneOf(facts({ url: inUrl(once) })), first);
  assert.equal((await membership.laneOf(facts({ url: inUrl(codeFor({})) }))).invite, null);
});

test("what is wrong with a code has a name, and its bearer is in everybody's lane", async () => {
  const { membership, world } = membershipOf({ vip: {}, press: { codes: false, addresses: ["192.0.2.1"] } });
  const good = codeFor({});
  const cases: readonly (readonly [code: string, refusal: string])[] = [
    ["", "codeMalformed"],
    ["nonsense", "codeMalformed"],
    [good.repeat(1_000), "codeMalformed"],
    [`${good.slice(0, -1)}${good.endsWith("A") ? "B" : "A"}`, "codeForged"],
    [codeFor({}, "other"), "codeForged"],
    [codeFor({ expiresAt: NOW }), "codeExpired"],
    [codeFor({ lane: laneNumber("gone") }), "codeUnknownLane"],
    [codeFor({ lane: EVERYBODY }), "codeUnknownLane"],
    [codeFor({ lane: PRESS, kind: "once" }), "codeWrongLane"],
  ];
  for (const [code, refusal] of cases) {
    const belonging = await membership.laneOf(facts({ url: inUrl(code) }));
    assert.deepEqual([belonging.lane, belonging.invite, belonging.refusal], [EVERYBODY, null, refusal]);
    assert.match(belonging.why, /^everybody's lane: /);
    assert.ok(code === "" || !belonging.why.includes(code));
  }
  world.pass(3_600_000);
  assert.equal(await laneOf(membership, { url: inUrl(good) }), `${EVERYBODY} codeExpired`);
});

test("a header counts when a trusted proxy sent it, and never from a visitor", async () => {
  const { membership } = membershipOf({ vip: { header: { name: "X-Tier", values: ["gold", "black"] } } });
  const from = (client: Client, value: string) =>
    laneOf(membership, { client, headers: { "x-tier": value } });
  assert.equal(await from(BEHIND_PROXY, "gold"), VIP);
  assert.equal(await from(BEHIND_PROXY, " black "), VIP);
  assert.equal(await from(STRANGER, "gold"), EVERYBODY);
  for (const other of ["", "Gold", "golden", "gold, gold", "gold,silver", "silver"])
    assert.equal(await from(BEHIND_PROXY, other), EVERYBODY, other);
  const { why } = await membership.laneOf(facts({ client: BEHIND_PROXY, headers: { "x-tier": "gold" } }));
  assert.equal(why, "lane vip: header X-Tier is gold");
});

test("an address counts when it is in one of the lane's ranges", async () => {
  const { membership } = membershipOf({
    vip: { addresses: ["192.0.2.0/24", "198.51.100.7", "2001:db8::/32"] },
  });
  const from = (address: string) => laneOf(membership, { client: { ...STRANGER, address } });
  for (const inside of ["192.0.2.0", "192.0.2.255", "198.51.100.7", "2001:db8::1", "2001:DB8:FFFF::"])
    assert.equal(await from(inside), VIP, inside);
  for (const outside of [
    "192.0.3.0",
    "198.51.100.8",
    "2001:db9::",
    "::1",
    "",
    "unknown",
    "192.0.2.1, 1.1.1.1",
  ])
    assert.equal(await from(outside), EVERYBODY, outside);
});

test("a JWT counts from the header, with or without its scheme, or else from the cookie", async () => {
  const { membership } = membershipOf({ vip: BY_JWT });
  const gold = await jwt({ tier: "gold" });
  const places: readonly Parameters<typeof facts>[0][] = [
    { headers: { authorization: `Bearer ${gold}` } },
    { headers: { authorization: `bearer   ${gold}` } },
    { headers: { authorization: gold } },
    { cookie: `a=b; session=${gold}; c=d` },
    { headers: { authorization: "Basic YTpi" }, cookie: `session=${gold}` },
  ];
  for (const place of places) assert.equal(await laneOf(membership, place), VIP);
  for (const place of [
    { cookie: `other=${gold}` },
    { headers: { "x-token": gold } },
    { url: `/?token=${gold}` },
  ])
    assert.equal(await laneOf(membership, place), EVERYBODY);
  const { why } = await membership.laneOf(facts(places[0]!));
  assert.equal(why, "lane vip: claim tier of the JWT is gold");
});

test("a JWT that was seen lately is answered at once", async () => {
  const { membership } = membershipOf({ vip: BY_JWT });
  const brought = facts({ cookie: `session=${await jwt({ tier: "gold" })}` });
  const first = membership.laneOf(brought);
  assert.ok(first instanceof Promise);
  await first;
  const second = membership.laneOf(brought);
  assert.ok(!(second instanceof Promise));
  assert.deepEqual(second, await first);
});

test("what is wrong with a JWT has a name, a stranger's good one has nothing wrong with it", async () => {
  const { membership } = membershipOf({ vip: BY_JWT });
  assert.equal(
    await laneOf(membership, { cookie: `session=${await jwt({ tier: "gold" }, NOW - 60_000)}` }),
    `${EVERYBODY} jwtExpired`,
  );
  assert.equal(await laneOf(membership, { cookie: "session=a.b.c" }), `${EVERYBODY} jwtMalformed`);
  assert.equal(await laneOf(membership, { cookie: `session=${await jwt({ tier: "silver" })}` }), EVERYBODY);
});

test("the first lane that takes a visitor wins, also when an answer takes its time", async () => {
  const lanes = {
    staff: { codes: false, jwt: { ...BY_JWT.jwt, values: ["staff"] } },
    vip: { ...BY_JWT, codes: true },
    press: { addresses: [STRANGER.address] },
  };
  const { membership } = membershipOf(lanes);
  const bring = async (tier: string, more: object = {}) =>
    laneOf(membership, { cookie: `session=${await jwt({ tier })}`, ...more });
  assert.equal(await bring("staff", { url: inUrl(codeFor({})) }), laneNumber("staff"));
  assert.equal(await bring("gold"), VIP);
  assert.equal(await bring("silver"), PRESS);
  assert.equal(await bring("silver", { url: inUrl(codeFor({})) }), VIP);
  assert.equal(await bring("silver", { client: { ...STRANGER, address: "192.0.2.1" } }), EVERYBODY);
  const late = {
    ...facts({
      cookie: `session=${await jwt({ tier: "silver", n: 2 })}`,
      url: inUrl(codeFor({ lane: PRESS })),
    }),
  };
  assert.equal((await membership.laneOf(late)).lane, PRESS);
});

test("a code for one place is not used up by somebody who does not need it", async () => {
  const url = inUrl(codeFor({ kind: "once" }));
  const client = { ...BEHIND_PROXY, address: "192.0.2.1" };
  const ways: readonly MembersInput[] = [
    { addresses: ["192.0.2.1"] },
    { header: { name: "X-Tier", values: ["gold"] } },
    { jwt: BY_JWT.jwt },
  ];
  const brought = {
    url,
    client,
    headers: { "x-tier": "gold" },
    cookie: `session=${await jwt({ tier: "gold" })}`,
  };
  for (const way of ways) {
    const belonging = await membershipOf({ vip: way }).membership.laneOf(facts(brought));
    assert.deepEqual([belonging.lane, belonging.invite], [VIP, null]);
    const better = await membershipOf({ press: way, vip: {} }).membership.laneOf(facts(brought));
    assert.deepEqual([better.lane, better.invite], [PRESS, null]);
  }
});

test("lanes that take no codes leave the address alone", async () => {
  const { membership } = membershipOf({ vip: { codes: false, addresses: ["192.0.2.1"] } });
  assert.equal(membership.takesCodes, false);
  assert.equal(await laneOf(membership, { url: inUrl(codeFor({})) }), EVERYBODY);
});

test("no text whatever in address, headers or cookie makes it fail, or makes a member", async () => {
  const { membership } = membershipOf({
    vip: { ...BY_JWT, codes: true, header: { name: "X-Tier", values: ["gold"] } },
  });
  const text = fc.oneof(
    fc.string({ maxLength: 60, size: "max", unit: anyUnit }),
    fc.constantFrom("Bearer ", "Bearer a.b.c", "session=", "session=..", `/?${CODE_PARAMETER}=%`, "%", "=;="),
  );
  await fc.assert(
    fc.asyncProperty(text, text, text, text, async (url, authorization, code, cookie) => {
      const headers = { authorization, "fairgate-code": code };
      const { lane, invite } = await membership.laneOf(facts({ url, headers, cookie }));
      assert.deepEqual([lane, invite], [EVERYBODY, null]);
    }),
    { numRuns: 200 },
  );
});
