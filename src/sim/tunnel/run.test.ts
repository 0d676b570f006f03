/** The tunnel itself, with a stand-in that can do nothing wrong unless it is told to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodesOf } from "../../testing/cluster/desk-node.ts";
import { OneDesk, WRONGS, type Wrong } from "../../testing/cluster/one-desk.ts";
import { PLAN_KINDS, type PlanKind, type PlanOptions, planOf } from "./plan.ts";
import { type RunOptions, runPlan } from "./run.ts";

const SMALL = { visitors: 60, seconds: 12 };

function run(
  options: PlanOptions,
  { wrong = null, ...rest }: { wrong?: Wrong | null } & Partial<RunOptions> = {},
) {
  return runPlan(planOf(options), { makeNode: nodesOf(new OneDesk(wrong)), isTelepathic: true, ...rest });
}

test("without a fault no check complains, in every kind of plan", () => {
  for (const kind of Object.keys(PLAN_KINDS) as PlanKind[])
    for (let seed = 0; seed < 6; seed++) {
      const { failure, figures } = run({ ...SMALL, seed, kind });
      assert.equal(failure, null, `${kind}, seed ${seed}: ${failure?.check}: ${failure?.text}`);
      assert.ok(figures.entered > 0);
    }
});

test("the same seed does the same, and another does not", () => {
  const hashOf = (seed: number) => run({ ...SMALL, seed, kind: "everything" }).hash;
  assert.equal(hashOf(1), hashOf(1));
  assert.notEqual(hashOf(1), hashOf(2));
});

test("copying messages as by a wire changes nothing", () => {
  const options: PlanOptions = { ...SMALL, seed: 4, kind: "everything", nodes: 5 };
  assert.deepEqual(run(options, { messages: "copied" }), run(options));
});

test("nodes that share objects with what they send are found out", () => {
  const options: PlanOptions = { ...SMALL, seed: 4, kind: "weather", nodes: 5 };
  const hashes = (["shared", "copied"] as const).map(
    (messages) => run(options, { wrong: "shares messages", messages }).hash,
  );
  assert.notEqual(hashes[0], hashes[1]);
  const { failure } = run(options, { wrong: "copies too little", messages: "copied" });
  assert.match(failure!.text, /message is a Map/);
});

/** Which check must see what. */
const EXPECTED: Readonly<Record<Exclude<Wrong, "shares messages" | "copies too little">, readonly string[]>> =
  {
    "one too many": ["capacity"],
    "second visit": ["once"],
    "spent ticket taken": ["once", "capacity"],
    "ended pass taken": ["once"],
    "place lost": ["place kept"],
    "ahead rises": ["place kept"],
    "ahead too low": ["ahead"],
    "too fast": ["rate"],
    "out of order": ["order"],
    "nobody any more": ["everyone in"],
    "two roots": ["one root"],
    "pointer astray": ["tree"],
    "member forgotten": ["one view"],
    "root elsewhere": ["smallest key at the root"],
    miscounted: ["counts"],
    "slot twice": ["slots"],
    throws: ["no exception"],
    "answers twice": ["no exception"],
  };
const SEEDS_MAX = 8;

for (const wrong of WRONGS.filter((name) => name in EXPECTED) as (keyof typeof EXPECTED)[]) {
  test(`a desk that is wrong is seen: ${wrong}`, () => {
    // Numbers of people ahead are judged closely only where nothing goes wrong.
    const kind = wrong === "ahead too low" ? "calm" : "weather";
    for (let seed = 0; seed < SEEDS_MAX; seed++) {
      const { failure } = run({ seed, kind, nodes: 4, visitors: 120, seconds: 15 }, { wrong });
      if (!failure) continue;
      assert.ok(EXPECTED[wrong].includes(failure.check), `${failure.check}: ${failure.text}`);
      return;
    }
    assert.fail(`not seen with ${SEEDS_MAX} seeds`);
  });
}

test("visitors of every kind come, and the figures add up", () => {
  const { figures } = run({ seed: 11, kind: "calm", nodes: 3, visitors: 200, seconds: 20 });
  assert.equal(figures.visitors, 200);
  assert.ok(figures.entered <= 200 && figures.counted <= figures.entered);
  assert.ok(figures.waitMs.middle <= figures.waitMs.p95 && figures.waitMs.p95 <= figures.waitMs.most);
  assert.equal(figures.tau, 0);
  const underWay = figures.messages.sent - figures.messages.arrived - sum(figures.messages.lost);
  assert.ok(underWay >= 0 && underWay < 10, `${underWay} messages are neither here nor there`);
});

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
