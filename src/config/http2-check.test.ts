import assert from "node:assert/strict";
import { test } from "node:test";
import { cautions } from "./cross-check.ts";
import { type SettingsInput, settingsSchema } from "./schema.ts";

function cautionsOf(origin: SettingsInput["origin"]): string[] {
  const room = { totalActiveUsers: 5 };
  const settings = [
    settingsSchema.parse({ origin, rooms: { main: room } }),
    settingsSchema.parse({ rooms: { main: { ...room, origin } } }),
  ];
  return settings.flatMap((each) => cautions(each).map(({ message }) => message));
}

test("HTTP/2 by TLS is cautioned about where no address has TLS", () => {
  assert.deepEqual(cautionsOf({ addresses: ["http://10.0.0.1", "http://10.0.0.2"], http2: "tls" }), [
    "origin.http2 is tls, and no address begins with https",
    "rooms.main.origin.http2 is tls, and no address begins with https",
  ]);
  assert.deepEqual(cautionsOf({ addresses: ["http://10.0.0.1", "https://10.0.0.2"], http2: "tls" }), []);
  assert.deepEqual(cautionsOf({ addresses: ["http://10.0.0.1"], http2: "always" }), []);
});
