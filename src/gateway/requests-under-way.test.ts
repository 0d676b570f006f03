import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../sim/hand-world.ts";
import type { Client } from "./proxy/trust.ts";
import { type Counted, GIVEN_UP_COUNTS_MS, RequestsUnderWay } from "./requests-under-way.ts";

const LIMITS = { requestsPerVisitorMax: 2, requestsPerAddressMax: 3 };

const from = (address: string, more: Partial<Client> = {}): Client => ({
  ...{ address, peer: address, protocol: "https", host: "a", isPeerTrusted: false },
  ...more,
});

test("a visitor may have as many under way as the limit, wherever they come from", () => {
  const underWay = new RequestsUnderWay(handWorld());
  const first = underWay.take("ann", from("192.0.2.1"), LIMITS) as Counted;
  assert.notEqual(underWay.take("ann", from("192.0.2.2"), LIMITS), "visitor");
  assert.equal(underWay.take("ann", from("192.0.2.3"), LIMITS), "visitor");
  assert.notEqual(underWay.take("bob", from("192.0.2.3"), LIMITS), "visitor");
  underWay.release(first);
  assert.notEqual(underWay.take("ann", from("192.0.2.3"), LIMITS), "visitor");
});

test("an address may have as many as the limit, with a pass and without; a refused one counts for nobody", () => {
  const underWay = new RequestsUnderWay(handWorld());
  const here = from("192.0.2.1");
  const taken = [null, "ann", null].map((visitor) => underWay.take(visitor, here, LIMITS));
  assert.ok(taken.every((one) => typeof one === "object"));
  assert.equal(underWay.take("ann", here, LIMITS), "address");
  assert.equal(underWay.take(null, here, LIMITS), "address");
  assert.equal(typeof underWay.take("ann", from("192.0.2.2"), LIMITS), "object");
});

test("every address of one /64 is one, and so is every spelling of an address", () => {
  const underWay = new RequestsUnderWay(handWorld());
  for (const address of ["2001:db8::1", "2001:DB8:0:0:ffff::2", "2001:db8:0000::3"])
    assert.equal(typeof underWay.take(null, from(address), LIMITS), "object");
  assert.equal(underWay.take(null, from("2001:db8::abcd"), LIMITS), "address");
  assert.equal(typeof underWay.take(null, from("2001:db8:0:1::1"), LIMITS), "object");
});

test("a trusted proxy's request counts for the visitor it names, and not at all when it names none", () => {
  const underWay = new RequestsUnderWay(handWorld());
  const proxy = from("10.0.0.1", { isPeerTrusted: true });
  for (let n = 0; n < 10; n++) assert.equal(typeof underWay.take(null, proxy, LIMITS), "object");
  const visitor = from("192.0.2.1", { peer: "10.0.0.1", isPeerTrusted: true });
  for (let n = 0; n < 3; n++) assert.equal(typeof underWay.take(null, visitor, LIMITS), "object");
  assert.equal(underWay.take(null, visitor, LIMITS), "address");
});

test("without limits nobody is refused", () => {
  const underWay = new RequestsUnderWay(handWorld());
  const none = { requestsPerVisitorMax: null, requestsPerAddressMax: null };
  for (let n = 0; n < 1_000; n++)
    assert.equal(typeof underWay.take("ann", from("192.0.2.1"), none), "object");
});

test("one that was given up counts a while longer, each for its own time", () => {
  const world = handWorld();
  const underWay = new RequestsUnderWay(world);
  const here = from("192.0.2.1");
  underWay.giveUp(underWay.take("ann", here, LIMITS) as Counted);
  world.pass(GIVEN_UP_COUNTS_MS / 2);
  underWay.giveUp(underWay.take("ann", here, LIMITS) as Counted);
  assert.equal(underWay.take("ann", here, LIMITS), "visitor");
  world.pass(GIVEN_UP_COUNTS_MS / 2);
  const third = underWay.take("ann", here, LIMITS) as Counted;
  assert.equal(underWay.take("ann", here, LIMITS), "visitor");
  world.pass(GIVEN_UP_COUNTS_MS / 2);
  assert.equal(typeof underWay.take("ann", here, LIMITS), "object");
  underWay.release(third);
});
