import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { DEFAULT_RULES, type DoorRules, type RoomRules } from "../../core/rules.ts";
import { keysOf, ordersOf } from "./orders.ts";

type Orders = {
  readonly rules: readonly Readonly<Record<string, unknown>>[];
  readonly events: readonly object[];
};

/** Rules in which nothing is null, and nothing is as it is by default. */
const ALL_SET: RoomRules = {
  ...DEFAULT_RULES,
  totalActiveUsers: 5,
  newUsersPerMinute: 60,
  fillNoShows: true,
  standby: {
    ...{ requestsPerSecond: 1, activeUsers: 2, originLatencyMs: 3, originErrors: 4, quietForMs: 5 },
  } as DoorRules["standby"],
  adaptive: {} as DoorRules["adaptive"],
  show: { ...DEFAULT_RULES.show, wait: false },
};
const OF_THE_ROOM = ["relaxed", "budget", "events"];
/** What only gateways read; but the check-ins of a room that hides its waits go by other rules. */
const FOR_PEOPLE = ["show", "message"];

function ordersFor(rules: RoomRules): Orders {
  return JSON.parse(ordersOf(rules, keysOf("test", "main", rules))) as Orders;
}

test("every setting of a door is in the orders, but for words to people", () => {
  const [door] = ordersFor(ALL_SET).rules;
  const expected = Object.keys(ALL_SET).filter((key) => ![...OF_THE_ROOM, ...FOR_PEOPLE].includes(key));
  assert.deepEqual(Object.keys(door!).sort(), [...expected, "isWaitHidden"].sort());
});

test("a limit that is not set is left out, which is nil in Lua", () => {
  const [door] = ordersFor({ ...DEFAULT_RULES, totalActiveUsers: 5 }).rules;
  assert.equal(door!.totalActiveUsers, 5);
  for (const key of ["newUsersPerMinute", "standby", "adaptive"]) assert.ok(!(key in door!), key);
  assert.ok(Object.values(door!).every((value) => value !== null));
});

test("whatever the functions read of the rules is in the orders", () => {
  const lua = globSync(join(import.meta.dirname, "lua", "**", "*.lua")).map((file) =>
    readFileSync(file, "utf8"),
  );
  const read = new Set(
    lua.flatMap((text) => [...text.matchAll(/\brules\.([a-zA-Z]+)/g)].map(([, key]) => key!)),
  );
  assert.ok(read.size > 15, "the functions are read");
  const [door] = ordersFor(ALL_SET).rules;
  // The rules of lanes are a part of them, and have functions of their own.
  const sent = new Set([...Object.keys(door!), ...Object.keys(DEFAULT_RULES.lanes)]);
  assert.deepEqual(
    [...read].filter((key) => !sent.has(key)),
    [],
  );
});

test("a room that shares a capacity gives no turns on top", () => {
  const budget = { name: "shared", totalActiveUsers: 9, guaranteed: 1 };
  assert.equal(ordersFor({ ...ALL_SET, budget }).rules[0]!.fillNoShows, false);
});

test("an event goes over with the hash of its seed where there is a draw, and its rules are told apart", () => {
  const event = {
    name: "sale",
    prequeueAt: null,
    startAt: 1_000,
    endAt: 2_000,
    isShuffled: false,
    seed: "00",
  };
  const rules = { ...DEFAULT_RULES, events: [{ ...event, rules: { ...DEFAULT_RULES, paused: true } }] };
  const orders = ordersFor(rules);
  assert.deepEqual(orders.events, [
    { name: "sale", prequeueAt: 1_000, startAt: 1_000, endAt: 2_000, isShuffled: false },
  ]);
  assert.deepEqual(
    orders.rules.map(({ paused }) => paused),
    [false, true],
  );
});
