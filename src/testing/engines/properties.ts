/**
 * Properties of the door, on any engine: random lives of a room, played through the engine's interface by visitors who
 * are patient, slow, vanish, return and give up, while an operator changes the rules. Everything anyone could see goes
 * into a list, and checks that know nothing of engines go through it afterwards.
 *
 * The model-based test compares an engine with `room.ts` step by step; here it is asked whether what they both do
 * is what was promised. Timers of the engine never fire: the door is turned by hand, so that each admission has its
 * instant.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Capability } from "../../core/capabilities.ts";
import type { Engine, TicketAnswer } from "../../core/engine.ts";
import { laneCostFactor } from "../../core/lanes.ts";
import type { Pass } from "../../core/pass.ts";
import { DEFAULT_RULES, type LanesRules, type RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import { CREW, twoLanes, untilTold, VIP } from "./conformance-crowd.ts";
import { type EngineUnderTest, ROOM, whyNot } from "./conformance-stage.ts";
import { shrunkBriefly } from "./shrinking.ts";

const RUNS = 15;
const LIFE_MS = 90_000;
const MINUTE_MS = 60_000;
/** More than enough for every patient visitor to get in. */
const PATIENCE_MS = 900_000;
const CALM_STEP_MS = 1_000;
/** Missed turns by which the door takes two in five for no-shows. */
const TAUGHT = 100;
/** Later by more than this is never sooner. */
const NEAR_MS = 100;

interface Life {
  readonly rules: Partial<RoomRules>;
  /** The door is turned, and everybody looks, this often. */
  readonly stepMs: number;
  readonly plans: readonly Plan[];
  /** What the operator does, and when. */
  readonly changes: readonly { readonly atMs: number; readonly rules: Partial<RoomRules> }[];
}

/** What a visitor is going to do. */
interface Plan {
  readonly arrivesAtMs: number;
  readonly lane: number;
  readonly manner: "patient" | "vanishes" | "returns" | "gives up";
  /** How long until they vanish or give up, and until those who return do. */
  readonly staysAwhileMs: number;
  readonly slowMs: number;
  readonly visitMs: number;
  readonly saysGoodbye: boolean;
}

type Seen =
  | { readonly what: GuestNews; readonly at: number; readonly guest: Guest }
  | { readonly what: "rules"; readonly at: number; readonly rules: RoomRules }
  | { readonly what: "counted"; readonly at: number; readonly onSite: number; readonly admitted: number }
  | { readonly what: "waiting"; readonly at: number; readonly waitingIn: ReadonlyMap<number, number> };

/** Going straight through is a turn, too. */
type GuestNews = "joined" | "turn" | "through" | "entered";

/** Declares the properties for one engine. */
export function propertyTests(subject: EngineUnderTest, runs = RUNS): void {
  const property = (
    name: string,
    needs: readonly Capability[],
    throughout: Partial<RoomRules>,
    checks: readonly LifeCheck[],
  ) =>
    test(`${subject.name} engine, whatever happens: ${name}`, { skip: whyNot(subject, needs) }, () =>
      holdInEveryLife(subject, throughout, checks, { numRuns: runs }),
    );

  property(
    "never too many on the site (ce6) or in a minute (ce7), in order of arrival (ce4, ma1, ma2, ma3), no lane starves, \
the patient get in",
    ["exactOrder", "lanes"],
    {},
    [
      siteIsNeverTooFull,
      rateIsNeverTooHigh,
      orderIsKept,
      orderIsNearlyThatOfArrival,
      noLaneStarves,
      thePatientGetIn,
    ],
  );
  property(
    "with turns given out on top, never too many on the site (ce6) or in a minute (ce7), and in order (ce4)",
    ["exactOrder", "lanes", "turnsOnTop"],
    { fillNoShows: true },
    [siteIsNeverTooFull, rateIsNeverTooHigh, orderIsKept, noLaneStarves, thePatientGetIn],
  );
  property(
    "in random order, never too many on the site (ce6) or in a minute (ce7), and the patient get in (ce5)",
    ["lanes", "randomOrder"],
    { queueingMethod: "random" },
    [siteIsNeverTooFull, rateIsNeverTooHigh, noLaneStarves, thePatientGetIn],
  );
}

/** Goes through what was seen of a life, and fails where it is not as promised. */
export type LifeCheck = (seen: readonly Seen[]) => void;

/** Plays random lives in which these rules hold throughout, and checks each. A failure is shrunk to a small life. */
export async function holdInEveryLife(
  subject: EngineUnderTest,
  throughout: Partial<RoomRules>,
  checks: readonly LifeCheck[],
  options: Pick<fc.Parameters, "numRuns" | "endOnFailure"> = {},
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      lifeOf(throughout),
      shrunkBriefly(async (life) => {
        const seen = await play(subject, life);
        for (const check of checks) check(seen);
      }),
    ),
    { numRuns: RUNS, ...options },
  );
}

const lanesArbitrary: fc.Arbitrary<LanesRules> = fc.oneof(
  fc.constant(DEFAULT_RULES.lanes),
  fc.constantFrom(20, 40).map((othersShare) => twoLanes("strict", othersShare)),
  fc.constant(twoLanes("weighted")),
);
const planArbitrary: fc.Arbitrary<Plan> = fc.record({
  arrivesAtMs: fc.nat(LIFE_MS / 2),
  lane: fc.constantFrom(0, 0, VIP, CREW),
  manner: fc.constantFrom("patient", "patient", "patient", "vanishes", "returns", "gives up"),
  staysAwhileMs: fc.nat(30_000),
  slowMs: fc.nat(4_000),
  visitMs: fc.nat(15_000),
  saysGoodbye: fc.boolean(),
});

function limit(max: number): fc.Arbitrary<number | null> {
  return fc.option(fc.integer({ min: 1, max }), { nil: null, freq: 4 });
}

/** Lives in which these rules hold throughout, whatever else changes. */
function lifeOf(throughout: Partial<RoomRules>): fc.Arbitrary<Life> {
  const limits = { totalActiveUsers: limit(5), newUsersPerMinute: limit(40) };
  const change = fc.record({
    ...limits,
    paused: rarely(),
    queueAll: rarely(),
    privilegedOnly: rarely(),
  });
  return fc
    .record({
      limits: fc.record(limits),
      lanes: lanesArbitrary,
      stepMs: fc.constantFrom(250, 500, 1_000),
      plans: fc.array(planArbitrary, { minLength: 5, maxLength: 50, size: "max" }),
      changes: fc.array(fc.record({ atMs: fc.nat(LIFE_MS), rules: change }), { maxLength: 4 }),
    })
    .map(({ limits: first, lanes, stepMs, plans, changes }) => {
      const kept = {
        sessionDurationMs: 10_000,
        claimWindowMs: 8_000,
        lapseAfterMs: 5_000,
        lanes,
        ...throughout,
      };
      return {
        rules: { ...kept, ...first },
        stepMs,
        plans,
        changes: changes
          .sort((a, b) => a.atMs - b.atMs)
          .map(({ atMs, rules }) => ({ atMs, rules: { ...kept, ...rules } })),
      };
    });
}

function rarely(): fc.Arbitrary<boolean> {
  return fc.nat(4).map((dice) => dice === 0);
}

/** Plays a life to its end: then the operator opens the door, and all who are patient have time to get in. */
async function play(subject: EngineUnderTest, life: Life): Promise<readonly Seen[]> {
  const world: HandWorld = { ...handWorld(), timers: { every: () => () => {}, after: () => () => {} } };
  const engine = await subject.make(world);
  try {
    if (life.rules.fillNoShows) await teachNoShows(engine, world);
    const stage = new LifeStage(engine, world, life);
    await stage.configure(life.rules);
    await stage.live();
    await stage.calmDown();
    return stage.seen;
  } finally {
    await engine.close();
  }
}

/** Before the life begins, many were given a turn and hardly anybody came. */
async function teachNoShows(engine: Engine, world: HandWorld): Promise<void> {
  const rules = { ...DEFAULT_RULES, claimWindowMs: 1_000 };
  await engine.configure(ROOM, { ...rules, paused: true });
  for (let i = 0; i < TAUGHT; i++) await engine.join(ROOM);
  await engine.configure(ROOM, rules);
  let turns = 0;
  const stopListening = engine.subscribe({
    onTurns: (_, sequences) => {
      turns += sequences.length;
    },
  });
  await engine.admit(ROOM);
  await untilTold(() => turns === TAUGHT);
  stopListening();
  world.pass(2 * MINUTE_MS);
  await engine.admit(ROOM);
}

class LifeStage {
  readonly seen: Seen[] = [];
  readonly #engine: Engine;
  readonly #world: HandWorld;
  readonly #life: Life;
  readonly #guests: Guest[];
  readonly #heard: number[] = [];
  readonly #startedAt: number;

  constructor(engine: Engine, world: HandWorld, life: Life) {
    this.#engine = engine;
    this.#world = world;
    this.#life = life;
    this.#startedAt = world.clock.now();
    this.#guests = life.plans.map((plan) => new Guest(plan, this.#startedAt + plan.arrivesAtMs));
    engine.subscribe({ onTurns: (_, sequences) => this.#heard.push(...sequences) });
  }

  async configure(change: Partial<RoomRules>): Promise<void> {
    const rules = { ...DEFAULT_RULES, ...change };
    await this.#engine.configure(ROOM, rules);
    this.seen.push({ what: "rules", at: this.#now(), rules });
  }

  async live(): Promise<void> {
    const changes = [...this.#life.changes];
    while (this.#now() < this.#startedAt + LIFE_MS) {
      while (changes[0] && this.#startedAt + changes[0].atMs <= this.#now())
        await this.configure(changes.shift()!.rules);
      await this.#step(this.#life.stepMs);
    }
  }

  async calmDown(): Promise<void> {
    await this.configure({ ...this.#life.rules, totalActiveUsers: 3, newUsersPerMinute: 40 });
    const giveUpAt = this.#now() + PATIENCE_MS;
    while (this.#guests.some((guest) => guest.isStillPatient) && this.#now() < giveUpAt)
      await this.#step(CALM_STEP_MS);
  }

  /** Everybody does what it is time for, then the door turns. */
  async #step(ms: number): Promise<void> {
    for (const guest of this.#guests) await this.#act(guest);
    await this.#turnDoor();
    this.#world.pass(ms);
  }

  async #act(guest: Guest): Promise<void> {
    const now = this.#now();
    switch (guest.next(now)) {
      case "join": {
        guest.hear(
          await this.#engine.join(ROOM, { lane: guest.plan.lane, invite: null, canWait: true }),
          now,
        );
        if (guest.hasJoined) this.#note("joined", guest);
        if (guest.pass) {
          this.#note("through", guest);
          this.#note("entered", guest);
        }
        return this.#count();
      }
      case "checkIn":
        return guest.hear(await this.#engine.checkIn(guest.ticket!), now);
      case "enter":
        guest.hear(await this.#engine.enter(guest.ticket!), now);
        if (guest.pass) this.#note("entered", guest);
        return this.#count();
      case "leave":
        await this.#engine.leave(guest.pass ?? guest.ticket!);
        guest.isGone = true;
        return;
      case "nothing":
        return;
    }
  }

  async #turnDoor(): Promise<void> {
    const { lanes } = await this.#engine.counts(ROOM);
    const waitingIn = new Map(lanes.map(({ lane, waiting }) => [lane, waiting]));
    this.seen.push({ what: "waiting", at: this.#now(), waitingIn });
    const { admitted } = await this.#engine.admit(ROOM);
    await untilTold(() => this.#heard.length >= admitted);
    assert.equal(this.#heard.length, admitted);
    for (const sequence of this.#heard.splice(0)) {
      const guest = this.#guests.find(({ ticket }) => ticket?.sequence === sequence);
      guest!.isCalled = true;
      guest!.turnAt = this.#now();
      this.#note("turn", guest!);
    }
    if (admitted > 0) await this.#count();
  }

  async #count(): Promise<void> {
    const { onSite, admitted } = await this.#engine.counts(ROOM);
    this.seen.push({ what: "counted", at: this.#now(), onSite, admitted });
  }

  #note(what: GuestNews, guest: Guest): void {
    this.seen.push({ what, at: this.#now(), guest });
  }

  #now(): number {
    return this.#world.clock.now();
  }
}

class Guest {
  readonly plan: Plan;
  readonly #arrivesAt: number;
  ticket: Ticket | null = null;
  /** The one they joined with; beyond all others for those who went straight through. */
  sequence = Number.POSITIVE_INFINITY;
  pass: Pass | null = null;
  /** They know from the board that it is their turn. */
  isCalled = false;
  turnAt = 0;
  isGone = false;
  #checksInAt = 0;
  #leavesAt = 0;

  constructor(plan: Plan, arrivesAt: number) {
    this.plan = plan;
    this.#arrivesAt = arrivesAt;
  }

  get isPatient(): boolean {
    return this.plan.manner === "patient";
  }

  get isStillPatient(): boolean {
    return this.isPatient && this.pass === null;
  }

  get hasJoined(): boolean {
    return this.ticket !== null || this.pass !== null;
  }

  next(now: number): "join" | "checkIn" | "enter" | "leave" | "nothing" {
    if (this.isGone || now < this.#arrivesAt) return "nothing";
    if (this.pass) return this.plan.saysGoodbye && now >= this.#leavesAt ? "leave" : "nothing";
    if (!this.ticket) return "join";
    if (!this.#isHere(now)) return this.plan.manner === "gives up" ? "leave" : "nothing";
    if (this.isCalled && now >= this.turnAt + this.plan.slowMs) return "enter";
    return now >= this.#checksInAt ? "checkIn" : "nothing";
  }

  hear(answer: TicketAnswer, now: number): void {
    if (answer.kind === "waiting") {
      if (!this.ticket) this.sequence = answer.ticket.sequence;
      this.ticket = answer.ticket;
      this.isCalled = false;
      this.#checksInAt = now + answer.nextCheckInMs;
    } else if (answer.kind === "admitted") this.isCalled = true;
    else if (answer.kind === "entered") {
      this.pass = answer.pass;
      this.#leavesAt = now + this.plan.visitMs;
    } else if (answer.kind === "refused" && answer.reason === "turnsMissed" && !this.isPatient) {
      this.isGone = true;
    } else if (answer.kind === "refused" && answer.reason !== "notPrivileged") assert.fail(answer.reason);
  }

  #isHere(now: number): boolean {
    const { manner, staysAwhileMs } = this.plan;
    const goneAt = this.#arrivesAt + staysAwhileMs;
    if (manner === "patient" || now < goneAt) return true;
    return manner === "returns" && now >= goneAt + 2 * staysAwhileMs;
  }
}

/** Lowering a limit sends nobody away; from then on there are never more than there were. */
export function siteIsNeverTooFull(seen: readonly Seen[]): void {
  let rules: RoomRules = DEFAULT_RULES;
  let before = 0;
  for (const one of seen) {
    if (one.what === "rules") rules = one.rules;
    if (one.what !== "counted") continue;
    const held = one.onSite + (rules.fillNoShows ? 0 : one.admitted);
    const most = Math.max(rules.totalActiveUsers ?? Number.POSITIVE_INFINITY, before);
    assert.ok(held <= most, `${held} where ${rules.totalActiveUsers} may be`);
    before = held;
  }
}

/** Whenever someone enters, those who entered in the minute up to it are at most as many as may by then. */
export function rateIsNeverTooHigh(seen: readonly Seen[]): void {
  let rules: RoomRules = DEFAULT_RULES;
  const instants: number[] = [];
  for (const one of seen) {
    if (one.what === "rules") rules = one.rules;
    if (one.what !== "entered") continue;
    instants.push(one.at);
    const inMinute = instants.filter((at) => at > one.at - MINUTE_MS).length;
    const most = rules.newUsersPerMinute ?? Number.POSITIVE_INFINITY;
    assert.ok(inMinute <= most, `${inMinute} in a minute where ${most} may come`);
  }
}

export function orderIsKept(seen: readonly Seen[]): void {
  nobodyOvertakes(seen, ({ first, second }) => first.sequence < second.sequence);
}

export function orderIsNearlyThatOfArrival(seen: readonly Seen[]): void {
  nobodyOvertakes(seen, ({ joinedAt, secondJoinedAt }) => secondJoinedAt - joinedAt > NEAR_MS);
}

interface Pair {
  readonly first: Guest;
  readonly joinedAt: number;
  readonly second: Guest;
  readonly secondJoinedAt: number;
}

/** Whenever someone gets their first turn, nobody patient of their lane who is `isBefore` them still waits for theirs. */
function nobodyOvertakes(seen: readonly Seen[], isBefore: (pair: Pair) => boolean): void {
  const waiting = new Map<Guest, number>();
  const hadTurn = new Set<Guest>();
  for (const one of seen) {
    if (one.what === "joined") waiting.set(one.guest, one.at);
    if (!isTurn(one) || hadTurn.has(one.guest)) continue;
    const { guest: second } = one;
    const secondJoinedAt = waiting.get(second)!;
    hadTurn.add(second);
    waiting.delete(second);
    for (const [first, joinedAt] of waiting) {
      if (!first.isPatient || laneOfGuest(first) !== laneOfGuest(second)) continue;
      assert.ok(!isBefore({ first, joinedAt, second, secondJoinedAt }), "overtaken in their own lane");
    }
  }
}

function isTurn(seen: Seen): seen is Extract<Seen, { guest: Guest }> {
  return seen.what === "turn" || seen.what === "through";
}

function laneOfGuest({ ticket, pass }: Guest): number {
  return (ticket ?? pass)!.lane;
}

/**
 * While people wait in a lane, others get a bounded number of turns in a row: a round or two of what the lanes owe it. Turns
 * that are given at the same instant are in no order.
 */
export function noLaneStarves(seen: readonly Seen[]): void {
  let rules: RoomRules = DEFAULT_RULES;
  const passedOver = new Map<number, number>();
  let waitingIn = new Map<number, number>();
  for (const [index, one] of seen.entries()) {
    if (one.what === "rules") {
      rules = one.rules;
      passedOver.clear();
    }
    if (one.what === "waiting") {
      waitingIn = new Map(one.waitingIn);
      for (const [lane, waiting] of waitingIn) if (waiting === 0) passedOver.delete(lane);
    }
    if (one.what !== "turn" || rules.privilegedOnly) continue;
    const served = laneOfGuest(one.guest);
    waitingIn.set(served, (waitingIn.get(served) ?? 0) - 1);
    passedOver.set(served, Number.NEGATIVE_INFINITY);
    for (const [lane, waiting] of waitingIn)
      if (lane !== served && waiting > 0) passedOver.set(lane, (passedOver.get(lane) ?? 0) + 1);
    const next = seen[index + 1];
    if (next?.what === "turn" && next.at === one.at) continue;
    for (const [lane, times] of passedOver) {
      const most = 2 * Math.ceil(laneCostFactor(rules.lanes, lane)) + 1;
      assert.ok(times <= most, `lane ${lane} was passed over ${times} times in a row`);
      if (times < 0) passedOver.delete(lane);
    }
  }
}

export function thePatientGetIn(seen: readonly Seen[]): void {
  const inside = new Set<Guest>();
  for (const one of seen) if (one.what === "entered") inside.add(one.guest);
  for (const one of seen)
    if (one.what === "joined" && one.guest.isPatient)
      assert.ok(inside.has(one.guest), "a patient one waits on");
}
