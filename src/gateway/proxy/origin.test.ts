import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { originSchema } from "../../config/schema.ts";
import { handWorld } from "../../sim/hand-world.ts";
import type { ConnectionClaim } from "./address.ts";
import { BACK_OFF_MIN_MS } from "./address-health.ts";
import { createOrigin } from "./origin.ts";

const REQUEST = {
  ...({ use: "requests", isOnSite: true, client: null } as const),
  phase: null as ConnectionClaim["phase"],
  carriedPace: () => Number.POSITIVE_INFINITY,
  cut() {},
};
const SEEKER = { ...REQUEST, tried: [], isRepeatable: true, repeats: 0, stickyKey: null };

/** An origin that connects to nobody, in a world whose time the test moves. */
function open(t: TestContext, count: number, connectionsMax = 512) {
  const world = handWorld();
  const addresses = Array.from({ length: count }, (_, i) => `http://127.0.0.1:${i + 1}`);
  const origin = createOrigin(originSchema.parse({ addresses, connectionsMax }), world);
  t.after(() => origin.close());
  const codes = () => world.logged.map(({ fields }) => (fields as { code: string }).code);
  return { origin, world, codes };
}

test("an address that goes and comes back is one log line each time, whichever request finds out", (t) => {
  const { origin, codes } = open(t, 2);
  const [address] = origin.addresses;
  for (let n = 0; n < 10; n++) {
    const claim = { ...REQUEST };
    origin.begin(address!, claim);
    origin.failed(address!, claim, new Error("refused"));
    address!.health.leave(claim);
  }
  assert.deepEqual(origin.health()[0], {
    ...{ address: "http://127.0.0.1:1", isUp: false, trouble: "unreachable", inFlight: 0, failures: 1 },
  });
  const claim = { ...REQUEST };
  origin.begin(address!, claim);
  origin.connected(address!, claim);
  origin.reached(address!);
  assert.equal(origin.health()[0]?.isUp, true);
  assert.deepEqual(codes(), ["ORIGIN_DOWN", "ORIGIN_UP"]);
});

test("an address that fails requests is one log line, and one when it answers again", (t) => {
  const { origin, world, codes } = open(t, 2);
  const [bad, good] = origin.addresses;
  for (let n = 0; n < 10; n++) origin.failed(bad!, { ...REQUEST }, new Error("other side closed"));
  assert.deepEqual(
    origin.health().map(({ isUp, trouble }) => [isUp, trouble]),
    [
      [false, "failing"],
      [true, null],
    ],
  );
  assert.equal(origin.pick({ ...SEEKER }), good);
  world.pass(BACK_OFF_MIN_MS);
  const trial = { ...SEEKER };
  assert.equal(origin.pick(trial), bad);
  origin.begin(bad!, trial);
  origin.connected(bad!, trial);
  origin.answered(bad!, trial, 200);
  assert.deepEqual(codes(), ["ORIGIN_FAILING", "ORIGIN_ANSWERS"]);
});

test("a request is repeated twice elsewhere, or once where there is no other; after a timeout once elsewhere", (t) => {
  const hangUp = Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" });
  const timeout = Object.assign(new Error("too late"), { code: "UND_ERR_HEADERS_TIMEOUT" });
  const nonsense = Object.assign(new Error("nonsense"), { code: "HPE_INVALID_CONSTANT" });
  const ways = (count: number, error: Error, isRepeatable = true) => {
    const { origin } = open(t, count);
    return [0, 1, 2].map((repeats) =>
      origin.repeat(origin.addresses[0]!, { ...SEEKER, repeats, isRepeatable }, error),
    );
  };
  assert.deepEqual(ways(4, hangUp), ["elsewhere", "elsewhere", null]);
  assert.deepEqual(ways(1, hangUp), ["here", null, null]);
  assert.deepEqual(ways(4, timeout), ["elsewhere", null, null]);
  assert.deepEqual(ways(1, timeout), [null, null, null]);
  assert.deepEqual(ways(4, nonsense), [null, null, null]);
  assert.deepEqual(ways(4, hangUp, false), [null, null, null]);
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
  const held = new Map<string | null, ConnectionClaim[]>();
  const hold = (claim: ConnectionClaim) => held.set(claim.client, [...(held.get(claim.client) ?? []), claim]);
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
  // One is free, and it is not for the client that has eleven.
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

test("when all are taken, the client with the most gives up the one that carries least, beyond what a browser needs", (t) => {
  const { origin } = open(t, 1, 60);
  const [address] = origin.addresses;
  const claims: ConnectionClaim[] = [];
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
