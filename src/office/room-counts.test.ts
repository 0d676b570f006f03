import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoomInput } from "../config/schema.ts";
import { laneNumber } from "../core/lanes.ts";
import { read, scene } from "../testing/office/scene.ts";
import { type ShownCounts, shownCounts } from "./room-counts.ts";
import { countsSchema } from "./room-shapes.ts";

const LANES = { vip: { share: 20 }, press: { share: 30 } };
const SALE = {
  name: "sale",
  eventStartTime: "2026-06-01T09:00:00Z",
  eventEndTime: "2026-06-01T11:00:00Z",
};

/** The bound on each lane's cost, foremost first. */
async function boundsOf(room: RoomInput): Promise<(number | null)[]> {
  const { ask } = await scene({ rooms: { main: { totalActiveUsers: 2, lanes: LANES, ...room } } });
  const { counts } = await read<{ counts: ShownCounts }>(await ask("/rooms/main"));
  return counts.lanes.map(({ costFactorMax }) => costFactorMax);
}

test("a lane shows how many times as long a wait can get by the others", async () => {
  assert.deepEqual(await boundsOf({ laneOrder: "weighted" }), [5, 100 / 30, 2]);
  assert.deepEqual(await boundsOf({ othersShare: 50 }), [2, 4, 4]);
});

test("a bound that does not exist is null", async () => {
  assert.deepEqual(await boundsOf({ othersShare: 0 }), [1, null, null]);
});

test("while an event is on the bound is that of the event", async () => {
  const events = [{ ...SALE, laneOrder: "weighted" as const, lanes: { vip: { share: 50 } } }];
  assert.deepEqual(await boundsOf({ events }), [2, 100 / 30, 5]);
});

test("a room without lanes has everybody's alone, which costs nothing", async () => {
  assert.deepEqual(await boundsOf({ lanes: {} }), [1]);
});

test("an event that is no longer in the settings is passed over", async () => {
  const { desk, engine } = await scene();
  const counts = { ...engine.counts("main"), event: "gone" };
  assert.equal(shownCounts(desk.room("main")!, counts).lanes[0]!.costFactorMax, 1);
});

test("counts have everything that the engine counts, in the form that is documented", async () => {
  const { ask, engine, world } = await scene({
    rooms: {
      main: {
        totalActiveUsers: 2,
        newUsersPerMinute: 60,
        lanes: LANES,
        adaptive: {},
        standby: { activeUsers: 1 },
        events: [{ ...SALE, totalActiveUsers: 1 }],
      },
    },
  });
  const lane = laneNumber("vip");
  for (let i = 0; i < 4; i++) engine.join("main", { lane, invite: null, canWait: true });
  world.pass(2_000);
  const { counts } = await read<{ counts: ShownCounts }>(await ask("/rooms/main"));
  const { lanes, ...rest } = JSON.parse(JSON.stringify(engine.counts("main")));
  const { lanes: shown, ...others } = counts;
  assert.deepEqual(others, rest);
  assert.deepEqual(
    shown.map(({ costFactorMax: _, ...one }) => one),
    lanes,
  );
  assert.deepEqual([others.event, others.limits.totalActiveUsers], ["sale", 1]);
  assert.deepEqual(countsSchema.parse(counts), counts, "nothing that the document does not have");
});
