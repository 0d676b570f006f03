import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AddressHealth,
  type AddressUser,
  ANSWER_PATIENCE_MS,
  type AnswerKind,
  BACK_OFF_MAX_MS,
  BACK_OFF_MIN_MS,
  CONNECT_PATIENCE_MS,
  ERRORS_REMEMBERED_MS,
  STANDING,
  STEADY_AFTER_MS,
  TRIAL_WAITS_MS,
} from "./address-health.ts";

/** An address and a clock that the test moves. */
function meet({ canRest = true } = {}) {
  const health = new AddressHealth(canRest);
  const time = { now: 1_000_000 };
  const caller = (): AddressUser => ({ phase: null });
  const connect = () => {
    const one = caller();
    health.begin(one, time.now);
    health.connected(one, time.now);
    return one;
  };
  const answer = (kind: AnswerKind = "good", one = connect()) => {
    const turn = health.answered(one, time.now, kind);
    health.leave(one);
    return turn;
  };
  const fail = (one = connect()) => {
    const turn = health.failed(one, time.now);
    health.leave(one);
    return turn;
  };
  const standing = (isSticky = false) => health.standing(time.now, isSticky);
  return { health, time, caller, connect, answer, fail, standing };
}

test("an address that is down is tried after rests that double up to the limit", () => {
  const { health, time, standing } = meet();
  assert.equal(health.unreachable(time.now), true);
  const rests: number[] = [];
  for (let tries = 1; tries <= 8; tries++) {
    assert.equal(health.connectsFailed, tries);
    rests.push(health.probeAfterMs);
    time.now += health.probeAfterMs;
    health.probeFailed(time.now);
  }
  assert.deepEqual(rests.slice(0, 6), [1_000, 2_000, 4_000, 8_000, 16_000, 30_000]);
  assert.equal(rests.at(-1), BACK_OFF_MAX_MS);
  assert.equal(standing(), STANDING.down);
  assert.deepEqual([health.reached(time.now), health.reached(time.now)], [true, false]);
  assert.equal(standing(), STANDING.well);
});

test("requests that fail together make it go down once", () => {
  const { health, time } = meet();
  const went = Array.from({ length: 10 }, () => health.unreachable(time.now));
  assert.deepEqual(went, [true, ...Array(9).fill(false)]);
  assert.equal(health.probeAfterMs, BACK_OFF_MIN_MS);
});

test("one that comes and goes rests ever longer, one that was steady begins anew", () => {
  const { health, time } = meet();
  const goAndCome = () => {
    health.unreachable(time.now);
    const restMs = health.probeAfterMs;
    time.now += restMs;
    health.reached(time.now);
    return restMs;
  };
  assert.deepEqual([goAndCome(), goAndCome(), goAndCome()], [1_000, 2_000, 4_000]);
  time.now += STEADY_AFTER_MS;
  assert.equal(goAndCome(), BACK_OFF_MIN_MS);
});

test("three failures in a row take it out, one in four never does", () => {
  const { answer, fail, standing } = meet();
  for (let n = 0; n < 400; n++) assert.equal(n % 4 === 0 ? fail() : answer(), null);
  assert.equal(standing(), STANDING.well);
  for (let n = 0; n < 50; n++) answer();
  assert.deepEqual([fail(), fail(), fail()], [null, null, "out"]);
  assert.equal(standing(), STANDING.failing);
});

test("an error is no failure, unless its status is set to be one", () => {
  const { answer, standing } = meet();
  for (let n = 0; n < 50; n++) assert.equal(answer("error"), null);
  assert.equal(standing(), STANDING.well);
  assert.deepEqual([answer("failure"), answer("failure"), answer("failure")], [null, null, "out"]);
});

test("after its rest one request at a time is its trial, and a failed one doubles the rest", () => {
  const { health, time, connect, answer, fail, standing } = meet();
  for (let n = 0; n < 3; n++) fail();
  for (const restMs of [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]) {
    time.now += restMs - 1;
    assert.equal(health.isTrialDue(time.now, true), false);
    time.now += 1;
    assert.equal(health.isTrialDue(time.now, true), true);
    const trial = connect();
    health.beginTrial(trial);
    assert.equal(health.isTrialDue(time.now, true), false, "one at a time");
    // Those that were under way before tell nothing of how it is now.
    assert.deepEqual([answer(), fail()], [null, null]);
    assert.equal(fail(trial), null);
  }
  time.now += BACK_OFF_MAX_MS;
  const trial = connect();
  health.beginTrial(trial);
  assert.equal(answer("good", trial), "back");
  assert.equal(standing(), STANDING.well);
});

test("back from a trial, one failure takes it out again, but not after some good answers", () => {
  const { health, time, connect, answer, fail } = meet();
  const passTrial = () => {
    time.now += BACK_OFF_MAX_MS;
    const trial = connect();
    health.beginTrial(trial);
    return answer("good", trial);
  };
  for (let n = 0; n < 3; n++) fail();
  assert.equal(passTrial(), "back");
  assert.equal(fail(), "out");
  assert.equal(passTrial(), "back");
  for (let n = 0; n < 10; n++) answer();
  assert.equal(fail(), null);
});

test("a trial that was given up leaves the next to another", () => {
  const { health, time, caller, fail } = meet();
  for (let n = 0; n < 3; n++) fail();
  time.now += BACK_OFF_MIN_MS;
  const trial = caller();
  health.beginTrial(trial);
  health.leave(trial);
  assert.equal(health.isTrialDue(time.now, true), true);
});

test("where no request can be repeated, any other is the trial after a while", () => {
  const { health, time, fail } = meet();
  for (let n = 0; n < 3; n++) fail();
  time.now += BACK_OFF_MIN_MS + TRIAL_WAITS_MS - 1;
  assert.equal(health.isTrialDue(time.now, false), false);
  time.now += 1;
  assert.equal(health.isTrialDue(time.now, false), true);
});

test("an address alone is never taken out", () => {
  const { fail, standing } = meet({ canRest: false });
  for (let n = 0; n < 20; n++) assert.equal(fail(), null);
  assert.equal(standing(), STANDING.well);
});

test("while nobody has connected of late, one finds out for all others", () => {
  const { health, time, caller, connect, standing } = meet();
  const first = caller();
  health.begin(first, time.now);
  assert.equal(standing(), STANDING.doubted);
  assert.equal(standing(true), STANDING.well, "its own visitors wait with the first");
  health.connected(first, time.now);
  assert.equal(standing(), STANDING.well);
  // Then many connect at once, and no doubt arises while some manage to.
  health.begin(caller(), time.now);
  time.now += CONNECT_PATIENCE_MS;
  assert.equal(standing(), STANDING.well);
  connect();
  time.now += CONNECT_PATIENCE_MS + 1;
  assert.deepEqual([standing(), standing(true)], [STANDING.doubted, STANDING.doubted]);
});

test("a caller that leaves while it connects takes its doubt along", () => {
  const { health, time, caller, standing } = meet();
  const gone = caller();
  health.begin(gone, time.now);
  health.leave(gone);
  health.leave(gone);
  assert.equal(standing(), STANDING.well);
});

test("an address that is asked and silent for long is doubted until it answers", () => {
  const { time, connect, answer, standing } = meet();
  connect();
  const second = connect();
  time.now += ANSWER_PATIENCE_MS;
  assert.equal(standing(), STANDING.well);
  time.now += 1;
  assert.deepEqual([standing(), standing(true)], [STANDING.doubted, STANDING.well]);
  answer("good", second);
  assert.equal(standing(), STANDING.well);
});

test("the share of errors follows the last answers, and is forgotten in the named time after the last error", () => {
  const { health, time, answer, fail } = meet();
  const share = () => health.errorShare(time.now);
  for (let n = 0; n < 1_000; n++) answer();
  assert.equal(share(), 0);
  answer("error");
  assert.ok(share() > 0 && share() < 0.2, "one alone weighs little");
  for (let n = 0; n < 30; n++) fail();
  assert.ok(share() > 0.9, "however many good ones came before");
  for (let n = 0; n < 30; n++) answer();
  assert.ok(share() < 0.1);
  for (let n = 0; n < 30; n++) answer("error");
  time.now += ERRORS_REMEMBERED_MS - 1;
  assert.ok(share() > 0.9);
  time.now += 1;
  assert.equal(share(), 0);
  answer("error");
  assert.ok(share() < 0.2, "it begins anew");
});
