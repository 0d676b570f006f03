import assert from "node:assert/strict";
import { test } from "node:test";
import { checkEvents } from "./event-check.ts";
import { type RoomInput, roomSchema } from "./schema.ts";

type EventInput = NonNullable<RoomInput["events"]>[number];

const SALE: EventInput = {
  name: "sale",
  eventStartTime: "2026-12-01T10:00:00Z",
  eventEndTime: "2026-12-01T12:00:00Z",
};

/** The settings that are wrong, of events that are `SALE` but for what is given. */
function wrongIn(...events: Partial<EventInput>[]): string[] {
  const room = roomSchema.parse({
    totalActiveUsers: 5,
    events: events.map((event, index) => ({ ...SALE, name: `e${index}`, ...event })),
  });
  return checkEvents(room, [], "memory").map(({ path }) => path.join("."));
}

test("an event lasts at least ten seconds", () => {
  assert.deepEqual(wrongIn({ eventEndTime: "2026-12-01T10:00:10Z" }), []);
  assert.deepEqual(wrongIn({ eventEndTime: "2026-12-01T10:00:09Z" }), ["events.0.eventEndTime"]);
  assert.deepEqual(wrongIn({ eventEndTime: "2026-12-01T10:00:00Z" }), ["events.0.eventEndTime"]);
});

test("a prequeue is before the start, by a second at least", () => {
  const wrong = ["events.0.prequeueStartTime"];
  assert.deepEqual(wrongIn({ prequeueStartTime: "2026-12-01T09:59:59Z" }), []);
  assert.deepEqual(wrongIn({ prequeueStartTime: "2026-12-01T10:00:00Z" }), wrong);
  assert.deepEqual(wrongIn({ prequeueStartTime: "2026-12-01T11:00:00Z" }), wrong);
});

test("one event may begin in the second in which another ends", () => {
  const after = { eventStartTime: "2026-12-01T12:00:00Z", eventEndTime: "2026-12-01T13:00:00Z" };
  assert.deepEqual(wrongIn({}, after), []);
  assert.deepEqual(wrongIn(after, {}), []);
  assert.deepEqual(wrongIn({}, { ...after, prequeueStartTime: "2026-12-01T11:59:59Z" }), [
    "events.1.prequeueStartTime",
  ]);
});

test("an event that is wrong by itself is not said to be in the way of another", () => {
  const backwards = { eventStartTime: "2026-12-01T11:00:00Z", eventEndTime: "2026-12-01T09:00:00Z" };
  assert.deepEqual(wrongIn({}, backwards), ["events.1.eventEndTime"]);
});

test("an event without a draw to hold is still in the way of another", () => {
  assert.deepEqual(wrongIn({ shuffleAtEventStart: true }, {}), [
    "events.0.shuffleAtEventStart",
    "events.1.eventStartTime",
  ]);
});

test("suspended events are in nobody's way", () => {
  assert.deepEqual(wrongIn({}, { suspended: true }, { suspended: true }), []);
});

test("a lane that is not there hides no other problem of the event", () => {
  assert.deepEqual(wrongIn({ lanes: { vip: { share: 5 } }, ticketTtl: "90s" }), [
    "events.0.lanes.vip",
    "events.0.claimWindow",
  ]);
});
