import assert from "node:assert/strict";
import { test } from "node:test";
import { Progress } from "./progress.ts";

function watched(isTerminal: boolean) {
  const world = { at: 5_000, now: () => world.at, written: "", write: add, isTerminal };
  function add(text: string): void {
    world.written += text;
  }
  return world;
}

test("nothing is said of what is done within a second", () => {
  const world = watched(true);
  const progress = new Progress(world);
  world.at += 999;
  progress.tell("half of it");
  progress.end();
  assert.equal(world.written, "");
});

test("on a terminal one line is written over, not too often, and gone at the end", () => {
  const world = watched(true);
  const progress = new Progress(world);
  for (const [ms, text] of [
    [1_000, "10 %"],
    [99, "20 %"],
    [1, "30 %"],
  ] as const) {
    world.at += ms;
    progress.tell(text);
  }
  progress.end();
  assert.equal(world.written, "\r\x1b[2K10 %\r\x1b[2K30 %\r\x1b[2K");
});

test("elsewhere there is a whole line each second and nothing that moves about", () => {
  const world = watched(false);
  const progress = new Progress(world);
  for (let second = 1; second <= 3; second++) {
    world.at += 1_000;
    progress.tell(`second ${second}`);
    progress.tell("the same second");
  }
  progress.end();
  assert.equal(world.written, "second 1\nsecond 2\nsecond 3\n");
});
