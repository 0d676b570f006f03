import assert from "node:assert/strict";
import { test } from "node:test";
import { Relays } from "./swim-relays.ts";

test("a relay is taken once, by its target, in time", () => {
  const relays = new Relays();
  const relay = { to: "a", seq: 7, target: "b", endsAt: 500 };
  relays.add(1, relay, 0);
  relays.add(2, relay, 0);
  assert.equal(relays.take(1, "c", 10), null);
  assert.deepEqual(relays.take(1, "b", 10), relay);
  assert.equal(relays.take(1, "b", 10), null);
  assert.equal(relays.take(2, "b", 500), null);
});

test("the number of relays is limited, and the oldest is dropped", () => {
  const relays = new Relays();
  for (let seq = 0; seq < 300; seq++) relays.add(seq, { to: "a", seq, target: "b", endsAt: 500 }, 0);
  assert.equal(relays.take(43, "b", 1), null);
  assert.equal(relays.take(44, "b", 1)?.seq, 44);
});
