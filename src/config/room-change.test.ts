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

const ANY_PAGE = { trustedProxies: [], lineKind: "memory", checkPage: () => null } as const;

function changed(change: unknown, room: RoomSettings = ROOM): RoomSettings {
  const result = checkRoomChange(room, change, ANY_PAGE);
  assert.ok(result.ok, JSON.stringify(result.ok || result.problems));
  return result.room;
}

function refused(change: unknown, room: RoomSettings = ROOM): string[] {
  const result = checkRoomChange(room, change, ANY_PAGE);
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

test("the door's settings are changed like any other", () => {
  const room = changed({
    queueingMethod: "random",
    drained: true,
    fillNoShows: true,
    show: { wait: false },
    standby: { requestsPerSecond: 400 },
    adaptive: {},
    visitsMax: 3,
    enabledOriginCommands: ["revoke"],
  });
  assert.equal(room.queueingMethod, "random");
  assert.deepEqual(room.show, { ahead: true, behind: true, wait: false });
  assert.equal(room.standby?.quietFor, 120_000);
  assert.equal(changed({ standby: { quietFor: "9m" } }, room).standby?.requestsPerSecond, 400);
  assert.equal(changed({ standby: null }, room).standby, null);
  assert.deepEqual(refused({ paused: true }, room), [
    "the room has both paused and drained: one lets nobody in, the other everybody",
  ]);
});

test("the share and privilege of a lane can be changed, and which lanes there are cannot", () => {
  const lanes = { vip: { share: 20, members: { codes: false, addresses: ["10.0.0.1"] } }, press: {} };
  const room = roomSchema.parse({ totalActiveUsers: 5, lanes });
  const vip = changed({ lanes: { vip: { share: 30, privileged: true } } }, room).lanes.vip!;
  assert.deepEqual(vip, { ...room.lanes.vip, share: 30, privileged: true });
  assert.deepEqual(changed({ lanes: { vip: { members: { codes: true } } } }, room).lanes.vip?.members, {
    ...room.lanes.vip?.members,
    codes: true,
  });
  assert.deepEqual(refused({ lanes: { vpi: { share: 30 }, press: { share: 80 }, vip: null } }, room), [
    'lanes.vpi: there is no lane "vpi"',
    "lanes.vip is empty",
  ]);
  assert.deepEqual(refused({ lanes: { press: { share: 80 } } }, room), [
    "the shares in lanes come to 100 together, which leaves nothing for everybody else",
  ]);
  assert.deepEqual(refused({ lanes: { gold: {} } }), ['lanes.gold: there is no lane "gold"']);
  assert.deepEqual(refused({ lanes: { constructor: {} } }, room), [
    'lanes.constructor: there is no lane "constructor"',
  ]);
});

test("by whose signature one gets into a lane is left to the file", () => {
  const room = roomSchema.parse({ totalActiveUsers: 5, lanes: { vip: {} } });
  const jwt = { claim: "tier", values: ["gold"], jwks: "https://elsewhere.example/jwks.json" };
  assert.deepEqual(refused({ lanes: { vip: { members: { jwt } } } }, room), [
    "lanes.vip.members.jwt cannot be changed while the room runs",
  ]);
});

const SALE = {
  name: "sale",
  eventStartTime: "2026-12-01T10:00:00Z",
  eventEndTime: "2026-12-01T12:00:00Z",
};

test("events are changed as one list, with the checks of the file", () => {
  const room = changed({ events: [SALE] });
  assert.deepEqual(
    room.events.map(({ name }) => name),
    ["sale"],
  );
  assert.deepEqual(
    changed({ events: [{ ...SALE, name: "gala" }] }, room).events.map(({ name }) => name),
    ["gala"],
  );
  assert.deepEqual(changed({ events: [] }, room).events, []);
  assert.deepEqual(
    refused({
      events: [{ ...SALE, eventEndTime: "2026-12-01T09:00:00Z", ticketTtl: "90s" }],
    }),
    [
      "events[0].eventEndTime is 2026-12-01T09:00:00Z, which is before eventStartTime, 2026-12-01T10:00:00Z",
      "events[0].claimWindow is 2m, which is longer than ticketTtl, 90s",
    ],
  );
  assert.deepEqual(refused({ events: [{ ...SALE, eventStartTime: "2026-12-01T10:00:00", host: "a" }] }), [
    'events[0].eventStartTime is "2026-12-01T10:00:00", which has no time zone',
    'there is no setting "host" in events[0]',
  ]);
  assert.deepEqual(refused({ claimWindow: "3m" }, changed({ events: [{ ...SALE, ticketTtl: "150s" }] })), [
    "events[0].claimWindow is 3m, which is longer than ticketTtl, 150s",
  ]);
});

test("an event handed in names no file, but keeps the one it has", () => {
  const file = { customPageHtml: "<p>old", customPageFile: "/a.html" };
  const room = changed({ events: [SALE, { ...SALE, name: "off", suspended: true }] });
  const fromFile = { ...room, events: room.events.map((event) => ({ ...event, page: file })) };
  const inList = (page: object, name = "sale") => ({ events: [{ ...SALE, name, page }] });
  const pageOf = (change: object) => changed(change, fromFile).events[0]?.page;
  const fileOnly = ["events[0].page.customPageFile cannot be changed while the room runs"];
  assert.deepEqual(refused(inList({ customPageFile: "/etc/passwd" }), fromFile), fileOnly);
  assert.deepEqual(refused(inList({ customPageFile: "/a.html" }, "new"), fromFile), fileOnly);
  assert.deepEqual(refused(inList({ customPageFile: "/a.html" })), fileOnly);
  assert.deepEqual(pageOf(inList(file)), file);
  assert.deepEqual(pageOf(inList({ customPageFile: "/a.html" })), file);
  assert.deepEqual(pageOf(inList({ ...file, customPageHtml: "<p>new" })), {
    customPageHtml: "<p>new",
    customPageFile: null,
  });
  assert.deepEqual(changed({ paused: true }, fromFile).events, fromFile.events);
});

test("the page of an event is checked", () => {
  const checkPage = (html: string) => (html.includes("{{") ? "line 1: no variable {{x}}" : null);
  const page = { customPageHtml: "{{x}}" };
  const result = checkRoomChange(ROOM, { events: [{ ...SALE, page }] }, { ...ANY_PAGE, checkPage });
  assert.ok(!result.ok);
  assert.equal(result.problems[0]?.message, "events[0].page.customPageHtml: line 1: no variable {{x}}");
});

test("a header that lets people into a lane is refused where nobody is trusted to set it, as in the file", () => {
  const room = roomSchema.parse({ totalActiveUsers: 5, lanes: { vip: {} } });
  const change = { lanes: { vip: { members: { header: { name: "X-Tier", values: ["gold"] } } } } };
  assert.deepEqual(refused(change, room), [
    "lanes.vip.members.header is believed only from trustedProxies, and there are none",
  ]);
  assert.ok(checkRoomChange(room, change, { ...ANY_PAGE, trustedProxies: ["10.0.0.0/8"] }).ok);
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

test("what rooms share is left to the file", () => {
  assert.deepEqual(refused({ budget: "shared", guaranteed: 5 }), [
    "budget cannot be changed while the room runs",
    "guaranteed cannot be changed while the room runs",
  ]);
});

test("how the line is kept is settled at the start", () => {
  const result = checkRoomChange(ROOM, { line: "relaxed", shards: 4, peek: 2 }, ANY_PAGE);
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map(({ message }) => message),
    ["line", "shards", "peek"].map((key) => `${key} cannot be changed while the room runs`),
  );
  for (const { hint } of result.problems) assert.match(hint, /settings file.*next start/);
  // Not even to its present value: the caller should learn that it cannot be changed.
  assert.deepEqual(refused({ line: "exact" }), ["line cannot be changed while the room runs"]);
});

test("what does not go with a relaxed line is refused while the room runs, too", () => {
  const room = roomSchema.parse({ totalActiveUsers: 5, line: "relaxed" });
  assert.equal(changed({ paused: true }, room).paused, true);
  assert.deepEqual(refused({ queueingMethod: "random", fillNoShows: true }, room), [
    "fillNoShows is true, and the line is relaxed",
    "queueingMethod is random, and the line is relaxed",
  ]);
  const shuffled = { ...SALE, prequeueStartTime: "2026-12-01T09:00:00Z", shuffleAtEventStart: true };
  assert.deepEqual(refused({ events: [shuffled] }, room), [
    "events[0].shuffleAtEventStart is true, and the line is relaxed",
  ]);
});

test("what the engine cannot do is refused, with the engine that it is", () => {
  const inCluster = { ...ANY_PAGE, lineKind: "cluster" } as const;
  const current = roomSchema.parse({ totalActiveUsers: 5 });
  const answer = checkRoomChange(current, { fillNoShows: true }, inCluster);
  assert.ok(!answer.ok);
  assert.deepEqual(
    answer.problems.map(({ message }) => message),
    ["fillNoShows is true, and the line is in a cluster"],
  );
  assert.ok(checkRoomChange(current, { fillNoShows: true }, ANY_PAGE).ok);
});

test("where Redis is concerns every room, and is no setting of one; what was sent is not shown", () => {
  const result = checkRoomChange(
    ROOM,
    { redis: { url: "redis://:hunter2@10.0.0.1" }, password: "hunter2" },
    ANY_PAGE,
  );
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map(({ message }) => message),
    ['there is no setting "redis"', 'there is no setting "password"'],
  );
  assert.doesNotMatch(JSON.stringify(result), /hunter2/);
});

test("a page handed in takes the place of the one from a file, once it is checked", () => {
  const fromFile = { ...ROOM, page: { ...ROOM.page, customPageHtml: "<p>old", customPageFile: "/a.html" } };
  assert.equal(changed({ paused: true }, fromFile).page.customPageFile, "/a.html");
  assert.equal(changed({ page: { customPageHtml: "<p>new" } }, fromFile).page.customPageFile, null);
  const result = checkRoomChange(
    ROOM,
    { page: { customPageHtml: "{{x}}" } },
    { ...ANY_PAGE, checkPage: () => "line 1: no variable {{x}}" },
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
      assert.equal(typeof checkRoomChange(ROOM, change, ANY_PAGE).ok, "boolean");
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
    lanes: { vip: { share: 5, members: { addresses: ["10.0.0.0/8"] } } },
    standby: { originLatency: "1500ms", originErrors: "2.5%" },
    adaptive: { least: "33%", latency: "2s" },
    visitsWindow: "12h",
    events: [
      {
        name: "sale",
        prequeueStartTime: "2026-12-01T11:00:00+02:00",
        eventStartTime: "2026-12-01T10:00:00Z",
        eventEndTime: "2026-12-01T12:00:00Z",
        sessionDuration: "90s",
        standby: { originLatency: "3s" },
        page: { title: null },
        lanes: { vip: { share: 7 } },
      },
    ],
  };
  const room = roomSchema.parse(input);
  const written = writtenRoom(room);
  assert.equal(written.sessionDuration, "90s");
  assert.equal(written.origin?.connectTimeout, "1500ms");
  assert.equal(written.adaptive?.least, "33%");
  const [event] = written.events!;
  assert.deepEqual([event?.prequeueStartTime, event?.sessionDuration], ["2026-12-01T09:00:00Z", "90s"]);
  assert.deepEqual([event?.page, event?.lanes], [{ title: null }, { vip: { share: 7 } }]);
  assert.deepEqual(roomSchema.parse(JSON.parse(JSON.stringify(written))), room);
});
