import assert from "node:assert/strict";
import { test } from "node:test";
import { cautions } from "./cross-check.ts";
import { type SettingsInput, settingsSchema } from "./schema.ts";

const ORIGIN = { addresses: ["http://10.0.0.1:3000"] };

function cautionsOf(input: SettingsInput): string[] {
  return cautions(settingsSchema.parse({ origin: ORIGIN, ...input })).map(({ message }) => message);
}

const shop = { host: "shop.example", totalActiveUsers: 5 };

test("passing other hosts on is cautioned against beside rooms that are bound to one", () => {
  assert.deepEqual(cautionsOf({ otherHosts: "pass", rooms: { shop } }), [
    "otherHosts is pass, so a request for another host than shop.example skips the line of room shop",
  ]);
  assert.deepEqual(cautionsOf({ rooms: { shop } }), []);
  assert.deepEqual(cautionsOf({ otherHosts: "pass", rooms: { all: { totalActiveUsers: 5 } } }), []);
  assert.deepEqual(cautionsOf({ otherHosts: "pass", rooms: { shop, all: { totalActiveUsers: 5 } } }), []);
  const own = { ...shop, origin: ORIGIN };
  assert.deepEqual(cautionsOf({ origin: null, otherHosts: "pass", rooms: { shop: own } }), []);
});

test("a forwarded host needs a proxy that is believed", () => {
  const rooms = { all: { totalActiveUsers: 5 } };
  assert.deepEqual(cautionsOf({ forwardedHost: true, rooms }), [
    "forwardedHost is true, and there is no proxy to believe",
  ]);
  assert.deepEqual(cautionsOf({ forwardedHost: true, trustedProxies: ["10.0.0.9"], rooms }), []);
});

test("a path that another host serves without the room is cautioned against, once a room", () => {
  const tickets = { host: "a.example", path: "/tickets", totalActiveUsers: 5 };
  const buy = { host: "b.example", path: "/buy", totalActiveUsers: 5 };
  assert.deepEqual(cautionsOf({ rooms: { tickets, buy } }), [
    "rooms.tickets.host: b.example/tickets goes to the same origin as a.example/tickets, without the line of room tickets",
    "rooms.buy.host: a.example/buy goes to the same origin as b.example/buy, without the line of room buy",
  ]);
  const both = [
    { host: "b.example", path: "/Tickets" },
    { host: "a.example", path: "/buy" },
  ];
  assert.deepEqual(cautionsOf({ rooms: { tickets: { ...tickets, additionalRoutes: both }, buy } }), [
    "rooms.tickets is for a.example and b.example, and the cookie of one does not reach the other: a person who visits both counts as two visitors",
  ]);
  assert.deepEqual(
    cautionsOf({ rooms: { tickets: { ...tickets, origin: ORIGIN }, buy: { ...buy, origin: ORIGIN } } }),
    [],
  );
  const wide = { host: "*.example", totalActiveUsers: 5 };
  assert.deepEqual(cautionsOf({ rooms: { tickets, buy, wide } }), []);
  assert.deepEqual(cautionsOf({ rooms: { tickets, drop: { path: "/drop", totalActiveUsers: 5 } } }), []);
});
