/**
 * Turns that are never used, on a whole cluster: nine of ten in the line check in and never enter. The others are let in at no less
 * than half the rate they would have without them, within the limits, and each idle place is forfeited in the end.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES, type RoomRules } from "../../core/rules.ts";
import { Capacity } from "./checks/capacity.ts";
import { OneRoot } from "./checks/one-root.ts";
import { Order } from "./checks/order.ts";
import { PlaceKept } from "./checks/place-kept.ts";
import { Rate } from "./checks/rate.ts";
import { between, diceOf } from "./dice.ts";
import { realNode } from "./real-node.ts";
import { patientAt } from "./traits.ts";
import { TUNNEL_ROOM, Tunnel } from "./tunnel.ts";

const NODES = 3;
const SESSION_MS = 120_000;
/** Visits end one after the other, not all at once. */
const STAY_MS = { from: 30_000, to: 90_000 };
const HONEST = 160;
/** All of them are there by then. */
const JOINED_MS = 10_000;
const GIVE_UP_MS = 3_600_000;
/** How many of the honest are not counted: while it is learned how many turns go unused. */
const LEARNING = 60;

interface Limits {
  readonly totalActiveUsers: number | null;
  readonly newUsersPerMinute: number | null;
}

/** How long it took from when the first honest visitors were let in until all were. */
function playedFor(limits: Limits, idleForEach: number): number {
  const rules: RoomRules = {
    ...{ ...DEFAULT_RULES, ...limits, sessionDurationMs: SESSION_MS, disableSessionRenewal: true },
    ...{ claimWindowMs: 20_000, lapseAfterMs: 60_000 },
  };
  const { totalActiveUsers } = limits;
  const tunnel = new Tunnel({
    ...{ seed: 1, makeNode: realNode, rules: { ...rules, paused: true } },
    weather: { delayMs: { from: 1, to: 20 }, loss: 0, duplication: 0, reorder: 0, reorderUpToMs: 0 },
    visitorDelayMs: { from: 1, to: 10 },
    checks: [
      ...[new PlaceKept(), new OneRoot(), new Rate(rules)],
      new Order({ disorderMs: 150, overtakingMaxMs: 2_500, isWhole: true }),
      ...(totalActiveUsers === null
        ? []
        : [new Capacity({ totalActiveUsers, sessionMs: SESSION_MS, isOverlapStated: false })]),
    ],
  });
  for (let i = 0; i < NODES; i++) tunnel.addNode();
  tunnel.runUntil(3_000);
  const all = HONEST * (1 + idleForEach);
  const dice = diceOf(1, "stays");
  const honest = Array.from({ length: all }, (_, i) => {
    const isIdle = i % (1 + idleForEach) !== idleForEach;
    const stayMs = between(dice, STAY_MS);
    const traits = { ...patientAt(i % NODES, stayMs), isListening: !isIdle, isIdling: isIdle };
    const guest = tunnel.crowd.expect(
      isIdle ? { ...traits, kind: "idling" as const, reactionMs: null } : traits,
      tunnel.time + (JOINED_MS * i) / all,
    );
    return isIdle ? null : guest;
  }).filter((guest) => guest !== null);
  tunnel.runUntil(tunnel.time + JOINED_MS + 1_000);
  tunnel.configure(rules);
  tunnel.runUntil(tunnel.time + GIVE_UP_MS, () => honest.every(({ enteredAt }) => enteredAt !== null));
  const { failure } = tunnel;
  assert.equal(failure, null, `${failure?.check}: ${failure?.text}`);
  const entered = honest.map(({ enteredAt }) => enteredAt!).sort((a, b) => a - b);
  if (idleForEach > 0) assertForfeited(tunnel, all - HONEST);
  return entered.at(-1)! - entered[LEARNING]!;
}

/** With time, each of those who never enter has missed as many turns as may be, and their places are gone. */
function assertForfeited(tunnel: Tunnel, idle: number): void {
  const gone = () =>
    tunnel.crowd.all.filter(({ traits, phase }) => traits.isIdling && phase === "gone").length;
  tunnel.runUntil(tunnel.time + GIVE_UP_MS, () => gone() === idle);
  assert.equal(tunnel.failure, null);
  for (const station of tunnel.stations) {
    const { waiting, totals } = station.call((node, now) => node.counts(TUNNEL_ROOM, now))!;
    assert.deepEqual([waiting, totals.forfeited, totals.missedTurns], [0, idle, 3 * idle]);
  }
}

for (const [name, limits] of [
  ["a rate", { totalActiveUsers: null, newUsersPerMinute: 120 }],
  ["slots", { totalActiveUsers: 60, newUsersPerMinute: null }],
  ["both", { totalActiveUsers: 60, newUsersPerMinute: 120 }],
] as const)
  test(`with nine of ten who never enter, the others are let in at half of ${name} at least`, () => {
    const [alone, among] = [playedFor(limits, 0), playedFor(limits, 9)];
    assert.ok(among <= 2 * alone, `${Math.round(among / 1_000)} s instead of ${Math.round(alone / 1_000)} s`);
  });
