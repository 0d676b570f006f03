import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { handWorld } from "../../../sim/hand-world.ts";
import { Keeper } from "./keeper.ts";
import { RedisProblem } from "./problem.ts";
import type { ServerAddress } from "./servers.ts";

const STEP_MS = 5;
const login = { mode: "standalone", username: null, password: null, database: 0, tls: null } as const;

/** A keeper that finds nobody to connect to, in a world moved by hand, and when it looked. */
function lonelyKeeper(dice: number, find?: () => Promise<ServerAddress>) {
  const world = handWorld({ dice: () => dice });
  const triedAt: number[] = [];
  const keeper = new Keeper({
    world,
    login,
    timeoutMs: 1_000,
    open: new Set(),
    where: "nowhere:1",
    prepare: () => Promise.resolve(),
    onChange: () => {},
    find: () => {
      triedAt.push(world.clock.now());
      return find?.() ?? Promise.reject(new RedisProblem("away", "nobody is there", false));
    },
  });
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += STEP_MS) {
      world.pass(STEP_MS);
      await setImmediate();
    }
  };
  const waits = () => triedAt.slice(1).map((at, i) => at - triedAt[i]!);
  return { keeper, pass, triedAt, waits };
}

test("it is tried again less and less often, and at least every two seconds", async () => {
  const { keeper, pass, waits } = lonelyKeeper(0.999_999);
  await keeper.try();
  await pass(12_000);
  const wanted = [50, 100, 200, 400, 800, 1_600, 2_000, 2_000, 2_000, 2_000];
  assert.equal(waits().length, wanted.length);
  waits().forEach((wait, i) => {
    assert.ok(Math.abs(wait - wanted[i]!) <= STEP_MS, `${waits()}`);
  });
});

test("dice take off up to half of each wait, so that gateways do not come together", async () => {
  const { keeper, pass, waits } = lonelyKeeper(0);
  await keeper.try();
  await pass(6_000);
  [25, 50, 100, 200, 400, 800, 1_000, 1_000].forEach((wait, i) => {
    assert.ok(Math.abs(waits()[i]! - wait) <= STEP_MS, `${waits()}`);
  });
});

test("the problem is what was found, and says that nothing was done", async () => {
  const { keeper } = lonelyKeeper(0.5);
  assert.match(keeper.problem?.message ?? "", /nowhere:1 is not connected yet/);
  await keeper.try();
  assert.deepEqual([keeper.problem?.message, keeper.problem?.wasRefused], ["nobody is there", true]);
  assert.equal(keeper.connection, null);
});

test("who asks for a try while one is under way gets that one", async () => {
  let fail = (_: RedisProblem) => {};
  const { keeper, triedAt } = lonelyKeeper(0.5, () => new Promise((_, reject) => (fail = reject)));
  const both = Promise.all([keeper.try(), keeper.try()]);
  assert.equal(triedAt.length, 1);
  fail(new RedisProblem("away", "nobody is there", true));
  await both;
});

test("once closed it tries no more", async () => {
  const { keeper, pass, triedAt } = lonelyKeeper(0.5);
  await keeper.try();
  keeper.close(new RedisProblem("away", "closed", true));
  await keeper.try();
  await pass(5_000);
  assert.equal(triedAt.length, 1);
  assert.equal(keeper.problem?.message, "closed");
});
