import assert from "node:assert/strict";
import { test } from "node:test";
import { handWorld } from "../../sim/hand-world.ts";
import type { BasketPhase, BasketView } from "../rules/commands.ts";
import { PaymentVisits } from "./payment-visits.ts";

const VISITOR = "ab".repeat(16);
const VISIT = "cd".repeat(16);

const settle = async () => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

function stage() {
  const world = handWorld();
  const ended: string[] = [];
  const asked: string[] = [];
  const state = { phase: "paying" as BasketPhase, expiresAt: null as number | null };
  const basket = (): BasketView => ({
    ...{ phase: state.phase, expiresAt: state.expiresAt, holds: [], total: 0, currency: "EUR" },
    ...{ isValid: true, attemptsLeft: 1, order: null, released: [] },
  });
  const visits = new PaymentVisits({
    world,
    basket: async (visitor) => {
      asked.push(visitor);
      return basket();
    },
    end: (visit) => ended.push(visit),
    onFailure: (cause) => assert.fail(String(cause)),
  });
  const pass = async (ms: number) => {
    world.pass(ms);
    await settle();
  };
  return { world, visits, ended, asked, state, basket, pass };
}

test("a visit ends when the provider's word ends its basket, also after a restart", async () => {
  const { visits, ended, state, pass } = stage();
  const attempt = visits.newAttempt(VISITOR, VISIT);
  assert.match(attempt, /^[\w-]{22}_[0-9a-f]{32}_[0-9a-f]{32}$/);
  // Nobody has said here that somebody began to pay: that was before the restart.
  visits.heard(attempt);
  await pass(1_000);
  assert.deepEqual(ended, []);
  state.phase = "departed";
  visits.heard(attempt);
  await pass(1_000);
  assert.deepEqual(ended, [VISIT]);
});

test("a visit ends when the time to pay is over, and not while it stands still", async () => {
  const { visits, ended, asked, state, world, basket, pass } = stage();
  state.expiresAt = world.clock.now() + 60_000;
  visits.began(VISITOR, VISIT, basket());
  await pass(59_000);
  assert.deepEqual(asked, []);
  state.expiresAt = null;
  await pass(1_000);
  assert.deepEqual([asked.length, ended], [1, []]);
  state.phase = "departed";
  await pass(20_000);
  assert.deepEqual(ended, [VISIT]);
  await pass(100_000);
  assert.equal(asked.length, 2);
});

test("a visit ends when its owner leaves the basket", async () => {
  const { visits, ended, state, basket, pass } = stage();
  visits.began(VISITOR, VISIT, basket());
  state.phase = "departed";
  visits.left(VISITOR);
  visits.left("somebody else");
  await pass(1_000);
  assert.deepEqual(ended, [VISIT]);
});

test("without a second line an attempt is of no visit, and nothing else is taken for one", async () => {
  const { visits, ended, asked, pass, state } = stage();
  state.phase = "departed";
  for (const attempt of [visits.newAttempt(VISITOR, null), "", "a_b_c", `x_${VISIT}`, `_${VISITOR}_${VISIT}`])
    visits.heard(attempt);
  await pass(5_000);
  assert.deepEqual([asked, ended], [[], []]);
});

test("a visit is for one basket at a time", async () => {
  const { visits, state, basket, pass } = stage();
  const pay = (visitor: string) =>
    visits.use(visitor, VISIT, async () => {
      visits.began(visitor, VISIT, basket());
      return "paying";
    });
  const refused = (visitor: string) => visits.use(visitor, VISIT, async () => "refused");
  assert.equal(await refused("another"), "refused");
  const answers = await Promise.all([pay(VISITOR), pay("another"), refused(VISITOR), pay("another")]);
  assert.deepEqual(answers, ["paying", null, "refused", null]);
  assert.equal(await pay("another"), null);
  state.phase = "departed";
  visits.left(VISITOR);
  await pass(1_000);
  assert.equal(await pay("another"), "paying");
});

test("an attempt that began before a restart keeps its visit for its basket", async () => {
  const { visits } = stage();
  visits.heard(visits.newAttempt(VISITOR, VISIT));
  assert.equal(await visits.use("another", VISIT, async () => "paying"), null);
  assert.equal(await visits.use(VISITOR, VISIT, async () => "paying"), "paying");
});
