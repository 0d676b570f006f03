import assert from "node:assert/strict";
import { test } from "node:test";
import { checkLaneMembers, laneKey, type RoomsWithLanes, readLaneSecrets } from "./lane-members.ts";
import { laneMembersSchema } from "./lane-schema.ts";
import type { Finding } from "./problem.ts";

const PATH = ["rooms", "main", "lanes", "vip", "members"];
const JWT = { claim: "tier", values: ["gold"] };
const SECRET = "0123456789-abcdefghijklmnopqrstuvwxyz";
type MembersInput = Parameters<typeof laneMembersSchema.parse>[0];

const messages = (findings: readonly Finding[]) => findings.map(({ message }) => message);
const check = (members: MembersInput, trusted?: string[]) =>
  messages(checkLaneMembers(laneMembersSchema.parse(members), PATH, trusted));

test("members that fit together are good", () => {
  for (const members of [
    {},
    { codes: false, addresses: ["10.0.0.1"] },
    { jwt: { ...JWT, secretVariable: "A" } },
    { jwt: { ...JWT, header: null, cookie: "session", jwks: "https://shop.example/jwks" } },
  ] as MembersInput[])
    assert.deepEqual(check(members, []), []);
  assert.deepEqual(check({ header: { name: "X-Tier", values: ["a"] } }, ["10.0.0.1"]), []);
});

test("a lane that nobody can get into is a mistake", () => {
  assert.deepEqual(check({ codes: false }), ["rooms.main.lanes.vip.members lets nobody into the lane"]);
});

test("a header needs a proxy to be believed from, where it is known who is trusted", () => {
  const members = { header: { name: "X-Tier", values: ["a"] } };
  assert.deepEqual(check(members, []), [
    "rooms.main.lanes.vip.members.header is believed only from trustedProxies, and there are none",
  ]);
  assert.deepEqual(check(members), []);
});

test("a JWT needs a place to be found in, and exactly one key to be checked by", () => {
  const jwt = "rooms.main.lanes.vip.members.jwt";
  assert.deepEqual(check({ jwt: JWT }), [`${jwt} has nothing to check a JWT by`]);
  assert.deepEqual(check({ jwt: { ...JWT, header: null, secretFile: "a" } }), [
    `${jwt} has neither header nor cookie, so there is no JWT to look at`,
  ]);
  assert.deepEqual(check({ jwt: { ...JWT, secretFile: "a", jwks: "https://shop.example/jwks" } }), [
    `${jwt}.secretFile and jwks are both set`,
  ]);
  assert.deepEqual(check({ jwt: { ...JWT, secretVariable: "A", secretFile: "a" } }), [
    `${jwt}.secretVariable and secretFile are both set`,
  ]);
});

test("what is not known is passed over", () => {
  assert.deepEqual(checkLaneMembers({}, PATH, []), []);
  assert.deepEqual(checkLaneMembers({ codes: false, jwt: {} }, PATH, []), []);
  assert.deepEqual(
    readLaneSecrets({ a: undefined, b: {}, c: { lanes: { vip: {} } } }, sources()).problems,
    [],
  );
});

function sources(environment: Record<string, string> = {}, files: Record<string, string> = {}) {
  const read = (name: string) =>
    Object.hasOwn(files, name) ? { text: files[name]! } : { wrong: "there is no such file" };
  return { environment, read };
}

function roomsWith(jwt: object): RoomsWithLanes {
  return { main: { lanes: { vip: { members: laneMembersSchema.parse({ jwt: { ...JWT, ...jwt } }) } } } };
}

test("a secret comes from the variable or file that settings name, and stays out of them", () => {
  const rooms = roomsWith({ secretVariable: "SHOP" });
  const { secrets, problems } = readLaneSecrets(rooms, sources({ SHOP: SECRET }));
  assert.deepEqual([secrets.get(laneKey("main", "vip")), problems], [SECRET, []]);
  assert.doesNotMatch(JSON.stringify([rooms, secrets]), new RegExp(SECRET));
  const fromFile = readLaneSecrets(
    roomsWith({ secretFile: "shop.txt" }),
    sources({}, { "shop.txt": `${SECRET}\n` }),
  );
  assert.equal(fromFile.secrets.get(laneKey("main", "vip")), SECRET);
});

test("lanes with public keys need no secret", () => {
  const { secrets, problems } = readLaneSecrets(roomsWith({ jwks: "https://shop.example/jwks" }), sources());
  assert.deepEqual([secrets.size, problems], [0, []]);
});

test("a secret that is missing, unreadable or weak is one clear problem that does not show it", () => {
  const jwt = "rooms.main.lanes.vip.members.jwt";
  const cases: readonly (readonly [jwt: object, from: ReturnType<typeof sources>, message: string])[] = [
    [
      { secretVariable: "SHOP" },
      sources(),
      `${jwt}.secretVariable names SHOP, which is not in the environment`,
    ],
    [
      { secretVariable: "SHOP" },
      sources({ SHOP: " " }),
      `${jwt}.secretVariable names SHOP, which is not in the environment`,
    ],
    [{ secretVariable: "SHOP" }, sources({ SHOP: "hunter2" }), "SHOP has only 7 characters"],
    [{ secretFile: "a" }, sources(), `${jwt}.secretFile: a cannot be read: there is no such file`],
    [{ secretFile: "a" }, sources({}, { a: "hunter2" }), `${jwt}.secretFile has only 7 characters`],
    [{ secretFile: "a" }, sources({}, { a: `${SECRET}\n${SECRET}` }), `${jwt}.secretFile: a has 2 lines`],
  ];
  for (const [about, from, message] of cases) {
    const { secrets, problems } = readLaneSecrets(roomsWith(about), from);
    assert.deepEqual([secrets.size, messages(problems)], [0, [message]]);
  }
});

test("what every object has by birth is no variable", () => {
  for (const name of ["__proto__", "constructor", "toString"]) {
    const { problems } = readLaneSecrets(roomsWith({ secretVariable: name }), sources());
    assert.equal(problems.length, 1, name);
  }
});
