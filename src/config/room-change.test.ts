import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { checkRoomChange } from "./room-change.ts";
import { type RoomInput, type RoomSettings, roomSchema } from "./schema.ts";
import { writtenRoom } from "./written.ts";

const ROOM = roomSchema.parse({
  totalActiveUsers: 200,
  page: { title: "Wait", colour: "#123456" },
  message: "Hello",
});

function changed(change: unknown, room: RoomSettings = ROOM): RoomSettings {
  const result = checkRoomChange(room, change);
  assert.ok(result.ok, JSON.stringify(result.ok || result.problems));
  return result.room;
}

function refused(change: unknown, room: RoomSettings = ROOM): string[] {
  const result = checkRoomChange(room, change);
  assert.ok(!result.ok, "the change was taken");
  return result.problems.map((problem) => problem.message);
}

test("only what the change names is changed", () => {
  const before = structuredClone(ROOM);
  const room = changed({ totalActiveUsers: 300, sessionDuration: "90s", paused: true });
  assert.deepEqual(room, { ...ROOM, totalActiveUsers: 300, sessionDuration: 90_000, paused: true });
  assert.deepEqual(ROOM, before);
});

test("a change inside a mapping keeps the rest of the mapping", () => {
  assert.deepEqual(changed({ page: { title: null } }).page, { ...ROOM.page, title: null });
});

test("no change is a good change", () => {
  assert.deepEqual(changed({}), ROOM);
});

test("every problem is told at once, in the file's words", () => {
  assert.deepEqual(
    refused({
      sessionDuration: 300,
      totalActiveUsers: "many",
      sesionDuration: "5m",
      page: { color: "#000000", colour: "red" },
    }),
    [
      "sessionDuration is 300, which has no unit",
      'totalActiveUsers is "many"',
      'there is no setting "sesionDuration"',
      'there is no setting "color" in page',
      'page.colour is "red"',
    ],
  );
});

test("checks between settings hold for the room as it would be", () => {
  assert.deepEqual(refused({ totalActiveUsers: null }), [
    "the room has neither totalActiveUsers nor newUsersPerMinute, so it would never make anyone wait",
  ]);
  assert.equal(changed({ totalActiveUsers: null, newUsersPerMinute: 5 }).totalActiveUsers, null);
  assert.deepEqual(refused({ ticketTtl: "90s" }), ["claimWindow is 2m, which is longer than ticketTtl, 90s"]);
  assert.deepEqual(
    refused({ cookieAttributes: { sameSite: "none" } }, changed({ cookieAttributes: { secure: "never" } })),
    ["cookieAttributes.secure is never while sameSite is none"],
  );
});

test("routes, origins and names of files are left to the file", () => {
  const origin = { addresses: ["http://127.0.0.1:3000"] };
  assert.deepEqual(
    refused({ host: "a", path: "/", additionalRoutes: [], origin, page: { customPageFile: "/etc/passwd" } }),
    [
      "host cannot be changed while the room runs",
      "path cannot be changed while the room runs",
      "additionalRoutes cannot be changed while the room runs",
      "origin cannot be changed while the room runs",
      "page.customPageFile cannot be changed while the room runs",
    ],
  );
});

test("a page handed in takes the place of the one from a file, once it is checked", () => {
  const fromFile = { ...ROOM, page: { ...ROOM.page, customPageHtml: "<p>old", customPageFile: "/a.html" } };
  assert.equal(changed({ paused: true }, fromFile).page.customPageFile, "/a.html");
  assert.equal(changed({ page: { customPageHtml: "<p>new" } }, fromFile).page.customPageFile, null);
  const result = checkRoomChange(
    ROOM,
    { page: { customPageHtml: "{{x}}" } },
    () => "line 1: no variable {{x}}",
  );
  assert.ok(!result.ok);
  assert.equal(result.problems[0]?.message, "page.customPageHtml: line 1: no variable {{x}}");
});

test("a change that is no object is refused", () => {
  for (const change of [null, undefined, 5, "paused", [], [{ paused: true }]]) {
    assert.deepEqual(refused(change), ["the change is not an object"]);
  }
  assert.deepEqual(refused({ page: null }), ["page is empty"]);
  assert.deepEqual(refused({ page: 5 }), ["page is 5"]);
});

test("names of the language's own make no trouble", () => {
  for (const key of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
    const change = JSON.parse(`{ "${key}": { "paused": true } }`);
    assert.deepEqual(refused(change), [`there is no setting "${key}"`]);
  }
});

test("a value that cannot be written out is refused like any other", () => {
  assert.deepEqual(refused({ message: { toString: [] } }), ["message is a mapping"]);
});

test("no value makes a change throw", () => {
  const keys = fc.constantFrom(...Object.keys(roomSchema.shape), "zebra");
  fc.assert(
    fc.property(fc.dictionary(keys, fc.jsonValue({ maxDepth: 3 })), (change) => {
      assert.equal(typeof checkRoomChange(ROOM, change).ok, "boolean");
    }),
  );
});

test("a room as it is written reads back as the same room", () => {
  const input: RoomInput = {
    host: "*.example.com",
    path: "/a",
    additionalRoutes: [{ host: "b.example.com", path: "/b" }],
    origin: {
      addresses: ["http://127.0.0.1:3000"],
      healthCheck: { interval: "5s" },
      connectTimeout: "1500ms",
    },
    newUsersPerMinute: 60,
    sessionDuration: "90s",
    queueingStatusCode: 429,
  };
  const room = roomSchema.parse(input);
  const written = writtenRoom(room);
  assert.equal(written.sessionDuration, "90s");
  assert.equal(written.origin?.connectTimeout, "1500ms");
  assert.deepEqual(roomSchema.parse(JSON.parse(JSON.stringify(written))), room);
});
