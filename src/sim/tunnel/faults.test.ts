import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { nodesOf } from "../../testing/cluster/desk-node.ts";
import { OneDesk } from "../../testing/cluster/one-desk.ts";
import type { IncidentKind } from "./fault-kinds.ts";
import { Faults } from "./faults.ts";
import type { Notice } from "./notice.ts";
import { Tunnel } from "./tunnel.ts";

/** Nodes that have all been members for long enough that one may die. */
function stage(nodes: number, settledMs = 8_000) {
  const seen: Notice[] = [];
  const see = (notice: Notice) => {
    seen.push(notice);
    return null;
  };
  const tunnel = new Tunnel({
    seed: 1,
    makeNode: nodesOf(new OneDesk()),
    rules: { ...DEFAULT_RULES, totalActiveUsers: 5 },
    weather: { delayMs: { from: 10, to: 20 }, loss: 0, duplication: 0, reorder: 0, reorderUpToMs: 0 },
    visitorDelayMs: { from: 10, to: 20 },
    checks: [{ name: "book", see }],
  });
  for (let i = 0; i < nodes; i++) tunnel.addNode();
  tunnel.runUntil(settledMs);
  const faults = new Faults(tunnel, { seed: 1, clockOf: () => ({ skewMs: 0, driftPpm: 0 }) });
  const begin = (kind: IncidentKind, number = 1) =>
    faults.begin({ name: `${kind}.${number}`, kind, number, at: 0, forMs: 1_000, sizeMs: 100 });
  const pass = (ms: number) => tunnel.runUntil(tunnel.time + ms);
  const up = () => tunnel.stations.filter(({ isUp }) => isUp).length;
  return { tunnel, faults, seen, begin, pass, up };
}

for (const kind of ["partition", "oneWay", "clog"] as const)
  test(`${kind}: links are broken for their time, and messages with them`, () => {
    const { tunnel, begin, pass } = stage(4);
    begin(kind);
    assert.equal(tunnel.network.isSplit, true);
    pass(999);
    assert.equal(tunnel.network.isSplit, true);
    pass(2);
    assert.equal(tunnel.network.isSplit, false);
    const { sent, arrived, lost } = tunnel.messages.figures();
    if (kind === "clog") assert.deepEqual(lost, {});
    else assert.ok(lost.cut! > 0 && arrived < sent);
  });

test("partition: neither part is empty, whatever the dice say", () => {
  for (let number = 1; number < 30; number++) {
    const { seen, begin } = stage(3, 100);
    begin("partition", number);
    const parts = seen.flatMap((notice) => (notice.kind === "parted" ? [notice.parts!] : []))[0]!;
    assert.ok(parts.every(({ length }) => length > 0));
    assert.deepEqual(parts.flat().sort(), [0, 1, 2]);
  }
});

test("crash: a process dies and is restarted with a new life", () => {
  const { tunnel, begin, pass, up } = stage(3);
  begin("crash");
  assert.equal(up(), 2);
  pass(1_001);
  assert.equal(up(), 3);
  assert.deepEqual(tunnel.stations.map(({ life }) => life).sort(), [1, 1, 2]);
});

test("crash: no node dies while too few others know what it knows", () => {
  const alone = stage(1);
  alone.begin("crash");
  assert.equal(alone.up(), 1);
  const young = stage(3, 2_000);
  young.begin("crash");
  assert.equal(young.up(), 3);
  const two = stage(3);
  two.begin("crash", 1);
  two.begin("crash", 2);
  two.begin("crash", 3);
  assert.equal(two.up(), 2);
});

test("crashForGood: a process dies and stays dead, and a majority stays", () => {
  const { tunnel, faults, begin, pass, up } = stage(3);
  begin("crashForGood");
  pass(5_000);
  faults.heal();
  assert.equal(up(), 2);
  assert.equal(tunnel.stations.filter(({ isRetired }) => isRetired).length, 1);
  const pair = stage(2);
  pair.begin("crashForGood");
  assert.equal(pair.up(), 2);
});

test("restartAll: all die together, and the checks hear that no node is left that knew", () => {
  const { seen, begin, pass, up } = stage(3);
  begin("restartAll");
  assert.equal(up(), 0);
  const ends = seen.flatMap((notice) => (notice.kind === "stopped" ? [notice.isLast] : []));
  assert.deepEqual(ends, [false, false, true]);
  pass(1_001);
  assert.equal(up(), 3);
});

test("add and leave: nodes come, and leave with a goodbye and for good", () => {
  const { tunnel, begin, pass, up } = stage(3);
  begin("add");
  assert.equal(up(), 4);
  pass(8_000);
  begin("leave");
  pass(1_000);
  assert.equal(up(), 3);
  assert.equal(tunnel.stations.filter(({ isRetired }) => isRetired).length, 1);
});

test("jump: a clock is wrong for a while, and right again", () => {
  const { tunnel, begin, pass } = stage(3);
  const apart = () => {
    const nows = tunnel.stations.map(({ now }) => now);
    return Math.max(...nows) - Math.min(...nows);
  };
  begin("jump");
  pass(500);
  assert.equal(apart(), 100);
  pass(700);
  assert.equal(apart(), 0);
});

test("slow: a node stalls again and again, for a while", () => {
  const { tunnel, begin, pass } = stage(3);
  begin("slow");
  assert.equal(tunnel.stations.filter(({ stalledUntil }) => stalledUntil > tunnel.time).length, 1);
  pass(1_500);
  assert.ok(tunnel.stations.every(({ stalledUntil }) => stalledUntil < tunnel.time));
});

test("spike: messages take longer, for a while", () => {
  const { tunnel, begin, pass } = stage(3);
  const underWay = () => {
    let sum = 0;
    for (let ms = 0; ms < 900; ms++) {
      pass(1);
      const { sent, arrived } = tunnel.messages.figures();
      sum += sent - arrived;
    }
    return sum;
  };
  const before = underWay();
  begin("spike");
  assert.ok(underWay() > 1.3 * before);
  pass(1_000);
  assert.ok(Math.abs(underWay() / before - 1) < 0.1);
});

test("heal ends all incidents, and none ends twice", () => {
  const { tunnel, faults, begin, pass, up } = stage(5);
  begin("partition");
  begin("clog");
  begin("crash");
  assert.equal(up(), 4);
  faults.heal();
  assert.equal(tunnel.network.isSplit, false);
  assert.equal(up(), 5);
  pass(3_000);
  begin("oneWay");
  assert.equal(tunnel.network.isSplit, true);
});
