import assert from "node:assert/strict";
import { test } from "node:test";
import { Flow } from "./flow.ts";
import { type Outlook, playForward, RANGE_MAX, waitCurve } from "./forecast.ts";
import { laneNumber } from "./lanes.ts";
import { DEFAULT_RULES, type RoomRules } from "./rules.ts";
import { Stays } from "./stays.ts";
import { waitOn } from "./wait-curve.ts";

const MINUTE_MS = 60_000;
const NOW = Date.UTC(2026, 5, 1, 10);

function outlookOf(rules: Partial<RoomRules>, changes: Partial<Outlook> = {}): Outlook {
  const roomRules = { ...DEFAULT_RULES, ...rules };
  const nobody = { onSite: 0, firm: 0, noShows: 0, firmForMs: 2_000 };
  return {
    now: NOW,
    roomRules,
    rules: roomRules,
    budgetFree: Number.POSITIVE_INFINITY,
    ...nobody,
    ...changes,
  };
}

function staysOf({ rules, onSite, now }: Outlook): Stays {
  const stays = new Stays();
  const { sessionDurationMs } = rules;
  const visits = Array.from({ length: onSite }, (_, n) => ({
    id: `${n}`,
    admittedAt: now - 1_000,
    expiresAt: now - 1_000 + sessionDurationMs,
  }));
  stays.look(visits, rules, now);
  return stays;
}

/** The wait of someone with `ahead` before them in a line of a thousand. */
function waitOf(
  outlook: Outlook,
  ahead: number,
  line: Partial<Parameters<typeof waitCurve>[3]> = {},
  lane = 0,
) {
  const play = playForward(outlook, staysOf(outlook));
  if (!play) return null;
  const still = { lapsePerMs: 0, waitingIn: () => 1_000, joinsPerMs: () => 0, comingMs: 30 * MINUTE_MS };
  return waitOn({ points: waitCurve(play, outlook.rules, lane, { ...still, ...line }) }, ahead)!;
}

/** How long a door that is asked five times a second takes for so many turns, after a minute to get going. */
function playFlow(perMinute: number, usedWithinMs: number, count: number): number {
  const flow = new Flow();
  let out: number[] = [];
  let given = 0;
  let used = 0;
  for (let now = 0; ; now += 200) {
    const due = out.filter((at) => at <= now).length;
    out = out.filter((at) => at > now);
    flow.enter(due, now);
    const turns = flow.allowance(perMinute, now, { firm: out.length, noShows: 0 });
    flow.giveTurns(perMinute, turns, now);
    // Sooner and later in no order that a minute repeats.
    for (let i = 0; i < turns; i++) out.push(now + ((used++ * 0.618034) % 1) * usedWithinMs);
    if (now > 2 * MINUTE_MS) given += turns;
    if (given > count) return now - 2 * MINUTE_MS;
  }
}

test("a set rate is kept: 60 a minute is ten minutes for six hundred, told within seconds", () => {
  const { low, middle, high } = waitOf(outlookOf({ newUsersPerMinute: 60 }), 600)!;
  assert.ok(Math.abs(middle / (10 * MINUTE_MS) - 1) < 0.06, `${middle}`);
  assert.ok(high / low < 1.1);
});

test("a set rate is told as the flow keeps it: turns that are out take their part of the minute", () => {
  for (const [perMinute, usedWithinMs] of [
    [20, 4_000],
    [60, 1_000],
    [60, 4_000],
    [300, 4_000],
  ] as const) {
    const tookMs = playFlow(perMinute, usedWithinMs, 600);
    const outlook = outlookOf({ newUsersPerMinute: perMinute }, { firmForMs: usedWithinMs / 2 });
    const { low, middle, high } = waitOf(outlook, 600)!;
    assert.ok(Math.abs(middle / tookMs - 1) < 0.008, `${middle}, but it took ${tookMs}`);
    assert.ok(high / low < 1.03, `${high / low}`);
  }
});

test("a full site lets nobody in until visits end, and about so many a session after that", () => {
  const full = outlookOf({ totalActiveUsers: 200, sessionDurationMs: 10 * MINUTE_MS }, { onSite: 200 });
  const next = waitOf(full, 60)!;
  assert.ok(next.middle > MINUTE_MS && next.high < 40 * MINUTE_MS, JSON.stringify(next));
  const last = waitOf(full, 940)!;
  assert.ok(last.middle > 40 * MINUTE_MS && last.middle < 80 * MINUTE_MS, JSON.stringify(last));
});

test("ranges are never wider than four times, in order, and rise with the place", () => {
  const full = outlookOf({ totalActiveUsers: 50 }, { onSite: 50 });
  let before = 0;
  for (const ahead of [0, 1, 2, 5, 20, 100, 400, 999]) {
    const { low, middle, high } = waitOf(full, ahead)!;
    assert.ok(
      low <= middle && middle <= high && high <= low * RANGE_MAX * 1.001,
      `${ahead}: ${low} ${middle} ${high}`,
    );
    assert.ok(middle >= before);
    before = middle;
  }
});

test("nobody can say while the room is held, but where the schedule says until when", () => {
  assert.equal(waitOf(outlookOf({ newUsersPerMinute: 60, paused: true }), 5), null);
  const rules = { ...DEFAULT_RULES, newUsersPerMinute: 60 };
  const startAt = NOW + 30 * MINUTE_MS;
  const event = {
    name: "sale",
    prequeueAt: NOW,
    startAt,
    endAt: NOW + 600 * MINUTE_MS,
    isShuffled: false,
    seed: "",
    rules,
  };
  const gathering = waitOf(outlookOf({ ...rules, events: [event] }), 60)!;
  assert.ok(Math.abs(gathering.middle / (31 * MINUTE_MS) - 1) < 0.05, JSON.stringify(gathering));
});

test("slots and rate hold together, and so do the slots of a budget", () => {
  const both = { totalActiveUsers: 1_000, newUsersPerMinute: 30 };
  assert.ok(waitOf(outlookOf(both), 300)!.middle > 9 * MINUTE_MS);
  const shared = outlookOf({ totalActiveUsers: 1_000 }, { budgetFree: 10 });
  assert.ok(waitOf(shared, 100)!.middle > 10 * waitOf(outlookOf({ totalActiveUsers: 1_000 }), 100)!.middle);
});

test("turns that nobody uses let others in sooner; people who lapse ahead do too", () => {
  const full = { totalActiveUsers: 100 };
  const used = waitOf(outlookOf(full, { onSite: 100 }), 500)!.middle;
  assert.ok(waitOf(outlookOf(full, { onSite: 100, noShows: 0.4 }), 500)!.middle < used);
  const lapsing = waitOf(outlookOf(full, { onSite: 100 }), 500, { lapsePerMs: 0.02 / MINUTE_MS })!.middle;
  assert.ok(lapsing < 0.95 * used, `${lapsing} of ${used}`);
});

test("who comes to lanes before one's own makes one wait longer, and that is reckoned with", () => {
  const vip = laneNumber("vip");
  const lanes = {
    order: "strict",
    othersShare: 10,
    named: [{ number: vip, name: "vip", share: 50, isPrivileged: false }],
  } as const;
  const room = outlookOf({ newUsersPerMinute: 30, lanes });
  const waitingIn = (lane: number) => (lane === vip ? 20 : 300);
  const alone = waitOf(room, 200, { waitingIn })!.middle;
  const coming = waitOf(room, 200, {
    waitingIn,
    joinsPerMs: (lane) => (lane === vip ? 10 / MINUTE_MS : 0),
  })!.middle;
  assert.ok(coming > alone * 1.2, `${coming} after ${alone}`);
  assert.ok(waitOf(room, 10, { waitingIn }, vip)!.middle < alone / 5);
});

test("no limits, no wait to speak of", () => {
  assert.ok(waitOf(outlookOf({}), 100)!.high < MINUTE_MS);
});
