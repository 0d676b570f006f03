import assert from "node:assert/strict";
import { test } from "node:test";
import { PRESENCE_GRACE_MS } from "./pass.ts";
import { type SeenVisit, type StayRules, Stays } from "./stays.ts";

const MINUTE_MS = 60_000;
const RULES: StayRules = { sessionDurationMs: 10 * MINUTE_MS, disableSessionRenewal: false, lingerMs: 0 };
const NOW = 1_000_000;
const LOOK_MS = 3_000;

/** A site that is always full of visits of one kind, looked at as rooms are. */
class Site {
  readonly stays = new Stays();
  readonly #rules: StayRules;
  readonly #visitMs: (n: number) => number;
  readonly #leaves: boolean;
  #visits: { id: string; admittedAt: number; expiresAt: number; lastAt: number }[] = [];
  #count = 0;
  #now = NOW;

  /** `visitMs`: from entering to the last click of each. */
  constructor(options: { visitMs: (n: number) => number; leaves: boolean; rules?: StayRules }) {
    this.#visitMs = options.visitMs;
    this.#leaves = options.leaves;
    this.#rules = options.rules ?? RULES;
  }

  get now(): number {
    return this.#now;
  }

  pass(ms: number, slots = 100): this {
    for (const until = this.#now + ms; this.#now < until; this.#now += LOOK_MS) {
      const { sessionDurationMs, disableSessionRenewal } = this.#rules;
      for (const visit of this.#visits) {
        const seenAt = visit.expiresAt - sessionDurationMs;
        const clickAt = Math.min(this.#now, visit.lastAt);
        if (!disableSessionRenewal && clickAt - seenAt >= sessionDurationMs / 10)
          visit.expiresAt = clickAt + sessionDurationMs;
      }
      this.#visits = this.#visits.filter(({ lastAt, expiresAt }) => {
        const hasLeft = this.#leaves && this.#now >= lastAt;
        return !hasLeft && this.#now < expiresAt + PRESENCE_GRACE_MS;
      });
      while (this.#visits.length < slots) {
        const n = this.#count++;
        const lastAt = this.#now + this.#visitMs(n);
        this.#visits.push({
          id: `${n}`,
          admittedAt: this.#now,
          expiresAt: this.#now + sessionDurationMs,
          lastAt,
        });
      }
      this.stays.look(this.#visits as SeenVisit[], this.#rules, this.#now);
    }
    return this;
  }
}

/** A tenth, two tenths … of an exponential distribution, in turn. */
const exponential = (mean: number) => (n: number) => -Math.log(1 - ((n * 7) % 100) / 100 - 0.005) * mean;

function assertNear(value: number, wanted: number, share: number): void {
  assert.ok(Math.abs(value / wanted - 1) <= share, `${value} is not near ${wanted}`);
}

test("before anything was seen a visit is expected to last a little longer than a session", () => {
  const stays = new Stays();
  stays.look([], RULES, NOW);
  assert.ok(stays.meanHoldMs() > RULES.sessionDurationMs && stays.meanHoldMs() < 3 * RULES.sessionDurationMs);
  assert.ok(stays.doubt > 0.7);
});

test("one page each, and then nothing: a slot is held for a session", () => {
  const { stays } = new Site({ visitMs: () => 0, leaves: false }).pass(25 * MINUTE_MS);
  assertNear(stays.meanHoldMs(), RULES.sessionDurationMs + PRESENCE_GRACE_MS, 0.03);
  assert.ok(stays.knownShare > 0.95 && stays.doubt < 0.1);
});

test("who clicks around for three minutes holds a slot for thirteen", () => {
  const { stays } = new Site({ visitMs: exponential(3 * MINUTE_MS), leaves: false }).pass(40 * MINUTE_MS);
  assertNear(stays.meanHoldMs(), 13 * MINUTE_MS, 0.08);
});

test("who leaves holds it for as long as they are there, and this is soon known", () => {
  const { stays } = new Site({ visitMs: exponential(MINUTE_MS), leaves: true }).pass(5 * MINUTE_MS);
  assertNear(stays.meanHoldMs(), MINUTE_MS, 0.15);
  assert.ok(stays.knownShare < 0.2);
});

test("where passes are not renewed a visit ends a session after it began, unless its holder leaves", () => {
  const rules = { ...RULES, disableSessionRenewal: true };
  const silent = new Site({ visitMs: () => MINUTE_MS, leaves: false, rules }).pass(25 * MINUTE_MS);
  assertNear(silent.stays.meanHoldMs(), RULES.sessionDurationMs + PRESENCE_GRACE_MS, 0.05);
  const leaving = new Site({ visitMs: () => 2 * MINUTE_MS, leaves: true, rules }).pass(25 * MINUTE_MS);
  assertNear(leaving.stays.meanHoldMs(), 2 * MINUTE_MS, 0.15);
});

test("all who are on the site go in the end, no sooner than their passes let them", () => {
  const site = new Site({ visitMs: () => 0, leaves: false }).pass(25 * MINUTE_MS);
  const { gone } = site.stays.departures(200, { stepMs: 10_000, steps: 120 });
  assert.ok(
    gone.every((count, step) => step === 0 || count >= gone[step - 1]! - 1e-9),
    "never falls",
  );
  assertNear(gone.at(-1)!, 200, 0.02);
});

test("how long a visit holds its slot is not rounded to the steps it is played in", () => {
  const { stays } = new Site({ visitMs: exponential(3 * MINUTE_MS), leaves: false }).pass(40 * MINUTE_MS);
  for (const stepMs of [3_000, 5_000, 9_000, 11_000]) {
    const hold = stays.hold({ stepMs, steps: Math.ceil((60 * MINUTE_MS) / stepMs) });
    // Between two ends of steps the share that has ended is on a straight line.
    const heldMs = hold.reduce((sum, ended) => sum + (1 - ended) * stepMs, stepMs / 2);
    const off = (heldMs - stays.meanHoldMs()) / stepMs;
    assert.ok(Math.abs(off) < 0.2, `off by ${off} steps of ${stepMs} ms`);
  }
});

test("what was learned survives a restart; what is no memo is left aside", () => {
  const { stays, now } = new Site({ visitMs: () => 0, leaves: false }).pass(25 * MINUTE_MS);
  const after = new Stays();
  after.restore(JSON.parse(JSON.stringify(stays.memo())));
  after.look([], RULES, now);
  assertNear(after.meanHoldMs(), stays.meanHoldMs(), 0.02);
  for (const memo of [
    [],
    [[1]],
    stays.memo().map((part) => part.map(() => -1)),
    stays.memo().map(() => []),
  ]) {
    const fresh = new Stays();
    fresh.restore(memo);
    fresh.look([], RULES, now);
    assert.ok(fresh.doubt > 0.7, "nothing was taken over");
  }
});

test("a site that changes is followed", () => {
  let mean = 8 * MINUTE_MS;
  const site = new Site({ visitMs: () => mean, leaves: true }).pass(60 * MINUTE_MS);
  assertNear(site.stays.meanHoldMs(), 8 * MINUTE_MS, 0.1);
  mean = MINUTE_MS;
  site.pass(90 * MINUTE_MS);
  assertNear(site.stays.meanHoldMs(), MINUTE_MS, 0.25);
});

test("an old visit that is silent when it is first seen says little, and never makes a length that is no number", () => {
  const rules = { ...RULES, sessionDurationMs: 10_000 };
  for (let age = 10_000; age <= 20 * MINUTE_MS; age += 2_345)
    for (let silentMs = 0; silentMs <= 10_000; silentMs += 1_000) {
      const stays = new Stays();
      const expiresAt = NOW - silentMs + rules.sessionDurationMs;
      stays.look([], rules, NOW - age);
      stays.look([{ id: "a", admittedAt: NOW - age, expiresAt }], rules, NOW);
      const holdMs = stays.meanHoldMs();
      assert.ok(holdMs > 0 && Number.isFinite(holdMs), `${holdMs} at ${age}, silent for ${silentMs}`);
    }
});
