/** The draw at an event's start, from the hash that everyone sees to the receipt that anyone can check. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { type TestContext, test } from "node:test";
import { checkReceipt, type Receipt, readReceipt } from "../../../core/draw-receipt.ts";
import {
  askJson,
  assertSite,
  boardAt,
  change,
  ENDS_MS,
  GATHERS_MS,
  joinLine,
  OPENED_AT,
  orderOfEntry,
  passTo,
  STARTS_MS,
  saleEvent,
} from "../../../testing/gateway/line.ts";
import { openStage, type Stage } from "../../../testing/gateway/stage.ts";
import { assertWaitingPage, type Visitor } from "../../../testing/gateway/visitor.ts";
import { proves } from "../../../testing/requirements/proves.ts";
import { until } from "../../../testing/until.ts";

const ROOM = {
  totalActiveUsers: 1,
  lapseAfter: "10m",
  events: [saleEvent({ shuffleAtEventStart: true })],
};

/** A room with its site taken and this many people gathered for the draw. */
async function gather(
  t: TestContext,
  count: number,
): Promise<{ stage: Stage; line: Visitor[]; onSite: Visitor }> {
  const stage = await openStage(t, { room: ROOM });
  const onSite = await stage.occupant();
  passTo(stage, GATHERS_MS + 1_000);
  return { stage, line: await joinLine(stage, count), onSite };
}

async function receiptOf(visitor: Visitor): Promise<Receipt> {
  const { status, text, headers } = await visitor.ask("/.fairgate/main/receipt");
  assert.equal(status, 200, text);
  assert.match(String(headers["content-disposition"]), /attachment; filename="receipt-main-sale\.json"/);
  const read = readReceipt(text);
  assert.ok("value" in read, text);
  return read.value;
}

function sha256(...hexes: string[]): string {
  const hash = createHash("sha256");
  for (const hex of hexes) hash.update(Buffer.from(hex, "hex"));
  return hash.digest("hex");
}

test("the hash is on the board before the prequeue opens, the seed not before the start, and one is the other's (ce5)", async (t) => {
  const stage = await openStage(t, { room: ROOM });
  const before = (await boardAt(stage)).draw!;
  assert.match(before.seedHash, /^[0-9a-f]{64}$/);
  assert.deepEqual([before.event, before.seed], ["sale", null]);
  passTo(stage, GATHERS_MS + 1_000);
  await joinLine(stage, 3);
  for (const afterMs of [GATHERS_MS + 5_000, STARTS_MS - 1]) {
    passTo(stage, afterMs);
    assert.deepEqual((await boardAt(stage)).draw, before);
  }
  passTo(stage, STARTS_MS + 1_000);
  const { seedHash, seed } = (await boardAt(stage)).draw!;
  assert.equal(seedHash, before.seedHash);
  assert.equal(sha256(seed!), seedHash);
});

test("nothing that is sent before the start holds the seed", async (t) => {
  const { stage, line } = await gather(t, 2);
  const stream = await line[0]!.listen();
  await stream.heard("board");
  const page = await line[0]!.open();
  const json = await askJson(line[1]!);
  const receipt = await line[0]!.ask("/.fairgate/main/receipt");
  assert.equal(receipt.status, 404);
  const sent = [page.text, json.answer.text, receipt.text, ...stream.events.map(({ data }) => data)].join(
    "\n",
  );
  passTo(stage, STARTS_MS + 1_000);
  const { seed } = (await boardAt(stage)).draw!;
  assert.ok(!sent.includes(seed!));
});

test("before the draw nobody is ahead of anybody: no number in page, JSON or board", async (t) => {
  const { stage, line } = await gather(t, 4);
  passTo(stage, GATHERS_MS + 3_000);
  assert.deepEqual((await boardAt(stage)).marks, []);
  for (const visitor of line) {
    const { told } = await askJson(visitor);
    assert.deepEqual([told.ahead, told.waitMs, told.opensAt], [null, null, OPENED_AT + STARTS_MS]);
    assert.doesNotMatch((await visitor.open()).text, /"ahead":\d/);
  }
});

test(
  proves(
    ["ce5", "E.ce6"],
    "people are let in in the order that anyone can work out from the seed and their tickets",
  ),
  async (t) => {
    const { stage, line, onSite } = await gather(t, 8);
    passTo(stage, STARTS_MS + 1_000);
    const receipts = await Promise.all(line.map(receiptOf));
    const { seed } = (await boardAt(stage)).draw!;
    const places = line
      .map((_, index) => ({ index, key: sha256(seed!, receipts[index]!.ticket) }))
      .sort((a, b) => (a.key < b.key ? -1 : 1));
    const drawn = places.map(({ index }) => index);
    assert.deepEqual(
      drawn.map((index) => receipts[index]!.place),
      [1, 2, 3, 4, 5, 6, 7, 8],
    );
    assert.deepEqual(await orderOfEntry(stage, { line, onSite }), drawn);
  },
);

test("a receipt is good alone and by the whole record, and a forged one is not", async (t) => {
  const { stage, line } = await gather(t, 5);
  passTo(stage, STARTS_MS + 1_000);
  const record = (await stage.engine.draw("main", "sale"))!;
  for (const visitor of line) {
    const receipt = await receiptOf(visitor);
    assert.equal(checkReceipt(receipt, null), null);
    assert.equal(checkReceipt(receipt, { room: "main", record }), null);
    assert.equal(receipt.of, 5);
    const forged = { ...receipt, place: (receipt.place % 5) + 1 };
    assert.equal(checkReceipt(forged, { room: "main", record })?.kind, "place");
  }
});

test("a receipt outlives the turn: the same for someone on the site", async (t) => {
  const { stage, line, onSite } = await gather(t, 3);
  passTo(stage, STARTS_MS + 1_000);
  const before = await Promise.all(line.map(receiptOf));
  const [first] = await orderOfEntry(stage, { line, onSite });
  assert.equal(before[first!]!.place, 1);
  const last = before.findIndex(({ place }) => place === 3);
  assert.deepEqual(await receiptOf(line[last]!), before[last]);
  assert.equal(stage.origin.seen.at(-1)!.headers["fairgate-visitor"], before[last]!.ticket);
});

test("a visitor who was in no draw has no receipt: newcomers, latecomers and people from before the prequeue", async (t) => {
  const { stage, onSite } = await gather(t, 2);
  passTo(stage, STARTS_MS + 1_000);
  const [late] = await joinLine(stage, 1);
  for (const visitor of [late!, onSite, stage.visitor()])
    assert.equal((await visitor.ask("/.fairgate/main/receipt")).status, 404);
});

test("latecomers are behind the draw, first come, first served, and those from before the prequeue in front of it", async (t) => {
  const stage = await openStage(t, { room: ROOM });
  const onSite = await stage.occupant();
  const early = await joinLine(stage, 2);
  passTo(stage, GATHERS_MS + 1_000);
  const drawn = await joinLine(stage, 4);
  passTo(stage, STARTS_MS + 1_000);
  const late = await joinLine(stage, 2);
  const order = await orderOfEntry(stage, { line: [...early, ...drawn, ...late], onSite });
  assert.deepEqual(order.slice(0, 2), [0, 1]);
  assert.deepEqual(
    order.slice(2, 6).sort((a, b) => a - b),
    [2, 3, 4, 5],
  );
  assert.deepEqual(order.slice(6), [6, 7]);
});

test("a cookie from before the draw is the drawn place after it, on every address, as often as it is shown", async (t) => {
  const { stage, line } = await gather(t, 6);
  const cookies = line.map((visitor) => visitor.token()!);
  passTo(stage, STARTS_MS + 1_000);
  const ahead: (number | null)[] = [];
  for (const cookie of cookies) {
    const again = async () => {
      const visitor = stage.visitor();
      visitor.cookies.set("fairgate_main", cookie);
      return (await askJson(visitor)).told.ahead;
    };
    const first = await again();
    assert.equal(await again(), first);
    ahead.push(first);
  }
  assert.deepEqual(
    [...ahead].sort((a, b) => a! - b!),
    [0, 1, 2, 3, 4, 5],
  );
  const places = await Promise.all(line.map(async (visitor) => (await receiptOf(visitor)).place - 1));
  assert.deepEqual(ahead, places);
  assert.equal((await stage.engine.counts("main")).waiting, 6);
});

test("a stream opened before the draw hears of the turn that the draw gave its visitor, and of no other", async (t) => {
  const { stage, line, onSite } = await gather(t, 4);
  const streams = await Promise.all(line.map((visitor) => visitor.listen()));
  await Promise.all(streams.map((stream) => stream.heard("board")));
  passTo(stage, STARTS_MS + 5_000);
  const places = await Promise.all(line.map(async (visitor) => (await receiptOf(visitor)).place));
  const byPlace = streams.map((_, index) => streams[places.indexOf(index + 1)]!);
  let leaving = onSite;
  for (const [turn, stream] of byPlace.entries()) {
    await leaving.call("leave");
    stage.world.pass(1_000);
    await stream.heard("turn");
    for (const other of byPlace.slice(turn + 1)) assert.equal(other.count("turn"), 0);
    leaving = line[places.indexOf(turn + 1)]!;
    assertSite(await leaving.open());
  }
});

test("who gets a turn in the very moment of the draw hears of it too", async (t) => {
  const { stage, line, onSite } = await gather(t, 3);
  const streams = await Promise.all(line.map((visitor) => visitor.listen()));
  await Promise.all(streams.map((stream) => stream.heard("board")));
  await onSite.call("leave");
  passTo(stage, STARTS_MS + 5_000);
  await until(() => streams.some((stream) => stream.count("turn") > 0), "the turn");
  const lucky = streams.findIndex((stream) => stream.count("turn") > 0);
  assert.equal((await receiptOf(line[lucky]!)).place, 1);
  assertSite(await line[lucky]!.open());
});

test("after the draw a check-in tells the drawn place, also to someone whose stream heard of it first", async (t) => {
  const { stage, line } = await gather(t, 5);
  for (const visitor of line) await (await visitor.listen()).heard("board");
  passTo(stage, STARTS_MS + 8_000);
  const { marks } = await boardAt(stage);
  for (const visitor of line) {
    const told = await visitor.call("check-in");
    const { place } = await receiptOf(visitor);
    assert.equal(told.ahead, place - 1);
    assert.deepEqual(marks[place - 1], [told.sequence, place - 1]);
  }
});

test("everyone keeps the drawn place through a change of settings", async (t) => {
  const { stage, line, onSite } = await gather(t, 5);
  passTo(stage, STARTS_MS + 1_000);
  const places = await Promise.all(line.map(async (visitor) => (await receiptOf(visitor)).place - 1));
  await change(stage, { ...ROOM, message: "Nearly there" });
  assertWaitingPage(await line[0]!.open());
  const order = await orderOfEntry(stage, { line, onSite });
  assert.deepEqual(
    order.map((index) => places[index]),
    [0, 1, 2, 3, 4],
  );
});

test("the page of someone who was drawn has the seed and a link to the receipt", async (t) => {
  const { stage, line } = await gather(t, 2);
  const gathering = await line[0]!.open();
  const { seedHash } = (await boardAt(stage)).draw!;
  assert.ok(gathering.text.includes(seedHash));
  passTo(stage, STARTS_MS + 1_000);
  const drawn = await line[0]!.open();
  const { seed } = (await boardAt(stage)).draw!;
  assert.ok(drawn.text.includes(seed!));
  assert.match(drawn.text, /href="\/\.fairgate\/main\/receipt"/);
  passTo(stage, ENDS_MS + 1_000);
  assertWaitingPage(await line[0]!.open());
});
