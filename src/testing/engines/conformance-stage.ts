/**
 * The stage an engine is tested on: one room, a world moved by hand, and visitors who join, wait and come in. Shared by
 * the conformance suite's chapters.
 */
import assert from "node:assert/strict";
import type { Capabilities, Capability } from "../../core/capabilities.ts";
import type { Engine, Entered, TicketAnswer, Waiting } from "../../core/engine.ts";
import { DEFAULT_RULES, type RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";

export const ROOM = "main";
export const TICK_MS = 1_000;

export interface EngineUnderTest {
  readonly name: string;
  make(world: HandWorld): Promise<Engine>;
  /** Tests that need what it cannot do are left out. */
  readonly capabilities: Capabilities;
}

export class EngineStage {
  readonly engine: Engine;
  readonly world: HandWorld;

  constructor(engine: Engine, world: HandWorld) {
    this.engine = engine;
    this.world = world;
  }

  now(): number {
    return this.world.clock.now();
  }

  async joinWaiting(): Promise<Waiting> {
    return expectKind(await this.engine.join(ROOM), "waiting");
  }

  async joinEntered(): Promise<Entered> {
    return expectKind(await this.engine.join(ROOM), "entered");
  }

  /** Lets people through until the next one would have to wait. */
  async fill(): Promise<void> {
    for (;;) {
      const answer = await this.engine.join(ROOM);
      if (answer.kind === "entered") continue;
      return this.engine.leave(expectKind(answer, "waiting").ticket);
    }
  }

  async joinMany(count: number): Promise<Ticket[]> {
    const tickets: Ticket[] = [];
    for (let i = 0; i < count; i++) tickets.push((await this.joinWaiting()).ticket);
    return tickets;
  }

  /** Lets time pass in ticks, turning the door at each, while `present` keep checking in. */
  async pass(ms: number, present: readonly Ticket[] = []): Promise<void> {
    for (let left = ms; left > 0; left -= TICK_MS) {
      this.world.pass(Math.min(TICK_MS, left));
      for (const ticket of present) await this.engine.checkIn(ticket);
      await this.engine.admit(ROOM);
    }
  }

  /** Those of them with a turn use it. */
  async enterAll(tickets: readonly Ticket[]): Promise<Ticket[]> {
    const entered: Ticket[] = [];
    for (const ticket of tickets)
      if ((await this.engine.enter(ticket)).kind === "entered") entered.push(ticket);
    return entered;
  }

  async configure(rules: Partial<RoomRules>): Promise<void> {
    await this.engine.configure(ROOM, { ...DEFAULT_RULES, ...rules });
  }
}

/** Why an engine is not asked to pass a test that needs this; false when it is. */
export function whyNot({ capabilities }: EngineUnderTest, needs: readonly Capability[]): string | false {
  const missing = needs.filter((capability) => !capabilities[capability]);
  return missing.length > 0 && `this engine does not have ${missing.join(", ")}`;
}

/** Opens a room under these rules on a new engine. */
export async function openEngineStage(
  subject: EngineUnderTest,
  rules: Partial<RoomRules>,
): Promise<EngineStage> {
  const world = handWorld();
  const stage = new EngineStage(await subject.make(world), world);
  await stage.configure(rules);
  return stage;
}

/** The answer, known to be of this kind. */
export function expectKind<Kind extends TicketAnswer["kind"]>(
  answer: TicketAnswer,
  kind: Kind,
): Extract<TicketAnswer, { kind: Kind }> {
  assert.equal(answer.kind, kind);
  return answer as Extract<TicketAnswer, { kind: Kind }>;
}
