import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { type Crowd, Doorkeeper } from "./doorkeeper.ts";
import { ANYBODY, type DoorReason, type Load } from "./engine.ts";
import { DEFAULT_RULES, type DoorRules, type EventRules, type RoomRules } from "./rules.ts";

const START = 1_000_000;
const VIP = 7;
const LANES = {
  order: "weighted" as const,
  othersShare: 10,
  named: [{ number: VIP, name: "vip", share: 25, isPrivileged: true }],
};

/** Ten wait, in everybody's lane unless said otherwise, and nobody is on the site. */
function crowd(standing: Partial<Crowd> = {}): Crowd {
  return {
    waiting: 10,
    admitted: 0,
    onSite: 0,
    budgetFree: Number.POSITIVE_INFINITY,
    waitingIn: (lane) => (lane === 0 ? (standing.waiting ?? 10) : 0),
    turnAges: () => [],
    isHeldBack: () => false,
    ...standing,
  };
}

function keeperOf(rules: Partial<RoomRules>, now = START): Doorkeeper {
  return new Doorkeeper({ ...DEFAULT_RULES, ...rules }, now);
}

function event(rules: Partial<DoorRules> = {}): EventRules {
  return {
    name: "sale",
    prequeueAt: START + 1_000,
    startAt: START + 2_000,
    endAt: START + 3_000,
    isShuffled: false,
    seed: "5eed".repeat(16),
    rules: { ...DEFAULT_RULES, ...rules },
  };
}

const load = (told: Partial<Load>): Load => ({
  from: "gateway-1",
  periodMs: 1_000,
  requests: 0,
  answers: 0,
  errors: 0,
  latencyMs: null,
  inFlight: 0,
  ...told,
});

const STANDBY = {
  requestsPerSecond: 10,
  activeUsers: null,
  originLatencyMs: null,
  originErrors: null,
  stopBelow: 0.5,
  quietForMs: 5_000,
};
const ADAPTIVE = { least: 0.2, latencyFactor: 3, latencyMs: 1_000, errors: 0.1, inFlight: null };

/** Each level with what it says, foremost first: whatever is set besides, the foremost decides. */
const LEVELS: readonly { rules: Partial<DoorRules>; admit: number; reason: DoorReason; joining: string }[] = [
  { rules: { closed: true }, admit: 0, reason: "closed", joining: "closed" },
  { rules: { paused: true }, admit: 0, reason: "paused", joining: "place" },
  { rules: { queueAll: true }, admit: 0, reason: "paused", joining: "place" },
  { rules: { drained: true }, admit: 10, reason: "line empty", joining: "through" },
  { rules: { queueingMethod: "passthrough" }, admit: 10, reason: "line empty", joining: "through" },
  { rules: { standby: STANDBY }, admit: 10, reason: "line empty", joining: "through" },
  { rules: { totalActiveUsers: 3, newUsersPerMinute: 30 }, admit: 1, reason: "rate", joining: "through" },
];

const nobodyWaits = crowd({ waiting: 0 });

test("closed is before paused and queueAll, these before drained, passthrough and standby, those before the limits", () => {
  for (const [level, { admit, reason, joining }] of LEVELS.entries()) {
    fc.assert(
      fc.property(fc.subarray([...LEVELS.slice(level + 1)]), (others) => {
        const rules = Object.assign({}, ...[...others, LEVELS[level]!].map((one) => one.rules));
        const keeper = keeperOf(rules);
        assert.deepEqual(keeper.open(crowd(), START), { admit, reason });
        assert.equal(keeper.greet(ANYBODY, nobodyWaits, START), joining);
      }),
    );
  }
});

test("a prequeue is before everything but closed", () => {
  const duringPrequeue = START + 1_000;
  for (const { rules, reason } of LEVELS) {
    const keeper = keeperOf({ events: [event({ ...rules })] }, duringPrequeue);
    const isClosed = reason === "closed";
    assert.deepEqual(keeper.open(crowd(), duringPrequeue), {
      admit: 0,
      reason: isClosed ? "closed" : "not started",
    });
    assert.equal(keeper.greet(ANYBODY, nobodyWaits, duringPrequeue), isClosed ? "closed" : "place");
  }
});

test("reject gives no place once the door is shut, but one in a prequeue", () => {
  const rules = { queueingMethod: "reject", totalActiveUsers: 1 } as const;
  const full = crowd({ waiting: 0, onSite: 1 });
  assert.equal(keeperOf(rules).greet(ANYBODY, full, START), "rejected");
  const duringPrequeue = START + 1_500;
  const keeper = keeperOf({ events: [event(rules)] }, duringPrequeue);
  assert.equal(keeper.greet(ANYBODY, full, duringPrequeue), "place");
});

test("the phase changes at the exact instant, and the rules in force with it", () => {
  const keeper = keeperOf({ totalActiveUsers: 1, events: [event({ totalActiveUsers: 2 })] });
  const at = (now: number) => {
    const { isPrequeue, event: on } = keeper.phase(now);
    return [on?.name ?? null, isPrequeue, keeper.limits(now).totalActiveUsers];
  };
  assert.deepEqual(at(START + 999), [null, false, 1]);
  assert.deepEqual(at(START + 1_000), ["sale", true, 2]);
  assert.deepEqual(at(START + 1_999), ["sale", true, 2]);
  assert.deepEqual(at(START + 2_000), ["sale", false, 2]);
  assert.deepEqual(at(START + 2_999), ["sale", false, 2]);
  assert.deepEqual(at(START + 3_000), [null, false, 1]);
});

test("rules changed in the middle of an event hold at once", () => {
  const keeper = keeperOf({ events: [event({ totalActiveUsers: 2 })] }, START + 2_000);
  assert.equal(keeper.open(crowd(), START + 2_000).admit, 2);
  keeper.change({ ...DEFAULT_RULES, events: [event({ totalActiveUsers: 5 })] }, START + 2_000);
  assert.equal(keeper.open(crowd(), START + 2_000).admit, 5);
  keeper.change({ ...DEFAULT_RULES, totalActiveUsers: 1 }, START + 2_000);
  assert.deepEqual([keeper.phase(START + 2_000).event, keeper.open(crowd(), START + 2_000).admit], [null, 1]);
});

test("the rules in force are the same object until something changes", () => {
  const keeper = keeperOf({ totalActiveUsers: 5, adaptive: ADAPTIVE, events: [event()] });
  assert.equal(keeper.inForce(START), keeper.inForce(START + 999));
  assert.notEqual(keeper.inForce(START + 999), keeper.inForce(START + 1_000));
});

test("with privilegedOnly, only privileged lanes are admitted, counted and served", () => {
  const keeper = keeperOf({ lanes: LANES, privilegedOnly: true, totalActiveUsers: 5 });
  const both = crowd({ waiting: 10, waitingIn: (lane) => (lane === VIP ? 2 : 8) });
  assert.equal(keeper.greet(ANYBODY, nobodyWaits, START), "notPrivileged");
  assert.equal(keeper.greet({ lane: VIP, invite: null, canWait: true }, nobodyWaits, START), "through");
  assert.equal(keeper.greet({ lane: VIP, invite: null, canWait: true }, both, START), "place");
  assert.deepEqual(keeper.open(both, START), { admit: 2, reason: "line empty" });
  assert.equal(keeper.nextLane(both.waitingIn, START), VIP);
  assert.equal(
    keeper.nextLane((lane) => (lane === VIP ? 0 : 8), START),
    null,
  );
});

test("a closed room says so to the privileged and to the others alike", () => {
  const keeper = keeperOf({ lanes: LANES, privilegedOnly: true, closed: true });
  for (const lane of [0, VIP])
    assert.equal(keeper.greet({ lane, invite: null, canWait: true }, nobodyWaits, START), "closed");
});

test("slots that other rooms of the budget hold are unavailable, whatever the room's own limit", () => {
  fc.assert(
    fc.property(fc.nat(20), fc.nat(20), fc.nat(20), (totalActiveUsers, onSite, budgetFree) => {
      const keeper = keeperOf({ totalActiveUsers });
      const { admit } = keeper.open(crowd({ waiting: 100, onSite, budgetFree }), START);
      assert.equal(admit, Math.max(0, Math.min(totalActiveUsers - onSite, budgetFree)));
    }),
  );
});

/** Tells this load each second and weighs it. Gives the instant after. */
function watch(keeper: Doorkeeper, seconds: number, told: Partial<Load>, from: number): number {
  for (let second = 0; second < seconds; second++) {
    keeper.report(load(told), from + second * 1_000);
    keeper.weigh(nobodyWaits, from + second * 1_000);
  }
  return from + seconds * 1_000;
}

test("limits follow the load of the origin, and so does the door", () => {
  const keeper = keeperOf({ totalActiveUsers: 100, newUsersPerMinute: 6_000, adaptive: ADAPTIVE });
  let now = watch(keeper, 20, { answers: 100, latencyMs: 100 }, START);
  assert.deepEqual(keeper.limits(now), { totalActiveUsers: 100, newUsersPerMinute: 6_000 });
  now = watch(keeper, 60, { answers: 100, latencyMs: 5_000 }, now);
  assert.deepEqual(keeper.limits(now), { totalActiveUsers: 20, newUsersPerMinute: 1_200 });
  assert.equal(keeper.open(crowd({ waiting: 1_000 }), now).admit, 20);
  assert.ok(keeper.remarks.length > 0);
  keeper.change({ ...keeper.rules, adaptive: null }, now);
  assert.deepEqual(keeper.limits(now), { totalActiveUsers: 100, newUsersPerMinute: 6_000 });
});

test("limits of an event follow the origin too, as a share of what the event sets", () => {
  const during = { totalActiveUsers: 50, adaptive: ADAPTIVE };
  const sale = {
    ...event(during),
    prequeueAt: START + 200_000,
    startAt: START + 300_000,
    endAt: START + 400_000,
  };
  const keeper = keeperOf({ totalActiveUsers: 100, adaptive: ADAPTIVE, events: [sale] });
  watch(keeper, 80, { answers: 100, latencyMs: 5_000 }, START);
  assert.equal(keeper.limits(START + 199_999).totalActiveUsers, 20);
  assert.equal(keeper.limits(START + 200_000).totalActiveUsers, 10);
});

test("a room that stands by has no line until a threshold is crossed, then limits hold", () => {
  const keeper = keeperOf({ totalActiveUsers: 3, standby: STANDBY });
  assert.deepEqual([keeper.isActive, keeper.open(crowd(), START).admit], [false, 10]);
  const now = watch(keeper, 3, { requests: 600 }, START);
  assert.deepEqual([keeper.isActive, keeper.open(crowd(), now).admit], [true, 3]);
  const quiet = watch(keeper, 120, {}, now);
  assert.deepEqual([keeper.isActive, keeper.open(crowd(), quiet).admit], [false, 10]);
});

test("the load is weighed about once a second, however often the door turns", () => {
  const keeper = keeperOf({ standby: STANDBY });
  keeper.report(load({ requests: 6_000 }), START);
  assert.equal(keeper.weigh(nobodyWaits, START).length, 1);
  const again = keeperOf({ standby: STANDBY });
  again.weigh(nobodyWaits, START);
  again.report(load({ requests: 6_000 }), START);
  assert.equal(again.weigh(nobodyWaits, START + 999).length, 0);
  assert.equal(again.weigh(nobodyWaits, START + 1_000).length, 1);
});

test("remarks are kept, the latest last, and never more than fifty", () => {
  const keeper = keeperOf({ totalActiveUsers: 100, adaptive: { ...ADAPTIVE, least: 0.01 } });
  let now = START;
  for (let swing = 0; swing < 60; swing++) {
    now = watch(keeper, 15, { answers: 100, latencyMs: 5_000 }, now);
    now = watch(keeper, 45, { answers: 100, latencyMs: 10 }, now);
  }
  assert.equal(keeper.remarks.length, 50);
  assert.ok(keeper.remarks.every(({ at }, i) => i === 0 || at >= keeper.remarks[i - 1]!.at));
});

test("a memo is plain data, and a doorkeeper made from it continues where the other was", () => {
  const rules = {
    totalActiveUsers: 100,
    newUsersPerMinute: 60,
    lanes: LANES,
    standby: { ...STANDBY, quietForMs: 3_600_000 },
    adaptive: ADAPTIVE,
    fillNoShows: true,
  };
  const before = keeperOf(rules);
  let now = watch(before, 30, { answers: 100, latencyMs: 100, requests: 100 }, START);
  now = watch(before, 30, { answers: 100, latencyMs: 5_000, requests: 600 }, now);
  for (let i = 0; i < 30; i++) {
    before.missed();
    before.nextLane(() => 1, now);
  }
  for (let i = 0; i < 5; i++) before.entered(0.2, now);
  before.open(crowd(), now);
  before.admitted(3, now);
  const memo = JSON.parse(JSON.stringify(before.memo(now)));

  const after = keeperOf(rules, now);
  after.restore(memo, now);
  assert.deepEqual(after.memo(now), before.memo(now));
  assert.deepEqual(
    [after.isActive, after.noShows, after.limits(now), after.remarks],
    [before.isActive, before.noShows, before.limits(now), before.remarks],
  );
  const lanesOf = (keeper: Doorkeeper) => Array.from({ length: 40 }, () => keeper.nextLane(() => 1, now));
  assert.deepEqual(lanesOf(after), lanesOf(before));
});

test("a restored doorkeeper lets no more in per minute than the one before it (ce7)", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 60 }),
      fc.nat(59),
      (perMinute, gaps, restartsAfter) => {
        let keeper = keeperOf({ newUsersPerMinute: perMinute });
        const entries: number[] = [];
        let now = START;
        for (const [i, gap] of gaps.entries()) {
          now += gap;
          if (i === restartsAfter) {
            const memo = keeper.memo(now);
            keeper = keeperOf({ newUsersPerMinute: perMinute }, now);
            keeper.restore(memo, now);
          }
          const { admit } = keeper.open(crowd({ waiting: 1_000 }), now);
          keeper.admitted(admit, now);
          for (let n = 0; n < admit; n++) {
            keeper.entered(0.1, now);
            entries.push(now);
          }
          const inMinute = entries.filter((at) => at > now - 60_000).length;
          assert.ok(inMinute <= perMinute, `${inMinute} in a minute where ${perMinute} may come`);
        }
      },
    ),
  );
});

test("with turns on top, visitors who go straight through count for the rate like any other (ce7)", () => {
  const keeper = keeperOf({ newUsersPerMinute: 30, fillNoShows: true });
  for (let turn = 0; turn < 200; turn++) keeper.missed();
  let through = 0;
  for (let now = START; now < START + 60_000; now += 100) {
    if (keeper.greet(ANYBODY, nobodyWaits, now) !== "through") continue;
    keeper.admitted(1, now);
    keeper.entered(null, now);
    through++;
  }
  assert.ok(through <= 30, `${through} came in a minute where 30 may`);
});

test("with turns on top, a visitor with a turn enters only while there is a slot and the rate allows", () => {
  const keeper = keeperOf({ totalActiveUsers: 5, newUsersPerMinute: 60, fillNoShows: true });
  assert.equal(keeper.mayEnter(crowd({ onSite: 4, admitted: 3 }), true, START), true);
  assert.equal(keeper.mayEnter(crowd({ onSite: 5, admitted: 3 }), true, START), false);
  let entered = 0;
  while (keeper.mayEnter(crowd({ admitted: 3 }), true, START)) {
    keeper.entered(0.1, START);
    entered++;
  }
  assert.equal(entered, 60);
  assert.equal(keeper.mayEnter(crowd({ admitted: 3 }), true, START + 60_000), true);
});

test("without turns on top, a visitor with a firm turn enters, however full the site", () => {
  const keeper = keeperOf({ totalActiveUsers: 5, newUsersPerMinute: 1 });
  assert.equal(keeper.mayEnter(crowd({ onSite: 9, admitted: 1 }), true, START), true);
});

test("a firm turn waits where the rate was lowered since it was given, so that the minute holds", () => {
  const keeper = keeperOf({ newUsersPerMinute: 3 });
  for (let i = 0; i < 2; i++) keeper.entered(0.1, START);
  keeper.change({ ...keeper.rules, newUsersPerMinute: 2 }, START);
  assert.equal(keeper.mayEnter(crowd({ admitted: 1 }), true, START + 59_000), false);
  assert.equal(keeper.mayEnter(crowd({ admitted: 1 }), true, START + 60_000), true);
});

test("a loose turn is used only where there is a slot and a share of the minute for one more", () => {
  const full = keeperOf({ totalActiveUsers: 5 });
  assert.equal(full.mayEnter(crowd({ onSite: 4, admitted: 1 }), false, START), false);
  assert.equal(full.mayEnter(crowd({ onSite: 3, admitted: 1 }), false, START), true);
  const rate = keeperOf({ newUsersPerMinute: 2 });
  rate.entered(0.1, START);
  assert.equal(rate.mayEnter(crowd({ admitted: 1 }), false, START + 1_000), false);
  assert.equal(rate.mayEnter(crowd({ admitted: 0 }), false, START + 1_000), true);
  const paused = keeperOf({ paused: true });
  assert.equal(paused.mayEnter(crowd({}), false, START), false);
});

test("when turns are not used, others get theirs at once, and entries keep to the rate", () => {
  const keeper = keeperOf({ newUsersPerMinute: 60 });
  const line = (admitted: number) => crowd({ waiting: 1_000, admitted });
  const firm: { until: number; isUsed: boolean }[] = [];
  const entries: number[] = [];
  let given = 0;
  for (let now = START; now < START + 5 * 60_000; now += 200) {
    for (let i = firm.length - 1; i >= 0; i--) {
      if (firm[i]!.isUsed) {
        keeper.entered(0.01, now);
        entries.push(now);
        firm.splice(i, 1);
      } else if (firm[i]!.until <= now) {
        keeper.gaveBack("loose", now);
        firm.splice(i, 1);
      }
    }
    const { admit } = keeper.open(line(firm.length), now);
    for (let i = 0; i < admit; i++)
      firm.push({
        until: keeper.turn({ lapseAt: now, hasReturned: false, hasMissed: false }, now).firmUntil,
        isUsed: given++ % 10 === 9,
      });
    keeper.admitted(admit, now);
    const inMinute = entries.filter((at) => at > now - 60_000).length;
    assert.ok(inMinute + firm.length <= 60, `${inMinute} entered and ${firm.length} may`);
  }
  assert.ok(entries.length > 5 * 60 * 0.75, `${entries.length} entered in five minutes at 60 a minute`);
});
