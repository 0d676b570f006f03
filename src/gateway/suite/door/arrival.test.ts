/** Near-monotonic arrival and constant flow, with hundreds of visitors over real sockets. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../../../sim/hand-world.ts";
import { joinLine, watchTurns } from "../../../testing/gateway/line.ts";
import { openStage } from "../../../testing/gateway/stage.ts";
import { proves } from "../../../testing/requirements/proves.ts";

const VISITORS = 500;
const AT_ONCE_MAX = 8;
const GOLD = { "x-tier": "gold" };

interface Arrived {
  readonly lane: string;
  readonly at: number;
}

test(
  proves(
    ["ma1", "ma2", "ma3"],
    "of five hundred, none who came more than 100 ms later is admitted before an earlier one of the same lane",
  ),
  async (t) => {
    const lanes = { vip: { share: 30, members: { header: { name: "X-Tier", values: ["gold"] } } } };
    const stage = await openStage(t, {
      room: {
        totalActiveUsers: 6_000,
        newUsersPerMinute: 6_000,
        laneOrder: "weighted",
        lapseAfter: "1h",
        lanes,
      },
      settings: { trustedProxies: ["127.0.0.1"] },
    });
    const turns = watchTurns(stage);
    const dice = handWorld({ seed: 11 }).random;
    const arrived = new Map<number, Arrived>();
    await stage.proxied.configure(stage.settings({ room: { queueAll: true } }));
    for (let joined = 0; joined < VISITORS; ) {
      const group = Math.min(VISITORS - joined, 1 + Math.floor(dice.fraction() * AT_ONCE_MAX));
      const at = stage.world.clock.now();
      await Promise.all(
        Array.from({ length: group }, async () => {
          const isVip = dice.fraction() < 0.3;
          const { sequence } = await stage.visitor().call("join", { headers: isVip ? GOLD : {} });
          arrived.set(sequence!, { lane: isVip ? "vip" : "everybody", at });
        }),
      );
      joined += group;
      stage.world.pass(Math.floor(dice.fraction() * 120));
    }
    await stage.proxied.configure(stage.settings({ room: { queueAll: false } }));
    while (turns.length < VISITORS) stage.world.pass(200);
    const latest = new Map<string, number>();
    for (const { sequence } of turns) {
      const { lane, at } = arrived.get(sequence)!;
      const before = latest.get(lane) ?? 0;
      assert.ok(before - at <= 100, `someone in ${lane} was overtaken by ${before - at} ms`);
      latest.set(lane, Math.max(before, at));
    }
    assert.equal(new Set(turns.map(({ sequence }) => sequence)).size, VISITORS);
  },
);

test("at a set rate every tick admits its share, within one, and the whole rate is used (ce7)", async (t) => {
  const room = { totalActiveUsers: 900, newUsersPerMinute: 900, queueAll: true, lapseAfter: "1h" };
  const stage = await openStage(t, { room });
  await joinLine(stage, 110);
  const turns = watchTurns(stage);
  await stage.proxied.configure(stage.settings({ room: { queueAll: false } }));
  // What the quiet time before has saved up comes first.
  stage.world.pass(2_000);
  const from = stage.world.clock.now();
  const perTick: number[] = [];
  for (let tick = 0; tick < 15; tick++) {
    const before = turns.length;
    stage.world.pass(200);
    perTick.push(turns.length - before);
  }
  for (const count of perTick) assert.ok(count >= 2 && count <= 4, `${perTick}`);
  const admitted = turns.filter(({ at }) => at > from).length;
  assert.ok(Math.abs(admitted - 45) <= 1, `${admitted} in three seconds`);
});
