import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { cautions } from "./cross-check.ts";
import { checkRoom } from "./room-check.ts";
import { type RoomInput, roomSchema } from "./schema.ts";

const SALE = {
  name: "sale",
  eventStartTime: "2026-12-01T10:00:00Z",
  eventEndTime: "2026-12-01T12:00:00Z",
};

function problemsOf(input: RoomInput): string[] {
  return checkRoom(roomSchema.parse(input), [], { trustedProxies: [], lineKind: "memory" }).map(
    ({ message }) => message,
  );
}

function cautionsOf(input: RoomInput): string[] {
  return cautions({ rooms: { main: roomSchema.parse(input) } }).map(({ message }) => message);
}

test("turns on top are not for rooms that share a capacity", () => {
  const room = { totalActiveUsers: 100, fillNoShows: true };
  assert.deepEqual(problemsOf(room), []);
  assert.deepEqual(problemsOf({ ...room, budget: "shop" }), [
    "fillNoShows is true in a room with a budget, shop",
  ]);
});

describe("a rate above the capacity", () => {
  const limits = { totalActiveUsers: 100, newUsersPerMinute: 101 };
  const isOdd = (input: RoomInput) => cautionsOf(input).length > 0;

  test("is taken, with a word of caution where a visit lasts a minute or more", () => {
    assert.deepEqual(problemsOf({ ...limits, sessionDuration: "1m" }), []);
    assert.deepEqual(cautionsOf({ ...limits, sessionDuration: "1m" }), [
      "rooms.main.newUsersPerMinute is 101, which is more than totalActiveUsers, 100: more would be let in each minute than fit",
    ]);
    assert.ok(!isOdd({ ...limits, newUsersPerMinute: 100 }));
  });

  test("is good where visits are shorter, or where the origin ends them", () => {
    assert.ok(!isOdd({ ...limits, sessionDuration: "59s" }));
    assert.ok(!isOdd({ ...limits, enabledOriginCommands: ["revoke"] }));
  });

  test("is good where one of the two is not set", () => {
    assert.ok(!isOdd({ newUsersPerMinute: 101 }));
    assert.ok(!isOdd({ totalActiveUsers: 100 }));
  });

  test("is told of an event with what the room has, unless the event is suspended", () => {
    const room = { totalActiveUsers: 100, newUsersPerMinute: 50 };
    const sale = { ...SALE, totalActiveUsers: 20 };
    assert.deepEqual(cautionsOf({ ...room, events: [sale] }), [
      "rooms.main.events[0].newUsersPerMinute is 50, which is more than totalActiveUsers, 20: more would be let in each minute than fit",
    ]);
    assert.deepEqual(cautionsOf({ ...room, events: [{ ...sale, suspended: true }] }), []);
  });
});

describe("a room without limits", () => {
  const none =
    "the room has neither totalActiveUsers nor newUsersPerMinute, so it would never make anyone wait";

  test("is refused while it would make people wait", () => {
    assert.deepEqual(problemsOf({}), [none]);
    assert.deepEqual(problemsOf({ paused: true }), [none]);
    assert.deepEqual(problemsOf({ queueingMethod: "random" }), [none]);
  });

  test("is good where nobody is meant to wait, where it is closed, or where it shares a capacity", () => {
    assert.deepEqual(problemsOf({ queueingMethod: "passthrough" }), []);
    assert.deepEqual(problemsOf({ closed: true }), []);
    assert.deepEqual(problemsOf({ budget: "shared" }), []);
  });

  test("may get its limits from the event that opens it", () => {
    const closed = { closed: true, events: [{ ...SALE, closed: false, totalActiveUsers: 5 }] };
    assert.deepEqual(problemsOf(closed), []);
    const open = { closed: true, events: [{ ...SALE, closed: false }] };
    assert.deepEqual(problemsOf(open), [none.replace("the room", "event sale")]);
  });
});

test("a room may be paused, whatever its events have planned", () => {
  const events = [{ ...SALE, drained: true }];
  assert.deepEqual(problemsOf({ totalActiveUsers: 5, events }), []);
  assert.deepEqual(problemsOf({ totalActiveUsers: 5, paused: true, events }), []);
  assert.deepEqual(problemsOf({ totalActiveUsers: 5, closed: true, events }), []);
});

test("what is wrong with the room is told once, not for each of its events", () => {
  const events = [
    SALE,
    { ...SALE, name: "gala", eventStartTime: "2027-12-01T10:00:00Z", eventEndTime: "2027-12-01T12:00:00Z" },
  ];
  const room = { totalActiveUsers: 1, newUsersPerMinute: 2, ticketTtl: "5s", events };
  assert.equal(problemsOf(room).length, 2);
  assert.equal(cautionsOf(room).length, 1);
});

test("an event that is over is no problem", () => {
  const past = { ...SALE, eventStartTime: "2001-12-01T10:00:00Z", eventEndTime: "2001-12-01T12:00:00Z" };
  assert.deepEqual(problemsOf({ totalActiveUsers: 5, events: [past] }), []);
});

test("what is meant against abuse is checked in the room and in its events", () => {
  const abuse = { proofOfWork: { easiest: 20, hardest: 10 } };
  const message = "abuse.proofOfWork.hardest is 10, which is less than easiest, 20";
  assert.deepEqual(problemsOf({ totalActiveUsers: 5, abuse }), [message]);
  assert.deepEqual(problemsOf({ totalActiveUsers: 5, events: [{ ...SALE, abuse }] }), [
    `events[0].${message}`,
  ]);
});

/** Settings that can be at odds with each other. */
const odd = fc.record(
  {
    totalActiveUsers: fc.option(fc.integer({ min: 1, max: 5 })),
    newUsersPerMinute: fc.option(fc.integer({ min: 1, max: 5 })),
    queueingMethod: fc.constantFrom("fifo" as const, "passthrough" as const),
    sessionDuration: fc.constantFrom("30s", "5m"),
    enabledOriginCommands: fc.constantFrom<"revoke"[]>([], ["revoke"]),
    claimWindow: fc.constantFrom("1m", "1h"),
    lapseAfter: fc.constantFrom("1m", "1h"),
    ticketTtl: fc.constantFrom("30m", "1d"),
    closed: fc.boolean(),
    privilegedOnly: fc.boolean(),
    standby: fc.option(fc.constantFrom({}, { activeUsers: 5 })),
  },
  { requiredKeys: [] },
);

/** The messages without what tells a room from its event. */
function plain(messages: string[]): string[] {
  return messages.map((text) =>
    text.replace(/^(?:rooms\.main\.)?(?:events\[0\]\.|the room |event sale )?/, ""),
  );
}

test("an event is refused exactly where a good room would be if it had the event's settings", () => {
  let refused = 0;
  fc.assert(
    fc.property(odd, odd, (room, event) => {
      fc.pre(problemsOf(room).length === 0);
      const during = problemsOf({ ...room, events: [{ ...SALE, ...event }] });
      if (during.length > 0) refused++;
      assert.deepEqual(plain(during), plain(problemsOf({ ...room, ...event })));
    }),
    { numRuns: 500 },
  );
  assert.ok(refused > 50, `only ${refused} were refused`);
});

test("an event's rate has a word of caution exactly where its room's would, had it the event's settings", () => {
  const isOfRate = (text: string) => text.includes("newUsersPerMinute is");
  let odder = 0;
  fc.assert(
    fc.property(odd, odd, (room, event) => {
      fc.pre(cautionsOf(room).length === 0);
      const during = cautionsOf({ ...room, events: [{ ...SALE, ...event }] }).filter(isOfRate);
      if (during.length > 0) odder++;
      assert.deepEqual(plain(during), plain(cautionsOf({ ...room, ...event })));
    }),
    { numRuns: 500 },
  );
  assert.ok(odder > 10, `only ${odder} were odd`);
});
