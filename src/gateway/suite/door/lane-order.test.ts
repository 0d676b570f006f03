/** The order among lanes, as seen by who gets a turn. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { RoomInput } from "../../../config/schema.ts";
import { askJson, joinLine, orderOfEntry, watchTurns } from "../../../testing/gateway/line.ts";
import { openStage, type Stage } from "../../../testing/gateway/stage.ts";
import { proves } from "../../../testing/requirements/proves.ts";

const GOLD = { "x-tier": "gold" };
const MEMBERS = { header: { name: "X-Tier", values: ["gold"] } };
const SETTINGS = { trustedProxies: ["127.0.0.1"] };
const COUNT = 20;

/** A full site with visitors waiting in both lanes, everybody's first; then all are let in, one each tick. */
async function lanesOfTurns(t: TestContext, room: RoomInput): Promise<string> {
  const stage = await openStage(t, {
    room: { totalActiveUsers: 100, newUsersPerMinute: 100, paused: true, lapseAfter: "10m", ...room },
    settings: SETTINGS,
  });
  const everybody = new Set(await sequencesOf(stage, {}));
  await sequencesOf(stage, GOLD);
  const turns = watchTurns(stage);
  await stage.proxied.configure(stage.settings({ room: { paused: false } }));
  while (turns.length < 2 * COUNT) stage.world.pass(200);
  return turns.map(({ sequence }) => (everybody.has(sequence) ? "e" : "v")).join("");
}

async function sequencesOf(stage: Stage, headers: Record<string, string>): Promise<number[]> {
  const sequences: number[] = [];
  for (let i = 0; i < COUNT; i++) sequences.push((await stage.visitor().call("join", { headers })).sequence!);
  return sequences;
}

test(proves(["cp3", "E.ce6"], "in strict order a lane is served before those after it"), async (t) => {
  const order = await lanesOfTurns(t, { othersShare: 0, lanes: { vip: { members: MEMBERS } } });
  assert.equal(order, "v".repeat(COUNT) + "e".repeat(COUNT));
});

test("in strict order those further back get their share all the same, so nobody starves", async (t) => {
  const order = await lanesOfTurns(t, { othersShare: 20, lanes: { vip: { members: MEMBERS } } });
  for (let from = 0; from + 10 <= COUNT; from++)
    assert.ok(order.slice(from, from + 10).includes("e"), `nobody else among ten: ${order}`);
  assert.equal(order.slice(0, COUNT).replaceAll("v", "").length, COUNT * 0.2);
});

test("in weighted order lanes are served by their shares", async (t) => {
  const lanes = { vip: { share: 75, members: MEMBERS } };
  const order = await lanesOfTurns(t, { laneOrder: "weighted", lanes });
  assert.equal(order.slice(0, 16).replaceAll("e", "").length, 12);
  assert.equal(order.slice(0, 24).replaceAll("e", "").length, 18);
});

test("within a lane it is first come, first served, whatever the order among lanes (cp3)", async (t) => {
  const lanes = { vip: { share: 50, members: MEMBERS } };
  const stage = await openStage(t, {
    room: { laneOrder: "weighted", lapseAfter: "10m", lanes },
    settings: SETTINGS,
  });
  const onSite = await stage.occupant();
  const line = [
    ...(await joinLine(stage, 2)),
    ...(await joinLine(stage, 2, { headers: GOLD })),
    ...(await joinLine(stage, 1)),
  ];
  const order = await orderOfEntry(stage, { line, onSite });
  const inLane = (members: readonly number[]) => order.filter((index) => members.includes(index));
  assert.deepEqual(
    [inLane([0, 1, 4]), inLane([2, 3])],
    [
      [0, 1, 4],
      [2, 3],
    ],
  );
});

test("what a visitor is told to be ahead never grows, however many join a lane before theirs", async (t) => {
  const lanes = { vip: { members: MEMBERS } };
  const stage = await openStage(t, { room: { othersShare: 0, lanes }, settings: SETTINGS });
  await stage.occupant();
  const [visitor] = await joinLine(stage, 1);
  assert.equal((await askJson(visitor!)).told.ahead, 0);
  await joinLine(stage, 3, { headers: GOLD });
  assert.equal((await askJson(visitor!)).told.ahead, 0);
});
