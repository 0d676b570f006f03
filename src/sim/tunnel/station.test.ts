import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES } from "../../core/rules.ts";
import type { NodeSettings } from "../../engines/cluster/node-settings.ts";
import { diceOf } from "./dice.ts";
import { EventLoop } from "./event-loop.ts";
import { START_AT } from "./node-clock.ts";
import type { SimNode } from "./sim-node.ts";
import { NODE_SETTINGS } from "./sim-node.ts";
import { Station } from "./station.ts";

/** A node that ticks when it wants to and writes down what was asked of it. */
class Diary {
  readonly ticks: number[] = [];
  readonly settings: NodeSettings;
  wantsAt = Number.POSITIVE_INFINITY;
  everyMs = 100;
  isGone = false;
  isBroken = false;

  constructor(settings: NodeSettings, now: number) {
    this.settings = settings;
    this.wantsAt = now + this.everyMs;
  }

  configure(): void {}
  takeOutbox = () => [];
  takeEvents = () => [];
  status = () => ({ view: null });
  nextAt = () => this.wantsAt;

  tick(now: number): void {
    if (this.isBroken) throw new Error("broken");
    this.ticks.push(now - START_AT);
    this.wantsAt = now + this.everyMs;
  }
}

function stage(clock: { skewMs?: number; driftPpm?: number } = {}) {
  const loop = new EventLoop();
  const nodes: Diary[] = [];
  const heard: string[] = [];
  const station = new Station({
    index: 0,
    name: "a",
    address: "a:1",
    skewMs: clock.skewMs ?? 0,
    driftPpm: clock.driftPpm ?? 0,
    loop,
    makeNode: (settings, _dice, now) => {
      nodes.push(new Diary(settings, now));
      return nodes.at(-1) as unknown as SimNode;
    },
    settings: NODE_SETTINGS,
    diceFor: (life) => diceOf(1, life),
    ears: {
      onOutbox: () => {},
      onEvents: () => {},
      onGone: () => {
        heard.push("gone");
        station.stop();
      },
      onThrow: (_station, error) => heard.push(`threw ${(error as Error).message}`),
    },
  });
  const start = () => station.start([], { name: "main", rules: DEFAULT_RULES });
  start();
  return { loop, station, nodes, heard, start, node: nodes[0]! };
}

test("a node is ticked when it asks for it, by its own clock", () => {
  const { loop, node } = stage({ skewMs: -30 });
  loop.runUntil(351);
  assert.deepEqual(node.ticks, [70, 170, 270]);
});

test("a node that always asks to be ticked is, once a millisecond, and time goes on", () => {
  const { loop, node } = stage();
  node.everyMs = 0;
  loop.runUntil(110);
  assert.deepEqual(node.ticks, [100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 110]);
});

test("a deadline that moves is followed, forward and back", () => {
  const { loop, node, station } = stage();
  loop.at(50, () =>
    station.call((_, now) => {
      node.wantsAt = now + 10;
    }),
  );
  loop.at(65, () =>
    station.call(() => {
      node.wantsAt = START_AT + 300;
    }),
  );
  loop.runUntil(310);
  assert.deepEqual(node.ticks, [60, 300]);
});

test("a clock that jumps ahead makes things due, one that is set back makes them wait", () => {
  const { loop, node, station } = stage();
  loop.at(20, () => {
    station.clock.jump(1_000);
    station.call(() => {});
  });
  loop.at(30, () => {
    station.clock.jump(-1_000);
    station.call(() => {});
  });
  loop.runUntil(1_200);
  assert.deepEqual(node.ticks, [1_020, 1_120]);
});

test("a stalled station does late what was due, in order", () => {
  const { loop, node, station } = stage();
  const seen: string[] = [];
  loop.at(90, () => {
    station.stalledUntil = 250;
  });
  loop.at(120, () => station.whenAwake(() => seen.push(`a at ${loop.time}`)));
  loop.at(110, () => station.whenAwake(() => seen.push(`b at ${loop.time}`)));
  loop.runUntil(260);
  assert.deepEqual(node.ticks, [250]);
  assert.deepEqual(seen, ["b at 250", "a at 250"]);
});

test("a new process has a new life, and ticks and messages of the old one are ignored", () => {
  const { loop, station, nodes, start } = stage();
  const seen: string[] = [];
  loop.at(80, () => {
    station.stalledUntil = 90;
    station.whenAwake(() => seen.push("old"));
    station.stop();
  });
  loop.at(85, () => start());
  loop.runUntil(190);
  assert.deepEqual(
    nodes.map(({ settings, ticks }) => [settings.life, ticks]),
    [
      [1, []],
      [2, [185]],
    ],
  );
  assert.deepEqual(seen, []);
  assert.equal(
    station.call(() => 1),
    1,
  );
  station.stop();
  assert.equal(
    station.call(() => 1),
    undefined,
  );
});

test("an exception is reported, and so is a node that has left", () => {
  const { loop, node, heard, station } = stage();
  node.isBroken = true;
  loop.runUntil(150);
  assert.deepEqual(heard, ["threw broken"]);
  node.isGone = true;
  station.call(() => {});
  assert.deepEqual(heard, ["threw broken", "gone"]);
  assert.equal(station.isUp, false);
});
