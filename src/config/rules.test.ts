import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { laneNumber } from "../core/lanes.ts";
import { lingerMs } from "../core/pass.ts";
import { DEFAULT_RULES, type DoorRules, type RoomRules } from "../core/rules.ts";
import { type RulesContext, toRules } from "./rules.ts";
import { type RoomInput, roomSchema } from "./schema.ts";

const CONTEXT: RulesContext = {
  budgets: { shared: { totalActiveUsers: 500 } },
  seedOf: (room, event, startAt) => `${room}/${event}/${startAt}`,
};

function rulesOf(input: RoomInput): RoomRules {
  return toRules("main", roomSchema.parse(input), CONTEXT);
}

const SALE = {
  name: "sale",
  eventStartTime: "2026-12-01T10:00:00Z",
  eventEndTime: "2026-12-01T12:00:00Z",
};

/** A gateway has connections, which an engine by itself knows nothing of. */
const OF_NO_SETTING: RoomRules = { ...DEFAULT_RULES, lingerMs: lingerMs(0) };

test("a room that sets nothing has the rules that core has as defaults", () => {
  assert.deepEqual(rulesOf({}), OF_NO_SETTING);
});

test("every rule comes from its setting", () => {
  const rules = rulesOf({
    totalActiveUsers: 1,
    newUsersPerMinute: 2,
    queueingMethod: "random",
    paused: true,
    queueAll: true,
    drained: true,
    closed: true,
    privilegedOnly: true,
    lanes: { vip: { share: 60, privileged: true }, press: {} },
    laneOrder: "weighted",
    othersShare: 3,
    fillNoShows: true,
    standby: {
      requestsPerSecond: 4,
      activeUsers: 5,
      originLatency: "6s",
      originErrors: "7%",
      stopBelow: "8%",
      quietFor: "9s",
    },
    adaptive: { least: "10%", latencyFactor: 11, latency: "12s", errors: "13%", inFlight: 14 },
    sessionDuration: "3s",
    disableSessionRenewal: true,
    formGrace: "17s",
    connectionGrace: "18s",
    claimWindow: "4s",
    missedTurnsMax: 16,
    lapseAfter: "5s",
    ticketTtl: "6s",
    pollBudget: 7,
    show: { ahead: false, behind: false, wait: false },
    message: "eight",
    budget: "shared",
    guaranteed: 15,
    line: "relaxed",
    shards: 16,
    peek: 3,
  });
  assert.deepEqual(rules, {
    totalActiveUsers: 1,
    newUsersPerMinute: 2,
    queueingMethod: "random",
    paused: true,
    queueAll: true,
    drained: true,
    closed: true,
    privilegedOnly: true,
    lanes: {
      order: "weighted",
      othersShare: 3,
      named: [
        { number: laneNumber("vip"), name: "vip", share: 60, isPrivileged: true },
        { number: laneNumber("press"), name: "press", share: 10, isPrivileged: false },
      ],
    },
    fillNoShows: true,
    standby: {
      requestsPerSecond: 4,
      activeUsers: 5,
      originLatencyMs: 6_000,
      originErrors: 0.07,
      stopBelow: 0.08,
      quietForMs: 9_000,
    },
    adaptive: { least: 0.1, latencyFactor: 11, latencyMs: 12_000, errors: 0.13, inFlight: 14 },
    sessionDurationMs: 3_000,
    disableSessionRenewal: true,
    formGraceMs: 17_000,
    lingerMs: lingerMs(18_000),
    claimWindowMs: 4_000,
    missedTurnsMax: 16,
    lapseAfterMs: 5_000,
    ticketTtlMs: 6_000,
    pollBudgetPerSecond: 7,
    show: { ahead: false, behind: false, wait: false },
    message: "eight",
    relaxed: { shards: 16, peek: 3 },
    budget: { name: "shared", totalActiveUsers: 500, guaranteed: 15 },
    events: [],
  });
});

test("standby and the adaptive loop have their defaults where they say nothing", () => {
  const { standby, adaptive } = rulesOf({ standby: { activeUsers: 5 }, adaptive: {} });
  assert.deepEqual(standby, {
    requestsPerSecond: null,
    activeUsers: 5,
    originLatencyMs: null,
    originErrors: null,
    stopBelow: 0.7,
    quietForMs: 120_000,
  });
  assert.deepEqual(adaptive, {
    least: 0.2,
    latencyFactor: 2.5,
    latencyMs: null,
    errors: 0.02,
    inFlight: null,
  });
});

test("a room suspended as a whole has the rules it would have otherwise", () => {
  assert.deepEqual(rulesOf({ suspended: true }), OF_NO_SETTING);
});

test("events are in order of time, without those that are suspended, each with a seed of its own", () => {
  const { events } = rulesOf({
    events: [
      { name: "gala", eventStartTime: "2026-12-03T10:00:00Z", eventEndTime: "2026-12-03T12:00:00Z" },
      { ...SALE, name: "off", suspended: true },
      { ...SALE, prequeueStartTime: "2026-12-01T09:00:00Z", shuffleAtEventStart: true },
    ],
  });
  const times = events.map(({ rules, ...about }) => about);
  const noon = (day: number) => Date.UTC(2026, 11, day, 12);
  const hour = 3_600_000;
  assert.deepEqual(times, [
    {
      name: "sale",
      prequeueAt: noon(1) - 3 * hour,
      startAt: noon(1) - 2 * hour,
      endAt: noon(1),
      isShuffled: true,
      seed: `main/sale/${noon(1) - 2 * hour}`,
    },
    {
      name: "gala",
      prequeueAt: null,
      startAt: noon(3) - 2 * hour,
      endAt: noon(3),
      isShuffled: false,
      seed: `main/gala/${noon(3) - 2 * hour}`,
    },
  ]);
});

test("a budget that is not there is a mistake of the program's", () => {
  for (const budget of ["other", "constructor"]) assert.throws(() => rulesOf({ budget }), /no budget/);
});

/** Anything an event may say that has a rule of its own; mappings come whole, as they then stand in a room. */
const overrides: fc.Arbitrary<Partial<RoomInput>> = fc.record(
  {
    totalActiveUsers: fc.option(fc.integer({ min: 1, max: 9 })),
    newUsersPerMinute: fc.option(fc.integer({ min: 1, max: 9 })),
    queueingMethod: fc.constantFrom(
      "fifo" as const,
      "random" as const,
      "passthrough" as const,
      "reject" as const,
    ),
    paused: fc.boolean(),
    queueAll: fc.boolean(),
    drained: fc.boolean(),
    closed: fc.boolean(),
    privilegedOnly: fc.boolean(),
    laneOrder: fc.constantFrom("strict" as const, "weighted" as const),
    othersShare: fc.nat(99),
    fillNoShows: fc.boolean(),
    standby: fc.option(fc.constantFrom({ activeUsers: 3 }, { originErrors: "5%", quietFor: "9s" })),
    adaptive: fc.option(fc.constantFrom({}, { latency: "3s" })),
    sessionDuration: fc.constantFrom("7s", "8m"),
    disableSessionRenewal: fc.boolean(),
    claimWindow: fc.constantFrom("7s", "8m"),
    missedTurnsMax: fc.integer({ min: 1, max: 9 }),
    lapseAfter: fc.constantFrom("7s", "8m"),
    ticketTtl: fc.constantFrom("7h", "8d"),
    pollBudget: fc.integer({ min: 1, max: 9 }),
    show: fc.record({ ahead: fc.boolean(), behind: fc.boolean(), wait: fc.boolean() }),
    message: fc.string({ maxLength: 5 }),
  },
  { requiredKeys: [] },
);

test("during an event the rules are those of a room that has the event's settings written in it", () => {
  fc.assert(
    fc.property(overrides, overrides, (room, event) => {
      const lanes = { vip: { share: 3 } };
      const [during] = rulesOf({ ...room, lanes, events: [{ ...SALE, ...event }] }).events;
      const { relaxed, budget, events, ...expected } = rulesOf({ ...room, lanes, ...event });
      assert.deepEqual(during?.rules, expected satisfies DoorRules);
    }),
  );
});

/** Rules that an event cannot change. */
const OF_THE_ROOM = new Set(["relaxed", "budget", "events"]);

test("every rule of a door can be another one during an event", () => {
  const keys = Object.keys(DEFAULT_RULES).filter((key) => !OF_THE_ROOM.has(key));
  const [during] = rulesOf({
    lanes: { vip: {} },
    events: [
      {
        ...SALE,
        totalActiveUsers: 1,
        newUsersPerMinute: 2,
        queueingMethod: "reject",
        paused: true,
        queueAll: true,
        drained: true,
        closed: true,
        privilegedOnly: true,
        lanes: { vip: { share: 99 } },
        fillNoShows: true,
        standby: { activeUsers: 5 },
        adaptive: {},
        formGrace: "17s",
        connectionGrace: "18s",
        sessionDuration: "3s",
        disableSessionRenewal: true,
        claimWindow: "4s",
        missedTurnsMax: 16,
        lapseAfter: "5s",
        ticketTtl: "6s",
        pollBudget: 7,
        show: { wait: false },
        message: "eight",
      },
    ],
  }).events;
  const rules = during!.rules as unknown as Record<string, unknown>;
  const before = rulesOf({ lanes: { vip: {} } }) as unknown as Record<string, unknown>;
  for (const key of keys) assert.notDeepEqual(rules[key], before[key], key);
});
