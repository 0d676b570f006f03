/** A form sent just after a pass ran out: the visit begins again if there is room, and nothing is lost if there is none. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStage, type Stage, type StageOptions } from "../../testing/gateway/stage.ts";
import { PAGE, type Visitor } from "../../testing/gateway/visitor.ts";

const FORM = { method: "POST", headers: PAGE, body: "seat=7" };

/** Someone on the site whose pass ran out this many milliseconds ago. */
async function late(
  t: Parameters<typeof openStage>[0],
  ms: number,
  room: StageOptions["room"] = {},
): Promise<{ stage: Stage; visitor: Visitor }> {
  const stage = await openStage(t, { room: { sessionDuration: "100s", ...room } });
  const visitor = await stage.occupant();
  stage.world.pass(100_000 + ms);
  return { stage, visitor };
}

test("within the grace a form is sent, as the visit it belongs to", async (t) => {
  for (const ms of [0, 1_500, 60_000, 119_000]) {
    const { stage, visitor } = await late(t, ms);
    assert.equal((await visitor.ask("/buy", FORM)).text, "the site", `${ms}`);
    const [first, second] = stage.origin.seen.map(({ headers }) => headers["fairgate-visitor"]);
    assert.ok(first);
    assert.equal(first, second);
    const { onSite, totals } = await stage.engine.counts("main");
    assert.deepEqual([onSite, totals.joined], [1, 1]);
    assert.ok(await visitor.isIn());
  }
});

test("before anyone who waits, if there is a slot: a room that is full only for its rate", async (t) => {
  const { stage, visitor } = await late(t, 5_000, { totalActiveUsers: 10, newUsersPerMinute: 1 });
  await stage.visitor().open();
  const waiting = stage.visitor();
  assert.ok(!(await waiting.isIn()));
  assert.equal((await visitor.ask("/buy", FORM)).text, "the site");
});

test("after the grace, on a full site, or from someone who left, it is refused and nothing of it is sent", async (t) => {
  const tooLate = await late(t, 121_000);
  await tooLate.stage.occupant();
  const full = await late(t, 5_000);
  await full.stage.occupant();
  const left = await late(t, -10_000);
  await left.visitor.call("leave");
  await left.stage.occupant();
  left.stage.world.pass(20_000);
  for (const { stage, visitor } of [tooLate, full, left]) {
    const seen = stage.origin.seen.length;
    const answer = await visitor.ask("/buy", FORM);
    assert.equal(answer.status, 429);
    assert.match(answer.text, /Your form was not sent/);
    assert.equal(stage.origin.seen.length, seen);
    assert.ok((await stage.engine.counts("main")).onSite <= 1);
  }
});

test("a page after the pass ran out is a newcomer's, as ever", async (t) => {
  const { stage, visitor } = await late(t, 5_000);
  await visitor.open();
  assert.equal((await stage.engine.counts("main")).totals.joined, 2);
});

test("a call of a script gets JSON and a header that says what it is", async (t) => {
  const { stage, visitor } = await late(t, 5_000);
  await stage.occupant();
  const headers = { accept: "text/x-component", "sec-fetch-dest": "empty", "sec-fetch-mode": "cors" };
  const answer = await visitor.ask("/", { method: "POST", headers, body: "[]" });
  assert.deepEqual([answer.status, answer.headers["fairgate-status"]], [429, "refused"]);
  assert.equal(JSON.parse(answer.text).join, "/.fairgate/main/join");
});
