import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { originSchema } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import { BACK_OFF_MAX_MS, BACK_OFF_MIN_MS, type Claim, createOrigin } from "./origin.ts";

const REQUEST = {
  ...({ use: "requests", isOnSite: true, client: null } as const),
  carriedPace: () => Number.POSITIVE_INFINITY,
  cut() {},
};
const TUNNEL = { ...REQUEST, use: "tunnels" } as const;

/** An origin that connects to nobody, in a world whose time the test moves. */
function open(t: TestContext, count: number, connectionsMax = 512) {
  const time = { now: 1_000_000 };
  const codes: unknown[] = [];
  const note = (fields: object) => void codes.push((fields as { code: string }).code);
  const world: World = {
    clock: { now: () => time.now },
    random: { bytes: (length) => new Uint8Array(length), fraction: () => 0 },
    timers: { every: () => () => {}, after: () => () => {} },
    log: { debug: note, info: note, warn: note, error: note },
  };
  const addresses = Array.from({ length: count }, (_, i) => `http://127.0.0.1:${i + 1}`);
  const origin = createOrigin(originSchema.parse({ addresses, connectionsMax }), world);
  t.after(() => origin.close());
  const fail = (index: number) => origin.failed(origin.addresses[index]!, new Error("refused"));
  const pick = (tried: number[] = []) => {
    const address = origin.pick(tried.map((index) => origin.addresses[index]!));
    return address === null ? null : origin.addresses.indexOf(address);
  };
  return { origin, time, codes, fail, pick };
}

test("equals take turns and the least loaded goes first", (t) => {
  const { origin, pick } = open(t, 3);
  assert.deepEqual([pick(), pick(), pick(), pick()], [0, 1, 2, 0]);
  const [first, second, third] = origin.addresses;
  origin.take(first!, REQUEST);
  origin.take(third!, TUNNEL);
  assert.deepEqual([pick(), pick()], [1, 1]);
  origin.take(second!, REQUEST);
  origin.take(second!, REQUEST);
  origin.release(third!, TUNNEL);
  assert.equal(pick(), 2);
  for (const address of [first!, second!, second!]) origin.release(address, REQUEST);
});

test("a failed address rests, is tried by one, and rests twice as long each time up to the limit", (t) => {
  const { origin, time, fail, pick } = open(t, 2);
  fail(0);
  let restMs = BACK_OFF_MIN_MS;
  for (let failures = 1; failures <= 8; failures++) {
    assert.deepEqual(origin.health()[0], {
      address: "http://127.0.0.1:1",
      isUp: false,
      inFlight: 0,
      failures,
    });
    time.now += restMs - 1;
    assert.deepEqual([pick(), pick()], [1, 1], "still resting");
    time.now += 1;
    assert.deepEqual([pick(), pick(), pick()].sort(), [0, 1, 1], "one trial at a time");
    fail(0);
    restMs = Math.min(restMs * 2, BACK_OFF_MAX_MS);
  }
  assert.equal(restMs, BACK_OFF_MAX_MS);
});

test("requests that fail together count as one failure", (t) => {
  const { origin, fail } = open(t, 2);
  for (let i = 0; i < 10; i++) fail(0);
  assert.equal(origin.health()[0]?.failures, 1);
});

test("the first connection that succeeds brings an address back", (t) => {
  const { origin, codes, fail, pick } = open(t, 2);
  fail(0);
  origin.connected(origin.addresses[0]!);
  origin.connected(origin.addresses[0]!);
  assert.deepEqual(new Set([pick(), pick()]), new Set([0, 1]));
  assert.deepEqual(codes, ["ORIGIN_DOWN", "ORIGIN_UP"]);
});

test("when all are down the one that failed longest ago is tried, then the others", (t) => {
  const { time, fail, pick } = open(t, 3);
  for (const index of [1, 2, 0]) {
    fail(index);
    time.now += 10;
  }
  assert.equal(pick(), 1);
  assert.equal(pick([1]), 2);
  assert.equal(pick([1, 2]), 0);
  assert.equal(pick([1, 2, 0]), null);
});

test("an address on trial that was given up is free for another trial", (t) => {
  const { origin, time, fail, pick } = open(t, 2);
  fail(0);
  time.now += BACK_OFF_MIN_MS;
  const trial = pick() === 0 ? 0 : pick();
  assert.equal(trial, 0);
  const [address] = origin.addresses;
  origin.take(address!, REQUEST);
  assert.equal(pick(), 1);
  origin.release(address!, REQUEST);
  assert.ok([pick(), pick()].includes(0));
});

/** An origin with one address of 16 connections, two of them for visitors on the site alone. */
function openSmall(t: TestContext) {
  const { origin } = open(t, 1, 16);
  const [address] = origin.addresses;
  const went: string[] = [];
  const wait = (
    name: string,
    { isOnSite = false, isComing = false, client = null as string | null } = {},
  ) => {
    const go = () => {
      went.push(name);
      hold(waiter);
    };
    const waiter = { ...REQUEST, isOnSite, isComing, client, go };
    return origin.wait(address!, waiter);
  };
  const held = new Map<string | null, Claim[]>();
  const hold = (claim: Claim) => held.set(claim.client, [...(held.get(claim.client) ?? []), claim]);
  const take = (isOnSite: boolean, client: string | null = null) => {
    const claim = { ...REQUEST, isOnSite, client };
    const isTaken = origin.take(address!, claim);
    if (isTaken) hold(claim);
    return isTaken;
  };
  const release = async (count: number, client: string | null = null) => {
    for (let n = 0; n < count; n++) origin.release(address!, held.get(client)!.pop()!);
    await new Promise((resolve) => process.nextTick(resolve));
    return went.splice(0);
  };
  return { take, wait, release };
}

test("the last connections are for visitors on the site", async (t) => {
  const { take, release } = openSmall(t);
  const outside = Array.from({ length: 16 }, () => take(false));
  assert.equal(outside.filter(Boolean).length, 14);
  assert.deepEqual([take(true), take(true), take(true)], [true, true, false]);
  await release(2);
  assert.equal(take(false), false);
  await release(1);
  assert.equal(take(false), true);
  await release(14);
});

test("visitors on the site have a free connection first, uploads that are still coming last", async (t) => {
  const { take, wait, release } = openSmall(t);
  for (let n = 0; n < 16; n++) take(true);
  wait("upload", { isOnSite: true, isComing: true });
  wait("outside");
  wait("on site", { isOnSite: true });
  assert.deepEqual(await release(1), ["on site"]);
  // A visitor's upload may have what those from outside may not.
  assert.deepEqual(await release(1), ["upload"]);
  assert.deepEqual(await release(3), ["outside"]);
  await release(14);
});

test("greedy clients always leave connections for others, who get theirs at once", async (t) => {
  const { take, wait, release } = openSmall(t);
  const takeAll = (client: string) => {
    let held = 0;
    while (take(true, client)) held++;
    return held;
  };
  // Of 16. Each takes its last while it has less than twice what is free.
  assert.deepEqual([takeAll("a"), takeAll("b"), takeAll("c")], [11, 4, 1]);
  await release(3, "b");
  assert.equal(wait("greedy", { isOnSite: true, client: "a" }), "overShare");
  assert.ok(take(true, "honest") && take(true, "another"));
  // One is free, and it is not for whoever has eleven.
  assert.deepEqual(await release(1, "c"), []);
  assert.deepEqual(await release(6, "a"), ["greedy"]);
  for (const [client, held] of Object.entries({ a: 6, b: 1, honest: 1, another: 1 }))
    await release(held, client);
});

test("a client who is over its share lets those behind it pass", async (t) => {
  const { take, wait, release } = openSmall(t);
  let held = 0;
  while (take(true, "a")) held++;
  let others = 0;
  while (take(true)) others++;
  assert.equal(wait("greedy", { isOnSite: true, client: "a" }), "onSite");
  assert.equal(wait("honest", { isOnSite: true, client: "b" }), "onSite");
  assert.deepEqual(await release(1), ["honest"]);
  await release(1, "b");
  const went = [...(await release(others - 1)), ...(await release(held, "a"))];
  assert.deepEqual(went, ["greedy"]);
  await release(1, "a");
});

test("when all are taken, whoever has the most gives up the connection that carries least, beyond what a browser needs", (t) => {
  const { origin } = open(t, 1, 60);
  const [address] = origin.addresses;
  const claims: Claim[] = [];
  const take = (client: string, paces: readonly number[]) => {
    for (const pace of paces) {
      const claim = { ...REQUEST, client, carriedPace: () => pace };
      assert.ok(origin.take(address!, claim));
      claims.push(claim);
    }
  };
  const paceOfGreediest = () => address!.greediest(0, 100)?.carriedPace(0) ?? null;
  take("browser", Array(16).fill(0));
  assert.equal(paceOfGreediest(), null);
  take("some", [...Array(16).fill(50), 7]);
  assert.equal(paceOfGreediest(), 7);
  take("most", [...Array(17).fill(50), 9]);
  assert.equal(paceOfGreediest(), 9);
  // Those who carry enough keep theirs, and so do new ones.
  for (const claim of claims.filter(({ client }) => client === "most").slice(0, 2))
    origin.release(address!, claim);
  take("most", []);
  assert.equal(paceOfGreediest(), 7);
  for (const claim of claims)
    if (address!.clients.get(claim.client!)?.has(claim)) origin.release(address!, claim);
});
