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

/** What one visitor is sent, by what they asked for: bodies, and headers as JSON. */
type Sent = Readonly<Record<string, string>>;

/** Everything that the last visitor in a line of this length is sent, but for what is theirs alone or of the moment. */
async function sentTo(t: TestContext, waiting: number, show: RoomInput["show"]): Promise<Sent> {
  const stage = await openStage(t, { room: { show } });
  await stage.occupant();
  const line = await joinLine(stage, waiting);
  stage.world.pass(1_000);
  const last = line.at(-1)!;
  const stream = await last.listen();
  await stream.heard("board");
  const answers = {
    page: await last.open(),
    json: (await askJson(last)).answer,
    checkIn: await last.post("check-in"),
    board: await last.ask("/.fairgate/main/board"),
  };
  const sent: Record<string, string> = { stream: plain(stream.events.map(({ data }) => data).join("\n")) };
  for (const [name, { text, headers }] of Object.entries(answers)) {
    sent[name] = plain(text);
    sent[`${name}Headers`] = plain(JSON.stringify(headers));
  }
  return sent;
}

/** Times until the next look, wherever they stand; the last digits are dice. */
const PACES = /"(?:nextCheckInMs|retry-after|refresh)":"?(\d+)/gi;

/** Without nonces, tokens, dates and one's own number. Times until the next look count by whole steps of five seconds. */
function plain(text: string): string {
  return text
    .replaceAll(/nonce="[^"]*"|'nonce-[^']*'|"set-cookie":\[[^\]]*\]|"(?:date|etag)":"[^"]*"/g, "")
    .replaceAll(/"sequence":\d+/g, "")
    .replaceAll(PACES, (what, time) => what.replace(time, String(inFives(Number(time)))));
}

function inFives(time: number): number {
  const seconds = time > 1_000 ? time / 1_000 : time;
  return Math.floor(seconds / 5);
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

test("with the wait hidden, the times until the next look are the same at the front and far back", async (t) => {
  const stage = await openStage(t, { room: { show: { wait: false } } });
  await stage.occupant();
  const line = await joinLine(stage, 41);
  stage.world.pass(1_000);
  const paces = new Set<number>();
  for (const visitor of [line[0]!, line[20]!, line[40]!]) {
    const answers = [await visitor.open(), (await askJson(visitor)).answer, await visitor.post("check-in")];
    const texts = answers.map(({ text, headers }) => `${text} ${JSON.stringify(headers)}`);
    for (const [, time] of texts.join(" ").matchAll(PACES)) paces.add(inFives(Number(time)));
  }
  assert.deepEqual([...paces], [1], "five to ten seconds, for everyone");
});

test("with nothing hidden they do not", async (t) => {
  const [short, long] = [await sentTo(t, 3, {}), await sentTo(t, 41, {})];
  for (const name of ["page", "json", "checkIn", "board", "stream"])
    assert.notEqual(short[name], long[name], name);
  assert.match(long.json!, /"waitMs":\{"low":\d/);
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
