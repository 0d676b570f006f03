import assert from "node:assert/strict";
import { test } from "node:test";
import { RoomFlow } from "./room-flow.ts";

const START = 1_000_000_000;
const PER_MINUTE = 60;

function nodeFlow(): RoomFlow {
  const flow = new RoomFlow();
  flow.isRoot = false;
  return flow;
}

/** How many the root lets in from a line that never ends, in the minute from `START` on. */
function admittedInAMinute(flow: RoomFlow, perMinute: number): number {
  let admitted = 0;
  for (let now = START; now < START + 60_000; now += 200) {
    const count = flow.allowance(perMinute, now);
    flow.giveTurns(perMinute, count, now);
    flow.enter(count, now);
    admitted += count;
  }
  return admitted;
}

test("without leave a node lets nobody straight through, and with leave a limited number, for a second", () => {
  const flow = nodeFlow();
  assert.equal(flow.allowance(PER_MINUTE, START), 0);
  flow.receive(3, START);
  assert.equal(flow.allowance(PER_MINUTE, START + 999), 3);
  flow.giveTurns(PER_MINUTE, 1, START + 999);
  assert.equal(flow.allowance(PER_MINUTE, START + 999), 2);
  assert.equal(flow.allowance(PER_MINUTE, START + 1_000), 0);
});

test("without a rate no leave is needed, and entries are counted for the root", () => {
  const flow = nodeFlow();
  assert.equal(flow.allowance(null, START), Number.POSITIVE_INFINITY);
  flow.giveTurns(null, 4, START);
  assert.equal(flow.uncharged, 4);
  assert.equal(flow.leave, 0);
});

test("leave that is handed out is taken off what the root admits, and unused leave is added again", () => {
  const [kept, returned, none] = [new RoomFlow(), new RoomFlow(), new RoomFlow()];
  for (const flow of [kept, returned]) flow.grant(PER_MINUTE, 2, START - 1_000);
  returned.settle(PER_MINUTE, { back: 2, uncharged: 0 }, START);
  const all = admittedInAMinute(none, PER_MINUTE);
  assert.equal(all, PER_MINUTE);
  assert.equal(admittedInAMinute(kept, PER_MINUTE), all - 2);
  assert.equal(admittedInAMinute(returned, PER_MINUTE), all);
});

test("entries without leave, or beyond it, count from the next round on", () => {
  const [uncharged, overdrawn] = [new RoomFlow(), new RoomFlow()];
  uncharged.settle(PER_MINUTE, { back: 0, uncharged: 5 }, START);
  overdrawn.settle(PER_MINUTE, { back: -5, uncharged: 0 }, START);
  for (const flow of [uncharged, overdrawn])
    assert.equal(admittedInAMinute(flow, PER_MINUTE), PER_MINUTE - 5);
});

test("a part of a cluster has its share of the rate", () => {
  const flow = new RoomFlow();
  flow.share = 0.4;
  assert.equal(admittedInAMinute(flow, PER_MINUTE), 24);
});

test("looking ahead with leave for one more changes nothing", () => {
  const flow = nodeFlow();
  flow.receive(0, START);
  assert.equal(
    flow.ifThereWereLeave(() => flow.allowance(PER_MINUTE, START + 5_000)),
    1,
  );
  assert.equal(flow.allowance(PER_MINUTE, START + 500), 0);
  assert.equal(flow.allowance(PER_MINUTE, START + 5_000), 0);
});

test("another root continues with the flow that was handed over", () => {
  const [before, after] = [new RoomFlow(), new RoomFlow()];
  const count = before.allowance(PER_MINUTE, START - 1);
  before.giveTurns(PER_MINUTE, count, START - 1);
  before.enter(count, START - 1);
  before.giveTurnsBack(1, START - 1);
  after.takeOver(structuredClone(before.handOver(START)), START);
  assert.deepEqual(after.bySecond(START), before.bySecond(START));
  assert.equal(after.allowance(PER_MINUTE, START), before.allowance(PER_MINUTE, START));
});

test("a visitor with a firm turn enters, and counts in the minute only at the root", () => {
  const [root, node] = [new RoomFlow(), nodeFlow()];
  assert.equal(node.entriesLeft(1, START), Number.POSITIVE_INFINITY);
  node.enter(5, START);
  node.giveTurnsBack(5, START);
  node.isRoot = true;
  assert.equal(node.entriesLeft(PER_MINUTE, START), PER_MINUTE);
  root.enter(5, START);
  assert.equal(root.entriesLeft(PER_MINUTE, START), PER_MINUTE - 5);
  assert.equal(root.allowance(7, START, { firm: 2, noShows: 0 }), 0);
});
