import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { diceOf } from "./dice.ts";
import { EventLoop } from "./event-loop.ts";
import { type MessageFate, type MessageFlight, Network, type Way, type Weather } from "./network.ts";

const FAIR: Weather = {
  delayMs: { from: 10, to: 20 },
  loss: 0,
  duplication: 0,
  reorder: 0,
  reorderUpToMs: 0,
};

function stage(weather: Partial<Weather> = {}, seed = 1) {
  const loop = new EventLoop();
  const arrived: { time: number; from: number; to: number; message: unknown }[] = [];
  const lost: MessageFate[] = [];
  const network = new Network({
    loop,
    weather: { ...FAIR, ...weather },
    diceFor: ({ from, to }) => diceOf(seed, from, to),
    deliver: (flight: MessageFlight) => arrived.push({ time: loop.time, ...flight }),
    lose: (_flight, fate) => lost.push(fate),
  });
  const send = (count: number, way: Way = { from: 0, to: 1 }, everyMs = 1) => {
    const start = loop.time;
    for (let i = 0; i < count; i++) loop.at(start + i * everyMs, () => network.send({ ...way, message: i }));
  };
  const messages = () => arrived.map(({ message }) => message);
  return { loop, network, arrived, lost, send, messages };
}

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

test("without faults messages arrive once, in order, each within its time", () => {
  fc.assert(
    fc.property(fc.nat(), (seed) => {
      const { loop, arrived, send, messages } = stage({}, seed);
      send(50);
      loop.runUntil(1_000);
      assert.deepEqual(messages(), numbers(50));
      for (const { time, message } of arrived) {
        const tookMs = time - (message as number);
        assert.ok(tookMs >= 10 && tookMs <= 20 + 1e-9, `${tookMs}`);
      }
    }),
    { numRuns: 20 },
  );
});

test("shares of messages are lost and doubled", () => {
  const { loop, lost, arrived, send } = stage({ loss: 0.2, duplication: 0.1 });
  send(5_000);
  loop.runUntil(10_000);
  assert.ok(Math.abs(lost.length - 1_000) < 120, `${lost.length} lost`);
  assert.ok(Math.abs(arrived.length - 4_500) < 150, `${arrived.length} arrived`);
});

test("a reordered message is overtaken, and nothing else is", () => {
  const { loop, send, messages } = stage({ reorder: 0.1, reorderUpToMs: 300 });
  send(2_000);
  loop.runUntil(10_000);
  const seen = messages() as number[];
  assert.equal(new Set(seen).size, 2_000);
  const late = seen.filter((message, i) => seen.slice(0, i).some((before) => before > message));
  assert.ok(late.length > 100 && late.length < 260, `${late.length} overtaken`);
});

test("a cut loses what is sent and what is on its way, in one direction, until it is mended", () => {
  const { loop, network, lost, arrived, send } = stage();
  const way = { from: 0, to: 1 };
  send(1, way);
  send(1, { from: 1, to: 0 });
  loop.runUntil(5);
  network.cut([way]);
  send(1, way);
  loop.runUntil(100);
  assert.deepEqual(lost, ["cut", "cut"]);
  assert.deepEqual(
    arrived.map(({ from }) => from),
    [1],
  );
  assert.equal(network.isSplit, true);
  network.mend([way]);
  assert.equal(network.isSplit, false);
  send(1, way);
  loop.runUntil(200);
  assert.equal(arrived.length, 2);
});

test("overlapping faults end when the last of them does", () => {
  const { loop, network, arrived, send } = stage();
  const way = { from: 0, to: 1 };
  network.cut([way]);
  network.cut([way]);
  network.mend([way]);
  send(1);
  loop.runUntil(100);
  assert.equal(arrived.length, 0);
  network.mend([way]);
  send(1);
  loop.runUntil(200);
  assert.equal(arrived.length, 1);
});

test("a clogged link holds messages and releases them together, in order", () => {
  const { loop, network, arrived, send, messages } = stage();
  const way = { from: 0, to: 1 };
  network.clog([way]);
  send(20);
  loop.runUntil(500);
  assert.equal(arrived.length, 0);
  network.release([way]);
  loop.runUntil(501);
  assert.deepEqual(messages(), numbers(20));
});

test("what a station has not sent yet dies with it", () => {
  const { loop, network, lost, arrived, send } = stage();
  const ways = [
    { from: 0, to: 1 },
    { from: 2, to: 1 },
  ];
  network.clog(ways);
  send(3, ways[0]);
  send(2, ways[1]);
  loop.runUntil(100);
  network.forget(0);
  network.release(ways);
  loop.runUntil(200);
  assert.deepEqual(lost, ["nobody there", "nobody there", "nobody there"]);
  assert.deepEqual(
    arrived.map(({ from }) => from),
    [2, 2],
  );
});

test("the number of held messages is limited, and the oldest are dropped", () => {
  const { loop, network, lost, send, messages } = stage();
  const way = { from: 0, to: 1 };
  network.clog([way]);
  send(10_005, way, 0.01);
  loop.runUntil(1_000);
  network.release([way]);
  loop.runUntil(1_001);
  assert.deepEqual(lost, Array(5).fill("held too long"));
  assert.equal(messages()[0], 5);
});

test("a slow link takes longer by that much", () => {
  const { loop, network, arrived, send } = stage();
  const way = { from: 0, to: 1 };
  network.slow([way], 500);
  send(1);
  loop.runUntil(300);
  assert.equal(arrived.length, 0);
  loop.runUntil(600);
  assert.equal(arrived.length, 1);
  network.slow([way], -500);
  send(1);
  loop.runUntil(625);
  assert.equal(arrived.length, 2);
});

test("the faults of one link leave the others as they were", () => {
  const alone = stage();
  alone.send(20, { from: 2, to: 3 });
  alone.loop.runUntil(1_000);
  const together = stage();
  together.send(20, { from: 0, to: 1 });
  together.send(20, { from: 2, to: 3 });
  together.loop.runUntil(1_000);
  assert.deepEqual(
    together.arrived.filter(({ from }) => from === 2),
    alone.arrived,
  );
});
