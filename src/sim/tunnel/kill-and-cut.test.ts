/**
 * The play of test/cluster with real processes, in the tunnel: two of five nodes die a second apart, one is added, and later the
 * root is cut off for a while; visitors stay shortly, ask another node each time, and show their tickets and passes again when
 * they have left. Nobody who was told that they left is taken again.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { Capacity } from "./checks/capacity.ts";
import { Once } from "./checks/once.ts";
import { OneRoot } from "./checks/one-root.ts";
import { PlaceKept } from "./checks/place-kept.ts";
import { between, diceOf } from "./dice.ts";
import type { Notice } from "./notice.ts";
import { realNode } from "./real-node.ts";
import type { Station } from "./station.ts";
import { patientAt } from "./traits.ts";
import { Tunnel } from "./tunnel.ts";

/** With this one, real processes took the pass of someone who had left. */
const SEEN_TO_FAIL = 104_546_185;
const SEEDS = [SEEN_TO_FAIL, ...Array.from({ length: 24 }, (_, index) => index + 1)];

const CAPACITY = 30;
const SESSION_MS = 10_000;
const VISITORS = 300;
const ARRIVALS_PER_SECOND = 12;
const STAY_MS = { from: 20, to: 3_000 };
const KILLS_AT_MS = [9_000, 10_000];
const ADD_AT_MS = 11_000;
const CUT = { fromMs: 17_000, toMs: 24_000 };
const END_MS = 70_000;

test("two of five nodes are killed, one is added and one cut off: no visitor who left is admitted by the old ticket", () => {
  let [left, shown] = [0, 0];
  for (const seed of SEEDS) {
    const { tunnel, seen } = play(seed);
    const { failure } = tunnel;
    assert.equal(failure, null, `seed ${seed}: ${failure?.check}: ${failure?.text}`);
    assert.equal(tunnel.crowd.wanting, 0, `seed ${seed}: everyone gets in`);
    left += seen.get("left") ?? 0;
    shown += tunnel.gateway.ended;
  }
  assert.ok(left > 0.9 * VISITORS * SEEDS.length && shown > 0.1 * left, `${left} left, ${shown} came again`);
});

function play(seed: number): { tunnel: Tunnel; seen: Map<Notice["kind"], number> } {
  const seen = new Map<Notice["kind"], number>();
  const count = ({ kind }: Notice) => {
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    return null;
  };
  const tunnel = new Tunnel({
    seed,
    makeNode: realNode,
    rules: {
      ...DEFAULT_RULES,
      ...{ totalActiveUsers: CAPACITY, sessionDurationMs: SESSION_MS, disableSessionRenewal: true },
      ...{ lapseAfterMs: 10_000, claimWindowMs: 9_000 },
    },
    weather: { delayMs: { from: 1, to: 30 }, loss: 0.01, duplication: 0, reorder: 0, reorderUpToMs: 0 },
    visitorDelayMs: { from: 1, to: 10 },
    checks: [
      { name: "count", see: count },
      ...[new Once(), new PlaceKept(), new OneRoot()],
      new Capacity({ totalActiveUsers: CAPACITY, sessionMs: SESSION_MS, isOverlapStated: false }),
    ],
  });
  for (let i = 0; i < 5; i++) tunnel.addNode();
  tunnel.runUntil(3_000);
  invite(tunnel, seed);
  const [first, second] = KILLS_AT_MS as [number, number];
  tunnel.loop.at(first, () => endFor(tunnel, tunnel.stations[0]!));
  tunnel.loop.at(second, () => endFor(tunnel, rootOf(tunnel)));
  tunnel.loop.at(ADD_AT_MS, () => void tunnel.addNode());
  tunnel.loop.at(CUT.fromMs, () => cutOff(tunnel, rootOf(tunnel)));
  tunnel.runUntil(END_MS);
  return { tunnel, seen };
}

function invite(tunnel: Tunnel, seed: number): void {
  const dice = diceOf(seed, "crowd");
  for (let i = 0; i < VISITORS; i++) {
    const traits = { ...patientAt(0, between(dice, STAY_MS)), station: null, isMoving: true, replays: 1 };
    tunnel.crowd.expect(traits, tunnel.time + (1_000 / ARRIVALS_PER_SECOND) * i);
  }
}

function endFor(tunnel: Tunnel, station: Station): void {
  station.isRetired = true;
  tunnel.crash(station);
}

function cutOff(tunnel: Tunnel, { index }: Station): void {
  const others = tunnel.stations.filter((one) => one.isUp && one.index !== index).map((one) => one.index);
  const ways = others.flatMap((other) => [
    { from: index, to: other },
    { from: other, to: index },
  ]);
  tunnel.cut(ways, [[index], others]);
  tunnel.loop.at(CUT.toMs, () => tunnel.mend(ways));
}

function rootOf(tunnel: Tunnel): Station {
  const up = tunnel.stations.filter(({ isUp }) => isUp);
  return up.find((station) => station.status()?.isRoot) ?? up[0]!;
}
