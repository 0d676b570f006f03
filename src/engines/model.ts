/**
 * The model-based random test: thousands of small random lives of a room, each step done both by the engine under
 * test and by `core/room.ts`, answers and counts compared after every one. A failure prints the seed and the
 * shortest list of steps that still fails.
 *
 * The engine turns its own door by its timers; here the timers never fire (time is moved past them by hand in
 * `admit` steps), so that both turn the door at the same instants.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Engine, TicketAnswer } from "../core/engine.ts";
import type { Pass } from "../core/pass.ts";
import { Room, type Standing, type Visitor } from "../core/room.ts";
import { DEFAULT_RULES, type RoomRules } from "../core/rules.ts";
import { renewTicket, type Ticket } from "../core/ticket.ts";
import { type HandWorld, handWorld } from "../sim/hand-world.ts";
import type { EngineUnderTest } from "./conformance-stage.ts";

const ROOM = "main";
const RUNS = 400;

type Step =
  | { do: "join" | "checkIn" | "enter" | "touch" | "leavePlace" | "leaveVisit" | "revoke"; who: number }
  | { do: "pass"; ms: number }
  | { do: "admit" }
  | { do: "configure"; rules: Partial<RoomRules> };

/** One visitor as both sides know them. */
interface Known {
  ticket: Ticket | null;
  pass: Pass | null;
  readonly visitor: Visitor;
}

const KIND_OF: Record<Standing, TicketAnswer["kind"]> = {
  waiting: "waiting",
  lapsed: "waiting",
  admitted: "admitted",
  "on site": "entered",
  gone: "refused",
};

/** Declares the random test for one engine. */
export function modelTest(subject: EngineUnderTest): void {
  test(`${subject.name} engine does what the model does, in any order of events`, async () => {
    await fc.assert(
      fc.asyncProperty(
        rulesArbitrary,
        fc.array(stepArbitrary, { minLength: 5, maxLength: 120, size: "max" }),
        async (rules, steps) => {
          await runSteps(subject, { ...DEFAULT_RULES, ...rules }, steps);
        },
      ),
      { numRuns: RUNS },
    );
  });
}

const limit = (max: number) => fc.option(fc.integer({ min: 1, max }), { nil: null, freq: 3 });
const rulesArbitrary = fc.record({
  totalActiveUsers: limit(6),
  newUsersPerMinute: limit(90),
  sessionDurationMs: fc.constantFrom(10_000, 60_000),
  claimWindowMs: fc.constantFrom(5_000, 30_000),
  lapseAfterMs: fc.constantFrom(5_000, 20_000),
  ticketTtlMs: fc.constantFrom(90_000, 3_600_000),
  paused: fc.boolean(),
});
const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: someone("join") },
  { weight: 6, arbitrary: someone("checkIn") },
  { weight: 5, arbitrary: someone("enter") },
  { weight: 2, arbitrary: someone("touch") },
  { weight: 1, arbitrary: someone("leavePlace") },
  { weight: 1, arbitrary: someone("leaveVisit") },
  { weight: 1, arbitrary: someone("revoke") },
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("pass" as const), ms: fc.integer({ min: 1, max: 20_000 }) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("admit" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("configure" as const), rules: rulesArbitrary }) },
);

function someone<Do extends Exclude<Step["do"], "pass" | "admit" | "configure">>(what: Do) {
  return fc.record({ do: fc.constant(what), who: fc.nat(40) });
}

async function runSteps(subject: EngineUnderTest, rules: RoomRules, steps: readonly Step[]): Promise<void> {
  const world = withoutTimers(handWorld());
  const engine = await subject.make(world);
  const pair = new Pair(engine, world, new Room(rules));
  await engine.configure(ROOM, rules);
  for (const step of steps) {
    await pair.take(step);
    await pair.compareCounts();
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
  readonly #known: Known[] = [];

  constructor(engine: Engine, world: HandWorld, room: Room) {
    this.#engine = engine;
    this.#world = world;
    this.#room = room;
  }

  async take(step: Step): Promise<void> {
    switch (step.do) {
      case "join":
        return this.#join();
      case "pass":
        return this.#world.pass(step.ms);
      case "admit":
        return this.#admit();
      case "configure":
        this.#room.rules = { ...DEFAULT_RULES, ...step.rules };
        return this.#engine.configure(ROOM, this.#room.rules);
      default: {
        const known = this.#known[step.who % Math.max(1, this.#known.length)];
        if (known) await this.#one(step.do, known);
      }
    }
  }

  async compareCounts(): Promise<void> {
    const { waiting, admitted, onSite, lapsed } = await this.#engine.counts(ROOM);
    assert.deepEqual({ waiting, admitted, onSite, lapsed }, this.#room.counts());
  }

  async #join(): Promise<void> {
    const now = this.#world.clock.now();
    const isThrough = this.#room.wouldGoThrough(now);
    const answer = await this.#engine.join(ROOM);
    assert.equal(answer.kind, isThrough ? "entered" : "waiting");
    if (answer.kind === "waiting") {
      const visitor = this.#room.arrive(answer.ticket, now);
      this.#room.checkIn(visitor, answer.nextCheckInMs, now);
      assert.equal(answer.ahead, this.#room.ahead(visitor));
      this.#known.push({ ticket: answer.ticket, pass: null, visitor });
    } else if (answer.kind === "entered") {
      const key = { lane: 0, joinedAt: now, sequence: 0, id: answer.pass.id };
      this.#known.push({ ticket: null, pass: answer.pass, visitor: this.#room.arrive(key, now) });
    }
  }

  async #admit(): Promise<void> {
    const admitted = this.#room.admit(this.#world.clock.now());
    assert.equal((await this.#engine.admit(ROOM)).admitted, admitted.length);
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
    if (what === "leavePlace" && known.ticket && known.ticket.expiresAt > this.#world.clock.now()) {
      await this.#engine.leave(known.ticket);
      this.#room.leave(known.visitor);
    }
    if (what === "leaveVisit" && known.pass) {
      await this.#engine.leave(known.pass);
      if (known.visitor.standing === "on site") this.#room.leave(known.visitor);
    }
    if (what === "revoke" && known.pass) {
      const isThere = known.visitor.standing === "on site";
      assert.equal(await this.#engine.revoke(ROOM, known.pass.id), isThere);
      if (isThere) this.#room.leave(known.visitor);
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
    if (doing === "enter") this.#room.enter(visitor, now);
    assert.equal(answer.kind, KIND_OF[visitor.standing]);
    if (answer.kind === "waiting") {
      this.#room.checkIn(visitor, answer.nextCheckInMs, now);
      const ahead = this.#room.ahead(visitor);
      assert.equal(answer.ahead, Math.min(ahead, ticket.aheadShown));
      known.ticket = renewTicket(ticket, {
        now,
        ttlMs: this.#room.rules.ticketTtlMs,
        aheadShown: answer.ahead,
      });
    }
    return answer;
  }

  async #touch(known: Known): Promise<void> {
    const now = this.#world.clock.now();
    if (!known.pass || known.visitor.standing !== "on site" || known.pass.expiresAt <= now) return;
    const expiresAt = now + this.#room.rules.sessionDurationMs;
    await this.#engine.touch(ROOM, [{ ...known.pass, expiresAt }]);
    known.pass = { ...known.pass, expiresAt };
    this.#room.touch(known.visitor, expiresAt);
  }
}
