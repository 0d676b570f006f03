import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import { laneNumber } from "../core/lanes.ts";
import { codeKeys, writeCode } from "../gateway/lanes/code.ts";
import { createTrust } from "../gateway/proxy/trust.ts";
import { explainLane } from "./explain-lane.ts";
import { type QuestionFlags, readQuestion } from "./question.ts";

const SECRET = "a-secret-for-tests-only-0123456789-abcdef";
const URL_ASKED = "https://shop.example/tickets";

async function explain(flags: QuestionFlags, lanes: object, more: object = { secret: SECRET }) {
  const input = { rooms: { main: { totalActiveUsers: 5, lanes } }, trustedProxies: ["10.0.0.1"], ...more };
  const result = settingsFrom(input, { environment: {}, readFile: () => "", needsOrigin: false });
  assert.ok(result.ok, JSON.stringify(result.ok || result.problems));
  const { settings } = result;
  const answer = readQuestion({ url: URL_ASKED, ...flags });
  assert.ok(answer.ok && answer.question);
  const asked = {
    question: answer.question,
    target: answer.question.target,
    settings,
    trust: createTrust(settings.trustedProxies),
    name: "main",
    room: settings.rooms.main!,
  };
  return explainLane(asked);
}

const BY_HEADER = { vip: { members: { header: { name: "X-Tier", values: ["gold"] } } } };
const BY_JWT = {
  vip: { members: { jwt: { claim: "tier", values: ["gold"], jwks: "https://shop.example/jwks.json" } } },
};

test("a room without lanes says so", async () => {
  assert.deepEqual((await explain({}, {})).lines, ["the room has no lanes"]);
});

test("the lane is told with its reason, and keeps nobody from the line", async () => {
  const flags = { header: ["X-Tier: gold"], address: "10.0.0.1" };
  const { lines, straight, facts } = await explain(flags, BY_HEADER);
  assert.deepEqual([lines, straight], [["lane vip: header X-Tier is gold"], null]);
  assert.equal((facts as { lane: number }).lane, laneNumber("vip"));
  const { lines: stranger } = await explain({ ...flags, address: "203.0.113.7" }, BY_HEADER);
  assert.deepEqual(stranger, ["everybody's lane: no other takes them"]);
});

test("a code in the address is read with the secret, and where that is not known it is said so", async () => {
  const code = writeCode(
    { kind: "once", lane: laneNumber("vip"), id: "00112233445566ff", expiresAt: Date.now() + 60_000 },
    codeKeys("main", { secret: SECRET, previousSecrets: [] }),
  );
  const flags = { url: `${URL_ASKED}?fairgate_code=${code}` };
  const { lines, facts } = await explain(flags, { vip: {} });
  assert.deepEqual(lines, ["lane vip: a code for one place"]);
  assert.equal((facts as { isOnce: boolean }).isOnce, true);
  const { lines: unknown } = await explain(flags, { vip: {} }, { data: "/nowhere" });
  assert.match(unknown.join("\n"), /the secret is kept in \/nowhere/);
});

test("no key set is fetched, and that is said", async () => {
  const { lines } = await explain(
    { header: ["Authorization: Bearer eyJhbGciOiJFUzI1NiJ9.e30.c2ln"] },
    BY_JWT,
  );
  assert.deepEqual(lines, [
    "everybody's lane: there are no keys to check the JWT by",
    "the key set is not fetched here; a running Fairgate would",
  ]);
});
