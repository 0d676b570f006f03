import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "../../config/load.ts";
import { type Counts, NO_TOTALS } from "../../core/engine.ts";
import { LineStory } from "./line-story.ts";
import { ReadableLog } from "./readable-log.ts";

const ROOM = (() => {
  const input = { rooms: { main: { totalActiveUsers: 200, newUsersPerMinute: 600 } } };
  const needs = { needsSecret: false, needsOrigin: false };
  const result = settingsFrom(input, { environment: {}, readFile: () => "", ...needs });
  assert.ok(result.ok);
  return result.settings.rooms.main!;
})();

/** Plays a line: each second, how many wait and how many were let in so far after how long a wait. */
class Play {
  readonly story = new LineStory("main");
  readonly lines: [number, string][] = [];
  #now = 0;
  /** Turns are used in the second in which they are given. */
  readonly entered = { admitted: 0, entered: 0, waitedMs: 0 };
  onSite = 200;

  /** `seconds` seconds with this line; each second `letIn` visitors enter after `waitMs`. */
  seconds(count: number, waiting: number, { letIn = 0, waitMs = 0 } = {}): this {
    for (let i = 0; i < count; i++) {
      this.#now += 1_000;
      this.entered.admitted += letIn;
      this.entered.entered += letIn;
      this.entered.waitedMs += letIn * waitMs;
      const line = this.story.observe(this.#counts(waiting), ROOM, this.#now);
      if (line !== null) this.lines.push([this.#now / 1_000, line.message]);
    }
    return this;
  }

  #counts(waiting: number): Counts {
    return {
      ...{
        waiting,
        admitted: 0,
        looseTurns: 0,
        onSite: this.onSite,
        lapsed: 0,
        ratePerMinute: 60,
        waitAccuracy: null,
        unfairness: 0,
      },
      ...{ state: "queueing", event: null, limits: { totalActiveUsers: 200, newUsersPerMinute: 600 } },
      ...{ isActive: true, noShows: 0, lanes: [], remarks: [] },
      totals: { ...NO_TOTALS, ...this.entered },
    };
  }
}

test("a line's story: it forms, doubles, passes its peak and clears, at most one line a minute", () => {
  const play = new Play()
    .seconds(5, 0)
    .seconds(10, 50)
    .seconds(60, 400)
    .seconds(80, 1_000, { letIn: 2, waitMs: 30_000 })
    .seconds(100, 300, { letIn: 5, waitMs: 90_000 })
    .seconds(30, 0);
  assert.deepEqual(play.lines, [
    [7, "main: a line has formed: the site is full (totalActiveUsers 200); 50 waiting"],
    [67, "main: the line has doubled: 400 waiting"],
    [127, "main: the line has doubled: 1,000 waiting"],
    [187, "main: the line is past its peak of 1,000: 300 waiting"],
    [
      266,
      "main: the line has cleared after 4 min 9 s: 660 let in, longest wait about 1 min 30 s, peak 1,000",
    ],
  ]);
});

test("the peak is told where it was not told as a doubling", () => {
  const play = new Play().seconds(70, 100).seconds(10, 150).seconds(60, 120);
  assert.match(play.lines.at(-1)![1], /past its peak of 150: 120 waiting/);
});

test("one who waits for a moment makes no line, and a line that comes and goes is one", () => {
  const moment = new Play();
  for (let i = 0; i < 60; i++) moment.seconds(1, 1).seconds(1, 0);
  assert.deepEqual(moment.lines, []);
  const flicker = new Play();
  for (let i = 0; i < 60; i++) flicker.seconds(3, 4).seconds(3, 0);
  assert.equal(flicker.lines.length, 1);
});

test("the longest wait is that of visitors, not of turns: many may enter when few turns are given", () => {
  const play = new Play().seconds(100, 20);
  for (const [admitted, entered] of [
    [9, 0],
    [1, 10],
  ] as const) {
    play.entered.admitted += admitted;
    play.entered.entered += entered;
    play.entered.waitedMs += entered * 60_000;
    play.seconds(1, 10);
  }
  play.seconds(60, 0);
  assert.match(play.lines.at(-1)![1], /10 let in, longest wait about 1 min, peak 20/);
});

test("why a line forms: the rate where the site has room", () => {
  const play = new Play();
  play.onSite = 10;
  assert.match(play.seconds(3, 5).lines[0]![1], /more come than are let in \(newUsersPerMinute 600\)/);
});

test("the log is readable, holds what comes before the banner, and lets no escape through", () => {
  let out = "";
  const log = new ReadableLog({ write: (text) => (out += text) }, false);
  const line = (level: number, msg: string, more: object = {}) =>
    log.write(`${JSON.stringify({ level, time: 1_780_000_000_000, ...more, msg })}\n`);
  line(30, "an early word");
  line(40, "an early warning", { code: "FEW_FILES" });
  assert.equal(out, "");
  log.release("BANNER\n");
  line(50, "no \x1b[2Jmore", { address: "http://a\x1b]0;x\x07", err: { message: "gone" }, files: 5 });
  line(30, "main: a line has formed", { code: "LINE_FORMED", room: "main" });
  log.write("not JSON \x1b[2J\n");
  const shown = out.replace(/^\d\d:\d\d:\d\d/gm, "12:00:00");
  assert.equal(
    shown,
    "BANNER\n12:00:00  warn  an early warning\n12:00:00  error no  [2Jmore  address=http://a ]0;x   err=gone  files=5\n12:00:00  main: a line has formed\nnot JSON  [2J\n",
  );
});
