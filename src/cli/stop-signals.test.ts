import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";
import { handWorld } from "../sim/hand-world.ts";
import { onStopSignals } from "./stop-signals.ts";

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
type Signal = (typeof SIGNALS)[number];
type Listener = () => void;

/** The test runner has listeners of its own, which are not told and stay. */
const others = new Set<Listener>();
const ours = (signal: Signal) =>
  (process.listeners(signal) as Listener[]).filter((listener) => !others.has(listener));
beforeEach(() => {
  for (const signal of SIGNALS) for (const listener of ours(signal)) others.add(listener);
});
afterEach(() => {
  for (const signal of SIGNALS) for (const listener of ours(signal)) process.off(signal, listener);
});

const send = (signal: Signal) => {
  for (const listener of ours(signal)) listener();
};

function stage() {
  const world = handWorld();
  const heard: string[] = [];
  onStopSignals(world.clock, {
    stop: async (signal) => void heard.push(`stop ${signal}`),
    hurry: (signal) => heard.push(`hurry ${signal}`),
  });
  return { world, heard };
}

test("the first signal stops, and what comes within a second of it is the same one", () => {
  const { world, heard } = stage();
  send("SIGINT");
  world.pass(50);
  send("SIGINT");
  world.pass(949);
  send("SIGTERM");
  assert.deepEqual(heard, ["stop SIGINT"]);
});

test("a later signal does not wait", () => {
  const { world, heard } = stage();
  send("SIGTERM");
  world.pass(1_000);
  send("SIGINT");
  assert.deepEqual(heard, ["stop SIGTERM", "hurry SIGINT"]);
});
