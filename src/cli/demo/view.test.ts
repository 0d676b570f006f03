/** The demo's picture, read from the screen: an hour of it, on terminals of several sizes, and in a pipe. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Counts } from "../../core/engine.ts";
import { Terminal } from "../../testing/cli/terminal.ts";
import { columnsOf } from "../operate/columns.ts";
import { type DemoScene, DemoView, type DemoWindow } from "./view.ts";

const OPENING = [
  "  Fairgate demo",
  "",
  "    Stand in the line   http://127.0.0.1:65535   (open it)",
  "  Control http",
];
const HOUR_SECONDS = 3_600;

/** A terminal, or a pipe, that keeps what was written to it. */
function windowOf(size: { columns: number; rows: number } | null) {
  const terminal = new Terminal(size?.columns ?? 80, size?.rows ?? 24);
  let resized = () => {};
  let written = "";
  const out = {
    isTTY: size !== null,
    ...size,
    on: (_: string, hear: () => void) => {
      resized = hear;
      return out;
    },
    write: (text: string) => {
      written += text;
      if (size !== null) terminal.write(Buffer.from(text));
      return true;
    },
  };
  const resize = (columns: number, rows: number) => {
    Object.assign(out, { columns, rows });
    terminal.resize(columns, rows);
    resized();
  };
  return {
    out: out as unknown as DemoWindow,
    terminal,
    resize,
    text: () => terminal.text(),
    written: () => written,
  };
}

/** The demo in its `second`th second: everything grows, and the line comes and goes. */
function sceneAt(second: number): DemoScene {
  const waiting = Math.round(60 * Math.abs(Math.sin(second / 30)));
  const totals = {
    joined: 3 * second,
    entered: 2 * second,
    left: second,
    missedTurns: second,
    admitted: 2 * second,
  };
  const counts = { waiting, onSite: second % 41, admitted: 0, unfairness: 0, totals } as unknown as Counts;
  const limits = { totalActiveUsers: 40, newUsersPerMinute: 300 };
  return { counts, limits, waitSeconds: { low: waiting / 3, high: waiting } };
}

for (const [columns, rows] of [
  [80, 24],
  [120, 40],
  [40, 12],
] as const)
  test(`an hour on ${columns}x${rows}: the addresses stay, one picture, nothing wider than the screen`, () => {
    const window = windowOf({ columns, rows });
    const view = new DemoView(window.out, OPENING);
    for (let second = 0; second < HOUR_SECONDS; second++) {
      if (second % 3 === 0)
        view.tell(`visitor ${second} is in, after ${second} s in the line${" and".repeat(second % 40)}`);
      view.show(sceneAt(second));
      if (second % 7 > 0) continue;
      const lines = window.text().split("\n");
      assert.ok(lines.length <= rows);
      assert.ok(lines.every((line) => columnsOf(line) <= columns));
      assert.equal(lines[0], OPENING[0]);
      assert.match(lines[2]!, /Stand in the line +http:/);
      assert.equal(lines.filter((line) => /^ {2}waiting /.test(line)).length, 1);
      assert.equal(
        lines.findIndex((line) => line.includes("Ctrl-C stops")),
        lines.length - 1,
      );
    }
    view.close();
    assert.equal(window.terminal.isOther, false);
    assert.equal(window.text(), "");
  });

test("a terminal that gets another size is filled anew, without a rest of the old picture", () => {
  const window = windowOf({ columns: 120, rows: 40 });
  const view = new DemoView(window.out, OPENING);
  for (let second = 0; second < 200; second++) view.show(sceneAt(second));
  for (const [columns, rows] of [
    [80, 24],
    [200, 50],
    [60, 10],
    [80, 24],
  ] as const) {
    window.resize(columns, rows);
    const fresh = windowOf({ columns, rows });
    const other = new DemoView(fresh.out, OPENING);
    for (let second = 0; second < 200; second++) other.show(sceneAt(second));
    assert.equal(window.text(), fresh.text());
  }
});

test("the latest news comes first, the site that is full is told once", () => {
  const window = windowOf({ columns: 80, rows: 40 });
  const view = new DemoView(window.out, OPENING);
  view.tell("one");
  for (let second = 1; second < 100; second++) view.show(sceneAt(second));
  view.tell("two");
  view.show(sceneAt(100));
  assert.match(window.text(), / 1:39 {2}two\n.*the site is full.*\n +0:00 {2}one\n/);
});

test("in a pipe the addresses come once, then a line every ten seconds, later every minute", () => {
  const window = windowOf(null);
  const view = new DemoView(window.out, OPENING);
  for (let second = 0; second < HOUR_SECONDS; second++) view.show(sceneAt(second));
  view.close();
  assert.doesNotMatch(window.written(), /\x1b|\r/);
  assert.equal(window.written().split("Stand in the line").length, 2);
  const lines = window.written().match(/^waiting .*$/gm)!;
  assert.equal(lines.length, 6 + 59);
});
