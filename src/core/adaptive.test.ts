import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Adaptive, type AdaptiveSeen } from "./adaptive.ts";
import { ANSWERS_MIN } from "./load.ts";
import type { AdaptiveRules } from "./rules.ts";

const START = 1_000_000_000;
const TICK_MS = 1_000;
const MINUTE_MS = 60_000;
const RULES: AdaptiveRules = {
  least: 0.2,
  latencyFactor: 2.5,
  latencyMs: null,
  errors: 0.02,
  inFlight: null,
};
const SET = { totalActiveUsers: 1_000, newUsersPerMinute: 300 };
const WELL: AdaptiveSeen = {
  latencyMs: 400,
  answers: 1_000,
  errors: 0,
  inFlight: 20,
  onSite: 1_000,
  noShows: 0,
};
const SLOW: AdaptiveSeen = { ...WELL, latencyMs: 1_900 };

/** Turns a loop by hand, second by second. */
function loop(rules: AdaptiveRules = RULES, set = SET) {
  const adaptive = new Adaptive();
  let now = START;
  const texts: string[] = [];
  return {
    adaptive,
    texts,
    pass(ms: number, seen: Partial<AdaptiveSeen> | ((adaptive: Adaptive) => Partial<AdaptiveSeen>) = {}) {
      for (const until = now + ms; now < until; now += TICK_MS) {
        const parts = typeof seen === "function" ? seen(adaptive) : seen;
        const remark = adaptive.turn(rules, set, { ...WELL, ...parts }, now);
        if (remark) texts.push(remark.text);
      }
      return adaptive.share;
    },
  };
}

/** The site is full and no fuller: surplus visitors have left already. */
const full = (parts: Partial<AdaptiveSeen>) => (adaptive: Adaptive) => ({
  ...parts,
  onSite: adaptive.limits(SET).totalActiveUsers!,
});

test("nothing changes while the origin is well", () => {
  const { pass, texts } = loop();
  assert.equal(pass(10 * MINUTE_MS), 1);
  assert.deepEqual(texts, []);
});

test("a slow origin lowers the limits at once, and the sentence says how slow and what is usual", () => {
  const { pass, texts, adaptive } = loop();
  pass(MINUTE_MS);
  pass(TICK_MS, { latencyMs: 1_400 });
  assert.deepEqual(texts, ["Capacity down from 100% to 71%: the site takes 1.4 s where 0.4 s is usual."]);
  assert.deepEqual(adaptive.limits(SET), { totalActiveUsers: 710, newUsersPerMinute: 213 });
});

test("the more the origin suffers the more is taken, between a tenth and a half at a time", () => {
  const shareAt = (latencyMs: number) => {
    const { pass } = loop();
    pass(MINUTE_MS);
    return pass(TICK_MS, { latencyMs });
  };
  assert.equal(shareAt(1_000), 1);
  assert.equal(shareAt(1_001), 0.9);
  assert.equal(shareAt(1_900), 0.53);
  assert.equal(shareAt(60_000), 0.5);
});

test("errors and requests under way lower the limits too, and the worst reason is told", () => {
  const told = (rules: Partial<AdaptiveRules>, seen: Partial<AdaptiveSeen>) => {
    const { pass, texts } = loop({ ...RULES, ...rules });
    pass(MINUTE_MS);
    pass(TICK_MS, seen);
    return texts;
  };
  assert.deepEqual(told({}, { errors: 0.02 }), []);
  assert.deepEqual(told({}, { errors: 0.042 }), [
    "Capacity down from 100% to 50%: 4.2% of the site's answers are errors, more than 2%.",
  ]);
  assert.deepEqual(told({ inFlight: 500 }, { inFlight: 501 }), [
    "Capacity down from 100% to 90%: 501 requests are under way, more than 500.",
  ]);
  assert.deepEqual(told({ inFlight: 500 }, { inFlight: 600, errors: 0.03 }), [
    "Capacity down from 100% to 67%: 3% of the site's answers are errors, more than 2%.",
  ]);
});

test("a latency limit that is set counts too, whatever is usual", () => {
  const strict = loop({ ...RULES, latencyMs: 500 });
  strict.pass(MINUTE_MS);
  strict.pass(TICK_MS, { latencyMs: 625 });
  assert.deepEqual(strict.texts, ["Capacity down from 100% to 80%: the site takes 0.63 s, more than 0.5 s."]);
  const unusual = loop({ ...RULES, latencyMs: 5_000 });
  unusual.pass(MINUTE_MS);
  unusual.pass(TICK_MS, { latencyMs: 1_400 });
  assert.match(unusual.texts[0]!, /1.4 s where 0.4 s is usual/);
});

test("requests that pile up are seen even when nothing is answered any more", () => {
  const { pass } = loop({ ...RULES, inFlight: 500 });
  pass(MINUTE_MS);
  assert.ok(pass(TICK_MS, { answers: 0, latencyMs: null, inFlight: 2_000 }) < 1);
});

test("each lowering has time to show its effect before the next", () => {
  const { pass, texts } = loop();
  pass(MINUTE_MS);
  assert.equal(pass(10_000, full({ latencyMs: 1_400 })), 0.71);
  assert.equal(pass(10_000, full({ latencyMs: 1_400 })), 0.51);
  assert.equal(texts.length, 2);
});

test("lowering starts from how many are on the site, not from a limit that nobody reached", () => {
  const { pass } = loop();
  pass(MINUTE_MS, { onSite: 600 });
  assert.equal(pass(TICK_MS, { latencyMs: 1_050, onSite: 600 }), 0.54);
});

test("while more are on the site than the limit allows, the door is shut and nothing is lowered further", () => {
  const { pass } = loop();
  pass(MINUTE_MS);
  assert.equal(pass(TICK_MS, { latencyMs: 1_400, onSite: 1_000 }), 0.71);
  assert.equal(pass(5 * MINUTE_MS, { latencyMs: 1_400, onSite: 711 }), 0.71);
  assert.equal(pass(TICK_MS, { latencyMs: 1_400, onSite: 710 }), 0.51);
});

test("limits rise slowly while the origin is well, to what is set and no further", () => {
  const { pass, texts } = loop();
  pass(MINUTE_MS);
  pass(TICK_MS, SLOW);
  assert.equal(pass(9_000, full({})), 0.53);
  assert.equal(pass(TICK_MS, full({})), 0.56);
  assert.equal(texts.at(-1), "Capacity up from 53% to 56%: the site is well and takes 0.4 s.");
  assert.ok(pass(MINUTE_MS, full({})) <= 0.56 + 6 * 0.03 + 1e-9);
  assert.equal(pass(10 * MINUTE_MS, full({})), 1);
  assert.equal(texts.at(-1), "Capacity up from 99% to 100%: the site is well and takes 0.4 s.");
});

test("near where the origin suffered the steps are careful, and well past it quick again", () => {
  const { pass } = loop();
  pass(MINUTE_MS, { onSite: 600 });
  assert.equal(pass(TICK_MS, { onSite: 600, latencyMs: 60_000 }), 0.5);
  assert.equal(pass(20_000, full({})), 0.56);
  assert.equal(pass(5 * MINUTE_MS, full({})), 0.66);
  assert.equal(pass(30_000, full({})), 0.67);
  assert.equal(pass(MINUTE_MS, full({})), 0.85);
});

test("a limit far below the number on a healthy site rises to it quickly", () => {
  const { pass } = loop();
  pass(MINUTE_MS);
  pass(TICK_MS, { latencyMs: 60_000 });
  assert.equal(pass(MINUTE_MS, { onSite: 950 }), 0.68);
});

test("unused limits do not run ahead of the number on the site", () => {
  const { pass } = loop();
  pass(MINUTE_MS, { onSite: 600 });
  pass(TICK_MS, { onSite: 600, latencyMs: 60_000 });
  assert.ok(pass(10 * MINUTE_MS, { onSite: 590 }) < 0.8);
});

test("just below a threshold the limits are held", () => {
  const { pass } = loop();
  pass(MINUTE_MS);
  pass(TICK_MS, SLOW);
  assert.equal(pass(10 * MINUTE_MS, full({ latencyMs: 720 })), 0.53);
  assert.ok(pass(MINUTE_MS, full({ latencyMs: 690 })) > 0.53);
});

test("where many turns are not used the steps up are larger, since fewer arrive", () => {
  const { pass, texts } = loop();
  pass(MINUTE_MS);
  pass(TICK_MS, SLOW);
  assert.equal(pass(10_000, full({ noShows: 0.4 })), 0.58);
  assert.equal(
    texts.at(-1),
    "Capacity up from 53% to 58%: the site is well and takes 0.4 s, and 40% of turns are not used.",
  );
});

test("few answers change nothing; after a long silence the limits rise slowly", () => {
  const { pass, texts } = loop();
  pass(MINUTE_MS);
  pass(TICK_MS, SLOW);
  const few = { answers: ANSWERS_MIN - 1, latencyMs: 60_000, errors: 1, onSite: 20 };
  assert.equal(pass(59_000, few), 0.53);
  assert.ok(pass(10_000, few) > 0.53);
  assert.equal(texts.at(-1), "Capacity up from 53% to 56%: hardly anything is asked of the site.");
  assert.equal(pass(10 * MINUTE_MS, few), 1);
});

test("a fast origin may be many times slower than usual as long as nobody would notice", () => {
  const { pass } = loop();
  pass(MINUTE_MS, { latencyMs: 1 });
  assert.equal(pass(MINUTE_MS, { latencyMs: 3 }), 1);
  assert.equal(pass(MINUTE_MS, { latencyMs: 120 }), 1);
  assert.ok(pass(MINUTE_MS, { latencyMs: 130 }) < 1);
});

test("a degraded origin does not become the new normal while it is busy", () => {
  const { pass, adaptive } = loop();
  pass(MINUTE_MS);
  pass(60 * MINUTE_MS, { latencyMs: 900, onSite: 900 });
  pass(360 * MINUTE_MS, ({ share }) => full({ latencyMs: 1_333 * share })(adaptive));
  assert.ok(adaptive.share > 0.5 && adaptive.share < 0.8, `${adaptive.share}`);
  assert.equal(adaptive.baselineMs, 400);
});

test("a degraded origin does not become the new normal while limits are being found", () => {
  const { pass, adaptive } = loop();
  pass(MINUTE_MS);
  pass(360 * MINUTE_MS, ({ share }) => full({ latencyMs: Math.max(400, 2_500 * share) })(adaptive));
  assert.ok(adaptive.share > 0.25 && adaptive.share < 0.45, `${adaptive.share}`);
  assert.ok(adaptive.baselineMs! < 401, `${adaptive.baselineMs}`);
});

test("on a quiet site the baseline follows upwards slowly", () => {
  const { pass, adaptive } = loop();
  pass(MINUTE_MS, { onSite: 100 });
  pass(10 * MINUTE_MS, { onSite: 100, latencyMs: 900 });
  assert.ok(adaptive.baselineMs! > 400 && adaptive.baselineMs! < 460, `${adaptive.baselineMs}`);
});

test("a faster origin is learned within minutes, busy or not, but not from one moment", () => {
  for (const onSite of [100, 900]) {
    const { pass, adaptive } = loop();
    pass(MINUTE_MS, { onSite });
    pass(10_000, { onSite, latencyMs: 200 });
    assert.ok(adaptive.baselineMs! > 360, `${adaptive.baselineMs}`);
    pass(10 * MINUTE_MS, { onSite, latencyMs: 200 });
    assert.ok(adaptive.baselineMs! < 205, `${adaptive.baselineMs}`);
  }
});

test("an origin that stays slower becomes the baseline after a few hours at the earliest", () => {
  const { pass } = loop();
  pass(MINUTE_MS);
  assert.equal(pass(20 * MINUTE_MS, full({ latencyMs: 1_600 })), 0.2);
  assert.equal(pass(180 * MINUTE_MS, full({ latencyMs: 1_600 })), 1);
});

test("answers that fail fast teach nothing about what is usual", () => {
  const { pass, adaptive } = loop();
  pass(MINUTE_MS);
  pass(30 * MINUTE_MS, { latencyMs: 2, errors: 0.6 });
  assert.equal(adaptive.baselineMs, 400);
});

test("it goes on where it was after a restart", () => {
  const { pass, adaptive } = loop();
  pass(MINUTE_MS);
  pass(TICK_MS, SLOW);
  const again = new Adaptive();
  again.restore(JSON.parse(JSON.stringify(adaptive.memo())));
  assert.deepEqual(again.memo(), { share: 0.53, baselineMs: 400, sufferedAt: 1 });
  assert.equal(again.turn(RULES, SET, WELL, START + 3_600_000), null);
});

test("a clock that is set back delays the next change by no more than its usual interval", () => {
  const adaptive = new Adaptive();
  adaptive.turn(RULES, SET, WELL, START);
  assert.notEqual(adaptive.turn(RULES, SET, { ...SLOW, latencyMs: 1_100 }, START + 1_000), null);
  const back = START - 3_600_000;
  assert.equal(adaptive.turn(RULES, SET, { ...SLOW, onSite: 800 }, back), null);
  assert.notEqual(adaptive.turn(RULES, SET, { ...SLOW, onSite: 800 }, back + 10_000), null);
  assert.equal(adaptive.turn(RULES, SET, { ...WELL, onSite: 0 }, back + 19_000), null);
  assert.notEqual(adaptive.turn(RULES, SET, { ...WELL, onSite: 0 }, back + 20_000), null);
});

test("a raised `least` applies at once", () => {
  const adaptive = new Adaptive();
  adaptive.restore({ share: 0.2, baselineMs: 400, sufferedAt: null });
  const remark = adaptive.turn({ ...RULES, least: 0.4 }, SET, SLOW, START);
  assert.equal(remark?.text, "Capacity up from 20% to 40%: it may not be less.");
});

test("limits that are not set stay so, and there is always room for one", () => {
  const adaptive = new Adaptive();
  adaptive.restore({ share: 0.01, baselineMs: null, sufferedAt: null });
  assert.deepEqual(adaptive.limits({ totalActiveUsers: null, newUsersPerMinute: 3 }), {
    totalActiveUsers: null,
    newUsersPerMinute: 1,
  });
  assert.deepEqual(adaptive.limits({ totalActiveUsers: 1, newUsersPerMinute: null }), {
    totalActiveUsers: 1,
    newUsersPerMinute: null,
  });
});

test("with a rate alone the loop lowers and recovers as well", () => {
  const set = { totalActiveUsers: null, newUsersPerMinute: 300 };
  const adaptive = new Adaptive();
  let now = START;
  for (; now < START + MINUTE_MS; now += TICK_MS) adaptive.turn(RULES, set, WELL, now);
  for (; now < START + 2 * MINUTE_MS; now += TICK_MS) adaptive.turn(RULES, set, SLOW, now);
  assert.equal(adaptive.limits(set).newUsersPerMinute, 60);
  for (; now < START + 10 * MINUTE_MS; now += TICK_MS) adaptive.turn(RULES, set, WELL, now);
  assert.deepEqual(adaptive.limits(set), set);
});

const hostile = fc.oneof(
  fc.constantFrom(0, -1, 1, Number.NaN, Infinity, -Infinity, Number.MAX_VALUE, Number.MIN_VALUE),
  fc.double({ min: 0, max: 5_000, noNaN: true }),
);
const anySeen = fc.record({
  latencyMs: fc.option(hostile),
  answers: hostile,
  errors: fc.oneof(hostile, fc.double({ min: 0, max: 0.1, noNaN: true })),
  inFlight: hostile,
  onSite: hostile,
  noShows: fc.oneof(hostile, fc.double({ min: 0, max: 1, noNaN: true })),
});
const anyRules = fc.record({
  least: fc.double({ min: 0.01, max: 1, noNaN: true }),
  latencyFactor: fc.double({ min: 1, max: 10, noNaN: true }),
  latencyMs: fc.option(fc.integer({ min: 1, max: 10_000 })),
  errors: fc.double({ min: 0, max: 1, noNaN: true }),
  inFlight: fc.option(fc.integer({ min: 1, max: 1_000 })),
});
const anySet = fc.record({
  totalActiveUsers: fc.option(fc.integer({ min: 1, max: 100_000 })),
  newUsersPerMinute: fc.option(fc.integer({ min: 1, max: 100_000 })),
});
const anyPast = fc.array(fc.tuple(fc.integer({ min: -5_000, max: 30_000 }), anySeen), {
  maxLength: 60,
  size: "max",
});

test("whatever is seen, limits stay between the least and what is set, and every change has its sentence", () => {
  fc.assert(
    fc.property(anyRules, anySet, anyPast, (rules, set, past) => {
      const adaptive = new Adaptive();
      let now = START;
      for (const [ms, seen] of past) {
        now += ms;
        const before = adaptive.share;
        const remark = adaptive.turn(rules, set, seen, now);
        assert.equal(remark !== null, adaptive.share !== before);
        assert.ok(adaptive.share >= rules.least && adaptive.share <= 1, `${adaptive.share}`);
        assert.doesNotMatch(remark?.text ?? "", /NaN|undefined/);
        const limits = adaptive.limits(set);
        for (const name of ["totalActiveUsers", "newUsersPerMinute"] as const) {
          const [limit, most] = [limits[name], set[name]];
          if (most === null) assert.equal(limit, null);
          else assert.ok(limit! >= 1 && limit! <= most && limit! >= most * rules.least - 1e-6, `${limit}`);
          assert.ok(limit === null || Number.isInteger(limit));
        }
      }
    }),
  );
});

test("from the same state, a worse measurement never leaves a higher limit than a better one", () => {
  const worse = fc.record({
    latencyMs: fc.double({ min: 0, max: 5_000, noNaN: true }),
    errors: fc.double({ min: 0, max: 0.2, noNaN: true }),
    inFlight: fc.integer({ min: 0, max: 2_000 }),
  });
  const look = fc.record({
    latencyMs: fc.double({ min: 1, max: 5_000, noNaN: true }),
    errors: fc.double({ min: 0, max: 0.1, noNaN: true }),
    inFlight: fc.integer({ min: 0, max: 2_000 }),
    answers: fc.integer({ min: 0, max: 5_000 }),
    onSite: fc.integer({ min: 0, max: 2_000 }),
    noShows: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(anyRules, anySet, anyPast, look, worse, (rules, set, past, seen, by) => {
      const shareAfter = (last: AdaptiveSeen) => {
        const adaptive = new Adaptive();
        let now = START;
        for (const [ms, then] of past) {
          now += ms;
          adaptive.turn(rules, set, then, now);
        }
        adaptive.turn(rules, set, last, now + 12_000);
        return adaptive.share;
      };
      const bad = {
        ...seen,
        latencyMs: seen.latencyMs + by.latencyMs,
        errors: seen.errors + by.errors,
        inFlight: seen.inFlight + by.inFlight,
      };
      assert.ok(shareAfter(bad) <= shareAfter(seen));
    }),
    { numRuns: 300 },
  );
});

test("from any state, a healthy origin gets its full limits back", () => {
  fc.assert(
    fc.property(anyRules, anySet, anyPast, (rules, set, past) => {
      const adaptive = new Adaptive();
      let now = START;
      for (const [ms, seen] of past) {
        now += ms;
        adaptive.turn(rules, set, seen, now);
      }
      for (const until = now + 45 * MINUTE_MS; now < until; now += TICK_MS)
        adaptive.turn(rules, set, { ...WELL, latencyMs: 0.5, inFlight: 0 }, now);
      assert.equal(adaptive.share, 1);
    }),
  );
});
