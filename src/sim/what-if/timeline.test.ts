import assert from "node:assert/strict";
import { test } from "node:test";
import { type RoomMoment, Timeline } from "./timeline.ts";

const EMPTY: RoomMoment = { atMs: 0, waiting: 0, onSite: 0, turns: 0, slots: 200, arrived: 0, admitted: 0 };

test("unused turns take slots, and means are by time", () => {
  const timeline = new Timeline();
  timeline.add(EMPTY, "line empty");
  timeline.add({ ...EMPTY, atMs: 1_000, onSite: 60, turns: 40 }, "rate");
  timeline.add({ ...EMPTY, atMs: 4_000, onSite: 150, turns: 50, waiting: 9 }, "site full");
  assert.deepEqual(timeline.used, { peak: 200, mean: (100 + 3 * 200) / 4, fullShare: 0.75 });
  assert.deepEqual([...timeline.reasonMs], [["site full", 3_000]]);
});

test("a site is full while hardly a slot is free", () => {
  const fullShare = (onSite: number) => {
    const timeline = new Timeline();
    timeline.add({ ...EMPTY, atMs: 1_000, onSite }, "rate");
    return timeline.used.fullShare;
  };
  assert.deepEqual([fullShare(197), fullShare(198), fullShare(200)], [0, 1, 1]);
});

test("however long a run is, there are few samples, evenly spread, and sums include those left out", () => {
  const timeline = new Timeline();
  const lastMs = 20 * 3_600_000;
  let count = 0;
  for (; timeline.nextMs <= lastMs; count++)
    timeline.add({ ...EMPTY, atMs: timeline.nextMs, onSite: 10 }, "rate");
  const { looks, used } = timeline;
  assert.ok(looks.length <= 480 && looks.length > 200, String(looks.length));
  assert.ok(count > 1_000);
  const steps = new Set(looks.slice(1).map(({ atMs }, i) => atMs - looks[i]!.atMs));
  assert.equal(steps.size, 1);
  assert.ok(Math.abs(used.mean - 10) < 1e-9);
});

test("admissions are counted by the minute, and the longest line is remembered with its time", () => {
  const timeline = new Timeline();
  timeline.noteAdmitted(3, 59_999);
  timeline.noteAdmitted(4, 180_000);
  timeline.noteLine(7, 5_000);
  timeline.noteLine(7, 9_000);
  assert.deepEqual(timeline.admittedByMinute, [3, 0, 0, 4]);
  assert.deepEqual(timeline.longest, { waiting: 7, atMs: 5_000 });
});
