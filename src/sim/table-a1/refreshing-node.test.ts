import assert from "node:assert/strict";
import { test } from "node:test";
import { ANYBODY, type JoinAnswer } from "../../core/engine.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { NODE_SETTINGS } from "../tunnel/sim-node.ts";
import { refreshingNode } from "./refreshing-node.ts";

const NOW = Date.UTC(2026, 0, 1);
const ID = "0123456789abcdef0123456789abcdef";

test("a waiting visitor is told to come again after the same time, when joining and at every check-in", () => {
  const settings = { ...NODE_SETTINGS, name: "a", life: 1, address: "10.0.0.1:7100", join: [] };
  const node = refreshingNode(600)(settings, () => 0.5, NOW);
  node.configure("main", { ...DEFAULT_RULES, paused: true }, NOW);
  let joined: JoinAnswer | null = null;
  node.join("main", { id: ID, newcomer: ANYBODY, dice: 0.5 }, NOW, (answer) => {
    joined = answer;
  });
  const waiting = joined as JoinAnswer | null;
  assert.ok(waiting?.kind === "waiting");
  assert.equal(waiting.nextCheckInMs, 600);
  const again = node.checkIn(waiting.ticket, 0.5, NOW + 600);
  assert.ok(again.kind === "waiting");
  assert.equal(again.nextCheckInMs, 600);
});
