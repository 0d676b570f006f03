import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededFraction } from "../sim/hand-world.ts";
import { NO_SHOWS_MAX, NoShows, turnsToGive } from "./no-shows.ts";

function learned(turns: number, missedShare: number, seed = 1): NoShows {
  const noShows = new NoShows();
  const throwDice = seededFraction(seed);
  for (let i = 0; i < turns; i++) {
    if (throwDice() < missedShare) noShows.missed();
    else noShows.used(throwDice() * 0.1);
  }
  return noShows;
}

test("at first every turn is expected to be used, at any age", () => {
  const noShows = new NoShows();
  assert.equal(noShows.share, 0);
  assert.equal(noShows.expected([0, 0.5, 1]), 3);
});

test("a few turns that were missed are no proof that late ones will be", () => {
  const noShows = new NoShows();
  for (let i = 0; i < 10; i++) noShows.missed();
  assert.ok(noShows.expected([0.9]) > 0.9);
});

test("the share of turns that nobody uses is learned over some hundreds of them", () => {
  assert.ok(learned(20, 0.3).share < 0.1);
  for (const seed of [1, 2, 3, 4, 5]) {
    const { share } = learned(2_000, 0.3, seed);
    assert.ok(Math.abs(share - 0.3) < 0.09, `${share}`);
  }
  assert.ok(learned(2_000, 0).share === 0);
});

test("the share is never taken to be more than half", () => {
  assert.equal(NO_SHOWS_MAX, 0.5);
  assert.equal(learned(2_000, 1).share, NO_SHOWS_MAX);
  assert.ok(learned(2_000, 1).expected(Array(10).fill(0)) >= 5);
});

test("a turn that is out for long is expected to be used less than a new one", () => {
  const noShows = learned(2_000, 0.3);
  const [fresh, late] = [noShows.expected([0]), noShows.expected([0.9])];
  assert.ok(Math.abs(fresh - 0.7) < 0.09, `${fresh}`);
  assert.ok(late < 0.05, `${late}`);
});

test("where turns are used late, late ones are still expected", () => {
  const noShows = new NoShows();
  for (let i = 0; i < 2_000; i++) {
    if (i % 10 === 0) noShows.missed();
    else noShows.used(0.99);
  }
  assert.ok(noShows.expected([0.95]) > 0.85);
});

test("from any past, shares are shares and older turns are never expected more", () => {
  const outcome = fc.option(fc.oneof(fc.double(), fc.double({ min: 0, max: 1, noNaN: true })));
  fc.assert(
    fc.property(fc.array(outcome, { maxLength: 400, size: "max" }), (outcomes) => {
      const noShows = new NoShows();
      for (const age of outcomes) {
        if (age === null) noShows.missed();
        else noShows.used(age);
      }
      assert.ok(noShows.share >= 0 && noShows.share <= NO_SHOWS_MAX);
      let before = 1;
      for (let age = 0; age <= 1; age += 1 / 16) {
        const chance = noShows.expected([age]);
        assert.ok(chance >= 0 && chance <= before + 1e-12, `${chance} after ${before}`);
        before = chance;
      }
    }),
  );
});

test("what was learned goes through a restart, and a memo of another shape is left aside", () => {
  const before = learned(500, 0.3);
  const after = new NoShows();
  after.restore(JSON.parse(JSON.stringify(before.memo())));
  assert.ok(Math.abs(after.share - before.share) < 1e-12);
  assert.ok(Math.abs(after.expected([0.9]) - before.expected([0.9])) < 1e-12);
  for (const memo of [
    { usedAt: [1], missed: 0 },
    { usedAt: Array(8).fill(Number.NaN), missed: 0 },
    { usedAt: Array(8).fill(0), missed: 0 },
    { usedAt: [...Array(7).fill(0), -1], missed: 1 },
  ]) {
    const fresh = new NoShows();
    fresh.restore(memo);
    assert.deepEqual(fresh.memo(), new NoShows().memo());
  }
});

test("without no-shows the turns to give are the free slots", () => {
  fc.assert(
    fc.property(fc.nat(1_000), fc.nat(1_200), fc.nat(1_200), (capacity, onSite, out) => {
      const given = turnsToGive({ capacity, onSite, out, expected: out, share: 0 });
      assert.equal(given, Math.max(0, capacity - onSite - out));
    }),
  );
});

test("all who are expected fit, more are never given than half the capacity on top, and none to a full site", () => {
  const filling = fc.record({
    capacity: fc.integer({ min: 1, max: 10_000 }),
    onSite: fc.nat(12_000),
    out: fc.nat(12_000),
    chance: fc.double({ min: 0, max: 1, noNaN: true }),
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  fc.assert(
    fc.property(filling, ({ capacity, onSite, out, chance, share }) => {
      const expected = out * chance;
      const given = turnsToGive({ capacity, onSite, out, expected, share });
      assert.ok(Number.isInteger(given) && given >= 0);
      const free = capacity - onSite;
      if (free <= 0) assert.equal(given, 0);
      if (given === 0) return;
      assert.ok(expected + given * (1 - Math.min(share, NO_SHOWS_MAX)) <= free + 1e-3);
      assert.ok(out + given <= free + capacity * NO_SHOWS_MAX);
      assert.ok(given >= free - out);
    }),
  );
});

const CAPACITY = 200;
const CLAIM_WINDOW_S = 120;
const STAY_S = 300;
const COMES_AFTER_S = 6;
const HOURS = 3;
const EMPTIED_AT_S = 2 * 3_600;

interface Turn {
  readonly comesAt: number;
  claimBy: number;
}

/**
 * A long line before a site, second by second. A visitor who finds the site full keeps the turn
 * and tries again. What counts is how full the site was after an hour, and whether anybody who came lost out. After two
 * hours everybody leaves at once, and from then on as many turns are missed as `missedLater` says.
 */
function simulate(missedShare: number, isFilled: boolean, seed: number, missedLater = missedShare) {
  const throwDice = seededFraction(seed);
  const after = (mean: number) => -mean * Math.log(1 - throwDice());
  const noShows = new NoShows();
  const turns = new Set<Turn>();
  let leaving: number[] = [];
  let [fullness, seconds, lost, refused, onSiteMax] = [0, 0, 0, 0, 0];
  const ageOf = (turn: Turn, now: number) => 1 - (turn.claimBy - now) / CLAIM_WINDOW_S;
  for (let now = 0; now < HOURS * 3_600; now++) {
    leaving = now === EMPTIED_AT_S ? [] : leaving.filter((at) => at > now);
    for (const turn of turns) {
      if (turn.comesAt <= now && leaving.length < CAPACITY) {
        turns.delete(turn);
        noShows.used(ageOf(turn, now));
        leaving.push(now + after(STAY_S));
      } else if (turn.comesAt <= now) {
        refused++;
        turn.claimBy = now + CLAIM_WINDOW_S;
      } else if (turn.claimBy <= now) {
        turns.delete(turn);
        noShows.missed();
        if (turn.comesAt < Infinity) lost++;
      }
    }
    const out = turns.size;
    const ages = [...turns].map((turn) => ageOf(turn, now));
    const give = isFilled
      ? { expected: noShows.expected(ages), share: noShows.share }
      : { expected: out, share: 0 };
    for (let n = turnsToGive({ capacity: CAPACITY, onSite: leaving.length, out, ...give }); n > 0; n--) {
      const isMissed = throwDice() < (now < EMPTIED_AT_S ? missedShare : missedLater);
      const comesAt = isMissed ? Infinity : now + Math.min(after(COMES_AFTER_S), 100);
      turns.add({ comesAt, claimBy: now + CLAIM_WINDOW_S });
    }
    onSiteMax = Math.max(onSiteMax, leaving.length);
    if (now < 3_600) continue;
    fullness += leaving.length / CAPACITY;
    seconds++;
  }
  return { fullness: fullness / seconds, lost, refused, onSiteMax };
}

test("with three turns in ten not used the site is full all the same, and never too full", (t) => {
  for (const seed of [1, 2, 3]) {
    const plain = simulate(0.3, false, seed);
    const filled = simulate(0.3, true, seed);
    t.diagnostic(
      `on the site: ${plain.fullness.toFixed(3)} of capacity, filled ${filled.fullness.toFixed(3)}`,
    );
    assert.ok(plain.fullness < 0.9);
    assert.ok(filled.fullness > 0.96 && filled.fullness > plain.fullness + 0.08);
    assert.ok(filled.onSiteMax <= CAPACITY && plain.onSiteMax <= CAPACITY);
    assert.deepEqual([plain.lost, filled.lost, plain.refused], [0, 0, 0]);
  }
});

test("when all come at once after many did not, some are kept at the door, none beyond it, and none loses a turn", () => {
  const { onSiteMax, refused, lost, fullness } = simulate(0.4, true, 1, 0);
  assert.ok(refused > 0);
  assert.equal(onSiteMax, CAPACITY);
  assert.equal(lost, 0);
  assert.ok(fullness > 0.95);
});

test("where everybody comes nothing is given on top, and nobody is refused", () => {
  assert.equal(simulate(0, true, 1).refused, 0);
});
