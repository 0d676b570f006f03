import assert from "node:assert/strict";
import { test } from "node:test";
import type { Engine, Presence } from "../core/engine.ts";
import type { Pass } from "../core/pass.ts";
import { handWorld } from "../sim/hand-world.ts";
import { AskEngine } from "./ask-engine.ts";
import { PresenceReport, URGENT_MS } from "./presence.ts";
import { Traffic } from "./traffic.ts";

const NO_HURRY_MS = 10 * URGENT_MS;

function scene() {
  const world = handWorld();
  const told: string[] = [];
  const touch = (_room: string, presences: readonly Presence[]) =>
    void told.push(presences.map(({ id }) => id).join(" "));
  const engine = { touch } as unknown as Engine;
  const presence = new PresenceReport({ engine, ask: new AskEngine(new Traffic(), world, 0), world });
  return { world, told, presence };
}

function passOf(id: string): Pass {
  return { id, room: "main", lane: 0, joinedAt: 0, admittedAt: 0, createdAt: 0, expiresAt: 1e15, node: 0 };
}

test("those who were seen are told together, once a second", () => {
  const { world, told, presence } = scene();
  for (const id of ["a", "b", "a"]) presence.report(passOf(id), NO_HURRY_MS);
  assert.deepEqual(told, []);
  world.pass(1_000);
  assert.deepEqual(told, ["a b"]);
});

test("one whose pass has almost run out is told at once, before the process can stand still", () => {
  const { told, presence } = scene();
  presence.report(passOf("a"), NO_HURRY_MS);
  presence.report(passOf("b"), URGENT_MS - 1);
  assert.deepEqual(told, ["a b"]);
});
