/**
 * What visitors may not know is nowhere in what they are sent. A long line and a short one are compared: whatever differs
 * between what their last visitors get would tell how long the line is.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { RoomInput } from "../../../config/schema.ts";
import { askJson, boardAt, joinLine } from "../../../testing/gateway/line.ts";
import { openStage } from "../../../testing/gateway/stage.ts";
import type { Visitor } from "../../../testing/gateway/visitor.ts";
import { proves } from "../../../testing/requirements/proves.ts";

interface Sent {
  readonly page: string;
  readonly json: string;
  readonly checkIn: string;
  readonly board: string;
  readonly stream: string;
}

/** Everything that the last visitor in a line of this length is sent, but for what is theirs alone or of the moment. */
async function sentTo(t: TestContext, waiting: number, show: RoomInput["show"]): Promise<Sent> {
  const stage = await openStage(t, { room: { show } });
  await stage.occupant();
  const line = await joinLine(stage, waiting);
  stage.world.pass(1_000);
  const last = line.at(-1)!;
  const stream = await last.listen();
  await stream.heard("board");
  const texts = {
    page: (await last.open()).text,
    json: (await askJson(last)).answer.text,
    checkIn: (await last.post("check-in")).text,
    board: (await last.ask("/.fairgate/main/board")).text,
    stream: stream.events.map(({ data }) => data).join("\n"),
  };
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, plain(text)])) as never;
}

/** Without nonces, one's own number and the pacing. */
function plain(text: string): string {
  return text.replaceAll(/nonce="[^"]*"/g, "").replaceAll(/"(sequence|nextCheckInMs)":\d+/g, "");
}

test(
  proves(
    ["ce11", "ce12"],
    "with ahead, behind and wait hidden, a long line and a short one look the same in page, JSON, board and stream",
  ),
  async (t) => {
    const show = { ahead: false, behind: false, wait: false };
    assert.deepEqual(await sentTo(t, 3, show), await sentTo(t, 41, show));
  },
);

test("with nothing hidden they do not", async (t) => {
  const [short, long] = [await sentTo(t, 3, {}), await sentTo(t, 41, {})];
  for (const name of Object.keys(short) as (keyof Sent)[]) assert.notEqual(short[name], long[name], name);
  assert.match(long.json, /"waitMs":\{"low":\d/);
});

async function told(visitor: Visitor) {
  const { ahead, waiting, waitMs } = (await askJson(visitor)).told;
  return { hasAhead: ahead !== null, hasWaiting: waiting !== null, hasWait: waitMs !== null };
}

for (const hidden of ["ahead", "behind", "wait"] as const) {
  test(`each can be hidden by itself: ${hidden}`, async (t) => {
    const stage = await openStage(t, { room: { show: { [hidden]: false } } });
    await stage.occupant();
    const [, visitor] = await joinLine(stage, 2);
    stage.world.pass(1_000);
    assert.deepEqual(await told(visitor!), {
      hasAhead: hidden !== "ahead",
      hasWaiting: hidden !== "behind",
      hasWait: hidden !== "wait",
    });
    const board = await boardAt(stage);
    assert.equal(board.marks.length === 0, hidden === "ahead");
    assert.equal(board.waiting === null, hidden === "behind");
    // Without numbers of people ahead a page has no use for the waits, and they tell how long the line is.
    assert.equal(board.waits === null, hidden === "wait" || hidden === "ahead");
    const page = (await visitor!.open()).text;
    assert.equal(/data-live="ahead" hidden/.test(page), hidden === "ahead");
    assert.equal(/data-live="waitingRow" hidden/.test(page), hidden === "behind");
    assert.equal(/data-live="waitRow" hidden/.test(page), hidden === "wait");
  });
}
