import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES, type DoorRules, type RoomRules } from "../../core/rules.ts";
import { type CrowdOptions, planCrowd } from "./crowd-plan.ts";
import { displacementOf, type Findings } from "./findings.ts";
import { limitOf, slotMs, verdictOf } from "./verdict.ts";
import { type WhatIf, whatIf } from "./what-if.ts";

/** Everything is short here: the engine's work is by the second. */
const SECOND = 1_000;

const CROWD: CrowdOptions = {
  shape: "sigmoid",
  size: 600,
  overMs: 10 * SECOND,
  stayMs: 5 * SECOND,
  impatient: 0,
  noShow: 0,
  leave: 0,
  seed: 1,
};

function ask(
  rules: Partial<RoomRules>,
  crowd: Partial<CrowdOptions> = {},
  more: Partial<WhatIf> = {},
): WhatIf {
  return {
    room: "main",
    rules: { ...DEFAULT_RULES, sessionDurationMs: 5 * SECOND, ...rules },
    crowd: { ...CROWD, ...crowd },
    ...more,
  };
}

const played = new Map<string, Findings>();

/** The same question has the same answer, so it is played once. */
function play(...asked: Parameters<typeof ask>): Findings {
  const question = ask(...asked);
  const key = JSON.stringify([question, [...(question.neighbours ?? [])]]);
  const findings = played.get(key) ?? whatIf(question);
  played.set(key, findings);
  return findings;
}

function accountedFor({ people }: Findings): number {
  const { straightThrough, afterWaiting, gaveUp, noShow, turnedAway, stillWaiting } = people;
  return straightThrough + afterWaiting + gaveUp + noShow + turnedAway + stillWaiting;
}

test("the same question has the same answer, byte for byte, and another seed another", () => {
  const habits = { size: 300, impatient: 0.2, noShow: 0.1, leave: 0.5 };
  const answer = (seed: number) =>
    JSON.stringify(whatIf(ask({ totalActiveUsers: 100 }, { ...habits, seed })));
  assert.equal(answer(5), answer(5));
  assert.notEqual(answer(5), answer(6));
});

test("everyone is somewhere in the end, and no more are in than were admitted", () => {
  for (const shape of ["constant", "spike", "sigmoid"] as const) {
    const findings = play({ totalActiveUsers: 100 }, { shape, impatient: 0.2, noShow: 0.1 });
    const { people, series } = findings;
    assert.equal(accountedFor(findings), CROWD.size);
    assert.ok(
      people.straightThrough > 0 && people.afterWaiting > 0 && people.gaveUp > 0 && people.noShow > 0,
    );
    assert.equal(series.arrived.at(-1), CROWD.size);
    assert.ok(people.straightThrough + people.afterWaiting + people.noShow <= series.admitted.at(-1)!);
  }
});

test("with everyone patient, everyone gets in", () => {
  const { people, series, line } = play({ totalActiveUsers: 100 });
  assert.equal(people.straightThrough + people.afterWaiting, CROWD.size);
  assert.equal(series.admitted.at(-1), CROWD.size);
  assert.ok(line.emptyAtMs! <= line.lastEnteredMs!);
});

test("slots are never exceeded, with no-shows and turns on top too", () => {
  for (const fillNoShows of [false, true]) {
    const { series, capacity } = play(
      { totalActiveUsers: 100, fillNoShows },
      { noShow: fillNoShows ? 0 : 0.3 },
    );
    assert.equal(capacity.slots, 100);
    assert.ok(
      series.used.every((used) => used <= 100),
      String(fillNoShows),
    );
    assert.equal(capacity.peak, 100);
    assert.ok(capacity.mean <= 100 && capacity.fullShare > 0.5);
  }
});

test("a rate admits at that rate, and the last one is in when all have had their turn by it", () => {
  const { admissions, line, reasons } = play({ newUsersPerMinute: 400 }, { shape: "spike", overMs: SECOND });
  assert.equal(admissions.peakPerMinute, 400);
  assert.ok(Math.abs(line.emptyAtMs! - 90 * SECOND) < 2 * SECOND, String(line.emptyAtMs));
  assert.equal(reasons.rate, 1);
});

test("waits are as long as arithmetic says where the rate is all that limits", () => {
  const { waits } = play({ newUsersPerMinute: 600 }, { shape: "spike", overMs: 0 });
  // Ten get a turn in every second, and notice it within four more.
  const expect = { p50Ms: 30, p90Ms: 54, p95Ms: 57, p99Ms: 59.4, maxMs: 60 };
  for (const [name, seconds] of Object.entries(expect)) {
    const over = waits[name as keyof typeof expect]! - seconds * SECOND;
    assert.ok(over > -2 * SECOND && over < 5 * SECOND, `${name} ${over}`);
  }
});

test("first come, first served is perfectly fair; a lottery is not", () => {
  const fifo = play({ totalActiveUsers: 100 }).fairness;
  assert.deepEqual(fifo, { kendallTau: 0, displacementMax: 0 });
  const lottery = play({ totalActiveUsers: 100, queueingMethod: "random" }).fairness;
  assert.ok(lottery.kendallTau > 0.1 && lottery.displacementMax > 50);
});

test("the largest displacement is counted in places, and those of one run of the door displace nobody", () => {
  const turnsAt = (...admitted: number[]) => admitted.map((at, joined) => ({ joined, admitted: at }));
  assert.equal(displacementOf(turnsAt(5, 5, 5)), 0);
  assert.equal(displacementOf(turnsAt(1, 2, 3, 0)), 3);
  assert.equal(displacementOf(turnsAt(9, 1, 2)), 2);
  assert.equal(displacementOf([]), 0);
});

test("the impatient give up about as often as asked, and those who do not use their turn too", () => {
  const { people } = play(
    { newUsersPerMinute: 600 },
    { shape: "spike", impatient: 0.3, noShow: 0.2, size: 900 },
  );
  assert.ok(Math.abs(people.gaveUp / 900 - 0.3) < 0.06, String(people.gaveUp));
  assert.ok(Math.abs(people.noShow / (900 - people.gaveUp) - 0.2) < 0.05, String(people.noShow));
});

test("visitors who leave explicitly free their slots sooner", () => {
  const silent = play({ totalActiveUsers: 100 });
  const polite = play({ totalActiveUsers: 100 }, { leave: 1 });
  const ratio = silent.line.lastEnteredMs! / polite.line.lastEnteredMs!;
  assert.ok(ratio > 1.4, String(ratio));
});

test("the measured turnover is the one that the verdict uses", () => {
  const cases: [Partial<DoorRules>, Partial<CrowdOptions>][] = [
    [{}, {}],
    [{}, { leave: 0.5 }],
    [{ disableSessionRenewal: true }, { stayMs: 10 * SECOND, leave: 0.5 }],
  ];
  for (const [rules, crowd] of cases) {
    const findings = play({ totalActiveUsers: 300, ...rules }, { shape: "spike", size: 3_000, ...crowd });
    // The first 300 find the site empty; every other slot is one that somebody has left.
    const tookMs = findings.line.emptyAtMs! / ((3_000 - 300) / 300);
    const ratio = tookMs / slotMs(findings.rules, findings.crowd);
    assert.ok(ratio > 0.88 && ratio < 1.12, `${JSON.stringify([rules, crowd])} ${ratio}`);
  }
});

test("the same seed is the same crowd, whatever the settings and however many of them are impatient", () => {
  const calm = planCrowd(CROWD);
  const tense = planCrowd({ ...CROWD, impatient: 0.5, noShow: 0.5, leave: 0.5 });
  assert.deepEqual(tense.arrivesAfterMs, calm.arrivesAfterMs);
  assert.deepEqual(tense.staysMs, calm.staysMs);
});

test("a room that is paused, closed or for others ends at once and says so", () => {
  const paused = play({ newUsersPerMinute: 60, paused: true });
  assert.equal(paused.people.stillWaiting, CROWD.size);
  assert.equal(verdictOf(paused), "Nobody gets in: paused is set, and 600 wait for its end.");
  const closed = play({ newUsersPerMinute: 60, closed: true });
  assert.equal(verdictOf(closed), "Nobody gets in: the room is closed.");
  const reject = play({ totalActiveUsers: 10, queueingMethod: "reject" });
  assert.deepEqual(reject.people.turnedAwayBecause, { rejected: reject.people.turnedAway });
  assert.match(verdictOf(reject), /^\d+ of 600 are turned away; \d+ are in after /);
});

test("a room wide enough has no line", () => {
  const findings = play({ totalActiveUsers: 1_000 });
  assert.equal(verdictOf(findings), "Nobody waits: everybody goes straight through.");
  assert.equal(limitOf(findings), null);
  assert.deepEqual([findings.line.longest, findings.line.emptyAtMs, findings.waits.maxMs], [0, null, 0]);
  assert.deepEqual(findings.promise, { medianRatio: null, withinRange: null });
});

test("the verdict names the limit that the door named", () => {
  const slots = play({ totalActiveUsers: 100, newUsersPerMinute: 6_000 });
  assert.match(
    verdictOf(slots),
    /^Everybody is in after .+; half wait longer than .+; the line is never longer than \d+\.$/,
  );
  assert.match(
    limitOf(slots)!,
    /^The setting totalActiveUsers \(100\) is what limits, .+ below newUsersPerMinute \(6,000\)\./,
  );
  const rate = play({ totalActiveUsers: 5_000, newUsersPerMinute: 500 });
  assert.match(
    limitOf(rate)!,
    /^The setting newUsersPerMinute \(500\) is what limits, .+ of totalActiveUsers \(5,000\)\.$/,
  );
});

test("an event that draws its places is simulated from its prequeue on", () => {
  const startAt = Date.UTC(2026, 11, 1, 10);
  const rules: RoomRules = { ...DEFAULT_RULES, newUsersPerMinute: 1_200, sessionDurationMs: 5 * SECOND };
  const event = {
    name: "launch",
    prequeueAt: startAt - 30 * SECOND,
    startAt,
    endAt: startAt + 600 * SECOND,
    isShuffled: true,
    seed: "5a".repeat(32),
    rules,
  };
  const findings = play({ ...rules, events: [event] }, { overMs: 20 * SECOND }, { at: event.prequeueAt });
  assert.deepEqual(findings.event, { name: "launch", opensMs: 30 * SECOND, isShuffled: true });
  assert.equal(findings.people.afterWaiting, CROWD.size);
  assert.equal(findings.line.longest, CROWD.size);
  assert.ok(findings.fairness.kendallTau > 0.4 && findings.fairness.kendallTau < 0.6);
  const without = play({ ...rules, events: [event] });
  assert.equal(without.event, null);
  assert.ok(without.notes.some((note) => note.includes("events")));
});

test("what a budget guarantees to other rooms is not this room's, though they are empty", () => {
  const budget = (guaranteed: number) => ({ name: "site", totalActiveUsers: 110, guaranteed });
  const theirs = { ...DEFAULT_RULES, totalActiveUsers: 100, budget: budget(25) };
  const neighbours = new Map([["other", theirs]]);
  const findings = play({ totalActiveUsers: 100, budget: budget(0) }, {}, { neighbours });
  assert.deepEqual([findings.capacity.slots, findings.capacity.peak], [85, 85]);
  assert.match(limitOf(findings)!, /^The setting budget \(85\)/);
});

test("settings that follow the site's load are left out, with a note", () => {
  const standby = {
    requestsPerSecond: 100,
    activeUsers: null,
    originLatencyMs: null,
    originErrors: null,
    stopBelow: 0.7,
    quietForMs: 60 * SECOND,
  };
  const findings = play({ totalActiveUsers: 100, standby });
  assert.ok(findings.line.longest > 0);
  assert.match(findings.notes.join(" "), /standby is left out/);
});

test("what visitors may not see is still found out here", () => {
  const shown = play({ totalActiveUsers: 100 });
  const hidden = play({ totalActiveUsers: 100, show: { ahead: false, behind: false, wait: false } });
  assert.deepEqual(hidden.promise, shown.promise);
  assert.equal(hidden.line.longest, shown.line.longest);
});

test("tickets that live for less than the wait are renewed in time", () => {
  const { people } = play({ newUsersPerMinute: 600, ticketTtlMs: 20 * SECOND }, { shape: "spike" });
  assert.equal(people.turnedAway, 0);
  assert.equal(people.straightThrough + people.afterWaiting, CROWD.size);
});
