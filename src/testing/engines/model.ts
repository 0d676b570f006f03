/**
 * The model-based random test: thousands of small random lives of a room, each step done both by the engine under
 * test and by `room.ts`, answers and counts compared after every one. A failure prints the seed and the
 * shortest list of steps that still fails.
 *
 * The engine turns its own door by its timers; here the timers never fire (time is moved past them by hand in
 * `admit` steps), so that both turn the door at the same instants.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CAPABILITIES, type Capability } from "../../core/capabilities.ts";
import type { Engine, Newcomer, TicketAnswer } from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import { DEFAULT_RULES, type DoorRules, type EventRules, type RoomRules } from "../../core/rules.ts";
import { renewTicket, type Ticket } from "../../core/ticket.ts";
import { type HandWorld, handWorld, seededFraction } from "../../sim/hand-world.ts";
import { type EngineUnderTest, whyNot } from "./conformance-stage.ts";
import { type ModelVisitor, Room, type Standing } from "./room.ts";
import { shrunkBriefly } from "./shrinking.ts";

const ROOM = "main";
const RUNS = 300;

type Step =
  | { do: "checkIn" | "enter" | "touch" | "leavePlace" | "leaveVisit" | "revoke" | "resume"; who: number }
  | { do: "join"; newcomer: Newcomer }
  | { do: "pass"; ms: number }
  | { do: "admit" }
  | { do: "configure"; rules: RoomRules };

/** One visitor as both sides know them. */
interface Known {
  ticket: Ticket | null;
  pass: Pass | null;
  readonly visitor: ModelVisitor;
}

const KIND_OF: Record<Standing, TicketAnswer["kind"]> = {
  waiting: "waiting",
  lapsed: "waiting",
  admitted: "admitted",
  "on site": "entered",
  gone: "refused",
  forfeited: "refused",
};

/** The model draws all of these. A shop is not in its engine. */
const NEEDED = (Object.keys(CAPABILITIES.memory) as Capability[]).filter((name) => name !== "shop");

/** Declares the random test for one engine; `runs` is lower for one that is far slower. */
export function modelTest(subject: EngineUnderTest, runs = RUNS): void {
  test(`${subject.name} engine does what the model does, in any order of events`, {
    skip: whyNot(subject, NEEDED),
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        rulesArbitrary,
        fc.array(stepArbitrary, { minLength: 5, maxLength: 120, size: "max" }),
        shrunkBriefly((rules, steps) => runSteps(subject, rules, steps)),
      ),
      { numRuns: runs },
    );
  });
}

/** When a random life begins. */
const START = handWorld().clock.now();
const VIP = 7;
const CREW = 9;
const limit = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: null, freq: 3 });
const doorArbitrary = fc.record({
  totalActiveUsers: limit(6),
  newUsersPerMinute: limit(90),
  sessionDurationMs: fc.constantFrom(10_000, 60_000),
  claimWindowMs: fc.constantFrom(5_000, 30_000),
  lapseAfterMs: fc.constantFrom(5_000, 20_000),
  ticketTtlMs: fc.constantFrom(90_000, 3_600_000),
  paused: rarely(),
  queueingMethod: fc.constantFrom("fifo", "fifo", "random", "passthrough", "reject"),
  queueAll: rarely(),
  drained: rarely(),
  closed: rarely(),
  privilegedOnly: rarely(),
  lanes: fc.record({
    order: fc.constantFrom("strict", "weighted"),
    othersShare: fc.constantFrom(0, 10, 40),
    named: fc.constantFrom(
      [],
      [{ number: VIP, name: "vip", share: 30, isPrivileged: true }],
      [
        { number: CREW, name: "crew", share: 10, isPrivileged: false },
        { number: VIP, name: "vip", share: 50, isPrivileged: true },
      ],
    ),
  }),
  fillNoShows: rarely(),
  show: fc.constantFrom(
    { ahead: true, behind: true, wait: true },
    { ahead: false, behind: true, wait: true },
  ),
} satisfies { [Key in keyof DoorRules]?: fc.Arbitrary<DoorRules[Key]> });
const rulesArbitrary = fc
  .tuple(doorArbitrary, fc.option(doorArbitrary), fc.nat(60_000), fc.nat(60_000), fc.boolean())
  .map(([rules, eventRules, opensIn, startsIn, isShuffled]): RoomRules => {
    const events = eventRules ? [eventOf(eventRules, opensIn, startsIn, isShuffled)] : [];
    return { ...DEFAULT_RULES, ...rules, events };
  });
const newcomerArbitrary: fc.Arbitrary<Newcomer> = fc.record({
  lane: fc.constantFrom(0, 0, 0, VIP, CREW),
  invite: fc.option(
    fc.record({ id: fc.constantFrom("a", "b", "c"), expiresAt: fc.constant(START + 86_400_000) }),
    { freq: 6 },
  ),
  canWait: fc.constantFrom(true, true, true, false),
});
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("join" as const), newcomer: newcomerArbitrary }) },
  { weight: 6, arbitrary: someone("checkIn") },
  { weight: 5, arbitrary: someone("enter") },
  { weight: 2, arbitrary: someone("touch") },
  { weight: 1, arbitrary: someone("leavePlace") },
  { weight: 1, arbitrary: someone("leaveVisit") },
  { weight: 1, arbitrary: someone("revoke") },
  { weight: 3, arbitrary: someone("resume") },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("admit" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("configure" as const), rules: rulesArbitrary }) },
);

function rarely(): fc.Arbitrary<boolean> {
  return fc.nat(9).map((dice) => dice === 0);
}

function eventOf(
  rules: Partial<DoorRules>,
  opensIn: number,
  startsIn: number,
  isShuffled: boolean,
): EventRules {
  const prequeueAt = START + opensIn;
  const startAt = prequeueAt + startsIn;
  const seed = "5eed".repeat(16);
  return {
    name: "sale",
    prequeueAt,
    startAt,
    endAt: startAt + 60_000,
    isShuffled,
    seed,
    rules: { ...DEFAULT_RULES, ...rules },
  };
}

function someone<Do extends Exclude<Step["do"], "join" | "pass" | "admit" | "configure">>(what: Do) {
  return fc.record({ do: fc.constant(what), who: fc.nat(40) });
}

async function runSteps(subject: EngineUnderTest, rules: RoomRules, steps: readonly Step[]): Promise<void> {
  const thrown: number[] = [];
  const dice = seededFraction(1);
  const throwDice = () => {
    thrown.push(dice());
    return thrown.at(-1)!;
  };
  const world = withoutTimers(handWorld({ dice: throwDice }));
  const engine = await subject.make(world);
  const room = new Room(rules, world.clock.now());
  const pair = new Pair({ engine, world, room, thrown });
  await engine.configure(ROOM, rules);
  for (const step of steps) {
    await pair.take(step);
    await pair.compareCounts();
    if (room.isVague) break;
  }
  await engine.close();
}

function withoutTimers(world: HandWorld): HandWorld {
  return { ...world, timers: { every: () => () => {}, after: () => () => {} } };
}

class Pair {
  readonly #engine: Engine;
  readonly #world: HandWorld;
  readonly #room: Room;
  /** All dice the engine threw. */
  readonly #thrown: readonly number[];
  readonly #known: Known[] = [];

  constructor(parts: { engine: Engine; world: HandWorld; room: Room; thrown: readonly number[] }) {
    this.#engine = parts.engine;
    this.#world = parts.world;
    this.#room = parts.room;
    this.#thrown = parts.thrown;
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "join":
        return this.#join(step.newcomer);
      case "pass":
        return this.#world.pass(step.ms);
      case "admit":
        return this.#admit();
      case "configure":
        this.#room.change(step.rules, this.#world.clock.now());
        return this.#engine.configure(ROOM, step.rules);
      default: {
        const known = this.#known[step.who % Math.max(1, this.#known.length)];
        if (known) await this.#one(step.do, known);
      }
    }
  }

  async compareCounts(): Promise<void> {
    const { waiting, admitted, looseTurns, onSite, lapsed } = await this.#engine.counts(ROOM);
    assert.deepEqual({ waiting, admitted, looseTurns, onSite, lapsed }, this.#room.counts());
  }

  async #join(newcomer: Newcomer): Promise<void> {
    const now = this.#world.clock.now();
    const welcome = this.#room.greet(newcomer, now);
    const answer = await this.#engine.join(ROOM, newcomer);
    if (answer.kind === "refused") {
      assert.equal(answer.reason, welcome);
    } else if (answer.kind === "waiting") {
      assert.equal(welcome, "place");
      const visitor = this.#room.arrive(answer.ticket, newcomer, now);
      this.#room.checkIn(visitor, answer.nextCheckInMs, now);
      assert.equal(answer.ahead, this.#room.ahead(visitor, now));
      this.#known.push({ ticket: answer.ticket, pass: null, visitor });
    } else {
      assert.equal(welcome, "through");
      const { id, lane } = answer.pass;
      const visitor = this.#room.arrive({ lane, joinedAt: now, sequence: 0, id }, newcomer, now);
      this.#known.push({ ticket: null, pass: answer.pass, visitor });
    }
  }

  /** Both throw the same dice. */
  async #admit(): Promise<void> {
    const from = this.#thrown.length;
    const { admitted } = await this.#engine.admit(ROOM);
    const dice = this.#thrown.slice(from);
    const expected = this.#room.admit(() => dice.shift() ?? assert.fail("no dice"), this.#world.clock.now());
    assert.equal(admitted, expected.length);
  }

  async #one(
    what: Exclude<Step["do"], "join" | "pass" | "admit" | "configure">,
    known: Known,
  ): Promise<void> {
    if (what === "checkIn") await this.#present(known, (ticket) => this.#engine.checkIn(ticket));
    if (what === "enter") {
      const answer = await this.#present(known, (ticket) => this.#engine.enter(ticket), "enter");
      if (answer?.kind === "entered") known.pass = answer.pass;
    }
    if (what === "touch") await this.#touch(known);
    if (what === "resume") await this.#resume(known);
    // Of someone whose visit was over by itself an engine may remember that they left, or not.
    const hasGone = (what === "leaveVisit" || what === "revoke") && !known.visitor.isEnded;
    if (hasGone) known.pass = null;
    if (what === "leavePlace" && known.ticket && known.ticket.expiresAt > this.#world.clock.now()) {
      await this.#engine.leave(known.ticket);
      this.#room.leave(known.visitor, this.#world.clock.now());
    }
    if (what === "leaveVisit" && known.pass) {
      await this.#engine.leave(known.pass);
      if (known.visitor.standing === "on site") this.#room.leave(known.visitor, this.#world.clock.now());
    }
    if (what === "revoke" && known.pass) {
      const isThere = known.visitor.standing === "on site";
      assert.equal(await this.#engine.revoke(ROOM, known.pass.id), isThere);
      if (isThere) this.#room.leave(known.visitor, this.#world.clock.now());
    }
  }

  /** Shows a ticket to the engine and compares what comes of it. */
  async #present(
    known: Known,
    show: (ticket: Ticket) => TicketAnswer | Promise<TicketAnswer>,
    doing?: "enter",
  ): Promise<TicketAnswer | null> {
    const now = this.#world.clock.now();
    const { ticket, visitor } = known;
    if (!ticket) return null;
    const answer = await show(ticket);
    if (ticket.expiresAt <= now) {
      assert.equal(answer.kind, "expired");
      return answer;
    }
    const isTurnInHand = doing === "enter" && visitor.standing === "admitted";
    if (doing === "enter") this.#room.enter(visitor, now);
    const isTooFull = isTurnInHand && visitor.standing === "admitted";
    assert.equal(answer.kind, isTooFull ? "waiting" : KIND_OF[visitor.standing]);
    if (answer.kind === "refused")
      assert.equal(answer.reason, visitor.standing === "forfeited" ? "turnsMissed" : "ticketSpent");
    if (answer.kind === "waiting") {
      this.#room.checkIn(visitor, answer.nextCheckInMs, now);
      const ahead = isTooFull ? 0 : this.#room.ahead(visitor, now);
      // Visitors who missed a turn since they were last told may have more people ahead than before.
      const isSetBack = visitor.missedTurns > ticket.missedTurns;
      const shown = isSetBack ? Number.POSITIVE_INFINITY : ticket.aheadShown;
      assert.equal(answer.ahead, ahead === null ? null : Math.min(ahead, shown));
      assert.equal(answer.ticket.missedTurns, visitor.missedTurns);
      if (visitor.missedTurns === 0) assert.equal(answer.ticket.sequence, visitor.sequence);
      else assert.equal(answer.ticket.missedAt, visitor.missedAt);
      const ttlMs = this.#room.rules(now).ticketTtlMs;
      const aheadShown = answer.ahead ?? ticket.aheadShown;
      known.ticket = renewTicket(answer.ticket, { now, ttlMs, aheadShown });
    }
    return answer;
  }

  /** A visitor who sends a form in time keeps a pass for good; their place is over. */
  async #resume(known: Known): Promise<void> {
    const now = this.#world.clock.now();
    const { pass, visitor } = known;
    const { formGraceMs } = this.#room.rules(now);
    if (!pass || pass.expiresAt > now || pass.expiresAt + formGraceMs <= now) return;
    const expiresAt = this.#room.resume(visitor, pass, true, now);
    const entered = await this.#engine.resume(pass, true);
    assert.equal(entered?.pass.expiresAt ?? null, expiresAt);
    if (!entered) return;
    known.pass = entered.pass;
    known.ticket = null;
  }

  async #touch(known: Known): Promise<void> {
    const now = this.#world.clock.now();
    if (!known.pass || known.visitor.standing !== "on site" || known.pass.expiresAt <= now) return;
    const expiresAt = now + this.#room.rules(now).sessionDurationMs;
    await this.#engine.touch(ROOM, [{ ...known.pass, expiresAt }]);
    known.pass = { ...known.pass, expiresAt };
    this.#room.touch(known.visitor, expiresAt);
  }
}
