import assert from "node:assert/strict";
import { test } from "node:test";
import { type RoomInput, type RoomSettings, roomSchema } from "./schema.ts";
import { settingsDuring } from "./settings-during.ts";

const EVENT = {
  name: "sale",
  eventStartTime: "2026-12-01T10:00:00Z",
  eventEndTime: "2026-12-01T12:00:00Z",
};

function during(room: RoomInput, event: Partial<NonNullable<RoomInput["events"]>[number]>): RoomSettings {
  const parsed = roomSchema.parse({ ...room, events: [{ ...EVENT, ...event }] });
  return settingsDuring(parsed, parsed.events[0]!);
}

test("an event that changes nothing leaves the room as it is", () => {
  const room = roomSchema.parse({ totalActiveUsers: 5, suspended: true, events: [EVENT] });
  assert.deepEqual(settingsDuring(room, room.events[0]!), room);
});

test("what the event says stands in place of the room's, and the room itself is not changed", () => {
  const room = roomSchema.parse({
    totalActiveUsers: 5,
    message: "Hello",
    queueingStatusCode: 200,
    events: [{ ...EVENT, message: "Sale!", queueingStatusCode: 429, totalActiveUsers: null, visitsMax: 2 }],
  });
  const before = structuredClone(room);
  const settings = settingsDuring(room, room.events[0]!);
  const { message, queueingStatusCode, totalActiveUsers, visitsMax } = settings;
  assert.deepEqual([message, queueingStatusCode, totalActiveUsers, visitsMax], ["Sale!", 429, null, 2]);
  assert.deepEqual(room, before);
});

test("a suspended room is not woken by its events", () => {
  assert.equal(during({ suspended: true }, {}).suspended, true);
  assert.equal(during({}, { suspended: true }).suspended, false);
});

test("inside a mapping one setting changes and the others stay", () => {
  const { page, show } = during(
    { page: { title: "Shop", colour: "#123456" }, show: { ahead: false } },
    { page: { title: "Sale" }, show: { wait: false } },
  );
  assert.deepEqual([page.title, page.colour], ["Sale", "#123456"]);
  assert.deepEqual(show, { ahead: false, behind: true, wait: false });
});

test("a mapping that may be null is all the event's", () => {
  const { standby, adaptive } = during(
    { standby: { activeUsers: 5, quietFor: "9m" }, adaptive: { least: "50%" } },
    { standby: { requestsPerSecond: 7 }, adaptive: null },
  );
  assert.deepEqual(standby, roomSchema.parse({ standby: { requestsPerSecond: 7 } }).standby);
  assert.equal(adaptive, null);
});

test("a lane changes its share and keeps its members and its place", () => {
  const { lanes } = during(
    { lanes: { vip: { members: { codes: false, addresses: ["10.0.0.1"] } }, press: { share: 5 } } },
    { lanes: { press: { privileged: true }, vip: { share: 50 } } },
  );
  assert.deepEqual(Object.keys(lanes), ["vip", "press"]);
  assert.deepEqual([lanes.vip?.share, lanes.vip?.members.addresses], [50, ["10.0.0.1"]]);
  assert.deepEqual([lanes.press?.share, lanes.press?.privileged], [5, true]);
});

test("a page that the event brings takes the place of the room's, be it a text or a file", () => {
  const texts = ({ page }: RoomSettings) => [page.customPageHtml, page.customPageFile];
  const fromFile = { page: { customPageFile: "room.html" } };
  assert.deepEqual(texts(during(fromFile, { page: { customPageHtml: "<p>" } })), ["<p>", null]);
  assert.deepEqual(
    texts(during({ page: { customPageHtml: "<b>" } }, { page: { customPageFile: "a.html" } })),
    [null, "a.html"],
  );
  assert.deepEqual(texts(during(fromFile, { page: { customPageFile: null } })), [null, null]);
  assert.deepEqual(texts(during(fromFile, { page: { title: "Sale" } })), [null, "room.html"]);
});
