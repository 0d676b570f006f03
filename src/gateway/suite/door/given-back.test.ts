/**
 * A join that came to nothing costs nobody anything: not its sender, whose slip, code and budgets are good again, and
 * not the others, whose work gets no harder for it.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import http from "node:http";
import { test } from "node:test";
import { newCode } from "../../../testing/gateway/lane-code.ts";
import { askJson, change, joinLine } from "../../../testing/gateway/line.ts";
import { openStage, type Stage } from "../../../testing/gateway/stage.ts";
import { assertWaitingPage, PAGE, talk, type Visitor } from "../../../testing/gateway/visitor.ts";
import { until } from "../../../testing/until.ts";

const PICTURE = { accept: "image/*", "sec-fetch-dest": "image" };
const EASIEST = 2;
const WORK = { proofOfWork: { easiest: EASIEST, hardest: 12, joinsPerSecond: 1 } };
const VIP_LANE = { othersShare: 0, lanes: { vip: { privileged: true, members: {} } } };

interface Solved {
  readonly visitor: Visitor;
  readonly slip: string;
  readonly solution: string;
}

/** Someone who has done the work and not used it yet. */
async function solved(stage: Stage): Promise<Solved> {
  const visitor = stage.visitor();
  const { work } = JSON.parse((await visitor.post("join")).text) as {
    work: { challenge: string; bits: number };
  };
  for (let n = 0; ; n++) {
    const digest = createHash("sha256").update(`${work.challenge}:${n}`).digest();
    if (Math.clz32(digest.readUInt32BE(0)) >= work.bits)
      return { visitor, slip: work.challenge, solution: String(n) };
  }
}

/** How hard the work is that a newcomer is asked to do. */
async function bitsNow(stage: Stage): Promise<number> {
  const { text } = await stage.visitor().post("join");
  return (JSON.parse(text) as { work: { bits: number } }).work.bits;
}

function upgrade({ slip, solution }: Solved): string {
  const cookie = `Cookie: fairgate_main=${slip}\r\nFairgate-Work: ${solution}`;
  return `GET /live HTTP/1.1\r\nHost: a\r\n${cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
}

test("work that is shown again and again by what cannot wait makes work harder for nobody", async (t) => {
  const stage = await openStage(t, { room: { abuse: WORK, queueAll: true } });
  const before = await stage.engine.counts("main");
  const attackers = [await solved(stage), await solved(stage), await solved(stage)];
  for (let i = 0; i < 20; i++)
    for (const attacker of attackers) {
      const headers = { ...PICTURE, "fairgate-work": attacker.solution };
      assert.equal((await attacker.visitor.ask("/a.png", { headers })).status, 429);
      assert.match(await talk(stage.port, upgrade(attacker)), /^HTTP\/1\.1 429 .*Retry-After: \d/is);
    }
  assert.equal(await bitsNow(stage), EASIEST);
  assert.deepEqual((await stage.engine.counts("main")).totals, before.totals);
  for (const { visitor, solution } of attackers)
    assert.equal((await visitor.call("join", { headers: { "fairgate-work": solution } })).status, "waiting");
});

test("work that is shown to a room that takes nobody makes work harder for nobody, and stays good", async (t) => {
  const room = { abuse: WORK, queueAll: true };
  const stage = await openStage(t, { room: { ...room, closed: true } });
  const { visitor, solution } = await solved(stage);
  const work = { headers: { "fairgate-work": solution } };
  for (let i = 0; i < 60; i++) assert.equal((await visitor.call("join", work)).reason, "closed");
  assert.equal(await bitsNow(stage), EASIEST);
  await change(stage, { ...room, closed: false });
  assert.equal((await visitor.call("join", work)).status, "waiting");
});

test("a picture uses up no code", async (t) => {
  const stage = await openStage(t, { room: VIP_LANE });
  await stage.occupant();
  const code = newCode({ kind: "once" });
  for (let i = 0; i < 3; i++) {
    const headers = { ...PICTURE, "fairgate-code": code };
    assert.equal((await stage.visitor().ask("/a.png", { headers })).status, 429);
  }
  await joinLine(stage, 1, { headers: { "fairgate-code": code } });
  const { lanes } = await stage.engine.counts("main");
  assert.deepEqual(
    lanes.map(({ name, waiting }) => [name, waiting]),
    [
      ["vip", 1],
      ["everybody", 0],
    ],
  );
});

test("someone who waits keeps their place when a link with a code would have them start anew", async (t) => {
  for (const abuse of [{ entryDelay: true }, WORK]) {
    const stage = await openStage(t, { room: { ...VIP_LANE, abuse, queueAll: true } });
    const { visitor, solution } = await solvedOrWaited(stage, abuse);
    assert.equal((await visitor.call("join", { headers: { "fairgate-work": solution } })).status, "waiting");
    const ticket = visitor.token();
    await visitor.open("/?fairgate_code=nonsense");
    assert.equal(visitor.token(), ticket);
    assertWaitingPage(await visitor.open());
    assert.equal((await visitor.open(`/?fairgate_code=${newCode()}`)).status, 303);
    assert.equal((await askJson(visitor)).told.status, "waiting");
    const { lanes, waiting } = await stage.engine.counts("main");
    assert.deepEqual([waiting, lanes[0]?.waiting], [1, 1]);
  }
});

async function solvedOrWaited(stage: Stage, abuse: object): Promise<{ visitor: Visitor; solution: string }> {
  if ("proofOfWork" in abuse) return solved(stage);
  const visitor = stage.visitor();
  await visitor.post("join");
  stage.world.pass(1_000);
  return { visitor, solution: "" };
}

test("one ticket and a code that is good for many give one place in the lane, however many show them at once", async (t) => {
  const stage = await openStage(t, { room: { ...VIP_LANE, abuse: WORK, queueAll: true } });
  const { visitor, solution } = await solved(stage);
  await visitor.call("join", { headers: { "fairgate-work": solution } });
  const ticket = visitor.token()!;
  const link = `/?fairgate_code=${newCode()}`;
  const release = stage.engine.hold();
  const copies = Array.from({ length: 8 }, () => stage.visitor());
  const answers = copies.map((copy) => {
    copy.cookies.set("fairgate_main", ticket);
    return copy.open(link);
  });
  await until(() => stage.underWay() === copies.length, "all are under way");
  release();
  await Promise.all(answers);
  stage.engine.broken = null;
  for (const copy of copies) {
    copy.cookies.set("fairgate_main", ticket);
    await copy.open(link);
  }
  assert.equal((await stage.engine.counts("main")).waiting, 1);
});

test("a visitor who is gone before the answer leaves no place and no visit behind, and loses no slip", async (t) => {
  for (const isFull of [true, false]) {
    const stage = await openStage(t, { room: { abuse: WORK, totalActiveUsers: 5, queueAll: isFull } });
    const { visitor, slip, solution } = await solved(stage);
    const release = stage.engine.hold();
    const headers = { ...PAGE, cookie: `fairgate_main=${slip}`, "fairgate-work": solution };
    const request = http.request({
      ...{ host: "127.0.0.1", port: stage.port, agent: false },
      ...{ path: "/", headers },
    });
    request.on("error", () => {}).end();
    await until(() => stage.engine.calls.join === 1, "the engine is asked");
    request.destroy();
    await until(() => stage.underWay() === 0, "the gateway knows that they are gone");
    release();
    stage.engine.broken = null;
    await until(() => stage.engine.calls.leave === 1, "the place is given up");
    const { waiting, onSite } = await stage.engine.counts("main");
    assert.deepEqual([waiting, onSite], [0, 0]);
    assert.equal(await bitsNow(stage), EASIEST);
    assert.match(
      String((await visitor.call("join", { headers: { "fairgate-work": solution } })).status),
      isFull ? /^waiting$/ : /^entered$/,
    );
  }
});

test("a place that comes after its sender was told that the line is away is given up", async (t) => {
  const stage = await openStage(t, { room: { abuse: WORK, queueAll: true } });
  const { visitor, solution } = await solved(stage);
  const work = { headers: { "fairgate-work": solution } };
  const release = stage.engine.hold();
  const answer = visitor.call("join", work);
  await until(() => stage.engine.calls.join === 1, "the engine is asked");
  stage.world.pass(2_000);
  assert.equal((await answer).status, "engineAway");
  release();
  stage.engine.broken = null;
  await until(() => stage.engine.calls.leave === 1, "the place is given up");
  assert.equal((await stage.engine.counts("main")).waiting, 0);
  assert.equal((await visitor.call("join", work)).status, "waiting");
});
